"""Prices: settings before a file before the snapshot; unknown is None."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from speedqual.endpoints.naming import parse_candidate
from speedqual.endpoints.prices import load_prices, price_of
from speedqual.errors import ConfigError
from speedqual.records import Candidate, Price

DAY = date(2026, 11, 30)


def _price(text: str, *, base_url: str = "", tier: str = "", **environ: str) -> Price | None:
    return price_of(parse_candidate(text, base_url=base_url, tier=tier), environ=environ, today=DAY)


def test_the_snapshot_has_four_prices_a_source_and_a_date() -> None:
    price = _price("anthropic/claude-sonnet-4-5")
    assert price is not None
    cached, fresh, written = price.cached_usd_per_mtok, price.input_usd_per_mtok, price.cache_write_usd_per_mtok
    assert cached is not None and fresh is not None and written is not None and price.output_usd_per_mtok is not None
    assert 0 < cached < fresh < written < price.output_usd_per_mtok
    assert price.source.startswith("genai-prices ")
    assert "2026-01-01" <= price.as_of <= "2026-12-31"
    assert date.fromisoformat(price.as_of) <= DAY


def test_a_tier_has_its_own_price_where_the_snapshot_knows_it() -> None:
    usual, fast = _price("openai/gpt-4o"), _price("openai/gpt-4o", tier="priority")
    assert usual is not None and fast is not None
    assert usual.input_usd_per_mtok is not None and fast.input_usd_per_mtok is not None
    assert fast.input_usd_per_mtok > usual.input_usd_per_mtok
    assert _price("openai/gpt-4o", tier="default") == usual


def test_a_price_that_rises_with_the_prompt_says_so() -> None:
    price = _price("gemini/gemini-2.5-pro")
    assert price is not None and "first step" in price.source


@pytest.mark.parametrize("text", ["openai/no-such-model-1", "ollama/llama3", "vllm/x", "llamacpp/x", "triton/x"])
def test_an_unknown_price_is_none_and_never_nothing(text: str) -> None:
    assert _price(text) is None


def test_a_models_name_behind_another_url_says_nothing_of_its_price() -> None:
    assert _price("openai/gpt-4o", base_url="http://127.0.0.1:8000/v1") is None
    assert _price("openai/gpt-4o", OPENAI_BASE_URL="http://127.0.0.1:8000/v1") is None
    assert _price("openai/gpt-4o", base_url="https://api.openai.com/v1") is not None
    by_url = _price("openai/deepseek-chat", base_url="https://api.deepseek.com/v1")
    assert by_url == _price("deepseek/deepseek-chat")


FILE = """
[prices."openai/gpt-4o"]
input = 1
output = 2
cached = 0.5
cache_write = 1.5
as_of = "2026-11-01"
[prices.mine]
output = 3
"""


def test_a_file_goes_before_the_snapshot_and_the_candidate_before_the_file(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(FILE)
    prices = load_prices(path)
    expected = Price(
        input_usd_per_mtok=1.0,
        output_usd_per_mtok=2.0,
        cached_usd_per_mtok=0.5,
        cache_write_usd_per_mtok=1.5,
        source="prices.toml",
        as_of="2026-11-01",
    )
    assert price_of(parse_candidate("openai/gpt-4o"), prices, environ={}) == expected
    mine = price_of(Candidate(name="mine", endpoint="ollama", model="x"), prices, environ={})
    assert mine == Price(output_usd_per_mtok=3.0, source="prices.toml")
    own = Price(input_usd_per_mtok=9.0)
    assert price_of(parse_candidate("openai/gpt-4o", price=own), prices, environ={}) == own


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", r"prices.toml: has no table \[prices\]"),
        ("[prices", "prices.toml: is no TOML"),
        ("[prices.a]\ninptu = 1", "prices.toml: prices.a.inptu: unknown key 'inptu'. Did you mean 'input'?"),
        ('[prices.a]\ninput = "cheap"', "prices.toml: prices.a.input: 'cheap' is no price"),
        ("[prices]\na = 3", "prices.toml: prices.a: a price is a table"),
    ],
)
def test_a_slip_in_the_file(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=words.replace("?", r"\?")):
        load_prices(path)


def test_the_snapshot_is_imported_only_when_a_price_is_asked_for() -> None:
    code = "import sys, speedqual.endpoints.naming, speedqual.endpoints.prices; print('genai_prices' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
