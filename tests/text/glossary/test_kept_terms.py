"""Terms to keep have their spelling in texts about a video, and other spellings of them are found."""

import pytest

from cutroom.text.glossary.kept_terms import KeptTerms
from cutroom.text.glossary.rules import TermRule

SAID = ("We built cutroom for the Web.", "An apple a day, and an Apple phone.", "Open the sluice gate.")
RULES = (
    TermRule("Cutroom", ("Cutroom",)),
    TermRule("Apple", ("Apple",), case_sensitive=True),
    TermRule("NASA", ("NASA",), case_sensitive=True),
    TermRule("sluice gate", ("sluice gate",)),
    TermRule("Web", ("rede",)),
)


@pytest.fixture
def kept() -> KeptTerms:
    return KeptTerms.of(RULES, (*SAID, "NASA flew."))


def test_terms_that_are_said_and_have_capitals_are_spelled(kept: KeptTerms) -> None:
    """A translated term is not kept, and one whose case counts is not corrected: the other spelling is another word."""
    assert {rule.term for rule in kept.rules} == {"Cutroom", "Apple", "NASA"}
    assert kept.names == ("Cutroom",)


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("How Cutroom was built", []),
        ("How CutRoom was built, and cutroom again", ["Cutroom"]),
        ("Built with #cutroom and @CUTROOM", []),
        ("Cutrooms everywhere", []),
        ("An apple and an Apple", []),
        ("APPLE today", ["Apple"]),
        ("How Nasa flies", ["NASA"]),
        ("SLUICE GATE", []),
        ("", []),
    ],
)
def test_other_spellings_are_broken(kept: KeptTerms, text: str, broken: list[str]) -> None:
    assert [each.term for each in kept.broken(text)] == broken


def test_terms_that_are_not_said_are_not_checked() -> None:
    assert KeptTerms.of(RULES, ["Hello."]).broken("cutroom") == []
