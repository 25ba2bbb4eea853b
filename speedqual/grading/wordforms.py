"""Content words brought to one form: a light stemmer, irregular verbs, and small groups that mean the same or the contrary."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["STOPWORDS", "are_opposite", "stem"]

STOPWORDS = frozenset(
    ["a", "an", "the", "of", "in", "on", "at", "by", "to", "for", "from", "with", "into", "onto", "as", "is", "are", "was", "were", "be", "been", "being", "am", "do", "does", "did", "done", "have", "has", "had", "having", "will", "would", "shall", "should", "can", "could", "may", "might", "must", "it", "its", "this", "that", "these", "those", "he", "she", "they", "them", "his", "her", "their", "we", "our", "you", "your", "i", "me", "my", "and", "or", "but", "if", "so", "than", "then", "there", "here", "which", "who", "whom", "whose", "what", "when", "where", "why", "how", "all", "any", "some", "each", "every", "both", "such", "own", "same", "too", "very", "just", "also", "only", "more", "most", "much", "many", "few", "other", "another", "about", "after", "before", "during", "between", "over", "under", "again", "once", "not", "no", "nor", "never", "per", "via", "upon", "within", "while", "because", "since", "until", "although", "though", "however", "up", "out", "off", "s", "t", "true", "false", "fact", "say", "says", "said", "claim", "claims", "according", "text", "source", "states", "stated", "passage"]
) - {"up"}

_IRREGULAR = {
    "sold": "sell", "rose": "rise", "risen": "rise", "grew": "grow", "grown": "grow", "fell": "fall", "fallen": "fall", "made": "make", "bought": "buy", "built": "build",
    "founder": "found", "founders": "found", "won": "win", "lost": "lose", "led": "lead", "left": "leave", "went": "go", "gone": "go", "came": "come", "took": "take",
    "taken": "take", "gave": "give", "given": "give", "began": "begin", "begun": "begin", "became": "become", "wrote": "write", "written": "write", "ran": "run", "held": "hold",
    "paid": "pay", "spent": "spend", "met": "meet", "saw": "see", "seen": "see", "kept": "keep", "brought": "bring", "taught": "teach", "born": "bear", "sent": "send",
    "people": "person", "men": "man", "women": "woman", "children": "child", "sale": "sell", "sales": "sell", "growth": "grow", "loss": "lose", "sat": "sit", "flew": "fly",
    "drove": "drive", "broke": "break", "chose": "choose", "chosen": "choose", "spoke": "speak", "stood": "stand", "understood": "understand", "cost": "cost",
}  # fmt: skip
_SAME = (
    "found establish creat start launch begin set",
    "operat present presence activ busines trade",
    "rise grow increas up gain climb higher",
    "fall drop decreas declin down decline lower shrink reduc",
    "sell ship deliver",
    "buy acquir purchas takeover",
    "locat bas situat headquarter",
    "employ staff workforce worker hire",
    "earn revenu turnover incom",
    "leader lead head ceo chief director boss",
    "build construct erect",
    "close shut",
    "begin start",
    "die death pass",
    "cost price",
    "win victory",
    "car vehicl automobil",
    "firm company enterpris",
)
_OPPOSITE = (
    "rise fall", "buy sell", "open close", "win lose", "before after", "first last", "early late", "north south", "east west", "left right", "more less", "older younger",
    "increas decreas", "import export", "profit loss", "profit lose", "above below", "employ dismiss", "accept reject", "allow forbid", "allow ban", "hot cold", "hire fire", "oldest youngest",
    "largest smallest", "highest lowest", "longest shortest", "best worst", "male female", "man woman", "day night", "morning evening", "summer winter", "found close", "begin end", "arriv leav",
    "alive dead", "public private", "legal illegal", "success fail", "lend borrow", "teach learn", "enter leave", "married single", "approv reject", "support oppos",
)  # fmt: skip


def _light(word: str) -> str:
    for suffix, least in (
        ("ations", 4),
        ("ation", 4),
        ("ings", 4),
        ("ing", 4),
        ("ies", 3),
        ("ied", 3),
        ("ed", 3),
        ("es", 4),
        ("ions", 4),
        ("ion", 4),
        ("s", 3),
        ("ly", 4),
    ):
        if word.endswith(suffix) and len(word) - len(suffix) >= least and not word.endswith("ss"):
            word = word[: -len(suffix)] + ("y" if suffix in ("ies", "ied") else "")
            break
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "lse":
        word = word[:-1]
    return word[:-1] if len(word) > 4 and word.endswith("e") else word


_GROUP = {form: group.split()[0] for group in reversed(_SAME) for form in group.split()}
_PAIRS = {frozenset(_GROUP.get(w, w) for w in map(_light, pair.split())) for pair in _OPPOSITE}


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """One form for ``sells``, ``sold`` and ``sale``; words of one small group share it too."""
    lowered = word.lower().removesuffix("'s")
    base = _IRREGULAR.get(lowered) or _light(re.sub(r"[^\w-]", "", lowered))
    return _GROUP.get(base, base)


def are_opposite(a: str, b: str) -> bool:
    """Whether two stems mean contrary things."""
    return frozenset((a, b)) in _PAIRS
