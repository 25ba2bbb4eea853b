"""Three ways not to answer, told apart: to refuse, not to know, and to say that the text does not say.

English and Chinese. Only what the model says in its own voice counts: code and quotations are left out first, so that
a program which prints "I can't help with that" is an answer.
"""

from __future__ import annotations

import re

__all__ = ["is_no_answer", "is_refusal", "says_not_stated", "sentences"]

OPENING_CHARS = 700
"""A refusal stands at the beginning; what follows later is caution, not refusal."""
LOOK_CHARS = 20_000


def _any(words: str) -> str:
    """A group of alternatives: one a line or, on a line without spaces inside alternatives, parted by `` | ``."""
    return (
        "(?:"
        + "|".join(part.strip() for line in words.splitlines() for part in line.split(" | ") if part.strip())
        + ")"
    )


_FENCE = re.compile(r"^ {0,3}(`{3,20}|~{3,20})[^\n]*\n.*?(?:^ {0,3}\1[`~]*\s*$|\Z)", re.MULTILINE | re.DOTALL)
_QUOTED = re.compile(
    r"`[^`\n]{0,300}`|\"[^\"\n]{0,300}\"|“[^”\n]{0,300}”|「[^」\n]{0,300}」|『[^』\n]{0,300}』|(?<!\w)'[^'\n]{3,300}'(?!\w)"
)
_SPACE = re.compile(r"[ \t\r\f\v\u00a0\u3000]+")

# ------------------------------------------------------------------------------------------------ refusing

_CANT = _any(
    """can(?:no|')t | can not | could(?: not|n't) | will not | won't | would(?: not|n't) | must not | should not
    (?:am|are|'m|'re|be)(?: \\w+ly)? (?:not able|unable|not (?:going|allowed|permitted|comfortable|willing|designed))
    (?:am|are|'m|'re|be)(?: \\w+ly)? not (?:in a position|at liberty|authori[sz]ed|programmed)
    (?:am|are|'m|'re|be)(?: \\w+ly)? (?:forbidden|prohibited)
    (?:must|have to|need to|will) (?:\\w+ly )?(?:decline|refuse)
    (?:do not|don't) feel comfortable
    decline | refuse"""
)
_DO = _any(
    """help | assist | provid | compl[iy] | fulfil | answer | respond | creat | writ | generat
    support | engag | discuss | shar
    giv | offer | continu | process | participat | do (?:that|this|so|it) | tell you | talk | produc | mak | facilitat
    encourag | promot | recommend | advis | suggest | explain | teach | show | guid | condon
    address | proceed | say | speak
    describ | reveal | disclos | contribut | accommodat | be (?:part|able)"""
)
_WARNS = _any(
    """not | cannot | can't | no one | incorrect | discriminat\\w* | inappropriate | unethical
    illegal | harmful | private
    personal | everyone"""
)
_REFUSES = re.compile(
    _any(
        rf"""\b(?:i|we|i'm|we're)\b[^.!?\n]{{0,60}}?(?:\b|(?=')){_CANT}\b[^.!?\n]{{0,50}}?\b{_DO}
        \b(?:sorry|apologi[sz]e|apologies|regret|unfortunately)\b[^.!?\n]{{0,60}}?(?:\b|(?=')){_CANT}\b
        ^{_CANT} {_DO}
        \bi (?:\w+ly )?(?:must|have to|need to|will have to) (?:\w+ly )?(?:decline|refuse)
        \b(?:against|violates?|outside) (?:my|our|the) (?:\w+ ){{0,2}}(?:guidelines|polic(?:y|ies)|programming)
        \bi (?:do not|don't) (?:have access to|share|store|keep) (?:\w+ ){{0,3}}(?:personal|private|confidential)
        \bas an? (?:[\w-]+ ){{0,4}}(?:ai|assistant|model)\b[^.!?\n]{{0,40}}\bi must \w+ [^.!?\n]{{0,90}}\b{_WARNS}\b
        \b(?:that|this|your) (?:request|question|topic)\b[^.!?\n]{{0,40}}\bis not something i\b
        \b(?:not|isn't) something (?:that )?(?:i|we)(?:'m| am| can| could| will|'re| are)\b
        \bno can do\b
        ^\W*no[,.]? i(?:'m| am) (?:afraid|sorry)\b
        \bi (?:do not|don't) have the (?:capability|capabilities|ability) to (?:provide|help|assist|give|write|create)\b
        \bi(?: would|'d) (?:rather not|prefer not to)\b"""
    ),
    re.IGNORECASE,
)
_EAGER = re.compile(
    r"\b(?:can't|cannot|can not|couldn't) (?:wait|help but|help \w+ing|stop|believe|resist|imagine|complain|go wrong|"
    r"(?:say|get|stress|recommend|thank \w+) enough|(?:recommend|stress|emphasi[sz]e|thank) (?:\w+ ){1,3}enough)\b",
    re.IGNORECASE,
)
"""What cannot be done for joy."""
_ZH_CANT = _any(
    """无法 | 不能 | 不可以 | 没有办法 | 没办法 | 没法 | 不便 | 不会 | 不应 | 不予 | 不愿 | 不方便
    恕难 | 难以 | 拒绝
    無法 | 沒有辦法 | 沒辦法 | 不會 | 不應 | 不願 | 恕難 | 難以 | 拒絕"""
)
_ZH_DO = _any(
    """提供 | 回答 | 帮 | 协助 | 满足 | 完成 | 支持 | 讨论 | 生成 | 继续 | 给出 | 分享 | 处理 | 透露
    参与 | 从命 | 答复 | 回应
    解答 | 告诉 | 告知 | 编写 | 写 | 创作 | 执行 | 这样做 | 这么做 | 奉告 | 给你 | 给您 | 说明
    解释 | 教 | 幫 | 協助 | 滿足
    討論 | 繼續 | 給 | 處理 | 參與 | 從命 | 答覆 | 回應 | 告訴 | 編寫 | 寫 | 執行 | 這樣做 | 說明 | 解釋"""
)
_REFUSES_ZH = re.compile(
    _any(
        rf"""(?:抱歉|对不起|不好意思|很遗憾|對不起|很遺憾|歉意|恕)[^。！？\n]{{0,40}}?{_ZH_CANT}
        (?:我|本助手|本模型|作为[^。！？\n]{{0,20}})[^。！？\n]{{0,15}}?{_ZH_CANT}[^。！？\n]{{0,12}}?{_ZH_DO}
        ^{_ZH_CANT}[^。！？\n]{{0,12}}?{_ZH_DO}
        (?:请求|问题|话题|要求|請求|問題|話題)[^。！？\n]{{0,20}}(?:违反|违背|違反|無法|无法(?:提供|回答|满足|协助))
        恕不(?:能|便)?(?:奉告|从命|提供|回答|從命)
        违反了?(?:我|相关|法律|平台|使用|内容)[^。！？\n]{{0,15}}(?:政策|规定|准则|原则|法规)"""
    )
)
_ABILITY = re.compile(
    r"\b"
    + _any(
        """find | see | locate | determine | identify | infer | browse | run | execute | open
        verify | confirm | test
        tell (?:from|for|how|what|when|which|who|whether) | be (?:sure|certain)
        access the (?:internet|web) | say for"""
    )
    + r"\b",
    re.IGNORECASE,
)
_OFFER = re.compile(r"\bhere(?:'s| is| are)\b|\bbelow (?:is|are)\b|\bfollowing\b|以下是|下面是|如下", re.IGNORECASE)

# --------------------------------------------------------------------------------------------- not knowing

_UNSURE = re.compile(
    _any(
        r"""\b(?:i|we)(?:'m| am| are|'re)? (?:\w+ly |just )?(?:do not|don't|not) (?:\w+ly )?(?:know|sure|certain)\b
        \b(?:i|we) (?:do not|don't) have (?:an|the|any|enough) (?:answer|idea|information|clue)
        \bno idea\b
        \b(?:i|we) have no (?:idea|clue|answer|information)
        \bi (?:cannot|can't|couldn't|could not|am unable to) (?:say|tell|determine|recall|remember|find)
        ^(?:unsure|not sure|no answer|dunno|idk|pass|hard to say)\W*$
        不知道 | 不清楚 | 不确定 | 不了解 | 不確定 | 不瞭解 | 不太清楚 | 记不清 | 不记得 | 没有答案
        说不准 | 說不準"""
    ),
    re.IGNORECASE,
)
_BLANKS = frozenset(
    [
        "无",
        "未知",
        "無",
        "不详",
        "不詳",
        "无答案",
        "暂无",
        "",
        "n/a",
        "na",
        "none",
        "null",
        "nil",
        "unknown",
        "-",
        "--",
        "—",
        "?",
        "...",
        "…",
        "tbd",
        "{}",
        "[]",
        '""',
        "''",
    ]
)

# ------------------------------------------------------------------------------------ the text does not say

_SOURCE = _any(
    """text | passage | document | source | context | article | paragraph | excerpt | story | report
    statement | information
    material | content | conversation | note | email | letter | memo | page | record | description
    author | data | it | table
    notice | log | file | announcement | contract | invoice | you"""
)
_SAY = _any(
    """say | state | mention | specif\\w+ | tell | told | provide | give | given | indicate
    include | contain | reveal
    disclose | report | list | discuss | address | cover | clarify | note | show | explain | answer
    name | have | offer
    record | identify | describe | detail | refer"""
)
_SAID = _any(
    """said | stated | mentioned | specified | told | provided | given | indicated | included
    contained | revealed | disclosed
    reported | listed | discussed | recorded | available | known | found | present | clear | named
    identified | described
    shown | covered | addressed | in the"""
)
_NEG = r"(?:does not|doesn't|do not|don't|did not|didn't|never|fails to|has not|hasn't|have not|haven't)"
_FIND = _any(
    """determined? | tell | told | known? | infer(?:red)? | found | find | answer(?:ed)?
    establish(?:ed)? | concluded?
    deduced? | say | see | locate | identif(?:y|ied)"""
)
_KNOWLEDGE = r"(?:information|mention|data|details?|answer)"
_FIGURE = r"(?:figure|indication|record|reference|evidence|number|date|value|statement)"
_IMPOSSIBLE = r"(?:cannot|can't|can not|could not|couldn't|impossible to|not possible to|unable to|no way to)"
_ZH_SOURCE = _any(
    """文中 | 文本 | 文章 | 原文 | 文档 | 资料 | 材料 | 上下文 | 段落 | 文字 | 信息 | 报告 | 内容
    来源 | 对话 | 通知 | 记录
    上文 | 这段 | 该段 | 短文 | 記錄 | 資料 | 文檔 | 內容 | 報告 | 合同 | 公告"""
)
_ZH_NOT = _any("并没有 | 并未 | 没有 | 未 | 没 | 並沒有 | 並未 | 沒有 | 沒 | 无 | 無")
_ZH_SAY = _any(
    """提及 | 提到 | 说明 | 说 | 写 | 给出 | 提供 | 指出 | 涉及 | 记载 | 包含 | 交代 | 透露 | 列出
    介绍 | 相关 | 信息 | 明确
    答案 | 数据 | 披露 | 公布 | 說 | 寫 | 給出 | 記載 | 相關 | 資訊 | 數據"""
)
_GIVES = r"(?:gives?|says?|mentions?|states?|has|covers?|reports?|tells?|provides?|lists?)"
_NOT_STATED = re.compile(
    _any(
        rf"""\b{_SOURCE}s?\b[^.!?\n]{{0,40}}?\b{_NEG}\b[^.!?\n]{{0,25}}?\b{_SAY}\b
        \b(?:is|are|was|were|be|been|it's|that's)(?: \w+ly)? (?:not|never)\b (?:\w+ ){{0,3}}?{_SAID}\b
        \b(?:isn't|aren't|wasn't|weren't)\b (?:\w+ ){{0,3}}?{_SAID}\b
        ^\W*not (?:\w+ ){{0,2}}?{_SAID}\b
        \b(?:no|without(?: any)?|insufficient|not enough|lacks?)\b (?:\w+ ){{0,3}}?{_KNOWLEDGE}\b
        \bno (?:\w+ ){{0,3}}?{_FIGURE}s?\b (?:\w+ ){{0,3}}?{_SAID}\b
        \b{_IMPOSSIBLE} (?:\w+ ){{0,3}}?{_FIND}\b
        \b(?:unknown|unspecified|unstated|undisclosed|unanswerable|indeterminable|indeterminate|undetermined)\b
        \bnot in the (?:\w+ )?{_SOURCE}\b
        \b{_SOURCE}s? only {_GIVES}\b[^.!?\n]{{0,80}}?\b(?:not|nothing)\b (?:for|about|in|on|of|the|that|what)\b
        {_ZH_SOURCE}[^。！？\n]{{0,6}}?[只仅](?:给出|提到|写了|说了|有|提供|列出)[^。！？\n]{{1,40}}?{_ZH_NOT}
        {_ZH_SOURCE}[^。！？\n]{{0,14}}?{_ZH_NOT}[^。！？\n]{{0,8}}?{_ZH_SAY}
        {_ZH_NOT}(?:在[^。！？\n]{{1,10}})?(?:被)?(?:明确|具体)?(?:提及|提到|说明|给出|提供|指出|记载|交代|披露|列出|公布|說明|給出)
        {_ZH_NOT}(?:足够的?|充分的?|任何)?(?:相关|这方面|該|该)?的?(?:信息|数据|資訊|數據|记载|说明)
        (?:无法|不能|無法)(?:从[^。！？\n]{{1,14}})?(?:确定|得知|判断|得出|知道|推断|看出|確定|判斷|推斷)
        不得而知 | 未知 | 不详 | 不詳"""
    ),
    re.IGNORECASE,
)
_POLICY = re.compile(
    _any(
        r"""\b(?:polic(?:y|ies)|guidelines|appropriate|ethical|unethical|illegal|harmful|unsafe|privacy|confidential)\b
        \b(?:comfortable|programming|comply)\b
        \b(?:help|assist)(?: you)? with (?:that|this)\b
        政策 | 准则 | 规定 | 违反 | 不当 | 不适当 | 隐私 | 敏感 | 有害 | 违法 | 準則 | 規定 | 違反"""
    ),
    re.IGNORECASE,
)


def _voice(text: str) -> str:
    """What the model says itself, quotes and code left out, with plain apostrophes and single spaces."""
    head = text[:LOOK_CHARS].replace("’", "'").replace("‘", "'").replace("\u2032", "'")
    prose = _FENCE.sub("\n", head) if "```" in head or "~~~" in head else head
    return _SPACE.sub(" ", _QUOTED.sub(" ", prose).replace("*", "")).strip()


def sentences(prose: str) -> list[str]:
    """Non-empty sentences and lines of ``prose``. A point inside a number parts nothing."""
    return [s.strip() for s in re.split(r"(?<=[.!?])\s+|(?<=[。！？；])|\n", prose) if s.strip()]


def is_refusal(text: str) -> bool:
    """Whether the reply refuses the request, wholly or in its first sentences.

    A partial refusal counts as one. Regret ("I'm sorry to hear that"), a warning after the answer, a limit of ability
    ("I can't find it") and refusing words inside code or quotes do not.
    """
    prose = _voice(text)
    for sentence in sentences(prose[:OPENING_CHARS])[:4]:
        sentence = _EAGER.sub(" ", sentence)
        hit = _REFUSES.search(sentence) or _REFUSES_ZH.search(sentence)
        if hit and not _is_limit(sentence):
            return not (_FENCE.search(text[:LOOK_CHARS]) and _OFFER.search(prose))
    return False


def _is_limit(sentence: str) -> bool:
    """A sentence about what cannot be found or done, rather than what will not be."""
    return bool(_ABILITY.search(sentence) or _NOT_STATED.search(sentence)) and not _POLICY.search(sentence)


def is_no_answer(text: str) -> bool:
    """Whether the reply gives nothing: empty, a placeholder, or only "I don't know"."""
    bare = text[:400].strip().rstrip(".。!！").strip().casefold()
    if bare in _BLANKS:
        return True
    prose = _voice(text)
    return len(prose) <= 200 and bool(_UNSURE.search(prose))


def says_not_stated(text: str) -> bool:
    """Whether the reply says that the source does not give the answer. A refusal on grounds of policy does not."""
    prose = _voice(text)[:2000]
    return any(bool(_NOT_STATED.search(s)) and not _POLICY.search(s) for s in sentences(prose))
