"""The streaming race: the same prompt to several candidates, side by side, tokens appearing when they came."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Self

from speedqual.endpoints.client import Client
from speedqual.evalsets import build_prompt, load
from speedqual.notebook.screens import in_kernel
from speedqual.notebook.widgets.lanes import Lane, item_of, lane_of, records_of, telling_item
from speedqual.notebook.widgets.moving import Moving
from speedqual.notebook.widgets.race_now import Asking
from speedqual.notebook.widgets.race_picture import RacePicture
from speedqual.notebook.words import notebook_words
from speedqual.records import Candidate, EvalSet, Item
from speedqual.running import Run

__all__ = ["Race"]


class Race(Moving):
    """Replies to one item side by side, as fast as they came or 0.1 to 10 times so; verdicts at the end.

    ::

        sq.Race(run)                                     # the first item on which the verdicts differ
        sq.Race(run, "item7", candidates=["small", "large"])
        race = await sq.Race.now(["openai/small", "openai/large"], "evalsets/mine", "item7")

    Times are counted from each request's own send. A text longer than 4,000 characters is cut.
    """

    _kind = "race"

    def __init__(
        self,
        run: Run | None = None,
        item: str = "",
        *,
        evalset: str = "",
        candidates: Sequence[str] = (),
        lang: str = "en",
    ) -> None:
        notebook_words(lang)  # refuses a language without words
        self._lang, self._prompt = lang, ""
        self._live = self._seen = False
        self._lanes: tuple[Lane, ...] = ()
        super().__init__()
        if run is not None:
            self._read(run, item, evalset, candidates)

    @classmethod
    async def now(
        cls,
        candidates: Sequence[Candidate | str],
        evalset: EvalSet | str,
        item: str = "",
        *,
        client: Client | None = None,
        lang: str = "en",
    ) -> Self:
        """Ask all candidates together, now, and show the tokens as they come.

        For looking, not for measuring: what they share (a machine, a connection) they share, and no run is kept.
        ``item``: its id, by default the first. A failure of an endpoint is shown in its lane.
        """
        asked = evalset if isinstance(evalset, EvalSet) else load(evalset)
        one = item_of(asked, item)
        race = cls(lang=lang)
        race._prompt = _last_words(asked, one)
        asking = Asking(candidates, asked, one, race._hear)
        race._live, race._lanes = True, asking.lanes
        if in_kernel():
            race._ipython_display_()
        try:
            await asking.run(client)
        finally:
            race._live, race._seen, race._lanes = False, True, asking.lanes
            race._painter.finish()
        return race

    @property
    def lanes(self) -> tuple[Lane, ...]:
        """One a candidate: its pieces with their times, when it began and ended, its grade."""
        return self._lanes

    def _read(self, run: Run, item: str, evalset: str, candidates: Sequence[str]) -> None:
        evalset, item = telling_item(run, evalset, item, candidates)
        records = {record.trial.candidate: record for record in records_of(run, evalset, item)}
        names = candidates or [candidate.name for candidate in run.candidates]
        self._lanes = tuple(lane_of(name, records[name].last, records[name].grade) for name in names if name in records)
        asked = next(one for one in run.evalsets if one.name == evalset)
        self._prompt = _last_words(asked, item_of(asked, item))

    def _hear(self, lanes: Iterable[Lane]) -> None:
        self._lanes = tuple(lanes)
        self._painter.touch()

    def _picture(self) -> RacePicture:
        state = {"live": self._live, "seen": self._seen}
        return RacePicture(lanes=self._lanes, prompt=self._prompt, lang=self._lang, **state)

    @property
    def _over(self) -> bool:
        return not self._live

    def __repr__(self) -> str:
        return f"<Race of {len(self._lanes)} candidates>"


def _last_words(evalset: EvalSet, item: Item) -> str:
    """The last message that everybody was sent; examples before it are each candidate's own."""
    plain = Candidate(name="any", shots=0)
    content = build_prompt(evalset, item, plain).messages[-1].content
    parts = [content] if isinstance(content, str) else [str(part.get("text", "")) for part in content]
    return "\n".join(filter(None, parts))
