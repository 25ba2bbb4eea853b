"""From stamped bytes to an ``Attempt``: framing, reader, transcript, verdict, decoding. Shared by all protocols."""
