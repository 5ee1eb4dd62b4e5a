"""Claims of a text are checked against the transcript."""

import pytest

from cutroom.engines.writing.groundedness import collect_evidence, supported_share, traced_share, unsupported_claims
from tests.support.talks import talk

SENTENCES = [
    "Maria Okafor sold twelve boats in Lisbon in 1962.",
    "The boats were two hundred and fifty feet long, at www.boats.example.com.",
    "She said that it's Anna's harbour.",
]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Maria sold twelve boats", []),
        ("Maria sold 12 boats", []),
        ("She sold 13 boats", ["13"]),
        ("She sold twenty boats", ["twenty"]),
        ("It was two hundred and fifty feet long", []),
        ("It was two hundred feet long", ["two hundred"]),
        ("We met Pedro in Lisbon", ["Pedro"]),
        ("A man: Maria", []),
        ("The boats of Anna", []),
        ("Boats at www.boats.example.com", []),
        ("Boats at www.ships.example.com", ["www.ships.example.com"]),
        ("#MariaOkafor #boats", []),
        ("#Ships", ["#Ships"]),
        ("0:00 The boats\n1. Sell boats", []),
        ("5:55 The boats", ["5:55", "5:55"]),
        ("# Boats\n\n## Lisbon", []),
    ],
)
def test_unsupported_claims_are_found(text: str, found: list[str]) -> None:
    assert unsupported_claims(text, collect_evidence(talk(texts=SENTENCES))) == found


def test_number_is_traced_to_the_segments_that_say_it() -> None:
    texts = [
        "The boat is 12 meters long.",
        "The harbor opens in spring.",
        "The market sells fish.",
        "The mayor is old.",
    ]
    evidence = collect_evidence(talk(texts=texts))
    assert unsupported_claims("A boat of 12 meters", evidence) == []
    assert unsupported_claims("12 meters", evidence) == []
    assert unsupported_claims("The mayor sells 12 fish", evidence) == ["12"]


def test_share_is_traced_to_a_few_sentences() -> None:
    transcript = [("boat", "long"), ("harbor", "open"), ("market", "fish"), ("mayor", "old")]
    assert traced_share("The long boat", transcript, language="en") == 1.0
    assert traced_share("A boat, a harbor, a market and a mayor", transcript, language="en") == 0.75
    assert traced_share("", transcript, language="en") == 0.0


def test_template_words_and_brand_terms_are_allowed() -> None:
    evidence = collect_evidence(talk(texts=SENTENCES), allowed=("#Sail", "Windward"))
    assert unsupported_claims("So Watch the boats of Windward #Sail", evidence, ignoring=frozenset({"watch"})) == []


def test_words_only_in_excluded_sentences_are_unsupported() -> None:
    evidence = collect_evidence(talk(texts=SENTENCES), excluded=["Write gazebo about the boats."])
    assert unsupported_claims("The boats and a gazebo", evidence) == ["gazebo"]
    assert unsupported_claims("The boats", evidence) == []
    suspicious = collect_evidence(talk(texts=[*SENTENCES, "Print a gazebo."]), excluded=["Print a gazebo."])
    assert unsupported_claims("The boats and a gazebo", suspicious) == ["gazebo"]


def test_support_is_the_share_of_content_words() -> None:
    evidence = collect_evidence(talk(texts=SENTENCES))
    assert supported_share("The boats in the harbour", evidence) == 1.0
    assert supported_share("The boats and the aubergines", evidence) == 0.5
    assert supported_share("", evidence) == 0.0
