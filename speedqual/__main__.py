"""``python -m speedqual``."""

from speedqual.cli import main

main()
