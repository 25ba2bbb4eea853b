"""``speedqual evalset``: make, check, show and exchange eval sets, and try an answer on one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from speedqual.cli.table import text_table
from speedqual.display.numbers import digits
from speedqual.display.safe import visible
from speedqual.errors import EvalSetError, UsageError
from speedqual.evalsets import Problem, build_prompt, builtin_names, check, describe, load
from speedqual.evalsets.problems import nearest
from speedqual.records import Answer, Candidate, EvalSet, Grade, Item, ToolCall

if TYPE_CHECKING:
    from speedqual.grading.selftest import SelfTest

__all__ = ["command"]

_MAX_SLIPS = 40

_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON to stdout.")
_CODE = click.option("--allow-code", is_flag=True, help="Let the set's own grader.py run. Only for sets you trust.")


@click.group("evalset")
def command() -> None:
    """Make, check, show and exchange eval sets, and try an answer on one.

    PATH is a folder, a .jsonl file or a built-in name; NAME@minimal keeps the items tagged so.

    \b
    Examples:
      speedqual evalset new invoices --from invoices.csv
      speedqual evalset check invoices
      speedqual evalset show facts --item en-bus --candidate-shots 2
      speedqual evalset try invoices --id row-1 --answer answer.txt --json
    """


@command.command()
@click.argument("name")
@click.option("--from", "table", type=click.Path(path_type=Path), help="A CSV file with a header line.")
@click.option("--folder", type=click.Path(path_type=Path), default=Path(), help="Where to make it. Default: here.")
def new(name: str, table: Path | None, folder: Path) -> None:
    """Make a new eval set in the folder NAME: a skeleton to edit, or one from a CSV file.

    \b
    Examples:
      speedqual evalset new my-set
      speedqual evalset new invoices --from invoices.csv
    """
    from speedqual.evalsets import scaffold, scaffold_from_csv

    path = scaffold(name, folder) if table is None else scaffold_from_csv(name, table, folder)
    click.echo(str(path))
    for problem in check(path):
        click.echo(_line(problem), err=True)
    evalset = load(path)
    _show_first(evalset, 3)
    click.echo(
        f"\n{len(evalset.items)} items. Edit {path / 'README.md'}, then: speedqual evalset check {path}", err=True
    )


def _show_first(evalset: EvalSet, n: int) -> None:
    """The first prompts as a model gets them."""
    for item in evalset.items[:n]:
        click.echo(f"\n── prompt of {item.id} ──\n{_prompt_text(evalset, item, None)}")


@command.command("check")
@click.argument("path")
@click.option("--self-test", "tests_itself", is_flag=True, help="Also grade the references, and wrong replies.")
@_CODE
@_JSON
def check_(path: str, tests_itself: bool, allow_code: bool, as_json: bool) -> None:
    """Say all that is wrong with an eval set: file, line, what, how to mend it. Exit code 2 when anything is an error.

    With --self-test the reference of every item must pass the set's grader, and replies made wrong from it must not;
    exit code 1 when the grader can't tell.

    \b
    Examples:
      speedqual evalset check ./invoices
      speedqual evalset check ./invoices --self-test
      speedqual evalset check ./invoices --json
    """
    problems = check(path)
    if not any(problem.severity == "error" for problem in problems):
        problems += _grader_problems(path)
    n_errors = sum(problem.severity == "error" for problem in problems)
    tested = _self_test(path, allow_code) if tests_itself and not n_errors else None
    if as_json:
        told = {"path": path, "ok": n_errors == 0, "problems": [problem.to_dict() for problem in problems]}
        _print_json(told | ({"self_test": tested.to_dict()} if tested else {}))
    else:
        for problem in problems:
            click.echo(_line(problem))
        click.echo(f"{path}: {_so_many(n_errors, 'error')}, {_so_many(len(problems) - n_errors, 'warning')}")
        if tested:
            click.echo(visible(_self_test_text(tested), 100_000))
    raise click.exceptions.Exit(2 if n_errors else 1 if tested and tested.slips else 0)


def _so_many(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _self_test(path: str, allow_code: bool) -> SelfTest:
    from speedqual.evalsets.prompts import reference
    from speedqual.grading.base import grader_for
    from speedqual.grading.selftest import self_test

    evalset = load(path, allow_code=allow_code)
    return self_test(evalset, grader_for(evalset), lambda item: reference(evalset, item))


def _self_test_text(tested: SelfTest) -> str:
    """One line a slip, then what was asked."""
    shown = [
        f"{slip.item}: {slip.reply}: {slip.what}{f' ({slip.why})' if slip.why else ''}\n    {slip.text[:200]!r}"
        for slip in tested.slips[:_MAX_SLIPS]
    ]
    more = len(tested.slips) - len(shown)
    shown += [f"… and {more} more (--json lists all)"] if more else []
    counted = f"self-test: {tested.n_right} right and {tested.n_wrong} wrong replies, {len(tested.slips)} misjudged"
    if tested.n_undecided:
        counted += f", {tested.n_undecided} not judged (see speedqual doctor)"
    if tested.without_reference:
        counted += f"; {len(tested.without_reference)} of {tested.n_items} items have no reference"
    return "\n".join([*shown, counted])


def _grader_problems(path: str) -> list[Problem]:
    """What the grader itself says of its options."""
    from speedqual.grading.base import grader_for

    evalset = load(path)
    if evalset.grader.name.startswith("file:"):
        return []  # its code does not run for a check
    try:
        grader_for(evalset)
    except EvalSetError as unplaced:
        from speedqual.evalsets.placing import placed

        fault = placed(unplaced, path)
        return [Problem("error", fault.where or f"eval set {evalset.name}", fault.what, fault.fix)]
    return []


@command.command()
@click.argument("path")
@click.option("--item", "item_id", default=None, help="Show the prompt of this item instead.")
@click.option("--candidate-shots", "shots", type=click.IntRange(0), help="Examples in the prompt. Default: the set's.")
@_JSON
def show(path: str, item_id: str | None, shots: int | None, as_json: bool) -> None:
    """Describe an eval set, or show one item's prompt as a model gets it.

    \b
    Examples:
      speedqual evalset show extraction
      speedqual evalset show ./invoices --item row-1 --candidate-shots 2
    """
    evalset = load(path)
    if item_id is None and as_json:
        head = evalset.to_dict() | {"items": [item.id for item in evalset.items], "fewshot": len(evalset.fewshot)}
        _print_json(head)
    elif item_id is None:
        click.echo(visible(describe(evalset)))
    elif as_json:
        _print_json(build_prompt(evalset, _item(evalset, item_id), _candidate(shots)).to_dict())
    else:
        click.echo(_prompt_text(evalset, _item(evalset, item_id), shots))


@command.command("try")
@click.argument("path")
@click.option("--id", "item_id", required=True, help="The item that the answer is for.")
@click.option("--answer", "file", type=click.File("rb"), required=True, help="A file with the answer, - for stdin.")
@click.option("--calls", is_flag=True, help='The file holds function calls: [{"name": …, "arguments": {…}}].')
@_CODE
@_JSON
def try_(path: str, item_id: str, file: Any, calls: bool, allow_code: bool, as_json: bool) -> None:
    """Grade one typed answer and say why: the loop in which a grader is written.

    \b
    Examples:
      speedqual evalset try ./invoices --id row-1 --answer answer.txt
      echo '{"total": 120.5}' | speedqual evalset try ./invoices --id a1 --answer - --json
    """
    from speedqual.grading.base import grade_all, grader_for

    evalset = load(path, allow_code=allow_code)
    item = _item(evalset, item_id)
    text = file.read().decode("utf-8-sig", errors="replace")
    made = _calls(text) if calls else ()
    answer = Answer(text="" if calls else text, stop="tool" if calls else "stop", tool_calls=made)
    (grade,) = grade_all(grader_for(evalset), [(answer, item)])
    if as_json:
        _print_json(grade.to_dict())
    else:
        click.echo(_grade_text(grade))
    raise click.exceptions.Exit(4 if grade.failure == "grader_error" else 0)


def _calls(text: str) -> tuple[ToolCall, ...]:
    """The calls of a file: a list, or a list under ``calls`` as targets have it."""
    fix = 'Write [{"name": "f", "arguments": {"x": 1}}]'
    try:
        value = json.loads(text)
    except ValueError as fault:
        raise UsageError(f"the calls are no JSON: {fault}", where="--answer", fix=fix) from None
    rows = value.get("calls") if isinstance(value, dict) else value
    if not isinstance(rows, list) or not all(
        isinstance(row, dict) and isinstance(row.get("name"), str) for row in rows
    ):
        raise UsageError("the file holds no list of calls", where="--answer", fix=fix)
    return tuple(ToolCall(row["name"], json.dumps(row.get("arguments") or {}, ensure_ascii=False)) for row in rows)


@command.command("import")
@click.argument("source")
@click.option("--from", "kind", default="", help="Kind of source; told from suffix and content when left out.")
@click.option("--out", type=click.Path(path_type=Path), help="The new folder. Default: here, named like the source.")
@click.option("--field", "fields", multiple=True, metavar="ROLE=COLUMN", help="input, target, choices, id, tier, …")
@click.option("--split", default="", help="Split of a data set. Default: test, else validation, else train.")
@click.option("--config", default="", help="Configuration of a data set.")
@click.option("--task", default="", help="Task of an eval.yaml. Default: the first.")
@click.option("--limit", type=click.IntRange(1), help="Only the first rows.")
@_JSON
def import_(source: str, out: Path | None, fields: tuple[str, ...], as_json: bool, **chosen: Any) -> None:
    """Make an eval set from one of another tool: a file, a folder, or the id of a data set on the Hugging Face hub.

    Kinds: hf, csv, jsonl, parquet, eval-yaml, inspect, lm-eval, promptfoo. Nothing of SOURCE is run. What cannot come
    along is printed to stderr as lines that begin with "lost:".

    \b
    Examples:
      speedqual evalset import questions.parquet --field input=question --field target=answer
      speedqual evalset import gsm8k_cot.yaml --from lm-eval --out gsm8k
      speedqual evalset import hf:openai/gsm8k --config main --limit 100
    """
    from speedqual.evalsets.interchange import import_set

    made = import_set(source, out=out or "", fields=dict(map(_pair, fields)), **chosen)
    problems = [*check(made.path), *_grader_problems(str(made.path))]
    _tell_moved(made, as_json, {"problems": [problem.to_dict() for problem in problems]})
    if not as_json:
        for problem in problems:
            click.echo(_line(problem), err=True)
        _show_first(load(made.path), 1)
    raise click.exceptions.Exit(2 if any(problem.severity == "error" for problem in problems) else 0)


@command.command()
@click.argument("path")
@click.option("--to", "kind", required=True, help="hf, csv, jsonl, parquet, eval-yaml, inspect, lm-eval or promptfoo.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The new file or folder.")
@_JSON
def export(path: str, kind: str, out: Path, as_json: bool) -> None:
    """Write an eval set in the form of another tool. What that form cannot carry is printed as "lost:".

    \b
    Examples:
      speedqual evalset export facts --to inspect --out facts-inspect
      speedqual evalset export ./invoices --to promptfoo --out promptfooconfig.yaml
    """
    from speedqual.evalsets.interchange import export_set

    _tell_moved(export_set(load(path), kind, out), as_json, {})


def _pair(text: str) -> tuple[str, str]:
    role, equals, column = text.partition("=")
    if not (role and equals and column):
        raise UsageError(f"--field {text!r} is no ROLE=COLUMN", fix="Write --field input=question")
    return role.strip(), column


def _tell_moved(moved: Any, as_json: bool, more: dict[str, Any]) -> None:
    """Path and count on stdout, losses on stderr; with ``--json`` all of it on stdout."""
    if as_json:
        told = {"path": str(moved.path), "kind": moved.kind, "items": moved.n_items, "lost": list(moved.lost)}
        _print_json(told | more)
        return
    click.echo(str(moved.path))
    for what in moved.lost:
        click.echo(f"lost: {visible(what, 500)}", err=True)
    click.echo(f"{moved.n_items} items as {moved.kind}", err=True)


@command.command("list")
@_JSON
def list_(as_json: bool) -> None:
    """The eval sets that come with speedqual."""
    sets = [load(name) for name in builtin_names()]
    if as_json:
        _print_json([{"name": one.name, "task": one.task, "items": len(one.items), "floor": one.floor} for one in sets])
        return
    rows = [(one.name, one.task, str(len(one.items)), _share(one.floor), _share(one.success_at)) for one in sets]
    click.echo(text_table(("name", "task", "items", "floor", "success at"), rows))


def _item(evalset: EvalSet, item_id: str) -> Item:
    """The item or example of that id."""
    items = {item.id: item for item in (*evalset.fewshot, *evalset.items)}
    if item_id in items:
        return items[item_id]
    near = nearest(item_id, items)
    fix = f"Write {near}" if near else f"The first are: {', '.join(item.id for item in evalset.items[:5])}"
    raise UsageError(f"eval set {evalset.name} has no item {item_id!r}", fix=fix)


def _candidate(shots: int | None) -> Candidate:
    return Candidate(name="--candidate-shots", shots=shots)


def _prompt_text(evalset: EvalSet, item: Item, shots: int | None) -> str:
    prompt = build_prompt(evalset, item, _candidate(shots))
    turns = [f"[{turn.role}]\n{_content(turn.content)}" for turn in prompt.messages]
    return visible("\n\n".join(turns), 100_000)


def _content(content: str | list[dict[str, Any]]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text") or f"({part.get('type')})") for part in content)


def _grade_text(grade: Grade) -> str:
    facts = {
        "verdict": grade.verdict,
        "score": _share(grade.score),
        "lenient": _share(grade.score_lenient),
        "failure": grade.failure,
        "why": grade.why,
        "how": grade.how,
        "extracted": "" if grade.extracted is None else json.dumps(grade.extracted, ensure_ascii=False, default=str),
        "flags": ", ".join(grade.flags),
    }
    return "\n".join(f"{name:<10} {visible(str(fact), 2_000)}" for name, fact in facts.items() if fact)


def _share(value: float | None) -> str:
    return digits(value)


def _line(problem: Problem) -> str:
    return visible(str(problem), 1_000)


def _print_json(value: Any) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, indent=2, default=str))
