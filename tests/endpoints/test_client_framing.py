"""Chunked framing: any split of the bytes gives the same body, and no bytes make it raise, hang or grow."""

from hypothesis import given
from hypothesis import strategies as st

from speedqual.endpoints.transport.chunked import ChunkedFraming

BODIES = st.lists(st.binary(min_size=1, max_size=40), max_size=8)
CUTS = st.lists(st.integers(1, 12), min_size=1, max_size=30)
EXTENSIONS = st.sampled_from([b"", b";x=y", b" ; name"])
TRAILERS = st.sampled_from([b"", b"x: y\r\n", b"a: b\r\nc: d\r\n"])


def wire(bodies, extension, trailers):
    chunks = b"".join(b"%X%b\r\n%b\r\n" % (len(b), extension, b) for b in bodies)
    return chunks + b"0\r\n" + trailers + b"\r\n"


def feed(data, cuts):
    framing, got, at, turn = ChunkedFraming(), [], 0, 0
    while at < len(data) and not framing.done and not framing.fault:
        size = cuts[turn % len(cuts)]
        got.append(framing.feed(data[at : at + size]))
        at, turn = at + size, turn + 1
    return framing, b"".join(got), data[at:]


@given(BODIES, EXTENSIONS, TRAILERS, CUTS)
def test_any_split_gives_the_same_body(bodies, extension, trailers, cuts):
    framing, body, rest = feed(wire(bodies, extension, trailers) + b"HTTP", cuts)
    assert framing.done
    assert not framing.fault
    assert body == b"".join(bodies)
    assert framing.extra + rest == b"HTTP"


@given(st.binary(max_size=200), CUTS)
def test_hostile_bytes_never_raise_and_never_grow(data, cuts):
    whole, split = feed(data, [len(data) or 1]), feed(data, cuts)
    assert whole[1] == split[1]
    assert whole[0].fault == split[0].fault
    assert len(split[0]._line) < 4096


@given(st.sampled_from([b"", b"g", b"-1", b"0x5", b"+5", b"1_0", b"f" * 17, b"\xff"]))
def test_a_size_that_is_no_hex_number_is_a_fault(digits):
    framing = ChunkedFraming()
    assert framing.feed(b"2\r\nab\r\n" + digits + b"\r\nxyz") == b"ab"
    assert "size" in framing.fault


def test_a_size_line_without_end_is_a_fault_and_is_not_kept():
    framing = ChunkedFraming()
    for _ in range(100):
        framing.feed(b"1;" + b"x" * 1000)
    assert "never ends" in framing.fault
    assert len(framing._line) < 4096
