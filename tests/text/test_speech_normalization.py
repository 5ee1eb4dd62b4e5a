"""Symbols, numbers and abbreviations are spelled out."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.text.speech_normalization import normalize_for_speech
from tests.text.spoken_cases import CASES

LANGUAGES = ["de", "en", "pt", "es", "fr", "it"]
MIN_CASES = 25


@pytest.mark.parametrize(
    ("language", "text", "expected"), [(language, *case) for language, cases in CASES.items() for case in cases]
)
def test_text_is_spelled_as_it_is_spoken(language: str, text: str, expected: str) -> None:
    assert normalize_for_speech(text, language) == expected


@pytest.mark.parametrize("language", ["de", "en-US", "pt-BR", "es", "fr", "it"])
def test_every_language_has_enough_cases(language: str) -> None:
    assert len(CASES[language]) >= MIN_CASES


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en-GB", "05/03/2024", "March fifth, twenty twenty-four"),
        ("en-GB", "149 days", "one hundred and forty-nine days"),
        ("pt-PT", "16 dias", "dezasseis dias"),
        ("es-MX", "16 días", "dieciséis días"),
        ("nl", "5 % en 3 km", "5 % en 3 km"),
    ],
)
def test_regions_differ(language: str, text: str, expected: str) -> None:
    assert normalize_for_speech(text, language) == expected


@pytest.mark.parametrize("language", LANGUAGES)
@given(text=st.text(st.sampled_from("0123456789 .,:/-\u2013$€%xkMh°ºª½#+'ev")))
def test_no_digit_is_left_and_no_number_is_lost(language: str, text: str) -> None:
    spoken = normalize_for_speech(text, language)
    assert not re.search(r"[\d\ue000\ue001]", spoken)
    assert bool(re.search(r"\d", text)) <= bool(re.search(r"[a-z]", spoken))


@pytest.mark.parametrize("language", LANGUAGES)
@given(first=st.integers(0, 10**6), second=st.integers(0, 10**6))
def test_adjacent_numbers_are_separated(language: str, first: int, second: int) -> None:
    one, two = (normalize_for_speech(str(each), language) for each in (first, second))
    assert normalize_for_speech(f"Brewbird {first} ${second}", language).startswith(f"Brewbird {one}, ")
    assert normalize_for_speech(f"{first}, {second}", language) == f"{one}, {two}"


@pytest.mark.parametrize("language", [*LANGUAGES, "hi"])
@pytest.mark.parametrize("text", ["", " ", "99/99/9999", "1/2", "$", "%", "@", "1:2:3", "٣", "1" * 400, "-" * 400])
def test_odd_texts_are_handled(language: str, text: str) -> None:
    assert isinstance(normalize_for_speech(text, language), str)


@pytest.mark.timeout(10)
@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("text", ["1," * 20_000, "a." * 20_000, "1 " * 20_000, "+1 (" * 10_000, "a@" * 20_000])
def test_hostile_texts_are_handled_quickly(text: str, language: str) -> None:
    normalize_for_speech(text, language)
