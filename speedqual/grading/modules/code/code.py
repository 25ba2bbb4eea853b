"""Does the code compile, and does it pass its tests? The grader ``code`` of speedqual as a module of ``evaluate``.

``evaluate.load(str(module_path("code"))).compute(predictions=[…], references=[…], options={…})``. A prediction is the
text of a reply; a reference is the JSON of a row: {"tests": {…}, "language": …}.
"""

from __future__ import annotations

from typing import Any

import datasets
import evaluate

from speedqual.grading.evaluating import compute


class Code(evaluate.Metric):  # type: ignore[misc]
    """Calls the grader itself: ``_compute`` adds nothing."""

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=__doc__ or "",
            citation="",
            inputs_description="predictions: texts; references: JSON of a row; options: as in the card",
            features=datasets.Features({"predictions": text, "references": text}),
        )

    def _compute(
        self, predictions: list[str], references: list[str], options: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        return compute("code", predictions, references, options)
