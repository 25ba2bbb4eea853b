"""What ``speedqual doctor`` looks at, room by room: each look gives findings, and asks nobody."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

__all__ = ["ROOMS", "Finding"]

_LITTLE_DISK_GB, _LITTLE_MEMORY_GB = 1.0, 2.0
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_NAMED = 3  # model files that are named; the others are counted
_FRONT_ENDS = {
    "yaml": "pip install pyyaml",
    "html": "pip install html5lib",
    "javascript": "node (Debian: nodejs)",
    "typescript": "npm install --global typescript",
    "c": "gcc",
    "c++": "g++",
    "rust": "rustc",
    "go": "go (Debian: golang-go)",
    "java": "javac (Debian: default-jdk-headless)",
    "css": "npm install --global esbuild",
    "glsl": "glslangValidator (Debian: glslang-tools)",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at: ``state`` good | missing | bad, and what follows from it."""

    what: str
    state: str
    says: str


def _python() -> list[Finding]:
    return [Finding("Python", "good", f"{platform.python_version()} on {platform.system()} {platform.machine()}")]


def _cores() -> list[Finding]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    busy = f"{cores} usable, load {load:.1f}"
    if load > cores:
        return [Finding("cores", "bad", f"{busy}: something else is running, wait until it is done before you measure")]
    return [Finding("cores", "good", busy)]


def _space() -> list[Finding]:
    free = shutil.disk_usage(Path.cwd()).free / 1e9
    little = f"{free:.1f} GB free here" + (": a run may stop for want of room" if free < _LITTLE_DISK_GB else "")
    found = [Finding("disk", "bad" if free < _LITTLE_DISK_GB else "good", little)]
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
        small = memory < _LITTLE_MEMORY_GB
        says = f"{memory:.1f} GB" + (": too little for a local model" if small else "")
        found.append(Finding("memory", "missing" if small else "good", says))
    return found


def _clock() -> list[Finding]:
    info = time.get_clock_info("perf_counter")
    found = [Finding("clock", "good", f"{info.implementation}, resolution {info.resolution * 1e9:.0f} ns")]
    if sys.platform == "linux":
        found.append(Finding("arrival stamps", "good", "from the kernel: our own work does not delay them"))
    else:
        says = "taken when the event loop reads; keep concurrency low (kernel stamps need Linux)"
        found.append(Finding("arrival stamps", "missing", says))
    return found


def _local() -> list[Finding]:
    from speedqual.endpoints.local import list_models

    if find_spec("xllamacpp") is None:
        return [Finding("local models", "missing", "no engine: pip install 'speedqual[local]'")]
    names = [model.name for model in list_models()]
    if not names:
        return [Finding("local models", "good", "engine there, no model yet: speedqual quickstart fetches one")]
    more = f" and {len(names) - _NAMED} more (speedqual local list)" if len(names) > _NAMED else ""
    return [Finding("local models", "good", ", ".join(sorted(names, key=len)[:_NAMED]) + more)]


def _keys() -> list[Finding]:
    from speedqual.endpoints.registry import endpoint, names

    wanted = sorted({variable for name in names() for variable in endpoint(name).key_envs})
    found = [name for name in wanted if os.environ.get(name)]
    says = ", ".join(found) if found else "none set; local servers need none"
    return [Finding("API keys", "good" if found else "missing", says)]


def _sandbox() -> list[Finding]:
    from speedqual.grading.sandbox import possible_backends, probe

    tried = []
    for backend in possible_backends():
        found = probe(backend)
        if found.holds:
            return [Finding("sandbox", "good", f"{backend}, probed just now: what models write is run there")]
        tried.append(f"{backend}: {found.fault or 'open: ' + ', '.join(found.open_doors)}")
    why = "; ".join(tried) or "Linux with Landlock or bubblewrap is needed"
    return [Finding("sandbox", "missing", f"none holds, so programs are checked and not run ({why})")]


def _checkers() -> list[Finding]:
    from speedqual.grading.checkers import available_checkers

    return [_checker(name, there) for name, there in available_checkers().items()]


def _checker(language: str, there: str) -> Finding:
    if there:
        return Finding(f"checks {language}", "good", there)
    get = _FRONT_ENDS.get(language, "its front end")
    return Finding(f"checks {language}", "missing", f"programs in it are not checked; install {get}")


def _nli() -> list[Finding]:
    return [_packages("NLI judge", ("onnxruntime", "tokenizers"), "nli", "an option for free text")]


def _lab() -> list[Finding]:
    return [_packages("notebooks", ("jupyterlab", "ipywidgets", "anywidget"), "lab", "live views and widgets")]


def _packages(what: str, names: Iterable[str], extra: str, use: str) -> Finding:
    """Optional packages with their versions, or the extra that brings them."""
    lacking = [name for name in names if find_spec(name) is None]
    if lacking:
        return Finding(what, "missing", f"no {', '.join(lacking)}: pip install 'speedqual[{extra}]' ({use})")
    return Finding(what, "good", ", ".join(f"{name} {version(name)}" for name in names))


def _fonts() -> list[Finding]:
    from speedqual.plots.style import fonts

    chinese = fonts()[1:]
    if not chinese:
        return [Finding("Chinese in plots", "missing", "no CJK font: install Noto Sans CJK (Debian: fonts-noto-cjk)")]
    return [Finding("Chinese in plots", "good", chinese[0])]


def _browser() -> list[Finding]:
    found = next((path for path in map(shutil.which, _BROWSERS) if path), None)
    says = "any browser opens a report; only the browser tests of a checkout need Chromium (Debian: chromium)"
    return [Finding("browser", "good" if found else "missing", Path(found).name if found else says)]


ROOMS: dict[str, tuple[Callable[[], list[Finding]], ...]] = {
    "To measure": (_python, _cores, _space, _clock, _local, _keys),
    "To grade": (_sandbox, _checkers, _nli),
    "To show": (_lab, _fonts, _browser),
}
"""What a machine is for, and what is looked at there."""
