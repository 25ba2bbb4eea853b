"""Finding programs: never an exception, linear time, and how a fence is read in odd places."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from speedqual.grading.code.extraction import ALIASES, canonical_language, extract
from speedqual.grading.code.fences import fences, language_of
from speedqual.grading.code.python_text import Scan, defined_names, defines, inside_strings, signature_of
from speedqual.grading.code.python_versions import needs
from speedqual.grading.code.repairs import repaired

F = "```"
PIECES = st.sampled_from(
    [F, f"{F}python", "~~~", f"{F}`md", "def f(x):", "    return x", '"""', "'''", "it's (", ">>> f(1)", "- ", "> ", "    ", "",
     "import os", "class A:", "@d", "x = 1", "Then:", "else:", "# note", "\\", "{", "]", "\t", "中文：函数", "return", "é"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=30), st.sampled_from(sorted(ALIASES)), st.sampled_from(["", "f", "A.g"]))
def test_extraction_never_raises_and_never_invents(lines: list[str], language: str, entry_point: str) -> None:
    text = "\n".join(lines)
    found = extract(text, language=language, entry_point=entry_point, prompts=["def f(x):\n"])
    assert found.how
    assert (found.failure == "none") == bool(found.source)
    words = set("".join(found.source.split())) - set("deffx():")
    assert words <= set(text)


@given(st.text(max_size=300))
def test_any_text_at_all(text: str) -> None:
    for language in ("python", "json", "html"):
        extract(text, language=language, entry_point="f")
    fences(text)


@pytest.mark.timing
@pytest.mark.parametrize("wrap", ["{}", F + "python\n{}\n" + F, "Here it is. I'd say:\n{}\nDone."])
def test_two_thousand_lines_take_less_than_50_ms(wrap: str) -> None:
    program = (
        "\n".join(f"def g{n}(x):\n    return x + {n}  # it's" for n in range(1000)) + "\ndef f(x):\n    return g1(x)"
    )
    text = wrap.format(program)
    took_ms = []
    for _ in range(5):
        started = time.perf_counter()
        found = extract(text, language="python", entry_point="f")
        took_ms.append((time.perf_counter() - started) * 1e3)
    assert "def f(x)" in found.source and "def g999(x)" in found.source
    assert min(took_ms) < 50


@pytest.mark.timing
@pytest.mark.parametrize(
    "line", [F, f"{F}python", "def f(x):", "'''", "(", "x = [", "{", "- - - -", ">" * 50, "    " * 20]
)
def test_time_grows_with_the_answer_not_with_its_square(line: str) -> None:
    for language in ("python", "json", "markdown"):
        text = f"{line}\n" * 20_000
        started = time.perf_counter()
        extract(text, language=language, entry_point="f")
        assert time.perf_counter() - started < 5


@pytest.mark.parametrize(
    ("info", "language"),
    [("python", "python"), (" py ", "py"), ("{.python .numberLines}", "python"), ('py title="a.py"', "py"), ("C++", "c++"),
     ("c#", "c#"), ("", ""), ("python3.11", "python3.11"), ("{python}", "python"), ("js:app.js", "js")],
)  # fmt: skip
def test_the_language_of_an_info_string(info: str, language: str) -> None:
    assert language_of(info) == language


@pytest.mark.parametrize(
    ("word", "name"),
    [("PY", "python"), ("python3.12", "python"), ("Cpp", "c++"), ("yml", "yaml"), ("sh", "bash"), ("x", "x")],
)
def test_languages_by_any_name(word: str, name: str) -> None:
    assert canonical_language(word) == name


def test_fences_know_their_lines_and_ends() -> None:
    text = f"a\n{F}py\nx\n{F}\nb\n~~~\ny"
    first, second = fences(text)
    assert (first.body, first.first_line, first.last_line, first.closed) == ("x", 1, 3, True)
    assert (second.body, second.first_line, second.last_line, second.closed) == ("y", 5, 6, False)


def test_inline_backticks_open_nothing() -> None:
    assert fences(f"{F}python print(1){F} is inline") == []


def test_the_scanner_follows_strings_comments_and_brackets() -> None:
    lines = ['s = """', F, '"""', 't = \'it\'\'s """ not\' # """', "u = (", "1)", "v = r'''\\'''", "x"]
    assert inside_strings(lines) == [False, True, True, False, False, False, False, False]
    scan = Scan()
    scan.feed("f(a, [b, {")
    assert scan.open and scan.depth == 3
    assert inside_strings(['s = """', "never", "closed"]) == [False, False, False]


def test_names_of_a_block() -> None:
    source = (
        "import a.b as c, d\nfrom e import (f as g,\n  h)\nI, J = 1, 2\nk: int = 3\nasync def m(): n = 1\nclass O: pass"
    )
    assert defined_names(source) == {"c", "d", "g", "h", "I", "J", "k", "m", "O"}
    assert defines("f = lambda: 0", "f") and defines("class A: pass", "A.g") and not defines("  def f(): pass", "f")
    assert not defines("f == 1", "f")


def test_the_prompts_signature() -> None:
    prompt = "import x\n\ndef f(a: dict[str, int], b=(1, 2)) -> int:\n    pass"
    assert signature_of(prompt, "f") == ("import x\n\n", "def f(a: dict[str, int], b=(1, 2)) -> int:")
    assert signature_of("no such", "f") == ("", "")


@pytest.mark.parametrize(
    ("source", "version", "need"),
    [
        ("type X = int", "3.11.7", "3.12"),
        ("def f[T](x: T) -> T: return x", "3.11.7", "3.12"),
        ('f"{x["a"]}"', "3.11.7", "3.12"),
        ("try:\n    pass\nexcept A, B:\n    pass", "3.11.7", "3.14"),
        ("type X = int", "3.12.0", ""),
        ("def f(x): return x[0]", "3.11.7", ""),
        ("print 'x'", "3.11.7", ""),
    ],
)
def test_the_python_that_a_syntax_needs(source: str, version: str, need: str) -> None:
    assert needs(source, version) == need


def test_repairs_are_named_and_only_offered_where_they_apply() -> None:
    assert [name for name, _ in repaired(">>> def f(): pass", "f", "does_not_compile")] == ["prompts"]
    assert list(repaired("def g(): pass\ndef h(): pass", "f", "wrong_format")) == []
    assert [name for name, _ in repaired("def g(): pass", "f", "wrong_format")] == ["name"]
    assert list(repaired("def g(): pass", "f", "wrong_result")) == []
