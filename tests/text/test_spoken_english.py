"""Literal wordings of spoken English."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.text.spoken_english import literal_wording


@pytest.mark.parametrize(
    ("said", "wording"),
    [
        ("I'm afraid so.", "Unfortunately, yes."),
        ("I'm afraid I can't help you.", "Unfortunately, I can't help you."),
        ("We'll meet at a quarter to one.", "We'll meet at 12:45."),
        ("At half past nine, please.", "At 9:30, please."),
        ("She'd borrowed it.", "She had borrowed it."),
        ("I'd like that.", "I would like that."),
        ("You'd better go.", "You should go."),
        ("Let's set it up.", "Let's configure it."),
        ("She set it up yesterday.", "She configured it yesterday."),
        ("Why couldn't he tell the males from the females?", "Why couldn't he distinguish the males from the females?"),
        ("It's up to you.", "It's your decision."),
        ("Any knife will do.", "Any knife is enough."),
        ("Will anyone be in?", "Will anyone be at home?"),
        ("The power is out.", "There is no electricity."),
        ("The scale was off by a gram.", "The scale was wrong by a gram."),
        ("A couple of years later", "A few years later"),
        ("Fair enough. Go on.", "That's fair. Go on."),
        ("It would run us about $40.", "It would cost us about $40."),
        ("He ran the bakery for years.", "He managed the bakery for years."),
        ("It\u2019s about the size of a coin.", "It's approximately the size of a coin."),
    ],
)
def test_idioms_become_literal(said: str, wording: str) -> None:
    assert literal_wording(said) == wording


@pytest.mark.parametrize(
    "said",
    [
        "I see the river.",
        "The film is about the war.",
        "Tap on the screen.",
        "She runs every morning.",
        "He is mad about music and nothing else",
        "I need the report by four.",
        "That is what I will do.",
        "Will do.",
        "That's what I would do.",
        "I tell stories from the road.",
        "I'm telling you from experience.",
        "I walked up to you.",
        "Which file would it be in?",
        "There's no way, I said.",
        "I like my steak well done.",
        "They are a force for good.",
        "We need a place to sleep in.",
        "The bus let me off by the river.",
    ],
)
def test_literal_text_is_unchanged(said: str) -> None:
    assert literal_wording(said) == said


@given(st.text(alphabet="abc $.,!?'0129", max_size=80))
def test_digits_are_kept_in_order(text: str) -> None:
    assert re.findall(r"\d+", literal_wording(text)) == re.findall(r"\d+", text)
