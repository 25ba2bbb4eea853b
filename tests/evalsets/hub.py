"""As much of a dataset hub as a download needs, on this machine: the API's list of files, and the files."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

SHA = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Hub:
    """``url`` for HF_ENDPOINT; ``asked``: the paths that were requested."""

    url: str = ""
    asked: list[str] = field(default_factory=list)


@contextmanager
def serve_hub(folders: dict[str, Path]) -> Iterator[Hub]:
    """Offer each folder as the data set of its id (``owner/name``)."""
    hub = Hub()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self.answer()

        def do_GET(self) -> None:
            self.answer()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.answer(body)

        def answer(self, body: bytes = b"") -> None:
            path = unquote(urlsplit(self.path).path)
            hub.asked.append(f"{self.command} {path}")
            for name, folder in folders.items():
                if path.startswith(f"/api/datasets/{name}"):
                    return self.api(name, folder, path.removeprefix(f"/api/datasets/{name}"), body)
                if path.startswith(f"/datasets/{name}/resolve/"):
                    return self.file(folder, path.removeprefix(f"/datasets/{name}/resolve/").partition("/")[2])
            return self.send(404, b'{"error": "Repository not found"}', {"X-Error-Code": "RepoNotFound"})

        def api(self, name: str, folder: Path, rest: str, body: bytes) -> None:
            files = sorted(one for one in folder.rglob("*") if one.is_file())
            if rest.startswith("/tree/"):
                below = rest.removeprefix("/tree/").partition("/")[2]
                shown = [one for one in files if str(one.relative_to(folder)).startswith(below)]
                return self.json([self.entry(folder, one) for one in shown])
            if rest.startswith("/paths-info/"):
                asked = body.decode()
                wanted = [one for one in files if str(one.relative_to(folder)) in asked]
                return self.json([self.entry(folder, one) for one in wanted])
            siblings = [{"rfilename": str(one.relative_to(folder))} for one in files]
            about = {"_id": "1", "id": name, "sha": SHA, "private": False, "gated": False, "disabled": False}
            more = {
                "downloads": 0,
                "likes": 0,
                "tags": [],
                "siblings": siblings,
                "lastModified": "2026-01-01T00:00:00.000Z",
            }
            return self.json(about | more)

        def entry(self, folder: Path, file: Path) -> dict[str, object]:
            oid = hashlib.sha1(file.read_bytes(), usedforsecurity=False).hexdigest()
            return {"type": "file", "path": str(file.relative_to(folder)), "size": file.stat().st_size, "oid": oid}

        def file(self, folder: Path, name: str) -> None:
            path = folder / name
            if not path.is_file():
                return self.send(404, b"", {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": SHA})
            etag = hashlib.sha1(path.read_bytes(), usedforsecurity=False).hexdigest()
            return self.send(200, path.read_bytes(), {"ETag": f'"{etag}"', "X-Repo-Commit": SHA})

        def json(self, value: object) -> None:
            self.send(200, json.dumps(value).encode(), {"Content-Type": "application/json", "X-Repo-Commit": SHA})

        def send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    hub.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
