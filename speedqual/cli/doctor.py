"""``speedqual doctor``: what this machine can measure and grade, and what to install for the rest."""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.util import find_spec

import click

from speedqual.cli.table import width

__all__ = ["command"]

MARKS = {"good": "✓", "missing": "–", "bad": "✗"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at: ``state`` good | missing | bad, and what follows from it."""

    what: str
    state: str
    says: str


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def command(as_json: bool) -> None:
    """Say what this machine can measure and grade. Asks nobody; exits with 1 when something is bad.

    \b
    Example:
      speedqual doctor
    """
    findings = [finding for look in LOOKS for finding in look()]
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings], ensure_ascii=False, indent=1))
    else:
        size = max(width(finding.what) for finding in findings)
        for finding in findings:
            pad = " " * (size - width(finding.what))
            click.echo(f"{MARKS[finding.state]} {finding.what}{pad}  {finding.says}")
    raise click.exceptions.Exit(int(any(finding.state == "bad" for finding in findings)))


def _python() -> list[Finding]:
    return [Finding("Python", "good", f"{platform.python_version()} on {platform.system()} {platform.machine()}")]


def _cores() -> list[Finding]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    busy = f"{cores} usable, load {load:.1f}"
    if load > cores:
        return [Finding("cores", "bad", f"{busy}: something else is running, wait until it is done before you measure")]
    return [Finding("cores", "good", busy)]


def _clock() -> list[Finding]:
    info = time.get_clock_info("perf_counter")
    found = [Finding("clock", "good", f"{info.implementation}, resolution {info.resolution * 1e9:.0f} ns")]
    if sys.platform == "linux":
        found.append(Finding("arrival stamps", "good", "from the kernel: our own work does not delay them"))
    else:
        says = "taken when the event loop reads; keep concurrency low (kernel stamps need Linux)"
        found.append(Finding("arrival stamps", "missing", says))
    return found


def _sandbox() -> list[Finding]:
    from speedqual.grading.sandbox import best_backend

    backend = best_backend()
    if backend is None:
        says = "none holds: programs are checked and not run (Linux with Landlock or bubblewrap is needed)"
        return [Finding("sandbox", "missing", says)]
    return [Finding("sandbox", "good", f"{backend}: what models write is run there")]


def _checkers() -> list[Finding]:
    from speedqual.grading.checkers import available_checkers

    return [
        Finding(f"checks {name}", "good" if there else "missing", there or "front end not installed: not checked")
        for name, there in available_checkers().items()
    ]


def _local() -> list[Finding]:
    from speedqual.endpoints.local import list_models

    if find_spec("xllamacpp") is None:
        return [Finding("local models", "missing", "no engine: pip install 'speedqual[local]'")]
    names = ", ".join(model.name for model in list_models())
    return [Finding("local models", "good", names or "engine there, no model yet: speedqual quickstart fetches one")]


def _lab() -> list[Finding]:
    missing = [name for name in ("jupyterlab", "ipywidgets", "anywidget") if find_spec(name) is None]
    if missing:
        return [Finding("notebooks", "missing", f"no {', '.join(missing)}: pip install 'speedqual[lab]'")]
    return [Finding("notebooks", "good", "JupyterLab and widgets")]


def _fonts() -> list[Finding]:
    from speedqual.plots.style import fonts

    chinese = fonts()[1:]
    if not chinese:
        return [Finding("Chinese in plots", "missing", "no CJK font: install Noto Sans CJK (Debian: fonts-noto-cjk)")]
    return [Finding("Chinese in plots", "good", chinese[0])]


def _keys() -> list[Finding]:
    from speedqual.endpoints.registry import endpoint, names

    wanted = sorted({variable for name in names() for variable in endpoint(name).key_envs})
    found = [name for name in wanted if os.environ.get(name)]
    says = ", ".join(found) if found else "none set; local servers need none"
    return [Finding("API keys", "good" if found else "missing", says)]


LOOKS: tuple[Callable[[], list[Finding]], ...] = (
    _python,
    _cores,
    _clock,
    _sandbox,
    _checkers,
    _local,
    _lab,
    _fonts,
    _keys,
)
