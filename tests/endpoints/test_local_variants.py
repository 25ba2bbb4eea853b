"""Layers are dropped from a tiny GGUF file written here: names, numbers and bytes are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from speedqual.endpoints.local import drop_layers
from speedqual.endpoints.local.variants import layer_count
from speedqual.errors import UsageError

gguf = pytest.importorskip("gguf")


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.gguf"
    writer = gguf.GGUFWriter(path, arch="llama")
    writer.add_block_count(4)
    writer.add_name("tiny")
    writer.add_array("tokenizer.ggml.tokens", ["a", "b", "中"])
    writer.add_tensor("token_embd.weight", np.full((2, 3), 7, dtype=np.float32))
    for block in range(4):
        writer.add_tensor(f"blk.{block}.attn.weight", np.full((2, 2), block, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_dropped_blocks_are_gone_and_the_rest_renumbered(tiny: Path) -> None:
    made = drop_layers(tiny, [1])
    reader = gguf.GGUFReader(made)
    values = {t.name: float(t.data.flat[0]) for t in reader.tensors}
    assert values == {
        "token_embd.weight": 7.0,
        "blk.0.attn.weight": 0.0,
        "blk.1.attn.weight": 2.0,
        "blk.2.attn.weight": 3.0,
    }
    assert layer_count(made) == 3
    assert reader.fields["general.name"].contents() == "tiny"
    assert reader.fields["tokenizer.ggml.tokens"].contents() == ["a", "b", "中"]


def test_a_variant_is_made_once(tiny: Path) -> None:
    first = drop_layers(tiny, [3, 0])
    stamp = first.stat().st_mtime_ns
    assert drop_layers(tiny, [0, 3]) == first
    assert first.stat().st_mtime_ns == stamp
    assert first.name == "tiny-without-0-3.gguf"


@pytest.mark.parametrize("layers", [[4], [-1], [], [0, 1, 2, 3]])
def test_impossible_layers_are_refused_with_what_there_is(tiny: Path, layers: list[int]) -> None:
    with pytest.raises(UsageError, match="layers 0 to 3"):
        drop_layers(tiny, layers)
