"""Recognized speech is compared by its sounds, whatever spelling the recognizer chose."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.heard_speech import (
    HeardWords,
    compare_heard,
    count_numbers,
    level_outliers,
    misheard_numbers,
    speech_level_db,
    word_sounds,
)

RATE = 16_000


@pytest.mark.parametrize(
    ("text", "heard", "language", "wrong"),
    [
        ("Custa $149.", "Custa 140 e 9 dólares.", "pt-BR", 0),
        ("Custa $149.", "custa cento e quarenta e nove dólares", "pt", 0),
        ("Custa $149.", "Custa 2.149 dólares.", "pt", 2),
        ("The show is at 3:30 p.m.", "the show is at three thirty p m", "en", 0),
        ("Son 25 %.", "son el veinticinco por ciento", "es", 1),
        ("Olá, mundo!", "", "pt", 2),
        ("Há três anos, à mesa, um centavo.", "À três anos a mesa um sentavo", "pt", 0),
        ("Há três anos.", "Há seis anos.", "pt", 1),
        ("Their night.", "There knight", "en", 0),
        ("Ein Wort.", "ein wort", "xx", 0),
        ("...", "uma palavra", "pt", 2),
    ],
)
def test_word_errors(text: str, heard: str, language: str, wrong: int) -> None:
    assert compare_heard(text, heard, language=language).wrong == wrong


def test_words_are_counted_as_spoken() -> None:
    assert compare_heard("It costs $149.", "It costs $149.", language="en") == HeardWords(said=7, wrong=0)


@settings(max_examples=15, deadline=None)  # each example starts espeak-ng
@given(st.lists(st.sampled_from(["o", "rato", "d'água", "não", "um", "à", "3", "s", "www", "três"]), max_size=30))
def test_every_word_has_its_own_sounds(words: list[str]) -> None:
    assert len(word_sounds(words, language="pt-BR")) == len(words)


@pytest.mark.parametrize(
    ("text", "heard", "language", "wrong"),
    [
        ("Brewbird 2 costs $149.", "Brewbird two costs one hundred and forty-nine dollars", "en", 0),
        ("Brewbird 2, $149.", "Brewbird $2,149", "en", 1),
        ("O Brewbird 2 custa $149.", "O Brewbird 2 custa 140 e 9 dólares", "pt-BR", 0),
        ("O Brewbird 2 custa $149.", "O Brewbird 2 custa 159 dólares", "pt", 1),
        ("El tren sale a las 15:30.", "El tren sale a las quince y treinta", "es", 0),
        ("El tren sale a las 15:30.", "El tren sale a las quince y trece", "es", 1),
        ("Custa $149.", "Custa muito.", "pt", 0),  # not heard as a number
        ("Custa muito.", "Custa 149.", "pt", 0),  # no number was meant
        ("2,5% em 1998", "dois vírgula cinco por cento em mil novecentos e noventa e oito", "pt", 0),
    ],
)
def test_misheard_numbers(text: str, heard: str, language: str, wrong: int) -> None:
    assert misheard_numbers(text, heard, language=language) == wrong


def test_numbers_are_counted() -> None:
    assert count_numbers("O Brewbird 2 custa $149 e pesa nove quilos.", language="pt-BR") == 3


def test_level_ignores_pauses() -> None:
    tone = np.sin(2 * np.pi * 220 * np.arange(RATE) / RATE).astype(np.float32)
    paused = np.concatenate([tone, np.zeros(3 * RATE, np.float32)])
    assert speech_level_db(tone, rate=RATE) == pytest.approx(-3.01, abs=0.05)
    assert speech_level_db(paused, rate=RATE) == pytest.approx(-3.01, abs=0.05)
    assert speech_level_db(np.zeros(RATE, np.float32), rate=RATE) is None
    assert speech_level_db(tone[:10], rate=RATE) is None


def test_outliers_are_relative_to_their_own_speaker() -> None:
    lines = [("ana", -20.0), ("ana", -21.0), ("ana", -27.1), ("rui", -40.0), ("rui", -45.9), ("ana", None)]
    assert level_outliers(lines) == [2, 5]
    assert level_outliers([("ana", -30.0)]) == []
