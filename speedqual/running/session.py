"""One call of evaluate on a run folder: opens or resumes it, keeps its journal, closes it whatever happened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from speedqual.clock import Clock
from speedqual.errors import RunFolderError, SpeedqualError, StorageError, UsageError
from speedqual.records import Price, Record, content_hash
from speedqual.running.codec import Packed, key_of
from speedqual.running.journal import Journal
from speedqual.running.layout import Layout
from speedqual.running.manifest import new_manifest, new_session
from speedqual.running.plan import Plan
from speedqual.running.settings import Settings

__all__ = ["Session", "begun_with", "opened", "prices_of", "refuse_unless_fit"]

_MODELS_KEPT = 20


def refuse_unless_fit(layout: Layout, plan: Plan, settings: Settings, *, resume: bool) -> None:
    """Raise before anything is spent when the folder holds another run, or holds one and ``resume`` was not said."""
    if not layout.manifest.exists():
        if resume and not layout.folder.exists():
            raise RunFolderError("there is no run to resume", where=layout.name, fix="Leave resume out to begin one")
        if layout.folder.exists() and any(layout.folder.iterdir()) and not resume:
            raise UsageError("the folder is not empty", where=layout.name, fix="Choose another folder")
        return
    if not resume:
        raise UsageError("the folder holds a run", where=layout.name, fix="Resume it, or choose another folder")
    manifest = layout.read_manifest()
    _refuse_other_kind(layout, was_load="load" in manifest, is_load=plan.load is not None)
    for what, was, now in _facts(manifest, plan, settings):
        if was != now:
            raise RunFolderError(
                f"the run was begun with other {what}: {was} then, {now} now",
                where=layout.name,
                fix="Resume with the same, or begin a run in another folder",
            )


def _refuse_other_kind(layout: Layout, *, was_load: bool, is_load: bool) -> None:
    """A load test goes on as a load test, a run as a run."""
    if was_load != is_load:
        raise RunFolderError(
            f"this is {'a' if was_load else 'no'} load test",
            where=layout.name,
            fix=f"Go on with: speedqual {'load' if was_load else 'run'} --resume {layout.shown}",
        )


def begun_with(layout: Layout, settings: Settings) -> Settings:
    """The settings with the seed and the repeats that the run in the folder was begun with."""
    if not layout.manifest.exists():
        return settings
    manifest = layout.read_manifest()
    return replace(settings, seed=manifest["seed"], repeats=manifest["settings"]["repeats"])


def prices_of(layout: Layout, prices: Mapping[str, Price | None]) -> dict[str, Price | None]:
    """The prices that the run in the folder was begun with; where one was unknown, that of ``prices``.

    So all records of a run are paid at the prices in its manifest, however long it was interrupted.
    """
    begun = layout.read_manifest()["prices"] if layout.manifest.exists() else {}
    return {name: Price.from_dict(begun[name]) if begun.get(name) else price for name, price in prices.items()}


def _facts(manifest: Mapping[str, Any], plan: Plan, settings: Settings) -> Iterator[tuple[str, object, object]]:
    """What must not change between the calls of one run."""
    yield (
        "candidates",
        sorted(f"{entry['name']} ({entry['id']})" for entry in manifest["candidates"]),
        sorted(f"{candidate.name} ({candidate.id})" for candidate in plan.candidates.values()),
    )
    yield (
        "eval sets",
        sorted(f"{entry['name']} ({entry['hash']})" for entry in manifest["evalsets"]),
        sorted(f"{evalset.name} ({evalset.hash})" for evalset in plan.evalsets.values()),
    )
    if plan.load is None:
        yield "number of trials", manifest["n_trials"], len(plan.trials)
    else:
        yield "load plan", _plan_of(manifest.get("load")), _plan_of(plan.load)


def _plan_of(load: Mapping[str, Any] | None) -> str:
    return "no load test" if load is None else f"load test {content_hash(load['plan'])}"


class Session:
    """A locked run folder that takes records. ``status`` and ``why`` say how the asking ended."""

    def __init__(self, layout: Layout, manifest: dict[str, Any], number: int, journal: Journal, done: set[str]) -> None:
        self.layout, self.manifest, self.number, self.done = layout, manifest, number, done
        self.n_done = len(done)
        self.status, self.why = "interrupted", ""
        self.client: dict[str, Any] = {}
        self._journal = journal
        self._served: dict[str, Counter[str]] = {}

    @property
    def run(self) -> str:
        return str(self.manifest["run"])

    async def keep(self, record: Record, packed: Packed | None = None) -> None:
        """Hand a finished trial to the disk; waits only when the disk is behind. ``packed``: as another process has
        encoded it, its token events too."""
        served = self._served.setdefault(record.trial.candidate, Counter())
        model = record.last.served_model
        if model is not None and (model in served or len(served) < _MODELS_KEPT):
            served[model] += 1
        self._journal.put(packed or record)
        self.n_done += 1
        await self._journal.room()

    def note_manifest(self) -> None:
        """Write the manifest as it stands, so that a kill leaves what it says so far."""
        self.manifest["n_done"] = self.n_done
        self.layout.write_json(self.layout.manifest, self.manifest)

    def finish(self, clock: Clock) -> None:
        """Make all records durable, then say in the manifest how it ended. Raises StorageError when the disk failed."""
        try:
            self._journal.close()
        except StorageError:
            self.status, self.why = "failed", "the run folder could not be written"
            self.n_done = sum(1 for _ in self.layout.lines(self.layout.records))
            with suppress(StorageError):
                self._write_manifest(clock)
            raise
        self._write_manifest(clock)

    def _write_manifest(self, clock: Clock) -> None:
        served = self.manifest["served"]
        for name, models in self._served.items():
            served[name] = dict(Counter(served.get(name, {})) + models)
        ended = datetime.fromtimestamp(clock.wall_ns() / 1e9, UTC).isoformat(timespec="milliseconds")
        self.manifest["sessions"][self.number] |= {"ended": ended, "status": self.status, "client": self.client}
        self.manifest |= {"status": self.status, "why": self.why, "n_done": self.n_done}
        if self.client:
            self.manifest["client"] = self.client
        self.layout.write_json(self.layout.manifest, self.manifest)


@contextmanager
def opened(
    layout: Layout,
    run: str,
    plan: Plan,
    settings: Settings,
    prices: Mapping[str, Price | None],
    clock: Clock,
    scrub: Callable[[bytes], bytes],
) -> Iterator[Session]:
    """The folder, locked, mended after a crash, with its journal open; closed and described at the end."""
    layout.create()
    with layout.locked():
        if layout.manifest.exists():
            kept = {name: price.to_dict() if price else None for name, price in prices.items()}
            manifest = layout.read_manifest() | {"status": "running", "why": "", "prices": kept}
            for before in manifest["sessions"]:
                before["status"] = "killed" if before["status"] == "running" else before["status"]
            layout.repair()
        else:
            manifest = new_manifest(run, plan, settings, prices, clock)
            for evalset, kept in zip(plan.evalsets.values(), manifest["evalsets"], strict=True):
                layout.write_evalset(evalset, kept["file"])
        manifest["sessions"].append(new_session(clock, settings))
        layout.write_json(layout.manifest, manifest)
        number = len(manifest["sessions"]) - 1
        done = {key_of(line) for line in layout.lines(layout.records)}
        session = Session(layout, manifest, number, Journal(layout, number, scrub), done)
        try:
            yield session
        except StorageError:
            with suppress(StorageError):
                session.finish(clock)
            raise
        except BaseException as fault:
            session.status, session.why = _ended_by(fault)
            session.finish(clock)
            raise
        session.finish(clock)


def _ended_by(fault: BaseException) -> tuple[str, str]:
    if isinstance(fault, SpeedqualError):
        return "failed", str(fault)
    if isinstance(fault, Exception):
        return "failed", type(fault).__name__  # its words may hold a path
    return "interrupted", "cancelled by the user"
