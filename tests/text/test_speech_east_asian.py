"""Numbers, money, dates and times in Chinese and Japanese."""

# ruff: noqa: RUF001 (full-width characters look like letters)

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.text.speech_east_asian import chinese_cardinal, spell_chinese, spell_japanese
from cutroom.text.speech_normalization import normalize_for_speech


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("一共有300页，用了5天。", "一共有三百页，用了五天。"),
        ("2024年3月5日", "二零二四年三月五日"),
        ("2024-03-05", "二零二四年三月五日"),
        ("气温25.5℃，最低-3°C", "气温二十五点五摄氏度，最低零下三摄氏度"),
        ("价格是$149，占25%。", "价格是一百四十九美元，占百分之二十五。"),
        ("￥1,500和€20万", "一千五百元和二十万欧元"),
        ("10:30开会，15:05结束，9:00", "十点三十分开会，十五点零五分结束，九点"),
        ("第2名，2个人，12个月，2月", "第二名，两个人，十二个月，二月"),
        ("电话13912345678，编号007", "电话一三九一二三四五六七八，编号零零七"),
        ("3-5天，1/3，-5", "三到五天，三分之一，负五"),
        ("跑了10km，用了2.5小时", "跑了十公里，用了二点五小时"),
        ("１２３", "一百二十三"),
    ],
)
def test_chinese_text_is_spelled(text: str, expected: str) -> None:
    assert spell_chinese(text) == expected


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, "零"),
        (10, "十"),
        (19, "十九"),
        (105, "一百零五"),
        (110, "一百一十"),
        (1_005, "一千零五"),
        (10_010, "一万零一十"),
        (100_010_000, "一亿零一万"),
        (123_456_789_012, "一千二百三十四亿五千六百七十八万九千零一十二"),
    ],
)
def test_chinese_cardinals(number: int, expected: str) -> None:
    assert chinese_cardinal(number) == expected


DIGITS = "零一二三四五六七八九"
PLACES = {"十": 10, "百": 100, "千": 1_000}


def read_group(text: str) -> int:
    """A number below ten thousand."""
    total = digit = 0
    for character in text:
        if character in PLACES:
            total += (digit or 1) * PLACES[character]
            digit = 0
        else:
            digit = DIGITS.index(character)
    return total + digit


@given(st.integers(0, 10**12 - 1))
def test_chinese_cardinals_can_be_read_back(number: int) -> None:
    high, _, rest = chinese_cardinal(number).rpartition("亿")
    middle, _, low = rest.rpartition("万")
    assert read_group(high) * 10**8 + read_group(middle) * 10**4 + read_group(low) == number


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$149です", "149ドルです"),
        ("10:30に、9:00から", "10時30分に、9時から"),
        ("-3.5℃、25%", "マイナス3.5度、25パーセント"),
        ("2024-03-05", "2024年3月5日"),
        ("3〜5日、1/3", "3から5日、3分の1"),
        ("１,500円、10km", "1500円、10キロメートル"),
    ],
)
def test_japanese_signs_are_spelled(text: str, expected: str) -> None:
    assert spell_japanese(text) == expected


@given(st.text(st.sampled_from("0123456789.,:/-%$€年月日个 ")))
def test_no_digit_is_left_in_chinese(text: str) -> None:
    assert not re.search(r"\d", normalize_for_speech(text, "zh-CN"))


@pytest.mark.timeout(10)
@pytest.mark.parametrize("language", ["ja", "zh"])
@pytest.mark.parametrize(
    "text", ["1," * 20_000, "1-" * 20_000, "1:" * 20_000, "1/" * 20_000, "$" * 20_000, "9" * 20_000]
)
def test_hostile_texts_are_handled_quickly(text: str, language: str) -> None:
    normalize_for_speech(text, language)
