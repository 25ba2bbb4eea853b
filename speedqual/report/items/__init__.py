"""Items on a page: which to show, what was asked, answered and expected, and the stream as it came."""
