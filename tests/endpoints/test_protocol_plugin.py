"""A protocol from outside the package: one file and an entry point."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

PROTOCOL = '''
"""PostScript of protocols: one word a line, a full stop ends it."""
from dataclasses import dataclass
from speedqual.endpoints.base import HttpRequest, RawReply
from speedqual.records import Attempt, Event, Timeline


class Words:
    name = "words"
    wire = "words"
    needs_key = False
    key_envs = ()
    base_url_envs = ()
    default_base_url = "http://127.0.0.1:1"
    end_hints = (b".",)

    def request(self, candidate, prompt, base_url, key):
        return HttpRequest(url=base_url + "/words", headers={}, body=prompt.messages[-1].content.encode())

    def decode(self, raw: RawReply) -> Attempt:
        events = tuple(
            Event(read.t_ns, "answer", read.data.decode(), number)
            for number, read in enumerate(raw.reads) if read.data != b"."
        )
        ended = bool(raw.reads) and raw.reads[-1].data == b"."
        line = Timeline(t_send=raw.t_send, events=events, n_reads=len(raw.reads), n_frames=len(events),
                        t_end=raw.reads[-1].t_ns if ended else None, t_close=raw.t_close)
        text = "".join(event.text for event in events)
        return Attempt(number=1, outcome="ok" if ended else "cut_off", timeline=line, status=raw.status, text=text)
'''

RECORDING = {
    "api": "words",
    "path": "/words",
    "chunks": [[20, "one "], [40, "two"], [45, "."]],
    "expect": {"text": "one two", "ttft_ms": 20, "last_token_ms": 40, "n_events": 2, "complete": True, "error": None},
}


def _install(folder: Path) -> None:
    """What an installed package leaves behind: a module, and its metadata with an entry point."""
    (folder / "words_protocol.py").write_text(PROTOCOL)
    info = folder / "words_protocol-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: words-protocol\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[speedqual.endpoints]\nwords = words_protocol:Words\n")


def _speedqual(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    code = "import sys; from speedqual.cli import main; main(sys.argv[1:])"
    environ = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=False)


def test_a_protocol_from_outside_is_named_asked_and_decoded(tmp_path: Path) -> None:
    _install(tmp_path)
    file = tmp_path / "reply.json"
    file.write_text(json.dumps(RECORDING))
    done = _speedqual(tmp_path, "stream", str(file), "--json", "--check")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["text"] == "one two"


def test_without_it_the_recording_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "reply.json"
    file.write_text(json.dumps(RECORDING))
    done = _speedqual(tmp_path, "stream", str(file))
    assert done.returncode == 2
    assert "no endpoint speaks 'words'" in done.stderr
