"""Recordings as files: written without secrets, read back as they were."""

from __future__ import annotations

from pathlib import Path

import pytest

from speedqual.endpoints.base import RawReply, Read
from speedqual.endpoints.recordings.files import endpoint_of, payload_bytes, read_recording, recorded, write_recording
from speedqual.errors import UsageError

KEY = "sk-secret-1234"
MS = 1_000_000


def _raw() -> RawReply:
    return RawReply(
        t_send=5 * MS,
        t_headers=7 * MS,
        t_close=40 * MS,
        status=200,
        headers={
            "content-type": "text/event-stream",
            "retry-after": "1",
            "x-ratelimit-limit-requests": "5",
            "openai-organization": "acme",
            "set-cookie": "session=1",
            "date": f"today {KEY}",
        },
        reads=(Read(15 * MS, f"data: {KEY}\n\n".encode()), Read(25 * MS, b"\xff\x00\xfe")),
        ending="cut",
    )


def test_what_is_written_is_read_back_without_secrets(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    write_recording(recorded(_raw(), api="openai-chat", path="/v1/x?key=1", source="test", secrets=(KEY,)), path)
    back = read_recording(path)
    assert back.chunks == ((10.0, b"data: [removed]\n\n"), (20.0, b"\xff\x00\xfe"))
    assert (back.path, back.status, back.head_ms, back.end, back.end_ms) == ("/v1/x", 200, 2.0, "cut", 35.0)
    kept = {"content-type": "text/event-stream", "retry-after": "1", "x-ratelimit-limit-requests": "5"}
    assert back.headers == {**kept, "date": "today [removed]"}
    text = path.read_text()
    assert not any(word in text for word in (KEY, "acme", "session"))


def test_a_recording_gives_the_reply_that_it_was_made_of(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    write_recording(recorded(_raw(), api="openai-chat", path="/", source="test"), path)
    raw = read_recording(path).raw(t_send=5 * MS)
    assert [(read.t_ns, read.data) for read in raw.reads] == [(r.t_ns, r.data) for r in _raw().reads]
    assert (raw.t_headers, raw.t_close, raw.ending) == (7 * MS, 40 * MS, "cut")


@pytest.mark.parametrize(
    ("payload", "data"),
    [
        ("é", "é".encode()),
        ({"b64": "/wA="}, b"\xff\x00"),
        ({"repeat": "ab", "n": 3}, b"ababab"),
        (["a", {"repeat": "b", "n": 2}, {"b64": "Yw=="}], b"abbc"),
    ],
)
def test_every_form_of_a_payload(payload: object, data: bytes) -> None:
    assert payload_bytes(payload) == data


def test_every_api_has_an_endpoint_and_an_unknown_one_a_clear_error() -> None:
    assert endpoint_of("openai-chat") == "openai"
    assert endpoint_of("gemini") == "gemini"
    assert endpoint_of("groq") == "groq"
    with pytest.raises(UsageError, match="no endpoint speaks 'telepathy'"):
        endpoint_of("telepathy")
