"""The metrics of recorded replies of every protocol, read with exact stamps."""

from pathlib import Path

import pytest

from speedqual.endpoints.recordings.files import endpoint_of, read_recording
from speedqual.endpoints.registry import endpoint
from speedqual.timing import measure

RECORDINGS = sorted((Path(__file__).parents[1] / "recordings").glob("W*.json"))


def measured(path: Path):
    recording = read_recording(path)
    attempt = endpoint(endpoint_of(recording.api)).decode(recording.raw())
    return recording.expect, measure([attempt], failed_too=True)


def test_there_are_recordings():
    assert len(RECORDINGS) >= 62


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_a_recording_gives_the_expected_times_and_tokens(path):
    expect, got = measured(path)
    for metric, key in (("ttft_ms", "ttft_ms"), ("e2e_ms", "last_token_ms"), ("n_out", "completion_tokens")):
        if key in expect:
            assert got.metrics[metric] == expect[key], metric
    assert ("buffered" in got.flags) == bool(expect.get("buffered"))
    if expect.get("buffered"):
        assert got.metrics["decode_tok_s"] is None
