"""No host, user or path in what is shared."""

from __future__ import annotations

import re

__all__ = ["without_addresses"]

_ADDRESS = re.compile(
    r"\b[a-z][a-z0-9+.-]*://\S+"  # a URL
    r"|\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b"  # an address of version 4
    r"|(?<![\w:])(?:[0-9a-f]{0,4}:){3,}[0-9a-f]{0,4}(?![\w:])"  # of version 6
    r"|\b(?:[\w-]+\.)+[a-z]{2,}:\d+\b|\blocalhost(?::\d+)?\b"  # a host with a port
    r"|(?<![\w/.~])(?:~|[A-Za-z]:|)(?:[/\\][\w.~-]+){2,}",  # a path from a root, two levels or deeper
    re.IGNORECASE,
)


def without_addresses(text: str) -> str:
    """``text`` with URLs, hosts and absolute paths replaced.

    >>> without_addresses("Cannot connect to http://10.0.0.3:80/v1?key=1 from /home/ann/run (openai/gpt)")
    'Cannot connect to […] from […] (openai/gpt)'
    """
    return _ADDRESS.sub("[…]", text)
