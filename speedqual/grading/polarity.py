"""Whether a sentence affirms or denies what it names at one place: negation and its scope, hedges, bounds, corrections.

English and Chinese. A clause ends at a contrast ("but", "而是"), a comma or a bracket; negators in it are counted, so
that two of them affirm.
"""

from __future__ import annotations

import re

__all__ = ["HEDGE", "Stance", "clause_start", "is_reason", "negations", "stance_at", "was_corrected"]

Stance = str
"""affirmed | denied | asked | bounded"""

_BOUNDARY = re.compile(
    r"[,;:()（），；：。—]|(?<!\w)--?(?!\w)|(?<!one )(?<!body )(?<!thing )(?<!where )(?<!all )\bbut\b|"
    r"\b(?:however|rather(?! than)|although|though|whereas|"
    r"while|because|so that|yet)\b"
    r"|而是|但是|但|不过|可是|然而|却|因为|所以",
    re.IGNORECASE,
)
_NOT_NEGATIONS = re.compile(
    r"\bnot (?:only|just|merely|simply|least|to mention)\b|\bno (?:less|more|fewer|later|earlier|sooner) than\b"
    r"|\b(?:nothing|none|no one|nobody|nowhere) (?:but|except|other than)\b|\bno doubt\b|\bwithout "
    r"(?:a )?doubt\b|\bwhy not\b"
    r"|\bno\. ?\d|\b(?:can't|cannot|can not) (?:but|deny)\b"
    r"|不仅|不但|不只|不光|不止|不得不|不错|没错|无非|不一会|不久|不断|不同|不少|无论|不管|不论|"
    r"毫无疑问|无疑|非常|非洲|除非|莫非|没准|未来|别人|别的",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:not|never|no|none|nobody|neither|nor|without|except|excluding|unlike|hardly|scarcely|"
    r"cannot|nowhere|nothing|fails? to|"
    r"failed to|false|untrue|incorrect|wrong|denies|denied|lacks?|ceased|stopped|instead of|rather "
    r"than|apart from|other than|"
    r"outside|absent|impossible|myth|refuted?|rejects?|rejected|absence|ruled out|doubt(?:s|ed|ful)?|"
    r"deny|(?:any|every)(?:one|body|thing|where) but|all but)\b|n't\b"
    r"|并不是|并非|不是|绝不|从不|从未|并未|并没有|没有|没|不再|不会|不能|不曾|未曾|未|不|非|无|而非|"
    r"除了?|别|莫|否认|错误|假的|谣言|勿",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(
    r"[^,;.!?，；。]{0,25}?(?:\b(?:is|was|are|were|would be)(?: \w+ly)? (?:not|wrong|false|incorrect|"
    r"untrue|mistaken|an? (?:\w+ )?(?:typo|mistake|error|misprint|misreading|slip))\b|"
    r"\b(?:isn't|wasn't|aren't|weren't)\b"
    r"|(?:是错的|是错误的|不对|不正确|有误|是不对的|不是正确|是?(?:笔误|错别字|打字错误|写错了)))"
    r"|[\"'”’」』] ?(?:不是|不对|应为|应当?是|应该是|(?:should|must|ought to) (?:be|have been|read)\b)"
    r"|(?:不是|不对)|[：:]?(?:文中|原文|文章|资料)?(?:并?未|没有|没)(?:提及|提到|说明|给出)",
    re.IGNORECASE,
)
_BOUND_BEFORE = re.compile(
    r"(?:\b(?:more|less|fewer|greater|higher|lower|larger|smaller|other|better|worse|later|earlier) "
    r"than|\b(?:over|above|under|below|exceed\w*|beyond|nearly|almost|"
    r"at least|at most|up to|as many as|as much as|minimum of|maximum of|not quite|close to|just "
    r"(?:over|under)|after|before)|超过|多于|少于|不到|至少|最多|将近|接近|不足|高于|低于|大于|小于|"
    r"逾|近)"
    r"(?: \w+ly)?[ $€£¥]*$",
    re.IGNORECASE,
)
_BOUND_AFTER = re.compile(
    r" ?(?:or (?:more|less|fewer|above|below|higher|lower|later|earlier)|plus\b|\+|以上|以下|"
    r"多[个台人元米]|余[个台人元米])",
    re.IGNORECASE,
)
_CORRECTION = re.compile(
    r"\b(?:no|wait|actually|sorry|correction|scratch that|i mean|let me correct|make that|rather|on "
    r"second thought|oops)\b(?! than)"
    r"|更正|不对|应该是|其实是|说错了|准确地说|纠正",
    re.IGNORECASE,
)

HEDGE = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|presumably|i (?:think|guess|believe|suppose)|about|around|"
    r"roughly|approximately|approx|circa|likely|might|may be|"
    r"could be|seems?|not (?:entirely |quite |completely )?(?:sure|certain))\b|~|≈|大概|大约|约|可能|"
    r"也许|左右|应该是|估计|似乎|好像|或许|不太确定",
    re.IGNORECASE,
)
"""Words that soften a claim."""


REACH = 400
"""Characters around a place that are looked at: keeps an endless sentence cheap."""


def clause_start(sentence: str, at: int) -> int:
    """Where the clause around ``at`` begins."""
    start = max(0, at - REACH)
    for match in _BOUNDARY.finditer(sentence, start, at):
        if not _inside_number(sentence, match.start()):
            start = match.end()
    return start


def _inside_number(sentence: str, at: int) -> bool:
    """The comma of 1,200 bounds nothing."""
    return sentence[at - 1 : at].isdigit() and sentence[at + 1 : at + 2].isdigit()


def negations(text: str) -> int:
    """How many negators ``text`` has; "not only" and its like are none."""
    return len(_NEGATION.findall(_NOT_NEGATIONS.sub(" ", text)))


def stance_at(sentence: str, start: int, end: int, *, exact: bool = False) -> Stance:
    """How the sentence stands to what is named between ``start`` and ``end``. ``exact``: a bound before it counts."""
    begin = clause_start(sentence, start)
    before, after = sentence[begin:start], sentence[end : end + REACH]
    if exact and (_BOUND_BEFORE.search(before) or _BOUND_AFTER.match(after)):
        return "bounded"
    denied = negations(before) % 2 == 1
    if not before.strip() and not denied:
        denied = _goes_on_denied(sentence, begin)
    if _DENIED_AFTER.match(after):
        denied = not denied
    if denied:
        return "denied"
    return "asked" if sentence.rstrip(" \"'”）)").endswith(("?", "？")) else "affirmed"


_LIST_COMMA = re.compile(r"[,，、]\s*$")


def _goes_on_denied(sentence: str, begin: int) -> bool:
    """``not Paris, Rome or Milan``: bare members of a denied list are denied as long as an "or" is to come."""
    head = sentence[max(0, begin - REACH) : begin]
    if not _LIST_COMMA.search(head):
        return False
    start = clause_start(head, len(head.rstrip(" ,，、")))
    rest = sentence[begin : begin + 60]
    return negations(head[start:]) % 2 == 1 and bool(re.match(r"[^;.]*?\b(?:or|nor)\b|[^；。]*?[或和]", rest))


_REASON = re.compile(
    r"\b(?:since|because|as|after|given|now that|(?:even )?though|although|while|whereas|due to|owing to|despite)\b"
    r"|因为|由于|既然|虽然|尽管|鉴于",
    re.IGNORECASE,
)
_LEFT_BEHIND = re.compile(r"[;:.!?；。：]|[,，](?!\s*(?:and|or|而且|并且|和)\b)", re.IGNORECASE)


def is_reason(sentence: str, at: int) -> bool:
    """Whether what is named at ``at`` only says why: ``the Barn, since the Boathouse is flooded``."""
    words = list(_REASON.finditer(sentence, max(0, at - REACH), at))
    return bool(words) and not _LEFT_BEHIND.search(sentence[words[-1].end() : at])


def was_corrected(sentence: str, end: int, following: str) -> bool:
    """``1,300, no wait, 1,200``: what is named is taken back in the words right after it."""
    tail = (sentence[end:] + " " + following)[:40]
    match = _CORRECTION.search(tail)
    return (
        match is not None
        and not re.search(r"[.。!！]\s", tail[: match.start()].rstrip(". ,;"))
        and _is_soon(tail, match)
    )


def _is_soon(tail: str, match: re.Match[str]) -> bool:
    return len(tail[: match.start()].split()) <= 3
