"""Bytes → frames: each rule with its arithmetic."""

from __future__ import annotations

import zlib

import pytest

from speedqual.endpoints.reading.framing import BARE, BROKEN, OVERSIZE, Frame, Framer, LineFramer, SseFramer
from speedqual.endpoints.reading.framing_aws import AwsEventFramer
from speedqual.endpoints.reading.framing_json import JsonArrayFramer


def _all(framer: Framer, *pieces: bytes) -> list[Frame]:
    return [frame for piece in pieces for frame in framer.feed(piece)] + framer.close()


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"], ids=["lf", "crlf", "cr"])
def test_every_line_end_ends_a_line(end: bytes) -> None:
    body = end.join([b"data: a", b"", b"data: b", b"", b""])
    assert _all(SseFramer(), body) == [Frame("", b"a"), Frame("", b"b")]


def test_an_event_is_whole_at_the_cr_before_its_lf_comes() -> None:
    framer = SseFramer()
    assert framer.feed(b"data: a\r\n\r") == [Frame("", b"a")]
    assert framer.feed(b"\ndata: b\r") == []
    assert framer.feed(b"\r") == [Frame("", b"b")]


def test_other_separators_of_unicode_are_text() -> None:
    text = "data: a\u2028b\u0085c\x0bd\x0ce\x1cf\n\n".encode()
    assert _all(SseFramer(), text) == [Frame("", text[6:-2])]


def test_a_byte_order_mark_is_dropped_once_and_may_be_cut() -> None:
    assert _all(SseFramer(), b"\xef", b"\xbb", b"\xbfdata: a\n\n") == [Frame("", b"a")]
    assert _all(SseFramer(), b"\xef\xbbdata: a\n\n") == []  # no mark, so no field of ours
    assert _all(LineFramer(), b"\xef\xbb\xbf{}") == [Frame("", b"{}")]


@pytest.mark.parametrize(
    ("body", "frames"),
    [
        (b"data:a\n\n", [Frame("", b"a")]),
        (b"data:  a\n\n", [Frame("", b" a")]),  # one space belongs to the colon
        (b"data: a\ndata:\ndata: b\n\n", [Frame("", b"a\n\nb")]),
        (b": comment\n\n:\n\ndata: a\n\n", [Frame("", b"a")]),
        (b"id: 1\nevent: delta\nretry: 3\nfoo: bar\ndata: a\n\ndata: b\n\n", [Frame("delta", b"a"), Frame("", b"b")]),
        (b"event: ping\n\ndata: a\n\n", [Frame("", b"a")]),  # no data, no event; its name does not linger
        (b"data\n\ndata:\n\ndata: \n\n", []),
        (b"data: a", [Frame("", b"a")]),
        (b"data: a\n", [Frame("", b"a")]),
        (b"data: a\r", [Frame("", b"a")]),
        (b'error: {"code": 1}\n\n', [Frame("error", b'{"code": 1}')]),
        (b'{"error": 1}\n\n', [Frame(BARE, b'{"error": 1}')]),
        (b"", []),
        (b"\n\n\n", []),
    ],
)
def test_fields_of_an_event(body: bytes, frames: list[Frame]) -> None:
    assert _all(SseFramer(), body) == frames


def test_lines_of_json() -> None:
    assert _all(LineFramer(), b'{"a":1}\r\n\n  \n{"b"', b':2}\n{"c":3}') == [
        Frame("", b'{"a":1}'),
        Frame("", b'{"b":2}'),
        Frame("", b'{"c":3}'),
    ]


def test_an_object_of_an_array_is_whole_at_its_brace() -> None:
    framer = JsonArrayFramer()
    assert framer.feed(b'[{"a": "}]\\"{"}') == [Frame("", b'{"a": "}]\\"{"}')]
    assert framer.feed(b"\n,\n") == []
    assert framer.feed(b'{"b": [1, {"c": "\\') == []
    assert framer.feed(b'""}]}]') == [Frame("", b'{"b": [1, {"c": "\\""}]}')]
    assert framer.close() == []


def test_an_object_that_never_closed_is_given_back_at_the_end() -> None:
    assert _all(JsonArrayFramer(), b'[{"a": 1') == [Frame("", b'{"a": 1')]


@pytest.mark.parametrize("size", [65, 300, 100_000])
def test_a_frame_over_the_limit_is_cut_off_and_the_next_is_good(size: int) -> None:
    long = b"x" * size
    assert _all(SseFramer(64), b"data: " + long + b"\n\ndata: a\n\n") == [Frame(OVERSIZE, b""), Frame("", b"a")]
    assert _all(LineFramer(64), long + b"\n{}\n") == [Frame(OVERSIZE, b""), Frame("", b"{}")]
    array = b'[{"a": "' + long + b'"}, {}]'
    assert _all(JsonArrayFramer(64), array) == [Frame(OVERSIZE, b""), Frame("", b"{}")]


def test_many_short_lines_of_one_event_are_bounded_too() -> None:
    assert _all(SseFramer(64), b"data: 123456\n" * 50 + b"\ndata: a\n\n") == [Frame(OVERSIZE, b""), Frame("", b"a")]


def test_nothing_of_a_long_line_is_kept() -> None:
    framer = LineFramer(1000)
    for _ in range(1000):
        framer.feed(b"x" * 1000)
    assert framer._lines._held == []


# ---------------------------------------------------------------------------------- AWS event streams


def _message(kind: str, payload: bytes, **headers: str) -> bytes:
    pairs = {
        ":message-type": "event",
        ":event-type": kind,
        **{f":{k.replace('_', '-')}": v for k, v in headers.items()},
    }
    block = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + len(value).to_bytes(2, "big") + value.encode()
        for name, value in pairs.items()
    )
    prelude = (16 + len(block) + len(payload)).to_bytes(4, "big") + len(block).to_bytes(4, "big")
    body = prelude + zlib.crc32(prelude).to_bytes(4, "big") + block + payload
    return body + zlib.crc32(body).to_bytes(4, "big")


def test_messages_are_whole_at_their_last_byte() -> None:
    first, second = _message("a", b"{}"), _message("b", b'{"x":1}')
    framer = AwsEventFramer()
    assert framer.feed(first[:-1]) == []
    assert framer.feed(first[-1:] + second) == [Frame("a", b"{}"), Frame("b", b'{"x":1}')]


def test_exceptions_and_errors_bear_their_name() -> None:
    exception = _message("", b'{"message":"slow down"}', message_type="exception", exception_type="throttlingException")
    error = _message("", b"", message_type="error", error_code="internalError", error_message="broke")
    assert _all(AwsEventFramer(), exception + error) == [
        Frame("exception:throttlingException", b'{"message":"slow down"}'),
        Frame("exception:internalError", b'{"message": "broke"}'),
    ]


def test_a_wrong_checksum_of_a_message_costs_that_message() -> None:
    bad = bytearray(_message("a", b"{}"))
    bad[-6] ^= 1
    frames = _all(AwsEventFramer(), bytes(bad) + _message("b", b"{}"))
    assert frames == [Frame(BROKEN, b"the checksum of a message is wrong"), Frame("b", b"{}")]


def test_a_wrong_checksum_of_a_prelude_costs_the_rest() -> None:
    bad = bytearray(_message("a", b"{}"))
    bad[0] ^= 1
    frames = _all(AwsEventFramer(), bytes(bad), _message("b", b"{}"))
    assert frames == [Frame(BROKEN, b"the checksum of a message's prelude is wrong")]


def test_a_message_over_the_limit_is_refused_before_it_is_kept() -> None:
    frames = _all(AwsEventFramer(100), _message("a", b"x" * 200)[:40])
    assert frames == [Frame(BROKEN, b"a message passes the limit of 16 MiB")]


def test_headers_of_every_type_are_skipped_over() -> None:
    values = [b"\x00", b"\x01", b"\x02a", b"\x03ab", b"\x04abcd", b"\x05abcdefgh", b"\x06\x00\x01z", b"\x08abcdefgh"]
    values += [b"\x09" + b"u" * 16, b"\x07\x00\x02hi"]
    block = b"".join(b"\x01" + bytes([97 + i]) + value for i, value in enumerate(values))
    block += b"\x0b:event-type\x07\x00\x01k"
    prelude = (16 + len(block)).to_bytes(4, "big") + len(block).to_bytes(4, "big")
    body = prelude + zlib.crc32(prelude).to_bytes(4, "big") + block
    assert _all(AwsEventFramer(), body + zlib.crc32(body).to_bytes(4, "big")) == [Frame("k", b"")]
