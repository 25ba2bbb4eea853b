"""The scripted endpoint does what its script says, and its log is true."""

import asyncio
import json
from itertools import pairwise

import aiohttp
import pytest

from speedqual.endpoints.client import Client, Deadlines
from speedqual.endpoints.scripted import Rule, Script, ScriptedServer, Stall, script_from_words, serve_in_process
from speedqual.endpoints.scripted.dialects import OpenAI
from speedqual.endpoints.scripted.plan import plan_reply
from speedqual.endpoints.scripted.script import Asked, tokens_of
from speedqual.errors import ConfigError, UsageError
from speedqual.records import Candidate, Message, Prompt

MS = 1_000_000
PROMPT = Prompt(messages=(Message("system", "Be brief"), Message("user", "What is the capital of France?")))


def asked(**more):
    return Asked(**({"model": "m", "prompt": "Hello", "body": {}, "headers": {}} | more))


def due_ms(script, **more):
    return [step.at_ns / MS for step in plan_reply(script, asked(**more), OpenAI()).steps if step.tokens]


def test_tokens_are_due_by_the_formula():
    assert due_ms(Script(ttft_ms=100, tok_s=50, n=4)) == [100, 120, 140, 160]


def test_a_chunk_is_due_with_its_last_token():
    assert due_ms(Script(ttft_ms=100, tok_s=50, n=5, tokens_per_chunk=2)) == [120, 160, 180]


def test_a_stall_comes_before_the_token_after_it():
    assert due_ms(Script(ttft_ms=100, tok_s=50, n=4, stalls=(Stall(after=2, ms=300),))) == [100, 120, 440, 460]


def test_undelayed_tokens_are_all_due_with_the_first():
    assert due_ms(Script(ttft_ms=100, tok_s=0, n=4)) == [100] * 4


def test_clumps_go_out_with_their_last_chunk():
    assert due_ms(Script(ttft_ms=100, tok_s=50, n=5, chunks_per_write=3)) == [140, 180]


def test_jitter_keeps_the_order_and_is_the_same_each_time():
    script = Script(ttft_ms=100, tok_s=50, n=50, jitter_ms=40, seed=3)
    times = due_ms(script)
    assert times == sorted(times) == due_ms(script)
    assert times != due_ms(Script(ttft_ms=100, tok_s=50, n=50, jitter_ms=40, seed=4))


def test_the_head_can_wait_for_the_first_token():
    early = plan_reply(Script(ttft_ms=100), asked(), OpenAI()).steps[0]
    late = plan_reply(Script(ttft_ms=100, head_ms=None), asked(), OpenAI()).steps[0]
    assert (early.at_ns, late.at_ns) == (0, 100 * MS)


@pytest.mark.parametrize("text", ["Hello there,  you. ", "中文和 English 混合。", "\n\nA\n", "", "   "])
def test_tokens_joined_are_the_text(text):
    assert "".join(tokens_of(text)) == text


def test_a_schedule_in_words():
    words = "ttft_ms=20,tok_s=0,n=8,role=0,head_ms=none,error=cut,error_after=3"
    assert script_from_words(words) == Script(
        ttft_ms=20, tok_s=0, n=8, role=False, head_ms=None, error="cut", error_after=3
    )


@pytest.mark.parametrize("words", ["ttft=20", "n=many", "tok_s=-1", "error=boom", "stalls=3"])
def test_a_wrong_word_is_named(words):
    with pytest.raises(ConfigError) as caught:
        script_from_words(words)
    assert words.split("=")[0] in str(caught.value)


async def ask(script, *, endpoint="openai", deadlines=None, prompt=PROMPT, **settings):
    async with ScriptedServer(script, **settings) as server, Client(environ={}, deadlines=deadlines) as client:
        base_url = server.base_url if endpoint == "openai" else server.root_url
        attempt = await client.ask(Candidate(name="x", endpoint=endpoint, model="m", base_url=base_url), prompt)
        return attempt, server


@pytest.mark.parametrize("endpoint", ["openai", "ollama"])
async def test_text_reasoning_and_counts_arrive_as_scripted(endpoint):
    script = Script(ttft_ms=1, tok_s=0, text="It is Paris.", reasoning="France, so", n_prompt=12, n_cached=4)
    attempt, server = await ask(script, endpoint=endpoint)
    assert (attempt.outcome, attempt.text, attempt.reasoning) == ("ok", "It is Paris.", "France, so")
    assert (attempt.usage.n_prompt, attempt.usage.n_out) == (12, 5)
    assert server.log()[0]["n_out"] == 5
    if endpoint == "openai":
        assert (attempt.usage.n_cached, attempt.usage.n_reasoning) == (4, 2)


async def test_rules_choose_the_answer_by_the_prompt():
    script = Script(
        ttft_ms=1,
        tok_s=0,
        text="?",
        rules=(Rule(contains="Spain", text="Madrid"), Rule(contains="France", text="Paris")),
    )
    assert (await ask(script))[0].text == "Paris"


async def test_a_callable_writes_the_answer():
    attempt, _ = await ask(Script(ttft_ms=1, tok_s=0, text=lambda request: request.prompt[::-1]))
    assert attempt.text == PROMPT.messages[1].content[::-1]


@pytest.mark.parametrize(("usage", "n_out"), [("own", 3), ("last", 3), ("none", None), ("wrong", 30)])
async def test_usage_comes_where_the_script_says(usage, n_out):
    attempt, _ = await ask(Script(ttft_ms=1, tok_s=0, n=3, usage=usage))
    assert attempt.usage.n_out == n_out


async def test_max_tokens_is_obeyed():
    attempt, _ = await ask(Script(ttft_ms=1, tok_s=0, n=30), prompt=Prompt(messages=PROMPT.messages, max_tokens=4))
    assert (attempt.usage.n_out, attempt.stop) == (4, "length")


ERRORS = {
    "http": "http_error",
    "redirect": "http_error",
    "html": "not_stream",
    "body": "body_error",
    "silent": "timeout",
    "stream": "stream_error",
    "truncated": "cut_off",
    "cut": "disconnect",
    "reset": "disconnect",
    "hang": "timeout",
    "payload": "bad_payload",
    "empty": "empty",
    "filtered": "filtered",
}


@pytest.mark.parametrize("endpoint", ["openai", "ollama"])
@pytest.mark.parametrize("error", ERRORS)
async def test_every_error_is_seen_as_what_it_is(error, endpoint):
    script = Script(ttft_ms=1, tok_s=200, n=8, error=error, error_after=3, location="/elsewhere")
    deadlines = Deadlines(first_token_s=0.3, silence_s=0.3)
    attempt, _ = await ask(script, endpoint=endpoint, deadlines=deadlines)
    assert attempt.outcome == ERRORS[error]
    if error in ("stream", "truncated", "cut", "hang"):
        assert len(attempt.timeline.events) == 3


async def test_a_busy_endpoint_says_when_to_come_back():
    attempt, _ = await ask(Script(ttft_ms=1, error="http", status=429, retry_after_s=2.5))
    assert (attempt.status, attempt.retry_after_s, attempt.retryable) == (429, 2.5, True)


async def test_an_endless_line_is_bounded_by_the_client():
    script = Script(ttft_ms=1, error="long_line", error_bytes=64 << 20)
    attempt, _ = await ask(script)
    assert attempt.outcome == "disconnect"
    assert "MiB" in attempt.error_message


async def test_scripts_of_one_model_come_in_turn_and_models_have_their_own():
    scripts = {
        "a": [Script(ttft_ms=1, error="http", status=503), Script(ttft_ms=1, tok_s=0, text="second")],
        "b": Script(ttft_ms=1, tok_s=0, text="other"),
    }
    async with ScriptedServer(scripts) as server, Client(environ={}) as client:
        a, b, c, words = (
            Candidate(name=m, model=m, base_url=server.base_url)
            for m in ("a", "b", "c", "script:ttft_ms=1,tok_s=0,n=2")
        )
        assert [(await client.ask(x, PROMPT)).outcome for x in (a, a, a)] == ["http_error", "ok", "http_error"]
        assert (await client.ask(b, PROMPT)).text == "other"
        assert (await client.ask(c, PROMPT)).status == 404
        assert (await client.ask(words, PROMPT)).usage.n_out == 2


async def test_slots_make_requests_queue_in_order():
    script = Script(ttft_ms=100, tok_s=0)
    async with ScriptedServer(script, slots=1) as server, Client(environ={}) as client:
        candidate = Candidate(name="x", model="m", base_url=server.base_url)
        attempts = await asyncio.gather(*(client.ask(candidate, PROMPT) for _ in range(3)))
        log = server.log()
        assert server.stats()["peak_active"] == 1
    assert [a.outcome for a in attempts] == ["ok"] * 3
    for earlier, later in pairwise(log):
        assert later["t_start"] >= earlier["t_end"]


async def test_one_that_leaves_the_queue_gives_up_its_place():
    script = Script(ttft_ms=300, tok_s=0)
    async with ScriptedServer(script, slots=1) as server, Client(environ={}) as client:
        candidate = Candidate(name="x", model="m", base_url=server.base_url)
        first = asyncio.create_task(client.ask(candidate, PROMPT))
        await asyncio.sleep(0.05)
        second = asyncio.create_task(client.ask(candidate, PROMPT))
        await asyncio.sleep(0.05)
        second.cancel()
        await asyncio.wait([second])
        assert (await first).outcome == "ok"
        assert (await client.ask(candidate, PROMPT)).outcome == "ok"


async def test_the_log_tells_the_times_of_every_write_with_text():
    attempt, server = await ask(Script(ttft_ms=50, tok_s=100, n=6, tokens_per_chunk=2))
    (entry,) = server.log()
    assert entry["tokens"] == [2, 2, 2]
    assert entry["t_request"] <= entry["t_start"] <= entry["t_head"] <= entry["sent"][0] <= entry["t_end"]
    assert entry["sent"][0] - entry["t_start"] >= 60 * MS
    assert len(attempt.timeline.events) == 3
    assert (entry["connection"], entry["end"]) == ("new", "sent")


async def test_a_request_that_wants_no_stream_gets_one_object():
    script = Script(ttft_ms=1, tok_s=0, text="It is Paris.")
    async with ScriptedServer(script) as server, aiohttp.ClientSession() as session:
        body = {"model": "m", "messages": [{"role": "user", "content": "?"}]}
        async with session.post(f"{server.base_url}/chat/completions", json=body) as reply:
            told = await reply.json()
        async with session.get(f"{server.base_url}/models") as reply:
            models = await reply.json()
        for path, data in (("/v1/nothing", b"{}"), ("/v1/chat/completions", b"[1")):
            async with session.post(server.root_url + path, data=data) as reply:
                assert reply.status in (400, 404)
    assert told["choices"][0]["message"]["content"] == "It is Paris."
    assert told["usage"]["completion_tokens"] == 3
    assert models["data"][0]["id"]


async def test_in_a_process_of_its_own_it_serves_and_tells_the_same():
    rules = (Rule(contains="France", text="Paris"),)
    with serve_in_process(
        {"m": Script(ttft_ms=5, tok_s=0, rules=rules, stalls=(Stall(after=1, ms=2.0),))}, slots=2
    ) as server:
        async with Client(environ={}) as client:
            attempt = await client.ask(Candidate(name="x", model="m", base_url=server.base_url), PROMPT)
        (entry,) = server.log()
        assert server.stats()["requests"] == 1
    assert attempt.text == "Paris"
    assert json.dumps(entry)
    assert entry["sent"][0] <= attempt.timeline.events[0].t_ns


def test_a_callable_cannot_cross_over():
    with pytest.raises(UsageError, match="rules"), serve_in_process(Script(text=str)):
        pass
