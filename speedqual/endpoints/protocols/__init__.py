"""One file a protocol: how a prompt is sent in it, what its frames say. ``dialects.py`` has OpenAI chat's kin."""
