"""Which language a text is in, as far as scripts and the commonest small words tell."""

from __future__ import annotations

import re

__all__ = ["LANGUAGES", "share_of"]

_SCRIPTS = {
    "zh": re.compile(r"[\u3400-\u9fff]"),
    "ja": re.compile(r"[\u3040-\u30ff\u3400-\u9fff]"),
    "ko": re.compile(r"[\uac00-\ud7af]"),
    "ru": re.compile(r"[\u0400-\u04ff]"),
}
_KANA = re.compile(r"[\u3040-\u30ff]")
_SMALL_WORDS = {
    "en": "the a an and of to in is it that for on with as are was be this you at by or from have not they can your "
    "no so we he she his her him its but all one out up will would there their what which who when how more if do had "
    "has were our us my me am into than then them these some only about very may just like over also any been because "
    "after most other new us did made said where why too here once much many few own such both each",
    "de": "der die das und ist ein eine in zu den von mit für auf nicht sich des dem im auch es sie wir ich bei aus am "
    "an was so um als wenn nach wird war hat noch zum zur oder wie man",
    "fr": "le la les de des et est un une en du dans que qui pour sur au aux avec il elle ne pas ce cette se nous vous "
    "a on ou y mais sont plus sur son sa ses leur",
    "es": "el la los las de y es un una en que por con para del al se no su lo como más pero sus hay muy esta este "
    "a o ha al son me si ya le",
}
_WORDS = {language: frozenset(text.split()) for language, text in _SMALL_WORDS.items()}
_WORD = re.compile(r"[^\W\d_]+")
LANGUAGES = (*_SMALL_WORDS, *_SCRIPTS)


def share_of(language: str, text: str) -> float:
    """How much of the text is in ``language``, 0 to 1: by letters of its script, or by small words against others'."""
    letters = [one for one in text[:100_000] if one.isalpha()]
    if not letters:
        return 0.0
    if language in _SCRIPTS:
        if (language == "zh" and _KANA.search(text)) or (language == "ja" and not _KANA.search(text)):
            return 0.0
        return len(_SCRIPTS[language].findall(text[:100_000])) / len(letters)
    latin = sum(one < "\u0250" for one in letters) / len(letters)
    found = _WORD.findall(text[:100_000].lower())
    counts = {name: sum(word in known for word in found) for name, known in _WORDS.items()}
    if not any(counts.values()):  # a few words say little: the script decides
        return latin if language == "en" else 0.0
    if counts[language] < max(counts.values()):
        return 0.0
    others = sum(word not in _WORDS[language] and any(word in known for known in _WORDS.values()) for word in found)
    return latin * counts[language] / (counts[language] + others)
