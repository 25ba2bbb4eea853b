"""How well: one grader a file or folder, found by the name that a card gives (``base.py``). Graders never see times."""
