"""How fast: the metric contract. One quantity, one definition, with unit, formula, source and when it is undefined."""

from speedqual.timing.contract import Absent, Metric
from speedqual.timing.measure import DEFINITIONS, Measured, measure
from speedqual.timing.tokenizer import Tokenizer, Words, tokenizer_from

__all__ = ["DEFINITIONS", "Absent", "Measured", "Metric", "Tokenizer", "Words", "measure", "tokenizer_from"]
