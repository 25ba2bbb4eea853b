"""``python -m speedqual.evalsets.generators FOLDER``: write ``FOLDER/NAME/test.jsonl`` of every generated set again."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from speedqual.evalsets.generators import NAMES, shipped_rows

root = Path(sys.argv[1] if len(sys.argv) > 1 else "evalsets")
for name in NAMES:
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in shipped_rows(name)]
    (root / name / "test.jsonl").write_text("".join(lines), encoding="utf-8")
