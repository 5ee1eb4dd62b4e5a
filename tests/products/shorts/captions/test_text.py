"""Tests for caption text: capitalization and escaping."""

# ruff: noqa: RUF001 (letters of many scripts look alike)

import pytest

from cutroom.products.shorts.captions.styles import STYLES, CaptionStyle
from cutroom.products.shorts.captions.text import display_text, escape_ass, to_upper


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("straße", "de", "STRASSE"),
        ("istanbul ılık", "tr", "İSTANBUL ILIK"),
        ("istanbul", "en", "ISTANBUL"),
        ("Μαΐου άλλαξε", "el", "ΜΑΪΟΥ ΑΛΛΑΞΕ"),
        ("élan", "fr", "ÉLAN"),
        ("և", "hy", "ԵՎ"),
        ("გამარჯობა ok", "ka", "გამარჯობა OK"),
        ("привет", "ru", "ПРИВЕТ"),
        ("人生が", "ja", "人生が"),
        ("مرحبا", "ar", "مرحبا"),
        ("สวัสดี", "th", "สวัสดี"),
    ],
)
def test_uppercase_follows_the_language(text: str, language: str, expected: str) -> None:
    assert to_upper(text, language=language) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"{\fs200}big", "\\{\\\u2060fs200\\}big"),
        (r"a\Nb\hc", "a\\\u2060Nb\\\u2060hc"),
        ("one\ntwo\r\nthree", "one two three"),
        ("NUL\x00 bell\x07 \x1b[31m", "NUL bell [31m"),
        ("\u202egnp.exe\u202c \u2067x\u2069", "gnp.exe x"),
        ("\u2028\u2029\x85", ""),
        ("plain, text", "plain, text"),
    ],
)
def test_text_is_escaped(text: str, expected: str) -> None:
    assert escape_ass(text) == expected


@pytest.mark.parametrize(
    ("text", "caption_style", "expected"),
    [
        ("everything,", CaptionStyle.IMPACT, "EVERYTHING"),
        ("really?", CaptionStyle.IMPACT, "REALLY?"),
        ("...", CaptionStyle.IMPACT, "..."),
        ("wait...", CaptionStyle.IMPACT, "WAIT..."),
        ("everything,", CaptionStyle.DEFAULT, "EVERYTHING,"),
        ("Everything,", CaptionStyle.SUBTLE, "Everything,"),
    ],
)
def test_display_text_follows_the_style(text: str, caption_style: CaptionStyle, expected: str) -> None:
    assert display_text(text, STYLES[caption_style], language="en") == expected
