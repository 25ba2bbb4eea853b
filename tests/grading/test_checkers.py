"""The front ends: right on a corpus for every one that is installed, confined, and honest about their limits."""

from __future__ import annotations

import stat
import time
from pathlib import Path

import pytest

from speedqual.grading import checkers
from speedqual.grading.base import grader_for
from speedqual.grading.checkers.base import first_error
from speedqual.grading.code.extraction import ALIASES, extract
from speedqual.grading.code.grader import DRIVERS
from speedqual.grading.sandbox import Sandbox, best_backend
from speedqual.records import Answer, EvalSet, Grade, GraderSpec, Item

CORPORA = Path(__file__).parents[1] / "corpora"
INSTALLED = {language: name for language, name in checkers.available_checkers().items() if name}


def snippets(language: str) -> list[tuple[str, str]]:
    """(valid | broken, source) of a corpus file."""
    text = (CORPORA / f"{language.replace('+', 'p')}.txt").read_text("utf-8")
    parts = f"\n{text}".split("\n@@@ ")[1:]
    return [(kind, body.removesuffix("\n")) for kind, _, body in (part.partition("\n") for part in parts)]


def check(language: str, source: str, sandbox: Sandbox | None = None) -> checkers.Check:
    if language == "python":
        backend = best_backend()
        assert backend
        return checkers.python.check(source, sandbox or Sandbox(backend, drivers=DRIVERS))
    return checkers.check(language, source)


@pytest.mark.slow
@pytest.mark.parametrize("language", INSTALLED)
def test_the_whole_corpus_is_judged_right(language: str) -> None:
    backend = best_backend()
    assert backend
    sandbox = Sandbox(backend, drivers=DRIVERS)
    wrong = []
    for kind, source in snippets(language):
        found = check(language, source, sandbox)
        assert found.checker == INSTALLED[language] and found.failure == "none", found
        if found.ok is not (kind == "valid"):
            wrong.append((kind, source, found.why))
    assert not wrong


@pytest.mark.parametrize("language", ALIASES)
def test_each_language_has_a_corpus_and_a_checker(language: str) -> None:
    kinds = [kind for kind, _ in snippets(language)]
    assert kinds.count("broken") >= 10 and kinds.count("valid") >= 3
    assert language in checkers.available_checkers()


def test_a_front_end_that_is_absent_is_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("speedqual.grading.checkers.compilers.version_of", lambda *_: "")
    found = checkers.check("rust", "fn main() {}")
    assert (found.ok, found.failure) == (None, "not_checked")
    assert checkers.check("cobol", "x").failure == "not_checked"


def test_a_source_above_256_kb_is_given_up() -> None:
    assert check("json", f'"{"x" * 300_000}"').failure == "checker_gave_up"
    assert check("json", f'"{"x" * 200_000}"').ok is True


@pytest.mark.parametrize(
    ("language", "bomb"),
    [
        ("json", "[" * 100_000),
        ("toml", f"a = {'[' * 100_000}"),
        ("yaml", "[" * 50_000 + "]" * 50_000),
        ("yaml", "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
            f"{b}: &{b} [{','.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True))),
        ("yaml", "&a [*a]"),
    ],
)  # fmt: skip
def test_a_bomb_makes_the_checker_give_up_soon(language: str, bomb: str) -> None:
    check(language, "1")
    started = time.monotonic()
    assert check(language, bomb).failure == "checker_gave_up"
    assert time.monotonic() - started < 15


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("c", '#include "/etc/passwd"\nint x;'),
        ("c++", '#include "/etc/shadow"\nint x;'),
        ("c", '#include "/proc/1/environ"\nint x;'),
        ("rust", 'pub const X: &str = include_str!("/etc/passwd");\nfn f() -> u8 { X }'),
        ("rust", 'include!("/etc/passwd");'),
        ("sql", "ATTACH '/etc/passwd' AS p; SELECT * FROM p.x;"),
        ("yaml", "a: !!python/object/apply:os.system ['cat /etc/passwd']"),
    ],
)
def test_no_line_of_the_host_reaches_an_error(language: str, source: str) -> None:
    if language not in INSTALLED:
        assert check(language, source).failure == "not_checked"
        return
    found = check(language, source)
    assert found.ok is False
    assert "root" not in found.why and "/bin" not in found.why and "PATH=" not in found.why
    assert len(found.why) <= 300


@pytest.mark.slow
def test_devices_are_still_devices_after_failed_compilations() -> None:
    for language, source in (("go", "package main\nfunc main() { x }"), ("rust", "fn main() { x }"), ("c", "int x")):
        if language in INSTALLED:
            assert check(language, source).ok is False
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def grade(text: str, language: str, **row: object) -> Grade:
    evalset = EvalSet(name="t", task="code", items=(), grader=GraderSpec(name="code"))
    return grader_for(evalset)(Answer(text=text, stop="stop"), Item(id="a", row={"language": language, **row}))


@pytest.mark.slow
def test_javascript_is_read_as_a_browser_reads_it() -> None:
    assert grade("```js\nimport a from './a.js';\nexport default a;\n```", "javascript").score == 1.0
    found = grade("```js\nreturn 5;\n```", "javascript")
    assert (found.score, found.failure) == (0.0, "does_not_compile")
    assert check("javascript", "while (true) {}").ok is True  # compiled, not run


def test_rows_may_tell_their_schema() -> None:
    assert grade("```sql\nSELECT a FROM t;\n```", "sql", schema="CREATE TABLE t (a INT)").score == 1.0
    found = grade("```sql\nSELECT b FROM t;\n```", "sql", schema="CREATE TABLE t (a INT)")
    assert (found.score, found.failure) == (0.0, "does_not_compile") and "no such column" in found.why


def test_tests_of_other_languages_are_not_executed() -> None:
    found = grade('```json\n{"a": 1}\n```', "json", tests={"entry_point": "f", "cases": [{"args": [], "expect": 1}]})
    assert (found.score, found.failure) == (None, "not_executed") and found.parts["compiles"] is True


@pytest.mark.parametrize(
    ("language", "text", "source"),
    [
        ("json", '{"a": "```\\ncode\\n```"}', '{"a": "```\\ncode\\n```"}'),
        ("json", 'Here you go: {"a": 1}. Done', '{"a": 1}'),
        ("c++", "```cpp\nint x;\n```", "int x;"),
        ("bash", "```sh\necho a\n```\nand\n```console\n$ echo a\n```", "echo a"),
        ("html", "Sure:\n<p>x</p>\nEnjoy!", "<p>x</p>"),
        ("sql", "```\nSELECT 1;\n```", "SELECT 1;"),
        ("typescript", "```ts\nlet a = 1;\n```\nThen:\n```ts\nlet b = 2;\n```", "let b = 2;"),
    ],
)
def test_extraction_for_other_languages(language: str, text: str, source: str) -> None:
    assert extract(text, language=language).source == source


def test_one_error_line_without_paths_is_kept() -> None:
    said = "note: x\n/home/someone/answer.c:3:1: error: expected ';'\n  secret line of source\n"
    assert first_error(said) == "answer.c:3:1: error: expected ';'"
    assert first_error("") == "refused"
