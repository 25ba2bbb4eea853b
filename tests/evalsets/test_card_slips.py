"""Each slip in a card gives one message with its line and column, and the fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from speedqual.errors import EvalSetError
from speedqual.evalsets import check, load
from speedqual.evalsets.graders import known_graders

from .conftest import HEAD, SETTINGS, Make

BASE = "speedqual:\n  task: extraction\n  prompt: 'Read {text}'\n  "
LINE = HEAD.count("\n") + 5  # the line of the setting that a test adds to BASE


def message(path: Path) -> str:
    with pytest.raises(EvalSetError) as caught:
        load(path)
    assert caught.value.exit_code == 2
    assert caught.value.fix, "every message says how to mend it"
    assert str(path.parent) not in str(caught.value), "no absolute path"
    return str(caught.value)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("flor: 0.9", "3: unknown key 'flor'. Write floor"),
        ("success-at: 0.9", "3: unknown key 'success-at'. Write success_at"),
        ("zzz: 1", "3: unknown key 'zzz'. Use one of: task, prompt"),
        ("floor: 0,9", "3: floor must be a number, not '0,9'. Write 0.9"),
        ("floor: 90%", "Write 0.9"),
        ("floor: 90", "3: floor is 90, outside 0 to 1. Write 0.9 for 90 %"),
        ("floor: -0.1", "outside 0 to 1"),
        ("floor: .nan", "must be a number"),
        ("floor: true", "not true or false"),
        ("floor:", "floor is empty"),
        ("success_at: 0", "every answer would be a success"),
        ("success_at: 1.5", "outside 0 to 1"),
        ("max_tokens: 12.5", "whole number"),
        ("max_tokens: 0", "below 1"),
        ("repeats: -1", "below 1"),
        ("timeout: 30s", "must be a number, not '30s'"),
        ("timeout: 0", "not above 0"),
        ("stop: ['']", "none empty"),
        ("cluster: nowhere", "3: cluster names the column 'nowhere', and no row has it"),
        ("cluster: txt", "Write text"),
        ("system: 3", "must be text"),
        ("grader: extracton", "11: unknown grader 'extracton'. Write extraction"),
        ("grader: {name: qqq}", f"18: unknown grader 'qqq'. Use one of: {', '.join(known_graders())}"),
        ("grader: {name: 3}", "12: grader.name must be text"),
        ("grader: [extraction]", "a name or a table"),
        ("grader: file:own.py", "there is no file own.py"),
        ("grader: file:../own.py", "lies outside the folder"),
        ("grader: {_source: x}", "begins with an underscore"),
        ("tiers: {ordr: [a]}", "11: tiers.ordr is no known key. Write order"),
        ("tiers: {by: size}", "tiers.by names the column 'size'"),
        ("tiers: [a, a]", "names a value twice"),
        ("tiers: {order: [a, {b: c}]}", "tiers.order.1 must be text"),
        ("fewshot: {splt: x}", "13: fewshot.splt is no known key. Write split"),
        ("fewshot: {n: -1}", "below 0"),
        ("fewshot: {split: test, n: 1}", "the items that are asked"),
        ("messages: [{role: user, content: x}]", "exclude each other"),
        ("task: facts", "the key 'task' stands twice"),
    ],
)
def test_settings(make: Make, setting: str, words: str) -> None:
    text = message(make(BASE + setting + "\n"))
    assert text.startswith(f"set/README.md:{LINE}:") and words in text


@pytest.mark.parametrize(
    ("settings", "place", "words"),
    [
        ("speedqal: {task: extraction}\n", "6:1", "unknown key 'speedqal'. Write speedqual"),
        ("speedqual: extraction\n", "6:1", "not a table of keys"),
        ("speedqual:\n\ttask: x\n", "7:1", "spaces, not tabs"),
        ("speedqual: {task: 'x}\n", "6:19", "closing quote"),
        ("speedqual: {task: x\n", "6:12", "closing quote, bracket or brace"),
        ("speedqual:\n  prompt: Return JSON: {text}\n", "7:22", "`key: |`"),
        ("speedqual:\n  prompt: @x\n", "7:11", "Quote the value"),
        ("speedqual:\n  prompt: {text}\n", "7:3", "Put it in quotes"),
        ("speedqual:\n  a: &x 1\n  b: *x\n", "", "alias"),
        ("x: \x01\n", "6:4", "character that YAML forbids"),
        ("speedqual: {task: extraction, prompt: '{txt}'}\n", "6:40", "Write {text}"),
        ("speedqual:\n  prompt: |\n    Hello,\n    see {txt} there\n", "9:9", "Write {text}"),
        ("speedqual: {task: extraction, prompt: '{a} {text}'}\n", "6:40", "The columns are: id, target, text"),
        ("speedqual: {task: extractoin, prompt: '{text}'}\n", "6:19", "Write extraction"),
        ("speedqual:\n  messages: [{role: usr, content: '{text}'}]\n", "7:15", "Use one of: system, user"),
        ("speedqual:\n  messages: [{role: user}]\n", "7:14", "a role and a content"),
        ("speedqual:\n  messages: [{role: assistant, content: x}]\n", "7:3", "End with"),
        ("speedqual:\n  messages: [{role: user, content: '{txt}'}]\n", "7:37", "Write {text}"),
        (
            "speedqual:\n  system: a\n  messages: [{role: system, content: b}, {role: user, content: c}]\n",
            "7:3",
            "Keep one",
        ),
    ],
)
def test_the_header(make: Make, settings: str, place: str, words: str) -> None:
    text = message(make(settings))
    assert text.startswith(f"set/README.md:{place}") and words in text


@pytest.mark.parametrize(
    ("card", "words"),
    [
        (b"# only text\n", "no YAML header"),
        (b"", "no YAML header"),
        (b"---\nspeedqual: {}\n", "not closed"),
        (b"---\n---\n", "empty"),
        (b"---\n- a\n---\n", "not a table"),
        (b"---\nx: caf\xe9\n---\n", "README.md:2: the file is not UTF-8"),
        (b"---\na: " + b"[" * 5_000 + b"\n---\n", "deep"),
        (b'---\nspeedqual: {task: a, prompt: "{text} \\ud800"}\n---\n', "surrogate"),
        (b"---\n---\n" + b"x" * 3_000_000, "larger than 2 MiB"),
        (b"---\na: " + b"x" * 300_000 + b"\n---\n", "longer than"),
        (b"---\nspeedqual: !!python/object/apply:os.abort []\n---\n", "not a table"),
    ],
)
def test_the_whole_card(make: Make, card: bytes, words: str) -> None:
    folder = make(None)
    (folder / "README.md").write_bytes(card)
    assert words in message(folder)


def test_more_than_one_slip_is_counted_and_check_lists_all(make: Make) -> None:
    folder = make(BASE + "flor: 0.9\n  repeats: 0\n")
    assert "lists 1 more problem" in message(folder)
    assert [problem.what for problem in check(folder)] == ["unknown key 'flor'", "repeats is 0, below 1"]


def test_endless_names_are_cut_in_messages(make: Make) -> None:
    assert len(message(make(f"{BASE}{'x' * 30_000}: 1\n"))) < 800


def test_windows_line_ends_and_a_byte_order_mark_are_fine(make: Make) -> None:
    folder = make(SETTINGS)
    card = (folder / "README.md").read_text(encoding="utf-8")
    (folder / "README.md").write_bytes(b"\xef\xbb\xbf" + card.replace("\n", "\r\n").encode())
    assert load(folder).floor == 0.9


@pytest.mark.parametrize(("written", "version"), [("1.10", "1.10"), ("2026-01-02", "2026-01-02"), ("'3'", "3")])
def test_a_version_stays_as_written(make: Make, written: str, version: str) -> None:
    assert load(make(f"{BASE}version: {written}\n")).version == version


def test_no_is_a_language_not_a_boolean(make: Make) -> None:
    assert {item.language for item in load(make(f"{BASE}languages: [no]\n")).items} == {"no"}
