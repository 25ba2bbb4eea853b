"""What every grader does to a reply first: take the thinking out, fold characters, drop the Markdown.

Nothing here judges. The raw text always stays with the record; these are views of it.
"""

from __future__ import annotations

import json
import re
import unicodedata
from itertools import islice
from typing import NamedTuple

from speedqual.grading.refusals import is_no_answer, is_refusal, says_not_stated

__all__ = [
    "Stripped",
    "blank_thinking",
    "fold",
    "is_blank",
    "is_no_answer",
    "is_refusal",
    "plain",
    "says_not_stated",
    "squeeze",
    "strip_thinking",
]


class Stripped(NamedTuple):
    """A reply without its thinking. ``unclosed``: it ended inside the thinking, so ``text`` holds no answer of it."""

    text: str
    found: bool
    unclosed: bool


MAX_TAGS = 64
"""Tags that are looked at before one opens or closes a block: keeps a reply made of tags cheap."""
_NAMES = r"think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis"
_TAG = re.compile(
    rf"<(?P<close>/)?(?P<name>{_NAMES})>|\[(?P<close2>/)?(?P<name2>THINK)\]|◁(?P<close3>/)?(?P<name3>think)▷",
    re.IGNORECASE,
)
_HARMONY = re.compile(
    r"<\|channel\|>\s*(?P<channel>\w+)[^<]*<\|message\|>(?P<body>.*?)(?=<\|(?:end|return|start|call)\|>|\Z)", re.DOTALL
)
_FENCE_LINE = re.compile(r"^ {0,3}(?:```|~~~)|```[\w+#.-]*[ \t]*$", re.MULTILINE)


def strip_thinking(text: str) -> Stripped:
    """``text`` without its thinking blocks: ``<think>``, ``<thinking>``, ``[THINK]``, ``◁think▷`` and harmony channels.

    A closing tag without an opening one ends thinking that began in the prompt. Tags inside a fence, between quotes
    or inside a reply that is JSON as a whole belong to the answer.
    """
    spans, found, unclosed = _answer_spans(text)
    joined = "".join(text[start:end] for start, end in spans)
    return Stripped(joined.strip() if found else joined, found=found, unclosed=unclosed)


def blank_thinking(text: str) -> str:
    """``text`` with newlines in place of its thinking, so that every character of the answer stays where it was."""
    spans, found, _ = _answer_spans(text)
    if not found:
        return text
    kept, at = [], 0
    for start, end in spans:
        kept.append("\n" * (start - at) + text[start:end])
        at = end
    return "".join(kept) + "\n" * (len(text) - at)


def _answer_spans(text: str) -> tuple[list[tuple[int, int]], bool, bool]:
    """Where the answer stands between the thinking; whether there is thinking; whether it never ended."""
    if "<|channel|>" in text:
        finals = [m.span("body") for m in _HARMONY.finditer(text) if m["channel"].lower() == "final"]
        return finals, True, not finals
    if not _TAG.search(text) or _is_json(text):
        return [(0, len(text))], False, False
    kept: list[tuple[int, int]] = []
    at = 0
    found = False
    while (span := _next_block(text, at, first=not found)) is not None:
        start, end = span
        found = True
        kept.append((at, start))
        if end is None:
            return kept, True, True
        at = end
    return [*kept, (at, len(text))], found, False


def _next_block(text: str, at: int, *, first: bool) -> tuple[int, int | None] | None:
    """Start and end of the next thinking block after ``at``; end None = never closed."""
    for tag in islice(_TAG.finditer(text, at), MAX_TAGS):
        if not _is_markup(text, tag, at):
            continue
        if not _closes(tag):
            return tag.start(), _end_of(text, tag)
        if first:
            return at, tag.end()
    return None


def _end_of(text: str, opening: re.Match[str]) -> int | None:
    """Where the block ends: at the tag that balances, else at the last closing tag of the same name."""
    depth, last = 1, None
    for tag in _TAG.finditer(text, opening.end()):
        if _name(tag) != _name(opening):
            continue
        depth += -1 if _closes(tag) else 1
        last = tag.end() if _closes(tag) else last
        if depth == 0:
            return tag.end()
    return last


def _is_markup(text: str, tag: re.Match[str], since: int) -> bool:
    """Whether the tag stands in prose: not between quotes or backticks, not inside a fenced block."""
    before, after = text[tag.start() - 1 : tag.start()], text[tag.end() : tag.end() + 1]
    if before in {"`", '"', "'"} or (after in {"`", '"'} and before != "" and not before.isspace()):
        return False
    return len(_FENCE_LINE.findall(text, since, tag.start())) % 2 == 0


def _closes(tag: re.Match[str]) -> bool:
    return bool(tag["close"] or tag["close2"] or tag["close3"])


def _name(tag: re.Match[str]) -> str:
    return (tag["name"] or tag["name2"] or tag["name3"]).lower()


def _is_json(text: str) -> bool:
    if text.lstrip()[:1] not in {"{", "["}:
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


# Characters that look like others, beyond what NFKC folds. Keys are single characters.
_LOOKALIKES = str.maketrans(
    {
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d", "-"),
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc\u00b4", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"'),
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad", ""),
    }
)


_NOTHING = re.compile("[\\s\u200b-\u200f\u2060-\u2064\ufeff\u00ad\u180e\u2800\u3164\x00]*\\Z")


def is_blank(text: str) -> bool:
    """Whether a reader sees nothing: white space, zero-width characters and byte order marks alone."""
    return _NOTHING.match(text) is not None


def squeeze(text: str) -> str:
    """NFKC, one kind of dash and quote, no zero-width characters, single spaces. Case stays."""
    if text.isascii():
        return " ".join(text.split())
    return " ".join(unicodedata.normalize("NFKC", text).translate(_LOOKALIKES).split())


def fold(text: str) -> str:
    """``squeeze`` and case folding: two texts that a reader would call the same compare equal."""
    return squeeze(text).casefold()


_FENCED = re.compile(r"^ {0,3}(?:`{3,20}|~{3,20})[^\n]*$", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\[\]]{0,500})\]\([^()\s]{0,2000}\)")
_BOXED = re.compile(r"\\(?:boxed|fbox|text|mathrm|mathbf|textbf|mbox)\s*\{([^{}]{0,500})\}")
_MATH = re.compile(r"\\[()\[\]]|\$\$|\\(?:[,;!:]|quad\b)|(?<=\d)\{,\}(?=\d)")
_HEAD = re.compile(r"^[ \t]{0,3}(?:#{1,6}[ \t]+|>[ \t]?|[-*+•][ \t]+)+", re.MULTILINE)
_STRONG = re.compile(r"(\*\*\*|\*\*|__|~~|`{1,4})(?=\S)(.{1,2000}?)(?<=\S)\1", re.DOTALL)
_STAR = re.compile(r"(?<![\w*])\*(?=[^\s*])([^*\n]{1,500}?)(?<=[^\s*])\*(?![\w*])")


_MARKS = re.compile(r"[*_`~#>\[\\$+•]|^[ \t]*-|\{,\}", re.MULTILINE)


def plain(text: str) -> str:
    """``text`` without Markdown and TeX marks: emphasis, code ticks, fence lines, headings, bullets, links, boxes."""
    if not _MARKS.search(text):
        return text.strip()
    for _ in range(3):
        text = _BOXED.sub(r"\1", text)
    text = _LINK.sub(r"\1", _FENCED.sub("", text))
    text = _HEAD.sub("", _MATH.sub("", text))
    for _ in range(2):
        text = _STRONG.sub(r"\2", text)
    text = _STAR.sub(r"\1", text)
    return text.replace("\\$", "$").replace("\\%", "%").strip()
