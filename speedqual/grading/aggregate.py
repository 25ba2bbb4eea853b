"""From the grades of single items to the figures of a set. A share of nothing is None, never 0.

Items that were not graded (``score`` None) stay out of every rate and are counted as ``not_graded``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from speedqual.grading.extraction import f1
from speedqual.records import Grade, Item

__all__ = ["extraction_figures", "facts_figures", "general_figures", "pair_figures"]

Figures = dict[str, Any]


def _mean(values: Iterable[float | bool | None]) -> float | None:
    import numpy as np

    known = [float(v) for v in values if v is not None]
    return float(np.mean(known)) if known else None


def _rate(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def general_figures(grades: Sequence[Grade]) -> Figures:
    """``pass_rate``, mean ``score`` and ``score_lenient``, failures by kind: for any grader."""
    graded = [g for g in grades if g.score is not None]
    return {
        "n": len(grades),
        "not_graded": len(grades) - len(graded),
        "pass_rate": _mean(g.verdict == "pass" for g in graded),
        "score": _mean(g.score for g in graded),
        "score_lenient": _mean(g.score_lenient for g in graded),
        "failures": dict(sorted(Counter(g.failure for g in grades if g.failure != "none").items())),
    }


def extraction_figures(grades: Sequence[Grade]) -> Figures:
    """Pooled over all leaves of all documents; a reply without JSON omits every leaf of its gold.

    ``omission_rate`` = omitted / leaves of the gold; ``invented_field_rate`` = invented / leaves given;
    ``unsupported_value_rate`` = texts that the source does not hold / texts given.
    """
    parts = [g.parts for g in grades if g.score is not None]
    tp, fp, fn = (sum(p.get(name, 0) for p in parts) for name in ("tp", "fp", "fn"))
    return general_figures(grades) | {
        "precision": _rate(tp, tp + fp),
        "recall": _rate(tp, tp + fn),
        "micro_f1": f1(tp, fp, fn) if parts else None,
        "macro_f1": _mean(f1(*counts) for counts in _by_field(parts).values()),
        "by_field": {name: f1(*counts) for name, counts in sorted(_by_field(parts).items())},
        "document_exact": _mean(p.get("exact", False) for p in parts),
        "omission_rate": _rate(sum(len(p.get("omitted", ())) for p in parts), tp + fn),
        "invented_field_rate": _rate(sum(len(p.get("invented", ())) for p in parts), tp + fp),
        "unsupported_value_rate": _rate(
            sum(len(p.get("unsupported", ())) for p in parts), sum(p.get("texts", 0) for p in parts)
        ),
        "schema_validity_raw": _mean(p.get("schema_ok", False) for p in parts),
        "schema_validity_repaired": _mean(p.get("schema_ok_repaired", False) for p in parts),
        "parse_rate": _mean(p.get("parsed", False) for p in parts),
        "valid_json_rate": _mean(p.get("valid_json", False) for p in parts),
        "repaired_rate": _mean(g.repairs > 0 for g in grades if g.score is not None),
    }


def _by_field(parts: Iterable[Mapping[str, Any]]) -> dict[str, tuple[int, int, int]]:
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for part in parts:
        for name, field in part.get("fields", {}).items():
            for i, key in enumerate(("tp", "fp", "fn")):
                counts[name][i] += field[key]
    return {name: (a, b, c) for name, (a, b, c) in counts.items()}


_STATUSES = ("supported", "contradicted", "ambiguous", "missing", "unverifiable")


def facts_figures(grades: Sequence[Grade], items: Sequence[Item] = ()) -> Figures:
    """Shares of all facts by what the replies say of them, unsupported claims, and pairs when the items are given."""
    graded = [g for g in grades if g.score is not None]
    counts = Counter(status for g in graded for status in g.parts.get("facts", {}).values())
    total = sum(counts.values())
    claims = sum(g.parts.get("claims") or 0 for g in graded)
    return (
        general_figures(grades)
        | {f"{status}_rate": _rate(counts[status], total) for status in _STATUSES}
        | {
            "fact_recall": _rate(counts["supported"], total),
            "precision": _mean(g.parts.get("precision") for g in graded),
            "unsupported_claim_rate": _rate(sum(len(g.parts.get("unsupported", ())) for g in graded), claims),
            "refusal_rate": _mean(g.failure == "refused" for g in graded),
            "hedged_rate": _mean("hedged" in g.flags for g in graded),
            "copied_rate": _mean("copied" in g.flags for g in graded),
        }
        | pair_figures(grades, items)
    )


def pair_figures(grades: Sequence[Grade], items: Sequence[Item]) -> Figures:
    """Of pairs with all members graded: how many are right in every member, and how many behave as a pair should.

    Counterfactual: the answer must change (``counterfactual_changed``); paraphrase: it must not
    (``paraphrase_stable``). A pair is *right* when every member passes.
    """
    members: dict[tuple[str, str], list[Grade]] = defaultdict(list)
    for grade, item in zip(grades, items, strict=bool(items)):
        pair = item.row.get("pair")
        if isinstance(pair, Mapping) and pair.get("id") is not None:
            members[str(pair.get("kind")), str(pair["id"])].append(grade)
    figures: Figures = {}
    for kind, behaves in (("counterfactual", "changed"), ("paraphrase", "stable")):
        pairs = [g for (k, _), g in members.items() if k == kind and len(g) > 1 and all(x.score is not None for x in g)]
        figures[f"{kind}_pairs"] = len(pairs)
        figures[f"{kind}_right"] = _mean(all(g.verdict == "pass" for g in pair) for pair in pairs)
        figures[f"{kind}_{behaves}"] = _mean(_behaves(pair, changed=kind == "counterfactual") for pair in pairs)
    return figures


def _behaves(pair: Sequence[Grade], *, changed: bool) -> bool:
    answers = {str(g.extracted).casefold() for g in pair}
    if changed:
        return len(answers) == len(pair)
    return len(answers) == 1 or all(g.verdict == "pass" for g in pair)
