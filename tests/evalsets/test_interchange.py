"""Sets of other tools: what goes out comes back; what names code is refused; what is lost is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from speedqual.errors import EvalSetError, RefusedError
from speedqual.evalsets import check, load
from speedqual.evalsets.interchange import export_set, import_set
from speedqual.evalsets.interchange.jinja import plain_prompt, render
from speedqual.evalsets.interchange.safeyaml import parse_yaml

SUFFIX = {"csv": ".csv", "jsonl": ".jsonl", "parquet": ".parquet", "promptfoo": ".yaml"}


def source_of(path: Path, kind: str) -> str:
    return str(next(path.glob("*.yaml")) if kind == "lm-eval" else path)


@pytest.mark.parametrize("kind", ["hf", "eval-yaml", "inspect", "lm-eval"])
@pytest.mark.parametrize("name", ["code", "extraction", "facts", "reasoning"])
def test_a_whole_set_comes_back(name: str, kind: str, tmp_path: Path) -> None:
    evalset = load(name)
    out = export_set(evalset, kind, tmp_path / "out").path
    back = load(import_set(source_of(out, kind), out=tmp_path / "back").path)
    assert (back.items, back.fewshot, back.hash) == (evalset.items, evalset.fewshot, evalset.hash)


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "promptfoo"])
@pytest.mark.parametrize("name", ["code", "extraction", "facts"])
def test_items_come_back(name: str, kind: str, tmp_path: Path) -> None:
    evalset = load(name)
    moved = export_set(evalset, kind, tmp_path / f"out{SUFFIX[kind]}")
    assert any("few-shot" in what for what in moved.lost)
    assert load(import_set(str(moved.path), out=tmp_path / "back").path).items == evalset.items


def test_questions_with_worked_answers(tmp_path: Path) -> None:
    rows = [{"question": f"{n} + 1?", "answer": f"One more is {n + 1}.\n#### {n + 1:,}"} for n in (1, 1999)]
    (tmp_path / "sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    made = import_set(str(tmp_path / "sums.jsonl"), out=tmp_path / "sums")
    evalset = load(made.path)
    assert check(made.path) == [] and [item.target for item in evalset.items] == [{"answer": 2}, {"answer": 2000}]
    assert evalset.grader.options["type"] == "number"


def test_choices_become_letters(tmp_path: Path) -> None:
    sample = {"input": "Capital of France?", "choices": ["Rome", "Paris"], "target": "B", "sandbox": "docker"}
    (tmp_path / "x.jsonl").write_text(json.dumps(sample) + "\n", encoding="utf-8")
    made = import_set(str(tmp_path / "x.jsonl"), kind="inspect", out=tmp_path / "x")
    item = load(made.path).items[0]
    assert (item.target, item.row["lettered"]) == ({"answer": "B"}, "A. Rome\nB. Paris")
    assert any("sandbox" in what for what in made.lost)


LM_EVAL = """\
task: t
dataset_path: json
dataset_kwargs: {{data_files: {{test: {file}}}}}
test_split: test
output_type: {kind}
doc_to_text: "{text}"
doc_to_target: "{{{{a}}}}"
generation_kwargs: {{until: ["\\n"], max_gen_toks: 9, temperature: 0}}
{more}
"""


def task(
    tmp_path: Path, text: str = "Q: {{q}}", file: str = "d.jsonl", kind: str = "generate_until", more: str = ""
) -> str:
    (tmp_path / "d.jsonl").write_text('{"q": "2+2?", "a": "4"}\n', encoding="utf-8")
    (tmp_path / "t.yaml").write_text(LM_EVAL.format(text=text, file=file, kind=kind, more=more), encoding="utf-8")
    return str(tmp_path / "t.yaml")


@pytest.mark.parametrize(
    ("text", "prompt"), [("Q: {{q}}", "Q: 2+2?"), ("{% if q %}{{ q | upper }}{{ q[0] }}{% endif %}", "2+2?2")]
)
def test_plain_fields_are_filled(tmp_path: Path, text: str, prompt: str) -> None:
    from speedqual.evalsets import build_prompt
    from speedqual.records import Candidate

    made = import_set(task(tmp_path, text), out=tmp_path / "out")
    evalset = load(made.path)
    (message,) = build_prompt(evalset, evalset.items[0], Candidate(name="c")).messages
    assert (message.content, evalset.stop, evalset.max_tokens) == (prompt, ("\n",), 9)
    assert evalset.items[0].target == {"answer": 4} and any("temperature" in what for what in made.lost)


@pytest.mark.parametrize(
    "changes",
    [
        {"more": "process_docs: !function utils.process"},
        {"more": "class: !!python/name:os.system"},
        {"more": "process_docs: utils.process"},
        {"kind": "multiple_choice"},
        {"text": "{{ q.__class__.__mro__ }}{{ q.format(1) }}"},
        {"text": "{% for a in q %}{% for b in q %}x{% endfor %}{% endfor %}"},
        {"text": "{{ q * 1000000000 }}"},
        {"text": "{% set x = q %}"},
        {"text": "{% include 'x' %}"},
    ],
)
def test_what_names_code_or_is_more_than_fields_is_refused(tmp_path: Path, changes: dict[str, str]) -> None:
    with pytest.raises(RefusedError):
        import_set(task(tmp_path, **changes), out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_files_stay_inside_the_folder(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "secret.jsonl").write_text('{"q": "x", "a": "y"}\n', encoding="utf-8")
    with pytest.raises(EvalSetError, match="outside the folder"):
        import_set(task(tmp_path / "in", file="../secret.jsonl"), out=tmp_path / "out")


def test_dunder_attributes_stay_out_of_reach() -> None:
    with pytest.raises((EvalSetError, RefusedError)):
        render("{{ q.__class__.__base__.__subclasses__ }}", {"q": "x"}, "here")


def test_a_replace_that_grows_is_refused() -> None:
    grow = "{{ q" + ".replace('a', 'aaaaaaaaaa')" * 9 + " }}"
    with pytest.raises((EvalSetError, RefusedError)):
        render(grow, {"q": "a"}, "here")


def test_only_names_become_our_own_slots() -> None:
    assert plain_prompt("Q: {{ q }}\n", {"q"}) == "Q: {q}"
    assert plain_prompt("{{ q | upper }}", {"q"}) is None and plain_prompt("{x} {{ q }}", {"q"}) is None


def test_alias_bombs_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(EvalSetError, match="too many values"):
        parse_yaml("\n".join(lines), "bomb.yaml")
    with pytest.raises(EvalSetError, match="too many values"):
        parse_yaml("a: &a [*a]", "loop.yaml")


def test_tests_of_promptfoo(tmp_path: Path) -> None:
    config = {
        "prompts": ["Where is {{place}}?", "Another {{place}}"],
        "tests": [
            {
                "vars": {"place": "Paris"},
                "assert": [{"type": "icontains", "value": "france"}, {"type": "python", "value": "1"}],
            },
            {"vars": {"place": "Rome"}, "assert": [{"type": "llm-rubric", "value": "good"}]},
        ],
    }
    (tmp_path / "p.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    made = import_set(str(tmp_path / "p.yaml"), out=tmp_path / "out")
    (item,) = load(made.path).items
    assert (
        item.row["assert"] == [{"type": "icontains", "value": "france"}]
        and load(made.path).prompt == "Where is {place}?"
    )
    told = " ".join(made.lost)
    assert "python" in told and "llm-rubric" in told and "further prompts" in told


def test_a_table_of_promptfoo(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("question,__expected\n2+2?,contains: 4\n3+3?,6\n", encoding="utf-8")
    made = import_set(str(tmp_path / "t.csv"), out=tmp_path / "out")
    assert made.kind == "promptfoo"
    assert [item.row["assert"] for item in load(made.path).items] == [
        [{"type": "contains", "value": "4"}],
        [{"type": "equals", "value": "6"}],
    ]
