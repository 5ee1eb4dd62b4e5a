"""Speech is made fit to be read, and says the same as before."""

import pytest

from cutroom.engines.writing.extractive.quotes import quotable, shortened


@pytest.mark.parametrize(
    ("language", "said", "read"),
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
def test_what_says_nothing_is_dropped(language: str, said: str, read: str) -> None:
    assert quotable(said, language=language) == read


@pytest.mark.parametrize(
    ("text", "limit", "cut"),
    [
        ("The house of the birds and the bees", 24, "The house of the birds"),
        ("The house of the birds and the bees", 28, "The house of the birds"),
        ("Short enough", 70, "Short enough"),
    ],
)
def test_a_cut_is_at_the_end_of_a_word_that_can_end_a_text(text: str, limit: int, cut: str) -> None:
    assert shortened(text, limit, language="en") == cut
