"""Signs, codes and names of currencies, and taking them off an amount."""

from __future__ import annotations

import re

__all__ = ["CURRENCY", "currency_codes", "split_currency", "without_currency"]

_DOLLARS = "USD CAD AUD NZD HKD SGD TWD MXN"
_NAMES: dict[str, str] = {
    "$": _DOLLARS,
    "US$": "USD",
    "USD": "USD",
    "U.S. DOLLARS": "USD",
    "US DOLLARS": "USD",
    "US DOLLAR": "USD",
    "DOLLARS": _DOLLARS,
    "DOLLAR": _DOLLARS,
    "C$": "CAD",
    "CA$": "CAD",
    "A$": "AUD",
    "AU$": "AUD",
    "NZ$": "NZD",
    "HK$": "HKD",
    "S$": "SGD",
    "NT$": "TWD",
    "美元": "USD",
    "美金": "USD",
    "加元": "CAD",
    "澳元": "AUD",
    "港元": "HKD",
    "港币": "HKD",
    "新台币": "TWD",
    "台币": "TWD",
    "新元": "SGD",
    "€": "EUR",
    "EURO": "EUR",
    "EUROS": "EUR",
    "欧元": "EUR",
    "歐元": "EUR",
    "£": "GBP",
    "POUND": "GBP",
    "POUNDS": "GBP",
    "STERLING": "GBP",
    "POUNDS STERLING": "GBP",
    "BRITISH POUNDS": "GBP",
    "BRITISH POUND": "GBP",
    "英镑": "GBP",
    "英鎊": "GBP",
    "¥": "CNY JPY",
    "￥": "CNY JPY",
    "元": "CNY",
    "圆": "CNY JPY",
    "圓": "CNY JPY TWD",
    "块": "CNY",
    "块钱": "CNY",
    "人民币": "CNY",
    "人民幣": "CNY",
    "RMB": "CNY",
    "CN¥": "CNY",
    "YUAN": "CNY",
    "CHINESE YUAN": "CNY",
    "RENMINBI": "CNY",
    "元人民币": "CNY",
    "JP¥": "JPY",
    "YEN": "JPY",
    "JAPANESE YEN": "JPY",
    "日元": "JPY",
    "円": "JPY",
    "₩": "KRW",
    "WON": "KRW",
    "韩元": "KRW",
    "₹": "INR",
    "RS": "INR",
    "RS.": "INR",
    "RUPEES": "INR",
    "RUPEE": "INR",
    "卢比": "INR",
    "RM": "MYR",
    "RINGGIT": "MYR",
    "FR.": "CHF",
    "SFR": "CHF",
    "FRANCS": "CHF",
    "SWISS FRANCS": "CHF",
    "SWISS FRANC": "CHF",
    "瑞士法郎": "CHF",
    "₽": "RUB",
    "RUBLES": "RUB",
    "卢布": "RUB",
    "R$": "BRL",
    "REAIS": "BRL",
    "REAL": "BRL",
    "฿": "THB",
    "BAHT": "THB",
    "泰铢": "THB",
    "₫": "VND",
    "₺": "TRY",
    "₪": "ILS",
    "ZŁ": "PLN",
    "KR": "SEK NOK DKK",
    "KČ": "CZK",
}
_CODES = frozenset(
    [
        "USD",
        "EUR",
        "GBP",
        "CNY",
        "JPY",
        "CAD",
        "AUD",
        "NZD",
        "HKD",
        "SGD",
        "TWD",
        "MXN",
        "KRW",
        "INR",
        "MYR",
        "CHF",
        "RUB",
        "BRL",
        "THB",
        "VND",
        "TRY",
        "ILS",
        "PLN",
        "SEK",
        "NOK",
        "DKK",
        "CZK",
        "IDR",
        "PHP",
        "ZAR",
        "AED",
        "SAR",
        "EGP",
        "NGN",
        "KES",
        "HUF",
        "RON",
        "BGN",
        "UAH",
        "ARS",
        "CLP",
        "COP",
        "PEN",
        "KWD",
        "QAR",
        "PKR",
        "BDT",
        "LKR",
        "MOP",
        "ISK",
    ]
)
_ALIASES = {**_NAMES, **{code: code for code in _CODES}}
CURRENCY = "|".join(sorted(map(re.escape, _ALIASES), key=len, reverse=True))
"""A pattern for every sign, code and name of a currency; longest first, upper case."""

_BEFORE = re.compile(
    rf"(?P<sign>[+-]?) ?(?P<currency>{CURRENCY}) ?(?=[-+(\d.]|[一二三四五六七八九十百千万两壹贰叁肆伍陆柒捌玖])",
    re.IGNORECASE,
)
_AFTER = re.compile(
    rf"(?:(?<=[\d.)十百千万亿一二三四五六七八九零〇两萬億佰仟拾kmbn]) ?|(?<=[a-z]) )"
    rf"(?P<currency>{CURRENCY})(?:整|正)?$",
    re.IGNORECASE,
)


def currency_codes(name: str) -> frozenset[str] | None:
    """The codes that a sign, code or name stands for; None = no currency."""
    codes = _ALIASES.get(name.strip().upper())
    return None if codes is None else frozenset(codes.split())


def split_currency(text: str) -> tuple[str, frozenset[str]]:
    """The text without its currency marks, and the codes they allow; marks that disagree leave an unreadable rest."""
    codes: frozenset[str] = frozenset()
    for pattern in (_BEFORE, _AFTER, _BEFORE, _AFTER):
        match = pattern.match(text) if pattern is _BEFORE else pattern.search(text)
        if not match:
            continue
        found = currency_codes(match["currency"]) or frozenset()
        if codes and not codes & found:
            return text, codes
        codes = codes & found if codes else found
        text = (match["sign"] + text[match.end() :]) if pattern is _BEFORE else text[: match.start()]
    return text.strip(), codes


def without_currency(text: str) -> str:
    """``$1,234.50`` → ``1,234.50``; ``-$5`` → ``-5``; ``1200元`` → ``1200``."""
    return split_currency(text)[0]
