"""Pronunciations in the International Phonetic Alphabet."""

# ruff: noqa: RUF001 (phonemes look like letters)

import pytest

from cutroom.engines.synthesis.phonemes import TOKEN_IDS, model_symbols
from cutroom.text.phonetic_spelling import LETTERS, MARKS, marked, phonemes_of, spoken_parts, unknown_phonemes


@pytest.mark.parametrize(
    ("spelling", "phonemes"),
    [
        ("/ˈpɔɹtʃʊɡəl/", "ˈpɔɹtʃʊɡəl"),
        (" /'go:.gl/ ", "ˈɡoːɡl"),
        ("/t͡ʃaw/", "tʃaw"),
        ("/ɐ̃ˈdaɾ  ˈʎa/", "ɐ\u0303ˈdaɾ ˈʎa"),
        ("/façade/", "façade"),
        ("guif", None),
        ("and/or/if", None),
        ("/", None),
    ],
)
def test_a_spelling_between_slashes_is_phonemes(spelling: str, phonemes: str | None) -> None:
    assert phonemes_of(spelling) == phonemes


@pytest.mark.parametrize(
    ("spelling", "unknown"),
    [("/ˈpɔɹtʃʊɡəl/", []), ("/ǃkã5/", ["5", "ǃ"]), ("/ˈː/", ["ˈ", "ː"]), ("/ABC/", ["A", "B", "C"])],
)
def test_unknown_phonemes_are_named(spelling: str, unknown: list[str]) -> None:
    assert unknown_phonemes(spelling) == unknown


def test_every_phoneme_is_in_the_inventory_of_the_voices() -> None:
    assert set(TOKEN_IDS) >= LETTERS | MARKS


def test_written_pairs_are_the_single_symbols_of_the_model() -> None:
    assert model_symbols("ˈpɔɹtʃʊɡəl") == "ˈpɔɹʧʊɡəl"
    assert model_symbols("ˈeɪdʒənt") == "ˈAʤənt"


def test_marked_phonemes_are_parts_of_a_text() -> None:
    text = f"De {marked('ˈpoɾtʊ')}, e/ou não {marked('ʒif')}"
    assert [(each.text, each.is_phonemes) for each in spoken_parts(text)] == [
        ("De", False),
        ("ˈpoɾtʊ", True),
        (", e/ou não", False),
        ("ʒif", True),
    ]
