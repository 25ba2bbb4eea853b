"""What is sent: for each protocol a local server that refuses a wrong path, authentication, header or body."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from speedqual.endpoints.base import HttpRequest
from speedqual.endpoints.client import Client
from speedqual.endpoints.protocols.adapter import full_url
from speedqual.endpoints.protocols.dialects import DIALECTS
from speedqual.endpoints.recordings.files import read_recording
from speedqual.endpoints.registry import endpoint, names
from speedqual.errors import ConfigError
from speedqual.records import Candidate, Message, Prompt

RECORDINGS = Path(__file__).parents[1] / "recordings"
KEY = "sk-test-1234567890"
BEARER = {"authorization": f"Bearer {KEY}"}
JSON = {"content-type": "application/json"}
ASK = Prompt(
    messages=(Message("system", "Be brief."), Message("user", "Hi")),
    max_tokens=9,
    stop=("END",),
)
TEXT = "System: Be brief.\n\nUser: Hi\n\nAssistant:"
CHAT = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
USER = [{"role": "user", "content": "Hi"}]


@dataclass(frozen=True)
class Demand:
    """All that a server of the protocol insists on. The body must be exactly this."""

    path: str
    body: dict[str, Any]
    headers: Mapping[str, str] = field(default_factory=lambda: BEARER)
    reply: bytes = b""


def _chunks(*objects: Any) -> bytes:
    return b"".join(b"data: " + json.dumps(o).encode() + b"\n\n" for o in objects)


OPENAI_REPLY = _chunks({"choices": [{"index": 0, "delta": {"content": "ok"}, "finish_reason": "stop"}]})
USAGE = {"include_usage": True}
DEMANDS: dict[str, Demand] = {
    "openai": Demand(
        "/v1/chat/completions",
        {"model": "m", "messages": CHAT, "stream": True, "stream_options": USAGE, "max_tokens": 9, "stop": ["END"]},
        reply=OPENAI_REPLY,
    ),
    "openai-completions": Demand(
        "/v1/completions",
        {"model": "m", "prompt": TEXT, "stream": True, "stream_options": USAGE, "max_tokens": 9, "stop": ["END"]},
        reply=_chunks({"choices": [{"index": 0, "text": "ok", "finish_reason": "stop"}]}),
    ),
    "openai-responses": Demand(
        "/v1/responses",
        {"model": "m", "input": CHAT, "stream": True, "store": False, "max_output_tokens": 9},
        reply=_chunks(
            {"type": "response.output_text.delta", "delta": "ok"},
            {"type": "response.completed", "response": {"status": "completed"}},
        ),
    ),
    "azure": Demand(
        "/openai/deployments/m/chat/completions?api-version=2024-10-21",
        {
            "model": "m",
            "messages": CHAT,
            "stream": True,
            "stream_options": USAGE,
            "max_completion_tokens": 9,
            "stop": ["END"],
        },
        {"api-key": KEY},
        OPENAI_REPLY,
    ),
    "anthropic": Demand(
        "/v1/messages",
        {
            "model": "m",
            "max_tokens": 9,
            "messages": USER,
            "stream": True,
            "system": "Be brief.",
            "stop_sequences": ["END"],
        },
        {"x-api-key": KEY, "anthropic-version": "2023-06-01"},
        _chunks(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "ok"}},
            {"type": "message_stop"},
        ),
    ),
    "gemini": Demand(
        "/v1beta/models/m:streamGenerateContent?alt=sse",
        {
            "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "generationConfig": {"maxOutputTokens": 9, "stopSequences": ["END"]},
        },
        {"x-goog-api-key": KEY},
        _chunks({"candidates": [{"content": {"parts": [{"text": "ok"}]}, "finishReason": "STOP"}]}),
    ),
    "ollama": Demand(
        "/api/chat",
        {"model": "m", "messages": CHAT, "stream": True, "options": {"num_predict": 9, "stop": ["END"]}},
        reply=b'{"message":{"content":"ok"},"done":true,"done_reason":"stop"}\n',
    ),
    "llamacpp": Demand(
        "/completion",
        {"prompt": TEXT, "stream": True, "n_predict": 9, "stop": ["END"]},
        reply=_chunks({"content": "ok", "stop": True, "stop_type": "eos"}),
    ),
    "tgi": Demand(
        "/generate_stream",
        {"inputs": TEXT, "stream": True, "parameters": {"details": True, "max_new_tokens": 9, "stop": ["END"]}},
        reply=_chunks({"token": {"text": "ok"}, "generated_text": "ok"}),
    ),
    "triton": Demand(
        "/v2/models/m/generate_stream",
        {"text_input": TEXT, "stream": True, "max_tokens": 9, "stop_words": ["END"]},
        reply=_chunks({"text_output": "ok"}),
    ),
    "dashscope": Demand(
        "/api/v1/services/aigc/text-generation/generation",
        {
            "model": "m",
            "input": {"messages": CHAT},
            "parameters": {
                "result_format": "message",
                "incremental_output": True,
                "max_tokens": 9,
                "stop": ["END"],
            },
        },
        {**BEARER, "x-dashscope-sse": "enable"},
        _chunks({"output": {"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]}}),
    ),
    "qianfan": Demand(
        f"/rpc/2.0/ai_custom/v1/wenxinworkshop/chat/m?access_token={KEY}",
        {"messages": USER, "stream": True, "system": "Be brief.", "max_output_tokens": 9, "stop": ["END"]},
        {},
        _chunks({"result": "ok", "is_end": True, "finish_reason": "normal"}),
    ),
    "bedrock": Demand(
        "/model/m/converse-stream",
        {
            "messages": [{"role": "user", "content": [{"text": "Hi"}]}],
            "system": [{"text": "Be brief."}],
            "inferenceConfig": {"maxTokens": 9, "stopSequences": ["END"]},
        },
        {**BEARER, "accept": "application/vnd.amazon.eventstream"},
        b"".join(data for _, data in read_recording(RECORDINGS / "W062.json").chunks),
    ),
}
NATIVE = sorted(DEMANDS)
COMPATIBLE = [known.name for known in DIALECTS]


@asynccontextmanager
async def _strict(demand: Demand) -> AsyncIterator[str]:
    """A server that answers only to what the protocol demands; yields its address."""

    async def handle(request: web.Request) -> web.StreamResponse:
        if request.method != "POST" or request.path_qs != demand.path:
            return web.Response(status=404, text=f"no {request.method} {request.path_qs}")
        if any(request.headers.get(name) != value for name, value in {**JSON, **demand.headers}.items()):
            return web.Response(status=401, text="headers")
        if request.headers.get("accept-encoding") != "identity" or await request.json() != demand.body:
            return web.Response(status=400, text="body")
        return web.Response(body=demand.reply, content_type="text/event-stream")

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def _candidate(name: str, base_url: str, **settings: Any) -> Candidate:
    return Candidate(name="c", endpoint=name, model="m", base_url=base_url, **settings)


def _request(name: str, prompt: Prompt = ASK, base_url: str = "http://h", **settings: Any) -> HttpRequest:
    return endpoint(name).request(_candidate(name, base_url, **settings), prompt, base_url, KEY)


def _body(name: str, prompt: Prompt = ASK, **settings: Any) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(_request(name, prompt, **settings).body)
    return body


@pytest.mark.parametrize("name", NATIVE)
async def test_a_strict_server_takes_what_we_send(name: str) -> None:
    variable = endpoint(name).key_envs[0]
    async with _strict(DEMANDS[name]) as url, Client(environ={variable: KEY}) as client:
        attempt = await client.ask(_candidate(name, url), ASK)
    assert attempt.status == 200
    assert (attempt.outcome, attempt.text) == ("ok", "Bedrock" if name == "bedrock" else "ok")


@pytest.mark.parametrize("name", NATIVE)
@pytest.mark.parametrize("wrong", ["path", "key", "body"])
async def test_the_strict_server_refuses_anything_else(name: str, wrong: str) -> None:
    async with _strict(DEMANDS[name]) as url, aiohttp.ClientSession() as session:
        request = _request(name, base_url=url)
        headers, body, target = dict(request.headers), request.body, request.url
        if wrong == "path":
            target = target.replace(url, f"{url}/x")
        elif wrong == "key":
            headers = {key: value for key, value in headers.items() if KEY not in value}
            target = target.replace(KEY, "sk-wrong")
        else:
            body = body.replace(b"Hi", b"Ho")
        expected_open = wrong == "key" and not DEMANDS[name].headers and KEY not in DEMANDS[name].path
        async with session.post(target, headers=headers, data=body) as reply:
            assert (reply.status == 200) is expected_open


async def test_a_key_in_the_url_is_in_no_message() -> None:
    async with Client(environ={"QIANFAN_ACCESS_TOKEN": KEY}) as client:
        attempt = await client.ask(_candidate("qianfan", "http://127.0.0.1:9"), ASK)
    assert attempt.outcome == "unreachable"
    assert KEY not in json.dumps(attempt.to_dict())


@pytest.mark.parametrize("name", COMPATIBLE)
def test_every_dialect_asks_as_openai_chat(name: str) -> None:
    known = endpoint(name)
    request = known.request(_candidate(name, ""), ASK, known.default_base_url, KEY)
    assert request.url == f"{known.default_base_url}/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    body = json.loads(request.body)
    assert (body.get("stream_options") == USAGE) is (name != "mistral")
    assert (body["messages"], body["max_tokens"], body["stream"]) == (CHAT, 9, True)


def test_every_installed_protocol_is_tested_here() -> None:
    assert {*NATIVE, *COMPATIBLE} == set(names())


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://api.openai.com", "https://api.openai.com/v1/chat/completions"),
        ("https://api.openai.com/", "https://api.openai.com/v1/chat/completions"),
        ("https://api.openai.com/v1", "https://api.openai.com/v1/chat/completions"),
        ("https://api.openai.com/v1/", "https://api.openai.com/v1/chat/completions"),
        ("https://x/api/paas/v4/", "https://x/api/paas/v4/chat/completions"),
        ("https://x/v1beta/openai", "https://x/v1beta/openai/chat/completions"),
        ("https://x/v1/chat/completions", "https://x/v1/chat/completions"),
        ("https://x/proxy?tenant=1", "https://x/proxy/v1/chat/completions?tenant=1"),
        ("localhost:8000", "http://localhost:8000/v1/chat/completions"),
        ("192.168.0.2:8000/v1", "http://192.168.0.2:8000/v1/chat/completions"),
        ("api.example.com", "https://api.example.com/v1/chat/completions"),
        ("http://0.0.0.0:8000", "http://127.0.0.1:8000/v1/chat/completions"),
        ("http://[::1]:8000/", "http://[::1]:8000/v1/chat/completions"),
    ],
)
def test_base_urls_as_people_write_them(base: str, url: str) -> None:
    assert _request("openai", base_url=base).url == url


@pytest.mark.parametrize(
    ("name", "base", "url"),
    [
        ("ollama", "127.0.0.1:11434", "http://127.0.0.1:11434/api/chat"),
        ("ollama", "0.0.0.0", "http://127.0.0.1:11434/api/chat"),
        ("ollama", "http://box", "http://box:11434/api/chat"),
        ("ollama", "https://ollama.example/", "https://ollama.example/api/chat"),
        ("anthropic", "https://api.anthropic.com/v1/", "https://api.anthropic.com/v1/messages"),
        ("gemini", "https://g/v1beta", "https://g/v1beta/models/m:streamGenerateContent?alt=sse"),
        ("llamacpp", "http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/completion"),
        ("tgi", "http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080/generate_stream"),
        ("triton", "http://h:8000/v2", "http://h:8000/v2/models/m/generate_stream"),
        ("azure", "https://r.openai.azure.com/openai/v1/", "https://r.openai.azure.com/openai/v1/chat/completions"),
        (
            "azure",
            "https://r.openai.azure.com/openai?api-version=2025-01-01",
            "https://r.openai.azure.com/openai/deployments/m/chat/completions?api-version=2025-01-01",
        ),
        ("dashscope", "https://d", "https://d/api/v1/services/aigc/text-generation/generation"),
        ("dashscope", "https://d/api/v1/", "https://d/api/v1/services/aigc/text-generation/generation"),
    ],
)
def test_base_urls_of_other_protocols(name: str, base: str, url: str) -> None:
    assert _request(name, base_url=base).url == url


def test_a_url_is_joined_with_whatever_version_it_has() -> None:
    assert full_url("https://x/v2", "/y", version="v1") == "https://x/v2/y"
    assert full_url("https://x/r/V001", "/y", version="v1") == "https://x/r/V001/v1/y"


# ----------------------------------------------------------------------------------- settings


@pytest.mark.parametrize("name", [*NATIVE, "openrouter"])
def test_params_pass_through(name: str) -> None:
    params = {"temperature": 0.5}
    body = _body(name, params=params)
    place = {
        "gemini": ["generationConfig"],
        "ollama": ["options"],
        "tgi": ["parameters"],
        "dashscope": ["parameters"],
        "bedrock": ["inferenceConfig"],
    }
    for key in place.get(name, []):
        body = body[key]
    assert body["temperature"] == 0.5


def test_a_parameter_of_none_takes_a_field_out_and_objects_merge() -> None:
    assert "stream_options" not in _body("openai", params={"stream_options": None})
    usage = {"include_usage": True, "continuous_usage_stats": True}
    assert _body("openai", params={"stream_options": {"continuous_usage_stats": True}})["stream_options"] == usage
    assert _body("ollama", params={"think": True, "top_k": 3})["options"] == {
        "num_predict": 9,
        "stop": ["END"],
        "top_k": 3,
    }
    assert _body("ollama", params={"think": True})["think"] is True
    assert _body("bedrock", params={"top_k": 5})["additionalModelRequestFields"] == {"top_k": 5}
    assert _request("gemini", params={"alt": "json"}).url.endswith(":streamGenerateContent")


def test_openai_itself_wants_the_newer_name_of_the_limit() -> None:
    body = json.loads(_request("openai", base_url="https://api.openai.com/v1").body)
    assert (body["max_completion_tokens"], "max_tokens" in body) == (9, False)
    own = _body("openai", params={"max_completion_tokens": 7})
    assert (own["max_completion_tokens"], "max_tokens" in own) == (7, False)


@pytest.mark.parametrize(
    ("name", "field_", "value"),
    [
        ("openai", "service_tier", "flex"),
        ("openai-responses", "service_tier", "flex"),
        ("anthropic", "service_tier", "flex"),
        ("gemini", "service_tier", "flex"),
        ("bedrock", "serviceTier", {"type": "flex"}),
        ("groq", "service_tier", "flex"),
    ],
)
def test_the_tier_is_asked_for(name: str, field_: str, value: Any) -> None:
    assert _body(name, tier="flex")[field_] == value
    assert field_ not in _body(name)


@pytest.mark.parametrize("name", ["ollama", "llamacpp", "tgi", "triton", "dashscope", "qianfan"])
def test_a_tier_that_the_protocol_lacks_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="no service tiers"):
        _body(name, tier="flex")


def test_the_prompt_cache_is_turned_off_where_that_is_possible() -> None:
    for name in ("openai", "llamacpp", "openai-completions"):
        assert "cache_prompt" not in _body(name)
        assert _body(name, cache=False)["cache_prompt"] is False
        assert _body(name, cache=True)["cache_prompt"] is True
    official = _request("openai", base_url="https://api.openai.com/v1", cache=True)
    assert b"cache_prompt" not in official.body
    assert _body("anthropic", cache=True)["cache_control"] == {"type": "ephemeral"}
    assert "cache_control" not in _body("anthropic", cache=False)
    with pytest.raises(ConfigError, match="cannot turn its prompt cache off"):
        _body("gemini", cache=False)


def test_the_candidates_own_headers_win() -> None:
    headers = _request("anthropic", headers={"Anthropic-Version": "2030-01-01", "anthropic-beta": "x"}).headers
    assert (headers["anthropic-version"], headers["anthropic-beta"]) == ("2030-01-01", "x")


@pytest.mark.parametrize("name", names())
def test_without_a_key_none_is_sent(name: str) -> None:
    request = endpoint(name).request(_candidate(name, "http://h"), ASK, "http://h", None)
    assert not {"authorization", "api-key", "x-api-key", "x-goog-api-key"} & set(request.headers)
    assert "access_token" not in request.url


# ------------------------------------------------------------------------------- images and tools

IMAGE = {"type": "image", "media_type": "image/jpeg", "data": "QUJD"}
SEE = Prompt(messages=(Message("user", [{"type": "text", "text": "See"}, IMAGE]),))
URL = "data:image/jpeg;base64,QUJD"


def _find(value: Any, wanted: Any) -> bool:
    if value == wanted:
        return True
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return any(_find(child, wanted) for child in children)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("openai", {"type": "image_url", "image_url": {"url": URL}}),
        ("azure", {"type": "image_url", "image_url": {"url": URL}}),
        ("qwen", {"type": "image_url", "image_url": {"url": URL}}),
        ("openai-responses", {"type": "input_image", "image_url": URL}),
        ("anthropic", {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "QUJD"}}),
        ("gemini", {"inlineData": {"mimeType": "image/jpeg", "data": "QUJD"}}),
        ("ollama", {"role": "user", "content": "See", "images": ["QUJD"]}),
        ("bedrock", {"image": {"format": "jpeg", "source": {"bytes": "QUJD"}}}),
        ("dashscope", {"image": URL}),
        ("llamacpp", {"prompt_string": "<__media__>\nSee", "multimodal_data": ["QUJD"]}),
        ("tgi", f"![]({URL})See"),
    ],
)
def test_images_are_carried(name: str, part: Any) -> None:
    assert _find(_body(name, SEE), part)


def test_dashscope_asks_its_multimodal_path_for_images() -> None:
    assert _request("dashscope", SEE).url == "http://h/api/v1/services/aigc/multimodal-generation/generation"


@pytest.mark.parametrize("name", ["openai-completions", "triton", "qianfan"])
def test_images_that_the_protocol_lacks_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="carries no images"):
        _body(name, SEE)


PARAMETERS = {"type": "object", "properties": {"x": {"type": "integer"}}}
FUNCTION = {"name": "f", "description": "d", "parameters": PARAMETERS}
TOOLS = replace(ASK, tools=({"type": "function", "function": FUNCTION},))


@pytest.mark.parametrize(
    ("name", "tool"),
    [
        ("openai", {"type": "function", "function": FUNCTION}),
        ("openai-responses", {"type": "function", **FUNCTION}),
        ("anthropic", {"name": "f", "description": "d", "input_schema": PARAMETERS}),
        ("gemini", {"functionDeclarations": [FUNCTION]}),
        ("ollama", {"type": "function", "function": FUNCTION}),
        ("bedrock", {"toolSpec": {"name": "f", "description": "d", "inputSchema": {"json": PARAMETERS}}}),
        ("dashscope", {"type": "function", "function": FUNCTION}),
        ("qianfan", FUNCTION),
    ],
)
def test_tools_in_each_protocols_own_form(name: str, tool: Any) -> None:
    assert _find(_body(name, TOOLS), tool)


@pytest.mark.parametrize("name", ["openai-completions", "triton", "tgi", "llamacpp"])
def test_tools_that_the_protocol_lacks_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="carries no tools"):
        _body(name, TOOLS)


SCHEMA = {"type": "object"}


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("openai", {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}),
        ("openai-responses", {"format": {"type": "json_schema", "name": "n", "schema": SCHEMA}}),
        ("anthropic", {"format": {"type": "json_schema", "schema": SCHEMA}}),
        ("tgi", {"type": "json", "value": SCHEMA}),
    ],
)
def test_a_schema_for_the_answer(name: str, form: Any) -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}
    assert _find(_body(name, replace(ASK, response_format=wanted)), form)


def test_a_schema_where_it_stands_at_the_top() -> None:
    wanted = replace(ASK, response_format={"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}})
    assert _body("ollama", wanted)["format"] == SCHEMA
    assert _body("llamacpp", wanted)["json_schema"] == SCHEMA
    assert _body("gemini", wanted)["generationConfig"]["responseJsonSchema"] == SCHEMA
    assert _body("ollama", replace(ASK, response_format={"type": "json_object"}))["format"] == "json"
