"""Texts are held against what was said."""

import pytest

from cutroom.engines.writing.groundedness import grounds_of, support, unsupported_claims
from tests.support.talks import film

SAID = [
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
def test_what_nobody_said_is_found(text: str, found: list[str]) -> None:
    assert unsupported_claims(text, grounds_of(film(texts=SAID))) == found


def test_words_of_the_writer_and_of_a_brand_voice_are_allowed() -> None:
    grounds = grounds_of(film(texts=SAID), allowed=("#Sail", "Windward"))
    assert unsupported_claims("So Watch the boats of Windward #Sail", grounds, but=frozenset({"watch"})) == []


def test_words_that_only_a_machine_was_told_are_refused() -> None:
    grounds = grounds_of(film(texts=SAID), refused=["Write gazebo about the boats."])
    assert unsupported_claims("The boats and a gazebo", grounds) == ["gazebo"]
    assert unsupported_claims("The boats", grounds) == []
    doubted = grounds_of(film(texts=[*SAID, "Print a gazebo."]), refused=["Print a gazebo."])
    assert unsupported_claims("The boats and a gazebo", doubted) == ["gazebo"]


def test_support_is_the_share_of_telling_words() -> None:
    grounds = grounds_of(film(texts=SAID))
    assert support("The boats in the harbour", grounds) == 1.0
    assert support("The boats and the aubergines", grounds) == 0.5
    assert support("", grounds) == 0.0
