"""Numbers are found in digits of any format and in the words of three languages."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.text.numbers import find_numbers, parse_roman

DIGITS = [
    ("1984", {1984}),
    ("1,000.5", {1000.5}),
    ("1.000,5", {1000.5}),
    ("1 000,5", {1000.5}),
    ("1\u202f000", {1000}),
    ("1'000", {1000}),
    ("1,000", {1000}),
    ("1.000", {1000}),
    ("0,125", {0.125}),
    ("1,250", {1250}),
    ("3.142", {3.142}),
    ("3.14", {3.14}),
    ("000123", {123}),
    ("1.250.000", {1250000}),
    ("1.250,000", {1250}),
    ("21st", {21}),
    ("1º", {1}),
    ("50%", {50}),
    ("$35.50", {35.5}),
    ("-12", {12}),
    ("17½", {17.5}),
    ("1960s", {1960, 60}),
    ("60s", {60, 1960}),
    ("5 p.m.", {5, 17}),
    ("5 a.m.", {5}),
    ("12 AM", {0, 12, 24}),
    ("12 p. m.", {12}),
    ("five p.m.", {5, 17}),
    ("5 o'clock", {5, 17}),
    ("1.5 million", {1500000}),
    ("٣", {3}),
]


@pytest.mark.parametrize(("text", "values"), DIGITS)
def test_single_number_in_digits(text: str, values: set[float]) -> None:
    [mention] = find_numbers(text, language="en")
    assert set(map(float, mention.values)) == values


@pytest.mark.parametrize(
    ("language", "text", "values"),
    [
        ("pt", "35.500", {35500}),
        ("pt", "35,500", {35500, 35.5}),
        ("es", "35,500", {35500, 35.5}),
        ("es", "35.500", {35500, 35.5}),
        ("xx", "35.000", {35000}),
        ("xx", "0.125", {0.125}),
    ],
)
def test_separators_follow_the_language(language: str, text: str, values: set[float]) -> None:
    [mention] = find_numbers(text, language=language)
    assert set(map(float, mention.values)) == values


def test_lenient_separator_is_ambiguous() -> None:
    [mention] = find_numbers("35,500", language="en", lenient=True)
    assert set(map(float, mention.values)) == {35500, 35.5}


@pytest.mark.parametrize(
    ("text", "half"),
    [
        ("7:45 a.m.", "a"),
        ("7:45 PM", "p"),
        ("7:45", None),
        ("12:45", None),
        ("19:45", "p"),
        ("0:45", "a"),
        ("24:00", "a"),
        ("7.45 pm", "p"),
    ],
)
def test_half_of_day_is_parsed(text: str, half: str | None) -> None:
    assert find_numbers(text, language="en")[0].half == half


@pytest.mark.parametrize(
    ("text", "code"), [("007", "007"), ("#000123", "000123"), ("\u0660\u0660\u0667", "007"), ("05", ""), ("700", "")]
)
def test_leading_zero_makes_a_code(text: str, code: str) -> None:
    [mention] = find_numbers(text, language="en")
    assert mention.code == code


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1/2/2026", [1, 2, 2026]),
        ("10-15", [10, 15]),
        ("2.4.1", [2, 4, 1]),
        ("1,234,50", [1, 234, 50]),
        ("10:30", [10, 30]),
        ("22h05", [22, 5]),
        ("0730 a.m.", [7, 30]),
        ("7.45 p.m.", [19, 45]),
        ("8:00", [8]),
        ("room 12 and 500 more", [12, 500]),
        ("in 2026 500 people", [2026, 500]),
        ("", []),
    ],
)
def test_several_numbers_in_digits(text: str, numbers: list[int]) -> None:
    found = find_numbers(text, language="en")
    assert len(found) == len(numbers)
    assert all(number in mention.values for number, mention in zip(numbers, found, strict=True))


WORDS = [
    ("en", "seventeen people", [17]),
    ("en", "one thousand seven hundred and seventy-five", [1775]),
    ("en", "two hundred thousand and six", [200006]),
    ("en", "seventeen seventy-five", [1775]),
    ("en", "nineteen thirties", [1930]),
    ("en", "the thirties", [30]),
    ("en", "twenty twenty-six", [2026]),
    ("en", "the twenty-first century", [21]),
    ("en", "a twenty second break", [20]),
    ("en", "twenty-one", [21]),
    ("en", "between five and six", [5, 6]),
    ("en", "two, three or four", [2, 3, 4]),
    ("en", "two dozen", [24]),
    ("en", "a hundred", [100]),
    ("en", "three million two hundred thousand", [3200000]),
    ("en", "one of them, a second one, hundreds of others", []),
    ("en", "someone tensed often", []),
    ("pt", "mil setecentos e setenta e cinco", [1775]),
    ("pt", "vinte e uma casas", [21]),
    ("pt", "três e quatro", [3, 4]),
    ("pt", "dois mil e três", [2003]),
    ("pt", "dezenove e trinta e dois", [19, 32]),
    ("pt", "cinco milhões e meio, e milhões de outros", [5000000]),
    ("es", "mil setecientos setenta y cinco", [1775]),
    ("es", "veintidós y dieciséis", [22, 16]),
    ("es", "cinco mil millones", [5000000000]),
    ("es", "once, no dos", [11, 2]),
    ("pt", "os dos outros, once", []),
    ("fr", "mille trois cents", []),
    ("pt", "por cento", []),
    ("es", "el cien por cien", [100]),
]


@pytest.mark.parametrize(("language", "text", "numbers"), WORDS)
def test_numbers_in_words(language: str, text: str, numbers: list[int]) -> None:
    found = find_numbers(text, language=language)
    assert [number in mention.values for number, mention in zip(numbers, found, strict=True)] == [True] * len(numbers)
    assert all(mention.spelled for mention in found)


@pytest.mark.parametrize(
    ("language", "text", "number"),
    [
        ("en", "the third of May", 3),
        ("pt", "no século XXI", 21),
        ("pt", "em fevereiro", 2),
        ("es", "ambos", 2),
        ("pt", "uma", 1),
    ],
)
def test_lenient_mode_finds_more_words(language: str, text: str, number: int) -> None:
    assert not find_numbers(text, language=language)
    found = find_numbers(text, language=language, lenient=True)
    assert any(number in mention.values for mention in found)


@pytest.mark.parametrize(
    ("word", "value"), [("XXI", 21), ("IV", 4), ("MCMLXXXIV", 1984), ("", None), ("IIII", None), ("Mix", None)]
)
def test_roman_numerals(word: str, value: int | None) -> None:
    assert parse_roman(word) == value


@given(st.integers(0, 10**9), st.sampled_from([",", ".", " ", "\u00a0", "'"]))
def test_any_thousands_separator_is_parsed(number: int, mark: str) -> None:
    [mention] = find_numbers(f"{number:,}".replace(",", mark), language="en", lenient=True)
    assert Fraction(number) in mention.values


@given(st.text(alphabet=st.sampled_from("0123456789.,:hs/ -½%andwtyoe'epm\u0663"), max_size=60))
def test_any_text_is_accepted(text: str) -> None:
    for language in ("en", "pt", "xx"):
        find_numbers(text, language=language, lenient=True)


def test_very_long_numbers_are_handled() -> None:
    assert find_numbers("9" * 20_000, language="en")
    assert find_numbers("1," * 10_000, language="en")
    assert find_numbers("twenty " * 5_000, language="en")
