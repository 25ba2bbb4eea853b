"""Work that can wait: one piece a turn of the event loop, requests before replies, long pieces in slices."""

import asyncio
import time

from speedqual.endpoints.base import RawReply, Read, ReadsInSteps
from speedqual.endpoints.reading.decoding import STEP_BYTES
from speedqual.endpoints.registry import endpoint
from speedqual.endpoints.transport.turns import Turns


class LoopTurns:
    """Counts the turns of the event loop."""

    def __init__(self) -> None:
        self.n = 0
        self._tick()

    def _tick(self) -> None:
        self.n += 1
        self._handle = asyncio.get_running_loop().call_soon(self._tick)

    def stop(self) -> None:
        self._handle.cancel()


async def test_those_who_ask_at_one_moment_are_let_on_in_turns_of_their_own():
    turns, loop_turns, let_on = Turns(), LoopTurns(), []

    async def work(name: str, *, first: bool) -> None:
        await turns.take(first=first)
        let_on.append((name, loop_turns.n))

    async with asyncio.TaskGroup() as group:
        for name in ("a", "b", "c"):
            group.create_task(work(name, first=False))
        for name in ("X", "Y"):
            group.create_task(work(name, first=True))
    loop_turns.stop()
    assert [name for name, _ in let_on] == ["a", "X", "Y", "b", "c"]  # the first one found nobody before it
    assert len({n for _, n in let_on}) == 5


async def test_nobody_waits_for_one_who_gave_up():
    turns = Turns()
    await turns.take()
    waiting = [asyncio.create_task(turns.take()) for _ in range(3)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    waiting[1].cancel()
    await asyncio.wait_for(waiting[2], 1)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    before = asyncio.create_task(turns.take())
    await asyncio.sleep(0)
    assert before.done()  # at once: the turn is nobody's


async def test_a_long_piece_lets_the_loop_look_in_between():
    turns, loop_turns = Turns(), LoopTurns()

    def steps():
        for _ in range(10):
            until = time.perf_counter() + 0.001
            while time.perf_counter() < until:
                pass
            yield
        return "read"

    await turns.take()
    before = loop_turns.n
    assert await turns.through(steps()) == "read"
    assert loop_turns.n - before >= 10  # each step of 1 ms is longer than a slice
    loop_turns.stop()


def test_a_long_reply_is_read_in_steps_and_says_the_same():
    chat = endpoint("openai")
    assert isinstance(chat, ReadsInSteps)
    event = b'data: {"choices": [{"delta": {"content": "word "}}]}\n\n'
    reads = (*(Read(k, event) for k in range(1000)), Read(1000, b"data: [DONE]\n\n"))
    raw = RawReply(t_send=0, status=200, reads=reads, stamp="scripted")
    steps, n_steps = chat.decode_in_steps(raw), 0
    while True:
        try:
            next(steps)
            n_steps += 1
        except StopIteration as end:
            assert end.value == chat.decode(raw)
            assert end.value.text == "word " * 1000
            break
    assert n_steps == 1000 // -(-STEP_BYTES // len(event)) + 1
