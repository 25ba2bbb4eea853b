"""Candidates as people name them."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest

from speedqual.endpoints.naming import candidates_from_table, parse_candidate
from speedqual.errors import ConfigError
from speedqual.records import Candidate, Price


@pytest.mark.parametrize(
    ("text", "name", "model"),
    [
        ("openai/gpt-x", "openai", "gpt-x"),
        ("anthropic/claude-x", "anthropic", "claude-x"),
        ("ollama/llama3:8b", "ollama", "llama3:8b"),
        ("openrouter/vendor/model", "openrouter", "vendor/model"),
        ("google/gemini-x", "gemini", "gemini-x"),
        ("azure-openai/d", "azure", "d"),
        ("OpenAI/gpt-x", "openai", "gpt-x"),
        ("llama.cpp/m", "llamacpp", "m"),
        ("openai-responses/gpt-x", "openai-responses", "gpt-x"),
    ],
)
def test_the_first_slash_splits(text: str, name: str, model: str) -> None:
    candidate = parse_candidate(text)
    assert (candidate.endpoint, candidate.model, candidate.name) == (name, model, text)


def test_with_a_base_url_any_model_name_will_do() -> None:
    for text in ("Qwen/Qwen2.5-7B", "my-model"):
        candidate = parse_candidate(text, base_url="http://h:8000/v1")
        assert (candidate.endpoint, candidate.model) == ("openai", text)
    assert parse_candidate("ollama/x", base_url="http://h").endpoint == "ollama"


def test_settings_are_fields_of_the_candidate() -> None:
    candidate = parse_candidate("openai/x", name="fast", tier="flex", params={"seed": 1}, tags=("a",))
    expected = Candidate(name="fast", endpoint="openai", model="x", tier="flex", params={"seed": 1}, tags=("a",))
    assert candidate == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("gpt-4o", "Write ENDPOINT/MODEL"),
        ("opnai/gpt-4o", "Did you mean 'openai'"),
        ("openai/", "names no endpoint and model"),
        ("", "names no endpoint and model"),
    ],
)
def test_a_name_that_says_too_little(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        parse_candidate(text)


TABLE = """
[candidates.fast]
endpoint = "groq"
model = "llama-x"
base_url = "https://proxy.example/v1"
api_key_env = "MY_KEY"
tier = "flex"
params = {temperature = 0, max_tokens = 100}
price = {input = 0.5, output = 1, cached = 0.1, as_of = "2026-11-01"}
ladder = "size"
rung = "8B"
x = 8
params_b = 8
claimed_tok_s = 750
usd_per_hour = 2.5
tags = ["fast"]
shots = 2
system = "Be brief."
cache = false
group = "one"
[candidates.plain]
model = "ollama/llama3"
"""


def test_every_key_of_the_table() -> None:
    fast, plain = candidates_from_table(tomllib.loads(TABLE)["candidates"], "speedqual.toml")
    assert fast == Candidate(
        name="fast",
        endpoint="groq",
        model="llama-x",
        base_url="https://proxy.example/v1",
        api_key_env="MY_KEY",
        tier="flex",
        params={"temperature": 0, "max_tokens": 100},
        price=Price(
            input_usd_per_mtok=0.5,
            output_usd_per_mtok=1.0,
            cached_usd_per_mtok=0.1,
            source="settings",
            as_of="2026-11-01",
        ),
        ladder="size",
        rung="8B",
        x=8.0,
        params_b=8.0,
        claimed_tok_s=750.0,
        usd_per_hour=2.5,
        tags=("fast",),
        shots=2,
        system="Be brief.",
        cache=False,
        group="one",
    )
    assert plain == Candidate(name="plain", endpoint="ollama", model="llama3")


@pytest.mark.parametrize(
    ("row", "where", "words"),
    [
        ({"modle": "x"}, "s.toml: candidates.a.modle", "Did you mean 'model'?"),
        ({"zzz": 1, "model": "openai/x"}, "s.toml: candidates.a.zzz", "Use one of api_key_env"),
        ({"endpoint": "opanai", "model": "x"}, "s.toml: candidates.a.endpoint", "Did you mean 'openai'?"),
        ({"endpoint": "openai"}, "s.toml: candidates.a.model", "needs a model"),
        ({"model": "x"}, "s.toml: candidates.a.model", "Add endpoint"),
        ({"model": 3}, "s.toml: candidates.a.model", "is not a string"),
        ({"model": "openai/x", "x": "big"}, "s.toml: candidates.a.x", "is no number"),
        ({"model": "openai/x", "x": float("nan")}, "s.toml: candidates.a.x", "is no number"),
        ({"model": "openai/x", "shots": 1.5}, "s.toml: candidates.a.shots", "is not a whole number"),
        ({"model": "openai/x", "shots": True}, "s.toml: candidates.a.shots", "is not a whole number"),
        ({"model": "openai/x", "cache": "no"}, "s.toml: candidates.a.cache", "is not true or false"),
        ({"model": "openai/x", "tags": "a"}, "s.toml: candidates.a.tags", "list of strings"),
        ({"model": "openai/x", "params": []}, "s.toml: candidates.a.params", "is not a table"),
        ({"model": "openai/x", "price": {"inptu": 1}}, "s.toml: candidates.a.price.inptu", "Did you mean 'input'?"),
        ({"model": "openai/x", "price": {"input": -1}}, "s.toml: candidates.a.price.input", "is no price"),
        ("openai/x", "s.toml: candidates.a", "is a table"),
    ],
)
def test_a_slip_names_file_field_and_fix(row: Any, where: str, words: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(words)) as caught:
        candidates_from_table({"a": row}, "s.toml")
    assert caught.value.where == where


@pytest.mark.parametrize(
    "row",
    [
        {"headers": {"Authorization": "Bearer sk-secret"}},
        {"headers": {"x-api-key": "sk-secret"}},
        {"params": {"api_key": "sk-secret"}},
        {"params": {"access_token": "sk-secret"}},
    ],
)
def test_a_key_in_the_settings_is_refused_and_not_repeated(row: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="api_key_env") as caught:
        candidates_from_table({"a": {"model": "openai/x", **row}}, "s.toml")
    assert "sk-secret" not in str(caught.value)


def test_parameters_that_only_sound_secret_pass() -> None:
    row = {"model": "openai/x", "params": {"max_tokens": 1, "max_completion_tokens": 2}}
    assert candidates_from_table({"a": row}, "s.toml")[0].params["max_tokens"] == 1
