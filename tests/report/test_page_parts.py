"""The small parts of a page: drawings made small, data blocks, addresses, sayings, the command to run it again."""

from __future__ import annotations

import base64
import json
import re
import tomllib
import zlib
from pathlib import Path
from typing import Any

import pytest
from made_run import KINDS, make_run

from speedqual import display
from speedqual.analysis.deadlines import Deadlines
from speedqual.analysis.degraded import Degraded
from speedqual.analysis.frontier import Frontier
from speedqual.analysis.routing import Routing
from speedqual.endpoints.naming import candidates_from_table
from speedqual.plots.style import to_svg
from speedqual.report.again import command, settings
from speedqual.report.figures import _address, figure, one_svg
from speedqual.report.pack import block, packed
from speedqual.report.phrases import translated
from speedqual.report.private import without_addresses
from speedqual.report.svg import compact, relative
from speedqual.report.words import Words

HOSTILE = ["</script>", "<!--", "\u2028\u2029", "]]>", "&amp;", "\ud800", "a" * 10]


def test_relative_paths_end_where_absolute_ones_do() -> None:
    path = "M 10 10 L 20.004 10.004 Q 25 30 30.126 40 C 1 2 3 4 5 6 z M 1 1 L 2 2"
    assert relative(path) == "M10 10l10 0q5 20 10.13 30c-29.13 -38 -27.13 -36 -25.13 -34zM1 1l1 1"


def test_an_outline_that_comes_twice_is_kept_once() -> None:
    outline = "M 0 0 " + " ".join(f"L {i} {i * i % 7}" for i in range(60))
    svg = f'<svg><path d="{outline}" style="stroke: #fff"/><path d="{outline}" style="fill: #000"/></svg>'
    short = compact(svg)
    assert short.count("l1 ") == relative(outline).count("l1 ") and short.count('<use href="#o0"') == 2


def test_two_themes_are_one_drawing_where_only_colours_differ() -> None:
    light = '<svg><path id="m0123456789" style="fill: #ffffff; stroke: #123456"/></svg>'
    dark = '<svg><path id="mabcdef0123" style="fill: #000000; stroke: #654321"/></svg>'
    both = one_svg(light, dark)
    assert "--a0:#ffffff;--a1:#123456" in both and "--a0:#000000;--a1:#654321" in both
    assert "fill: var(--a0); stroke: var(--a1)" in both
    assert one_svg(light, dark.replace("stroke", "width")) == ""


def test_a_drawing_made_once_is_the_one_made_for_both_themes(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", KINDS[:3], n_items=6, tasks=("extraction",))
    for analysis in (Frontier(draws=200, floor=0.5), Deadlines(draws=200), Routing(draws=200), Degraded()):
        result = analysis(run.df)
        by_day, by_night = (to_svg(display.render("plot", result, style=style)) for style in ("light", "dark"))
        assert str(_address(one_svg(by_day, by_night))).replace("&amp;", "&") in str(figure(result)).replace(
            "&amp;", "&"
        )


def test_nothing_ends_a_data_block_early() -> None:
    text = str(block(HOSTILE))
    assert text.isascii() and not set(text) & set("<>&")
    assert json.loads(text) == HOSTILE


def test_packed_data_come_back() -> None:
    known = HOSTILE[:5]
    assert json.loads(zlib.decompress(base64.b64decode(str(packed(known))))) == known
    assert packed(known) == packed(known)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("see https://ann:key@host.example/v1?key=abc now", "see […] now"),
        ("Cannot connect to host 10.1.2.3:8000 ssl", "Cannot connect to host […] ssl"),
        ("box.internal.example:443 and localhost:80 refused", "[…] and […] refused"),
        ("fe80::1:2:3 refused", "[…] refused"),
        ("no /home/ann/models/x.gguf there", "no […] there"),
        (r"no C:\Users\ann\x there", "no […] there"),
        ("openai/gpt-5-mini at 12:30, and/or 1/2", "openai/gpt-5-mini at 12:30, and/or 1/2"),
    ],
)
def test_addresses_and_paths_are_left_out(text: str, kept: str) -> None:
    assert without_addresses(text) == kept


def test_sayings_are_told_in_the_language_of_the_page() -> None:
    zh = Words.load("zh")
    assert translated("a straight decline explains it; only 1.1 times the neighbouring drop", zh) == (
        "直线下降即可解释；仅为相邻下降的 1.1 倍"
    )
    assert translated("failed requests went from 1 % to 40 %", zh) == "失败的请求从 1 % 变为 40 %"
    assert translated("5 requests in a row failed, the last one with http_error 503", zh) == (
        "连续 5 个请求失败，最后一个为 HTTP 错误 503"
    )
    assert translated("80 of the last 100 requests failed, the last one with timeout", zh) == (
        "最近 100 个请求中 80 个失败，最后一个为 超时"
    )
    assert translated("something nobody wrote down", zh) == "something nobody wrote down"
    assert translated("a straight decline explains it", Words.load("en")) == "a straight decline explains it"


def manifest(**other: Any) -> dict[str, Any]:
    candidate = {
        "name": 'odd "name"',
        "endpoint": "openai",
        "model": "maker/model",
        "base_url": "http://secret.example/v1",
        "headers": {"X-Team": "[not kept]"},
        "params": {"temperature": 0.5, "stop": ["\n"], "nothing": None},
        "shots": 2,
        "system": "Be brief.",
        "cache": True,
        "x": 4.0,
        "tags": [],
    }
    plain = {"settings": {"repeats": 3, "concurrency": 4, "retry": {"attempts": 1}}, "seed": 7}
    return {**plain, "evalsets": [{"name": "my set"}], "candidates": [candidate], **other}


def test_the_command_says_what_differs_from_the_default() -> None:
    assert command(manifest(), local=False) == (
        "speedqual run --config again.toml --evalset 'my set' --repeats 3 --concurrency 4 --attempts 1 --seed 7"
    )
    assert command(manifest(), local=True) == "speedqual quickstart"


def test_the_settings_file_is_read_back_and_names_no_address() -> None:
    text = settings(manifest(), redact=False)
    (candidate,) = candidates_from_table(tomllib.loads(text)["candidates"], "again.toml")
    assert candidate.name == 'odd "name"' and candidate.model == "maker/model" and candidate.system == "Be brief."
    assert candidate.params == {"temperature": 0.5, "stop": ["\n"]} and candidate.cache is True
    assert "secret" not in text and "# base_url" in text and "not kept" not in text
    assert "Be brief" not in settings(manifest(), redact=True)
    assert not re.search(r"^system", settings(manifest(), redact=True), re.MULTILINE)


def test_a_route_is_named_with_its_policy() -> None:
    route = {"name": "r", "endpoint": "route", "policy": {"fast": "a", "strong": "b"}}
    text = settings(manifest(candidates=[route]), redact=False)
    assert tomllib.loads(text) == {"candidates": {"r": {"route": "policy.json"}}}
    assert '# policy.json: {"fast": "a", "strong": "b"}' in text
