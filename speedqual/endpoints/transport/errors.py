"""What went wrong before a reply was there, in words without any secret."""

from __future__ import annotations

from urllib.parse import urljoin

import aiohttp

from speedqual.endpoints.access import bare_url
from speedqual.endpoints.base import Ending, RawReply

__all__ = ["redirect_target", "why_no_reply"]


def why_no_reply(exc: Exception, url: str, *, begun: bool) -> tuple[Ending, str]:
    """How aiohttp's exception is told. ``begun``: a connection was had. ``url`` is already bare."""
    if isinstance(exc, aiohttp.ClientConnectorDNSError):
        return "unreachable", f"the name of {url} cannot be resolved"
    if isinstance(exc, aiohttp.ClientConnectorCertificateError):
        return "unreachable", f"the certificate of {url} is not trusted: {exc.certificate_error}"
    if isinstance(exc, aiohttp.ClientSSLError):
        return "unreachable", f"TLS with {url} failed: {exc.os_error.strerror or type(exc.os_error).__name__}"
    if isinstance(exc, aiohttp.ClientConnectorError):
        return "unreachable", f"no connection to {url}: {exc.os_error.strerror or type(exc.os_error).__name__}"
    if isinstance(exc, aiohttp.ServerDisconnectedError):
        return "cut", f"{url} closed the connection before the reply"
    if isinstance(exc, aiohttp.ClientResponseError):
        return "cut", f"{url} answered with something that is not HTTP"
    words = getattr(exc, "strerror", None) or type(exc).__name__
    return ("reset" if begun else "unreachable"), f"the connection to {url} failed: {words}"


def redirect_target(url: str, raw: RawReply) -> str:
    """Where a 3xx reply points, without query and credentials; empty when it is no redirect."""
    if raw.status is None or not 300 <= raw.status < 400 or not raw.headers.get("location"):
        return ""
    return bare_url(urljoin(url, raw.headers["location"]))
