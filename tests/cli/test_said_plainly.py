"""What commands say of runs: limits that are not there, why nothing was answered, what was mistyped."""

from __future__ import annotations

from pathlib import Path


def test_an_output_without_a_limit_is_not_shown_as_none(call, bare_set: Path) -> None:
    who = ("--model", "openai/gpt-5-mini", "--base-url", "http://127.0.0.1:9/v1")
    said = call("run", *who, "--evalset", bare_set, "--dry-run")
    row = said.out.splitlines()[-1]
    assert said.code == 0 and "no limit" in row, said.out
    assert "no max_tokens" in said.err
    load = call("load", *who, "--evalset", bare_set, "--users", "1", "--requests", "2", "--dry-run")
    assert "no limit" in load.out.splitlines()[-1]


def _ask(endpoint: str, *models: str) -> list[str]:
    return [word for model in models for word in ("--model", f"openai/{model}")] + ["--base-url", endpoint, "--quiet"]


HASTE = ("--no-check", "--attempts", "1", "--out", "r")


def test_an_endpoint_that_fails_every_request(call, endpoint: str, bare_set: Path) -> None:
    said = call("run", *_ask(endpoint, "broken"), "--evalset", bare_set, *HASTE)
    assert said.code == 3, said.err
    assert "openai/broken: 4 × http_error 500: " in said.err and "scripted error" in said.err
    shown = call("show", "r", "--item", "i1")
    assert shown.code == 0 and "HTTP status 500" in shown.out
    loaded = call("load", *_ask(endpoint, "broken"), "--evalset", bare_set, "--users", 1, "--requests", 2, "--no-check")
    assert loaded.code == 3 and "openai/broken: 2 × http_error 500: " in loaded.err, loaded.err


def test_one_that_answers_beside_one_that_fails(call, endpoint: str, bare_set: Path) -> None:
    said = call("run", *_ask(endpoint, "broken", "good"), "--evalset", bare_set, *HASTE)
    assert said.code == 4 and "openai/broken: 4 × http_error 500" in said.err
    assert "openai/good: " not in said.err


def test_show_says_which_name_is_wrong(call, endpoint: str, bare_set: Path) -> None:
    call("run", *_ask(endpoint, "good"), "--evalset", bare_set, *HASTE)
    said = call("show", "r", "--candidate", "openai/god")
    assert said.code == 2 and "no candidate 'openai/god' in this run. Did you mean openai/good?" in said.err
    said = call("show", "r", "--item", "z99")
    assert said.code == 2 and "no item 'z99' in this run. There are: " in said.err


def test_a_wrong_path_is_said_as_it_was_typed(call, tmp_path: Path) -> None:
    said = call("show", "runs/of/none")
    assert said.code == 2 and f"{Path('runs/of/none')}: there is no such folder" in said.err
    (tmp_path / "runs" / "bare").mkdir(parents=True)
    assert "runs/bare: this is no run folder" in call("show", Path("runs/bare")).err
    said = call("show", tmp_path / "none")
    assert "none: there is no such folder" in said.err and str(tmp_path) not in said.err


CARD = "---\nspeedqual:\n  task: extraction\n  prompt: '{text}'\n  grader:\n    name: extraction\n    fields: {total: mony}\n"
ROW = '{"id": "a", "text": "3 EUR", "target": {"total": 3}}\n'


def _folder(card: str) -> Path:
    folder = Path("mine")
    folder.mkdir(exist_ok=True)
    (folder / "README.md").write_text(card + "---\n", encoding="utf-8")
    (folder / "test.jsonl").write_text(ROW, encoding="utf-8")
    return folder


def test_a_wrong_type_is_said_with_its_place_in_the_card(call, endpoint: str) -> None:
    folder = _folder(CARD)
    said = call("evalset", "check", folder)
    assert said.code == 2 and "mine/README.md:7:14: grader.fields.total: unknown type 'mony'" in said.out
    for command, *more in (["run"], ["load", "--users", "1", "--requests", "1"]):
        said = call(command, *_ask(endpoint, "good"), "--evalset", folder, "--out", f"of-{command}", *more)
        assert said.code == 2 and "mine/README.md:7:14: grader.fields.total: unknown type 'mony'" in said.err, command


def test_a_field_that_is_misspelt_is_one_error(call) -> None:
    folder = _folder(CARD.replace("{total: mony}", "{totl: money}"))
    said = call("evalset", "check", folder)
    assert said.code == 2
    assert said.out.count("no target has the field 'totl'. Write total") == 1
    assert "1 error, " in said.out
    other = call("evalset", "check", _folder(CARD.replace("{total: mony}", "{total: money, quite: string}")))
    assert other.code == 0 and other.out.count("warning: mine/README.md:7:28: no target has the field 'quite'") == 1


def test_an_empty_trace(call, endpoint: str) -> None:
    Path("none.csv").write_text("")
    said = call("load", *_ask(endpoint, "good"), "--arrivals", "trace:none.csv")
    assert said.code == 2 and "none.csv: the file is empty" in said.err


def test_a_promise_to_be_slow_is_taken_for_a_slip(call, endpoint: str) -> None:
    said = call("load", *_ask(endpoint, "good"), "--users", 1, "--slo", "ttft_ms >= 800 @ 95%")
    assert said.code == 2 and "Did you mean ttft_ms <=?" in said.err
    said = call("load", *_ask(endpoint, "good"), "--users", 1, "--slo", "decode_tok_s < 20")
    assert said.code == 2 and "Did you mean decode_tok_s >?" in said.err


def test_compare_names_the_kind_that_would_be_accepted(call, endpoint: str, bare_set: Path) -> None:
    for name, items in (("a", 4), ("b", 3)):
        call("run", *_ask(endpoint, "good"), "--evalset", bare_set, "--items", items, "--no-check", "--out", name)
    said = call("compare", "a", "b")
    assert said.code == 2 and said.err.endswith("accept it with --allow set\n"), said.err
