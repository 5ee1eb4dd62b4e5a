"""Machine-checkable rules of a brand voice are parsed and applied."""

import pytest

from cutroom.engines.writing.guidelines import Guidelines, parse_guidelines, without_emoji


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        (None, Guidelines()),
        ("Warm, honest, never loud.", Guidelines()),
        ('Never say "cheap" or "free".', Guidelines(banned=("cheap", "free"))),
        ("Avoid jargon, hype and slang.", Guidelines(banned=("jargon", "hype", "slang"))),
        ("Don't use the word bargain.", Guidelines(banned=("bargain",))),
        ("Evite a palavra barato.", Guidelines(banned=("barato",))),
        ("No uses gratis.", Guidelines(banned=("gratis",))),
        ("Évitez promo.", Guidelines(banned=("promo",))),
        ("Vermeide billig.", Guidelines(banned=("billig",))),
        ("「激安」は使わない。", Guidelines(banned=("激安",))),
        ("Always add #FixIt and #Garden.", Guidelines(hashtags=("#FixIt", "#Garden"))),
        ("No emoji, please.", Guidelines(emoji=False)),
        ("Emoji are welcome.", Guidelines(emoji=True)),
        ('Always write "GardenPro".', Guidelines(names=("GardenPro",))),
    ],
)
def test_rules_are_parsed(text: str | None, rules: Guidelines) -> None:
    assert parse_guidelines(text) == rules


def test_banned_words_match_whole_words() -> None:
    rules = Guidelines(banned=("art",))
    assert rules.allows("A part of the start")
    assert not rules.allows("The Art of sailing")


def test_emoji_are_removed_with_their_spaces() -> None:
    assert without_emoji("Bread \U0001f35e is good \U0001f600") == "Bread is good"
