"""One file a protocol: how a prompt is sent in it, and what its frames say. ``dialects.py`` has the kin of OpenAI chat."""
