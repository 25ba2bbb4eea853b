"""What a notebook shows: rich displays and live progress. The only room that knows IPython."""
