"""Quotes are cleaned without changing their meaning."""

import pytest

from cutroom.engines.writing.extractive.quotes import clean_quote


@pytest.mark.parametrize(
    ("language", "spoken", "expected"),
    [
        ("en", "So, um, your chain is, uh, dirty.", "Your chain is dirty."),
        ("en", "Then, you know, turn the wheel.", "Turn the wheel."),
        ("en", "It will feel, like, like it is falling apart.", "It will feel like it is falling apart."),
        ("en", "I was, I was late.", "I was late."),
        ("en", "The the wheel turns.", "The wheel turns."),
        ("en", "It is very, very late.", "It is very, very late."),
        ("en", "Listen to it, it crackles.", "Listen to it, it crackles."),
        ("en", "No ship was lost.", "No ship was lost."),
        ("en", "No, and I looked.", "I looked."),
        ("en", "We took the gar- garden hose.", "We took the garden hose."),
        ("en", "A child could push it, I mean, but not for long.", "A child could push it but not for long."),
        ("en", "Hi everyone, today we bake.", "Today we bake."),
        ("en", "He had had enough.", "He had had enough."),
        ("es", "Los técnicos los sacaron, perdón, los técnicos lo intentaron.", "Los técnicos lo intentaron."),
        ("pt", "É, tipo, muita gente pensa assim.", "Muita gente pensa assim."),
        ("fr", "Euh, on va au marché.", "On va au marché."),
        ("de", "Also, ähm, die Uhr geht noch.", "Die Uhr geht noch."),
        ("ja", "えっと、うどんを作ります。", "うどんを作ります。"),
    ],
)
def test_fillers_and_false_starts_are_removed(language: str, spoken: str, expected: str) -> None:
    assert clean_quote(spoken, language=language) == expected
