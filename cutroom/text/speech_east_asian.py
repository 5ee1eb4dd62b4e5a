"""Text normalization for speech in Chinese and Japanese.

Chinese numbers become characters. Japanese numbers stay digits, because their readings depend on the counters after
them, which Open JTalk knows; only signs and formats that it does not know are spelled.
"""

# ruff: noqa: RUF001 (full-width characters look like letters)

import re
import unicodedata
from collections.abc import Mapping
from functools import cache

MAX_DIGITS = 16  # longer numbers are read digit by digit
MIN_TELEPHONE_DIGITS = 7  # ungrouped numbers of this length are read digit by digit

_DIGITS = "零一二三四五六七八九"
_PLACES = ("", "十", "百", "千")
_GROUPS = ("", "万", "亿", "万亿")
_COUNTERS = "个位本张只条件次天年周岁块元倍种名家辆台杯瓶套层间页颗座支双对封顿首门份批句段场届人米公里秒分小"

_NUMBER = r"(?<!\d)\d++(?:\.\d++)?"
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_ISO_DATE = re.compile(r"(?<!\d)(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?!\d)")
_TIME = re.compile(r"(?<![\d:])([01]?\d|2[0-3]):([0-5]\d)(?![\d:])")
_MONEY = re.compile(rf"(US\$|R\$|[$€£¥₹])\s?({_NUMBER})(\s?(?:万亿|亿|万|億|兆))?")
_TEMPERATURE = re.compile(rf"(?P<minus>[-−])?(?P<number>{_NUMBER})\s?(?:℃|°C|°c)")
_UNIT = re.compile(
    rf"(?P<number>{_NUMBER})\s?(?P<unit>km/h|km²|m²|m³|km|cm|mm|kg|mg|ml|mL|GB|MB|KB|TB|Hz|kHz|m|g|l|L)(?![A-Za-z])"
)
_RANGE = re.compile(rf"(?<![\d-])({_NUMBER})\s?[-–~～〜]\s?({_NUMBER})(?![\d-])")
_MINUS = re.compile(r"(?<![\w)])[-−](?=\d)")
_PERCENT = re.compile(rf"({_NUMBER})\s?(%|‰)")
_FRACTION = re.compile(r"(?<![\d/])(\d{1,3})/(\d{1,3})(?![\d/])")
_YEAR = re.compile(r"(?<!\d)(\d{4})(?=年(?!前|后|後|间|間))")
_AMOUNT = re.compile(rf"{_NUMBER}")
_SINGLE_TWO = re.compile(rf"(?<![\d.第])2(?=[{_COUNTERS}])(?!年级|分之)")

_CHINESE_MONEY = {"$": "美元", "US$": "美元", "€": "欧元", "£": "英镑", "¥": "元", "R$": "雷亚尔", "₹": "卢比"}
_JAPANESE_MONEY = {"$": "ドル", "US$": "ドル", "€": "ユーロ", "£": "ポンド", "¥": "円", "R$": "レアル", "₹": "ルピー"}
_CHINESE_UNITS = {
    "km/h": "公里每小时", "km²": "平方公里", "m²": "平方米", "m³": "立方米", "km": "公里", "cm": "厘米", "mm": "毫米",
    "m": "米", "kg": "公斤", "g": "克", "mg": "毫克", "l": "升", "L": "升", "ml": "毫升", "mL": "毫升", "KB": "千字节",
    "MB": "兆字节", "GB": "吉字节", "TB": "太字节", "Hz": "赫兹", "kHz": "千赫兹",
}  # fmt: skip
_JAPANESE_UNITS = {
    "km/h": "キロメートル毎時", "km²": "平方キロメートル", "m²": "平方メートル", "m³": "立方メートル",
    "km": "キロメートル", "cm": "センチメートル", "mm": "ミリメートル", "m": "メートル", "kg": "キログラム",
    "g": "グラム", "mg": "ミリグラム", "l": "リットル", "L": "リットル", "ml": "ミリリットル", "mL": "ミリリットル",
    "KB": "キロバイト", "MB": "メガバイト", "GB": "ギガバイト", "TB": "テラバイト", "Hz": "ヘルツ", "kHz": "キロヘルツ",
}  # fmt: skip


def spell_chinese(text: str) -> str:
    """Numbers, money, dates, times, percentages and units as characters."""
    text = _with_suffixes(text, _CHINESE_MONEY, _CHINESE_UNITS)
    text = _TIME.sub(_chinese_time, text)
    text = _TEMPERATURE.sub(lambda match: f"{'零下' if match['minus'] else ''}{match['number']}摄氏度", text)
    text = _PERCENT.sub(lambda match: f"{'百' if match[2] == '%' else '千'}分之{match[1]}", text)
    text = _YEAR.sub(lambda match: _digits(match[1]), text)
    text = _FRACTION.sub(r"\2分之\1", text)
    text = _MINUS.sub("负", _RANGE.sub(r"\1到\2", text))
    return _AMOUNT.sub(lambda match: _chinese_number(match[0]), _SINGLE_TWO.sub("两", text))


def spell_japanese(text: str) -> str:
    """Signs and formats of numbers, with the digits kept."""
    text = _with_suffixes(text, _JAPANESE_MONEY, _JAPANESE_UNITS)
    text = _TIME.sub(lambda match: f"{int(match[1])}時{f'{int(match[2])}分' if int(match[2]) else ''}", text)
    text = _TEMPERATURE.sub(lambda match: f"{'マイナス' if match['minus'] else ''}{match['number']}度", text)
    text = _PERCENT.sub(lambda match: f"{match[1]}{'パーセント' if match[2] == '%' else 'パーミル'}", text)
    text = _FRACTION.sub(r"\2分の\1", text)
    return _MINUS.sub("マイナス", _RANGE.sub(r"\1から\2", text))


def chinese_cardinal(value: int) -> str:
    """`10086` as 一万零八十六."""
    if value == 0:
        return _DIGITS[0]
    groups = []
    rest, spelled = value, ""
    while rest:
        rest, group = divmod(rest, 10_000)
        groups.append(group)
    for place in range(len(groups) - 1, -1, -1):
        group = groups[place]
        if group:
            needs_zero = bool(spelled) and (group < 1_000 or groups[place + 1] == 0)
            spelled += ("零" if needs_zero else "") + _group(group) + _GROUPS[place]
    return spelled.removeprefix("一") if spelled.startswith("一十") else spelled


def _group(value: int) -> str:
    """Up to 9999."""
    spelled, pending_zero = "", False
    for place in range(3, -1, -1):
        digit = value // 10**place % 10
        if digit:
            spelled += ("零" if pending_zero else "") + _DIGITS[digit] + _PLACES[place]
            pending_zero = False
        elif spelled:
            pending_zero = True
    return spelled


def _chinese_number(number: str) -> str:
    whole, _, fraction = number.partition(".")
    is_code = len(whole) > 1 and whole.startswith("0")
    if is_code or len(whole) > MAX_DIGITS or (len(whole) >= MIN_TELEPHONE_DIGITS and not whole.endswith("000")):
        spelled = _digits(whole)
    else:
        spelled = chinese_cardinal(int(whole))
    return f"{spelled}点{_digits(fraction)}" if fraction else spelled


def _chinese_time(match: re.Match[str]) -> str:
    hour, minutes = int(match[1]), int(match[2])
    if not minutes:
        return f"{hour}点"
    return f"{hour}点{'零' if minutes < 10 else ''}{minutes}分"


def _digits(number: str) -> str:
    return "".join(_DIGITS[int(digit)] for digit in number)


def _with_suffixes(text: str, money: Mapping[str, str], units: Mapping[str, str]) -> str:
    """Currencies and units after their numbers, and dates with the characters of both languages."""
    text = _narrow(text)
    text = _GROUPED.sub(lambda match: match[0].replace(",", ""), text)
    text = _ISO_DATE.sub(lambda match: f"{match[1]}年{int(match[2])}月{int(match[3])}日", text)
    text = _MONEY.sub(lambda match: f"{match[2]}{(match[3] or '').strip()}{money[match[1]]}", text)
    return _UNIT.sub(lambda match: f"{match['number']}{units[match['unit']]}", text)


def _narrow(text: str) -> str:
    """Full-width digits, letters and signs in their ASCII form; punctuation stays as it is."""
    return text.translate(_narrow_table())


@cache
def _narrow_table() -> dict[int, str]:
    codes = [*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B), 0xFF04, 0xFF05, 0xFF0D, 0xFFE5]
    return {code: unicodedata.normalize("NFKC", chr(code)) for code in codes}
