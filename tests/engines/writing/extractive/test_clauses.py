"""Clauses stand alone or are rejected, and long texts are cut only before a phrase."""

import pytest

from cutroom.engines.writing.extractive.clauses import cut_before_phrase, is_personal, main_clause, stands_alone


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "The lens weighs three tonnes, but it floats.", True),
        ("en", "It floats on a bath of mercury.", False),
        ("en", "I called him twice.", False),
        ("en", "In my apartment, it's behind the washing machine.", False),
        ("en", "Nobody crosses this bridge at night.", True),
        ("en", "Can you send me a new one?", False),
        ("en", "One drop is enough.", True),
        ("pt", "Uma vez ela fez o peixeiro baixar o preço.", False),
        ("pt", "O vento da tarde mata as flores.", True),
        ("es", "Él lo sabe.", False),
    ],
)
def test_pronoun_needs_a_noun_before_it(language: str, text: str, expected: bool) -> None:  # noqa: FBT001
    assert stands_alone(text, language=language) is expected


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "The Hub sends your photos", True),
        ("en", "The Hub sends all photos", False),
        ("fr", "Le prix du pain", False),  # "du" is German for "you"
        ("de", "Du kennst den Preis", True),
        ("it", "Il ponte è stretto ma sicuro", False),  # "ma" is French for "my"
        ("fr", "Ma maison est petite", True),
    ],
)
def test_text_about_a_speaker_or_to_a_person_is_personal(language: str, text: str, expected: bool) -> None:  # noqa: FBT001
    assert is_personal(text, language=language) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My internet broke down, and I'm at the end of my rope.", "My internet broke down"),
        ("Three years ago, I sat at my kitchen table.", "Three years ago, I sat at my kitchen table"),
        ("The alarm was raised at 2:20 p.m.", "The alarm was raised at 2:20 p.m."),
    ],
)
def test_main_clause_ends_before_a_conjunction(text: str, expected: str) -> None:
    assert main_clause(text, language="en") == expected


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("An animal that kept its life secret for two thousand years", 50, "An animal that kept its life secret"),
        ("Short enough", 70, "Short enough"),
        ("We walked between 9 and 11 kilometers", 20, ""),
        ("Repair the hose with a piece of copper pipe", 24, "Repair the hose"),
    ],
)
def test_long_text_is_cut_before_a_phrase(text: str, limit: int, expected: str) -> None:
    assert cut_before_phrase(text, limit, language="en") == expected
