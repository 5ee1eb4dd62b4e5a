"""Disfluencies are removed, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.products.transcripts.optimizing.wording import clean_wording


@pytest.mark.parametrize(
    ("text", "cleaned", "language"),
    [
        ("Um, so we, uh, begin.", "So we, begin.", "en"),
        ("The the train leaves at 10:30.", "The train leaves at 10:30.", "en"),
        ("I was, I was going home.", "I was going home.", "en"),
        ("We wan- want to go.", "We want to go.", "en"),
        ("The um the dog barks.", "The dog barks.", "en"),
        ("Um, the dog. Uh, it barks.", "The dog. It barks.", "en"),
        ("Um.", "", "en"),
        ("Uh, um...", "", "en"),
        ("Yes, um", "Yes", "en"),
        ("No, no, never.", "No, no, never.", "en"),
        ("It is very very good.", "It is very very good.", "en"),
        ("A well-known fact.", "A well-known fact.", "en"),
        ("Also ähm ich ich gehe.", "Also ich gehe.", "de"),
        ("Euh, je je pars.", "Je pars.", "fr"),
        ("今日は、えーと、雨です。", "今日は、えーと、雨です。", "ja"),
        ("  Two  spaces stay. ", "  Two  spaces stay. ", "en"),
    ],
)
def test_what_is_removed(text: str, cleaned: str, language: str) -> None:
    assert clean_wording(text, language=language) == cleaned
    assert clean_wording(cleaned, language=language) == cleaned


WORDS = ["um,", "Uh", "the", "The", "dog", "barks.", "not", "10", "wan-", "want", "I", "was,", "é", "…"]


@given(st.lists(st.sampled_from(WORDS), max_size=14))
def test_words_are_only_removed_and_stay_in_order(words: list[str]) -> None:
    text = " ".join(words)
    cleaned = clean_wording(text, language="en")
    remaining = iter(_keys(text))
    assert all(word in remaining for word in _keys(cleaned))
    assert _keys(text).count("not") == 0 or "not" in _keys(cleaned)
    assert ("10" in _keys(text)) == ("10" in _keys(cleaned))


def _keys(text: str) -> list[str]:
    return [key for word in text.casefold().split() if (key := "".join(each for each in word if each.isalnum()))]
