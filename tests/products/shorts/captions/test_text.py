"""Text stays text, in the capitals of its language."""

# ruff: noqa: RUF001 (letters of many scripts look alike)

import pytest

from cutroom.products.shorts.captions.looks import STYLES, Look
from cutroom.products.shorts.captions.text import escape, shown_text, upper


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
def test_capitals_follow_the_language(text: str, language: str, expected: str) -> None:
    assert upper(text, language=language) == expected


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
def test_nothing_in_a_text_is_run(text: str, expected: str) -> None:
    assert escape(text) == expected


@pytest.mark.parametrize(
    ("text", "look", "expected"),
    [
        ("everything,", Look.IMPACT, "EVERYTHING"),
        ("really?", Look.IMPACT, "REALLY?"),
        ("...", Look.IMPACT, "..."),
        ("wait...", Look.IMPACT, "WAIT..."),
        ("everything,", Look.DEFAULT, "EVERYTHING,"),
        ("Everything,", Look.SUBTLE, "Everything,"),
    ],
)
def test_what_a_look_shows_of_a_word(text: str, look: Look, expected: str) -> None:
    assert shown_text(text, STYLES[look], language="en") == expected
