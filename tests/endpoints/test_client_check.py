"""Preflight: every way an endpoint can be wrong has its own error, with the URL, what came back and the fix, no key."""

import json

import pytest

from speedqual.endpoints.client import Client, Deadlines
from speedqual.endpoints.scripted import Script, ScriptedServer
from speedqual.errors import (
    AuthError,
    ConfigError,
    EndpointError,
    MissingKeyError,
    NotAStreamError,
    RedirectError,
    UnknownModelError,
    UnreachableError,
)
from speedqual.records import Candidate, Message, Prompt

KEY = "sk-secret-0123456789abcdef"
ENVIRON = {"OPENAI_API_KEY": KEY}
FAST = {"ttft_ms": 1, "tok_s": 0}
ECHO = f"the key {KEY} is not welcome"

WRONG = {
    "auth": (Script(error="http", status=401, message=ECHO, **FAST), AuthError, "401"),
    "forbidden": (Script(error="http", status=403, message=ECHO, **FAST), AuthError, "403"),
    "page": (Script(error="html", **FAST), NotAStreamError, "/v1"),
    "redirect": (Script(error="redirect", location=f"/v2?key={KEY}", **FAST), RedirectError, "/v2"),
    "no path": (Script(error="http", status=404, message="nothing here", **FAST), EndpointError, "/v1"),
    "bad request": (
        Script(error="http", status=400, message="bad temperature", **FAST),
        EndpointError,
        "bad temperature",
    ),
    "no model": (
        Script(error="http", status=404, message="The model `x` does not exist", **FAST),
        UnknownModelError,
        "m",
    ),
    "body error": (Script(error="body", message="out of order", **FAST), EndpointError, "out of order"),
    "cut": (Script(error="cut", **FAST), EndpointError, "disconnect"),
    "refused": (Script(error="refuse"), UnreachableError, "closed"),
    "silent": (Script(error="silent"), EndpointError, "first_token"),
}


@pytest.mark.parametrize("name", WRONG)
async def test_each_fault_has_its_error_with_url_and_fix_and_without_the_key(name):
    script, kind, words = WRONG[name]
    deadlines = Deadlines(first_token_s=0.5)
    async with ScriptedServer(script) as server, Client(environ=ENVIRON, deadlines=deadlines) as client:
        base_url = server.base_url.replace("//", "//user:password99@")
        with pytest.raises(kind) as caught:
            await client.check(Candidate(name="mine", model="m", base_url=f"{base_url}?token=t0ken-in-query"))
    message = str(caught.value)
    assert type(caught.value) is kind
    assert server.base_url in message
    assert words in message
    assert caught.value.fix
    for secret in (KEY, "password99", "t0ken"):
        assert secret not in message


async def test_nobody_there():
    async with Client(environ=ENVIRON) as client:
        with pytest.raises(UnreachableError, match=r"127\.0\.0\.1:9.*running") as caught:
            await client.check(Candidate(name="mine", model="m", base_url="http://127.0.0.1:9/v1"))
    assert caught.value.exit_code == 3


async def test_a_good_endpoint_passes_with_one_tiny_request():
    async with ScriptedServer(Script(**FAST)) as server, Client(environ=ENVIRON) as client:
        attempt = await client.check(Candidate(name="mine", model="m", base_url=server.base_url))
    assert attempt.usage.n_out == 1
    assert [asked.max_tokens for asked in server.requests] == [1]


@pytest.mark.parametrize("status", [429, 503])
async def test_a_busy_endpoint_is_no_wrong_one(status):
    async with ScriptedServer(Script(error="http", status=status, **FAST)) as server, Client(environ=ENVIRON) as client:
        attempt = await client.check(Candidate(name="mine", model="m", base_url=server.base_url))
    assert attempt.retryable


async def test_the_key_is_sent_and_asked_for():
    async with ScriptedServer(Script(**FAST), api_key=KEY) as server:
        candidate = Candidate(name="mine", model="m", base_url=server.base_url)
        async with Client(environ=ENVIRON) as client:
            assert (await client.check(candidate)).outcome == "ok"
        async with Client(environ={}) as client:
            with pytest.raises(AuthError, match="no key was sent"):
                await client.check(candidate)
        async with Client(environ={"OPENAI_API_KEY": "sk-other"}) as client:
            with pytest.raises(AuthError, match=r"the key was refused.*Check OPENAI_API_KEY"):
                await client.check(candidate)


@pytest.mark.parametrize(
    ("candidate", "variable"),
    [
        (Candidate(name="far", model="m", base_url="https://api.example.com/v1"), "OPENAI_API_KEY"),
        (Candidate(name="near", model="m", base_url="http://127.0.0.1:9", api_key_env="MY_KEY"), "MY_KEY"),
    ],
)
async def test_a_missing_key_names_its_variable(candidate, variable):
    async with Client(environ={}) as client:
        with pytest.raises(MissingKeyError, match=variable):
            await client.ask(candidate, Prompt(messages=(Message("user", "Hi"),)))


@pytest.mark.parametrize("base_url", ["ftp://host/v1", "http://", "http://host:99999/v1", "http://host:x"])
async def test_a_url_that_is_none_is_refused(base_url):
    async with Client(environ=ENVIRON) as client:
        with pytest.raises(ConfigError, match="no http"):
            await client.ask(Candidate(name="mine", base_url=base_url), Prompt(messages=(Message("user", "Hi"),)))


@pytest.mark.parametrize("key", ["sk-“quoted”", "sk-two\nlines"])
async def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(key):
    async with Client(environ={"OPENAI_API_KEY": key}) as client:
        with pytest.raises(ConfigError, match="OPENAI_API_KEY") as caught:
            await client.ask(Candidate(name="far"), Prompt(messages=(Message("user", "Hi"),)))
    assert key not in str(caught.value)


async def test_an_unknown_endpoint_lists_the_known_ones():
    async with Client(environ={}) as client:
        with pytest.raises(ConfigError, match="openai"):
            await client.ask(Candidate(name="mine", endpoint="no-such"), Prompt(messages=(Message("user", "Hi"),)))


@pytest.mark.parametrize("error", ["http", "stream", "body"])
async def test_a_key_that_the_endpoint_echoes_is_in_no_attempt(error):
    script = Script(error=error, message=ECHO, text=f"your key is {KEY} I think", error_after=99, status=400, **FAST)
    async with ScriptedServer(script) as server, Client(environ=ENVIRON) as client:
        attempt = await client.ask(
            Candidate(name="mine", model="m", base_url=server.base_url), Prompt(messages=(Message("user", "Hi"),))
        )
    assert KEY not in json.dumps(attempt.to_dict())


async def test_the_environment_gives_the_base_url():
    async with ScriptedServer(Script(**FAST)) as server:
        async with Client(environ={"OPENAI_BASE_URL": server.base_url}) as client:
            assert (await client.check(Candidate(name="mine", model="m"))).outcome == "ok"
        async with Client(environ={"OLLAMA_HOST": server.root_url.removeprefix("http://")}) as client:
            assert (await client.check(Candidate(name="mine", endpoint="ollama", model="m"))).outcome == "ok"
