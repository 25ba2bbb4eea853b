"""Who is asked: one file a protocol, the client that moves and stamps bytes, local models, the scripted endpoint.

``client.py`` knows no protocol; a protocol (``base.Endpoint``) knows no socket and no clock. Between them lie stamped
bytes (``base.RawReply``), which are decoded after the stream: ``framing`` → ``reader`` → ``transcript`` → ``verdict``.
"""
