"""Is the extracted JSON right, leaf by leaf? The grader ``extraction`` of speedqual in ``evaluate``.

``evaluate.load(str(module_path("extraction"))).compute(predictions=[…], references=[…], options={…})``. A prediction
is the text of a reply; a reference is the JSON of the gold, or of a row: {"target": {…}, "text": …}.
"""

from __future__ import annotations

from typing import Any

import datasets
import evaluate

from speedqual.grading.evaluating import compute


class Extraction(evaluate.Metric):  # type: ignore[misc]
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
        return compute("extraction", predictions, references, options)
