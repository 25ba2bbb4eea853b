"""Numbers that carry a unit: percentages, ratios and physical quantities."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from speedqual.grading.normalise.base import AMBIGUOUS, BAD, Reading, Settings
from speedqual.grading.normalise.digits import MAX_CHARS, ascii_digits
from speedqual.grading.normalise.numbers import read_number
from speedqual.grading.normalise.numerals import ENGLISH

__all__ = ["PERCENT", "POINTS", "Quantity", "Share", "read_percent", "read_quantity", "read_ratio"]

PERCENT = r"%|percent\b|per cent\b|pct\b\.?"
POINTS = r"percentage[ -]points?\b|percent points?\b|%[ -]?points?\b|pp\b|p\.p\.|个百分点|個百分點"


class Share(NamedTuple):
    """A share in per cent. ``unit``: "%" or "pp" (percentage points), "" = a bare number."""

    value: Decimal
    unit: str


_SHARE = re.compile(
    rf"(?P<number>.*?) ?(?:(?P<points>{POINTS})|(?P<percent>{PERCENT})|(?P<basis>basis points?\b|bps\b|"
    rf"个基点)|(?P<mille>‰))",
    re.IGNORECASE,
)
_CHINESE_SHARE = re.compile(r"(?P<sign>负|-)?(?P<of>百分之|千分之)(?P<number>.+)")


def read_percent(value: Any, settings: Settings) -> Reading:
    """``8 %``, ``8 percent``, ``百分之八``, ``8 percentage points`` (another unit); a bare number is per cent."""
    if not isinstance(value, str):
        return _share(read_number(value, settings), "", 0)
    if len(value) > MAX_CHARS:
        return Reading(None, BAD)
    text = ascii_digits(value)
    if match := _CHINESE_SHARE.fullmatch(text):
        scale = 0 if match["of"] == "百分之" else -1
        return _share(read_number(("-" if match["sign"] else "") + match["number"], settings), "%", scale)
    if text.endswith("成") and not (tenths := read_number(text[:-1], settings)).fault:
        return _share(tenths, "%", 1)
    if match := _SHARE.fullmatch(text):
        unit = "pp" if match["points"] or match["basis"] else "%"
        scale = -2 if match["basis"] else -1 if match["mille"] else 0
        return _share(read_number(match["number"], settings), unit, scale)
    return _share(read_number(text, settings), "", 0)


def _share(reading: Reading, unit: str, scale: int) -> Reading:
    return reading if reading.fault else Reading(Share(reading.value.scaleb(scale), unit))


_RATIO = re.compile(r"(?P<a>[^:/比]+?) ?(?::|/|∶| to |比| in | out of ) ?(?P<b>[^:/比]+)", re.IGNORECASE)
_CHINESE_FRACTION = re.compile(r"(?P<b>[^分]+)分之(?P<a>.+)")


def read_ratio(value: Any, settings: Settings) -> Reading:
    """``3:2``, ``3/2``, ``3 to 2``, ``3比2``, ``五分之三``, ``60 %`` or a number, as one exact fraction."""
    if isinstance(value, str) and len(value) <= MAX_CHARS:
        text = ascii_digits(value)
        share = read_percent(text, settings)
        if not share.fault and share.value.unit == "%":
            return Reading(Fraction(share.value.value) / 100)
        match = _CHINESE_FRACTION.fullmatch(text) or _RATIO.fullmatch(text)
        if match:
            return _fraction(read_number(match["a"], settings), read_number(match["b"], settings))
    reading = read_number(value, settings)
    return reading if reading.fault else Reading(Fraction(reading.value))


def _fraction(top: Reading, bottom: Reading) -> Reading:
    if top.fault or bottom.fault:
        return Reading(None, AMBIGUOUS if AMBIGUOUS in (top.fault, bottom.fault) else BAD)
    if bottom.value == 0:
        return Reading(None, BAD)
    return Reading(Fraction(top.value) / Fraction(bottom.value))


class Quantity(NamedTuple):
    """``value`` in the base unit of ``dimension``; an unknown unit is its own dimension, "" = none."""

    value: Decimal
    dimension: str


# dimension -> {unit: factor to the base unit}; names in lower case unless case tells units apart (MB, Mb; mW, MW)
_UNITS: dict[str, dict[str, str]] = {
    "mass": {
        "kg kilo kilos kilogram kilograms kilogramme kilogrammes 公斤 千克": "1",
        "g gram grams gramme grammes gm 克": "0.001",
        "mg milligram milligrams 毫克": "0.000001",
        "µg mcg microgram micrograms 微克": "0.000000001",
        "t ton tons tonne tonnes 吨 噸": "1000",
        "lb lbs pound pounds 磅": "0.45359237",
        "oz ounce ounces 盎司": "0.028349523125",
        "斤": "0.5",
        "两": "0.05",
    },
    "length": {
        "m meter meters metre metres 米 公尺": "1",
        "km kilometer kilometers kilometre kilometres 公里 千米": "1000",
        "cm centimeter centimeters centimetre centimetres 厘米 公分": "0.01",
        "mm millimeter millimeters millimetre millimetres 毫米": "0.001",
        "µm micrometer micrometers micron microns 微米": "0.000001",
        "nm nanometer nanometers 纳米": "0.000000001",
        "in inch inches 英寸": "0.0254",
        "ft foot feet 英尺": "0.3048",
        "yd yard yards": "0.9144",
        "mi mile miles 英里": "1609.344",
    },
    "area": {
        "m2 m² sqm 平方米 平米 square_meters square_metres": "1",
        "km2 km² 平方公里": "1000000",
        "ha hectare hectares 公顷": "10000",
        "acre acres 英亩": "4046.8564224",
        "ft2 ft² sqft": "0.09290304",
        "亩": "666.6666666667",
    },
    "volume": {
        "l liter liters litre litres 升": "1",
        "ml milliliter milliliters millilitre millilitres 毫升": "0.001",
        "cl": "0.01",
        "dl": "0.1",
        "m3 m³ 立方米": "1000",
        "cm3 cm³ cc": "0.001",
        "gal gallon gallons 加仑": "3.785411784",
    },
    "time": {
        "s sec secs second seconds 秒 秒钟": "1",
        "ms millisecond milliseconds 毫秒": "0.001",
        "µs us microsecond microseconds 微秒": "0.000001",
        "ns nanosecond nanoseconds 纳秒": "0.000000001",
        "min mins minute minutes 分钟 分": "60",
        "h hr hrs hour hours 小时 个小时 钟头": "3600",
        "d day days 天 日": "86400",
        "week weeks 周 星期": "604800",
    },
    "month": {"month months 个月 月": "1", "year years yr yrs 年": "12", "quarter quarters 季度": "3"},
    "data": {
        "B byte bytes 字节": "1",
        "kB KB kilobyte kilobytes": "1000",
        "MB megabyte megabytes": "1000000",
        "GB gigabyte gigabytes": "1000000000",
        "TB terabyte terabytes": "1000000000000",
        "KiB": "1024",
        "MiB": "1048576",
        "GiB": "1073741824",
        "TiB": "1099511627776",
    },
    "bits": {"b bit bits": "1", "kb kbit": "1000", "Mb Mbit": "1000000", "Gb Gbit": "1000000000"},
    "power": {
        "W watt watts 瓦": "1",
        "kW kilowatt kilowatts 千瓦": "1000",
        "mW": "0.001",
        "MW megawatt megawatts 兆瓦": "1000000",
        "GW": "1000000000",
        "hp horsepower": "745.69987158227",
    },
    "energy": {
        "J joule joules 焦耳": "1",
        "kJ": "1000",
        "Wh": "3600",
        "kWh 千瓦时 度电": "3600000",
        "MWh": "3600000000",
        "cal": "4.184",
        "kcal 千卡 大卡": "4184",
    },
    "speed": {"m/s": "1", "km/h kmh kph 公里/小时 公里每小时": "0.2777777777777777778", "mph": "0.44704"},
    "frequency": {"Hz hertz 赫兹": "1", "kHz": "1000", "MHz 兆赫": "1000000", "GHz": "1000000000"},
    "voltage": {"V volt volts 伏 伏特": "1", "kV": "1000", "mV": "0.001"},
    "celsius": {"°c celsius degc 摄氏度 ℃ 度 °": "1"},
    "fahrenheit": {"°f fahrenheit degf 华氏度 ℉": "1"},
    "kelvin": {"K kelvin": "1"},
}
_BY_UNIT = {
    unit: (dimension, Decimal(factor))
    for dimension, units in _UNITS.items()
    for names, factor in units.items()
    for unit in names.split()
}
_QUANTITY = re.compile(
    rf"(?P<number>[-+(]?[\d.,' ()]*\d\)?|[-负]?[零〇一二两三四五六七八九十百千万亿点]+|(?i:{ENGLISH}))"
    r"[ -]?(?P<unit>[^\d\s].*)?"
)


def read_quantity(value: Any, settings: Settings) -> Reading:
    """A number and a unit, converted to the base unit of its dimension; an unknown unit stands for itself."""
    if not isinstance(value, str):
        reading = read_number(value, settings)
        return reading if reading.fault else Reading(Quantity(reading.value, ""))
    if len(value) > MAX_CHARS:
        return Reading(None, BAD)
    match = _QUANTITY.fullmatch(ascii_digits(value))
    if not match:
        return Reading(None, BAD)
    reading = read_number(match["number"], settings)
    if reading.fault:
        return reading
    dimension, factor = _unit(match["unit"] or "")
    return Reading(Quantity(reading.value * factor, dimension))


def _unit(text: str) -> tuple[str, Decimal]:
    unit = text.strip().rstrip(".").replace("μ", "µ").replace("square ", "square_")
    if not unit:
        return "", Decimal(1)
    known = _BY_UNIT.get(unit) or _BY_UNIT.get(unit.lower())
    if known:
        return known
    word = unit.casefold()
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word, Decimal(1)


def known_unit(text: str) -> tuple[str, Decimal] | None:
    """The dimension and factor of a unit of the table; None for any other word."""
    unit = _unit(text)
    return unit if unit[0] in _UNITS else None


def is_unit(text: str) -> bool:
    """Whether ``text`` names a unit of the table."""
    return _unit(text)[0] in _UNITS
