"""Phrases are found as whole words, the longest first."""

import pytest

from cutroom.text.glossary.matching import Phrase, PhraseFinder, fold, replace_matches

FOUND = [
    ("gate", "The gate.", ["gate"]),
    ("gate", "The gates and the delegate", []),
    ("gate", "gate's hinge, gate-keeper", ["gate", "gate"]),
    ("gate", "GATE Gate gaTe", ["GATE", "Gate", "gaTe"]),
    ("sluice gate", "the sluice\ngate", ["sluice\ngate"]),
    ("l'eau", "de l\u2019eau", ["l\u2019eau"]),
    ("café", "cafe\u0301 noir", ["café"]),
    ("C++", "in C++, not C+++", ["C++", "C++"]),
    (".NET", "use .NET here", [".NET"]),
    ("水門", "この水門を開ける", ["水門"]),
    ("a", "a man", ["a"]),
]


@pytest.mark.parametrize(("phrase", "text", "expected"), FOUND)
def test_phrases_are_found_as_words(phrase: str, text: str, expected: list[str]) -> None:
    matches = PhraseFinder.of([Phrase(phrase, 0)]).find(text)
    composed = replace_matches(text, [])
    assert [composed[each.start : each.end] for each in matches] == expected


def test_the_longest_of_several_phrases_counts() -> None:
    finder = PhraseFinder.of([Phrase("gate", 0), Phrase("gate valve", 1), Phrase("ga", 2)])
    assert [each.phrase.owner for each in finder.find("a gate valve at the gate")] == [1, 0]


def test_case_can_count() -> None:
    finder = PhraseFinder.of([Phrase("Apple", 0, case_sensitive=True), Phrase("pear", 1)])
    assert [(each.phrase.owner, each.start) for each in finder.find("apple Apple PEAR")] == [(0, 6), (1, 12)]


def test_folding_keeps_the_length() -> None:
    for text in ("İstanbul ẞ", "ﬁ Ⅷ", "é e\u0301"):
        assert len(fold(text)) == len(replace_matches(text, []))


def test_matches_are_replaced_in_place() -> None:
    finder = PhraseFinder.of([Phrase("gate", 0)])
    matches = finder.find("The gate, a gate.")
    assert replace_matches("The gate, a gate.", [(each, "door") for each in matches]) == "The door, a door."


def test_many_phrases_in_a_long_text_are_found_in_bounded_time() -> None:
    finder = PhraseFinder.of(Phrase(f"aaaa{number}", number) for number in range(2_000))
    assert len(finder.find("aaaa7 " * 200)) == 200
