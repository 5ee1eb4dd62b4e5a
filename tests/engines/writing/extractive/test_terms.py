"""Recurring terms are nouns and names, never the people who speak."""

from cutroom.engines.writing.extractive.sentences import extract_sentences
from cutroom.engines.writing.extractive.terms import recurring_terms
from tests.support.talks import talk


def terms(texts: list[str]) -> list[str]:
    source = talk(texts=texts)
    return [term.text for term in recurring_terms(extract_sentences(source), language="en")]


def test_nouns_and_names_that_recur_are_found() -> None:
    found = terms(
        [
            "The cable goes to the router from Northbeam.",
            "We sold a new cable to Northbeam, and a new one to you.",
            "The router was drafted by a friend who drafted it twice.",
        ]
    )
    assert {"cable", "router", "Northbeam"} <= set(found)
    assert not {"new", "drafted"} & set(found)


def test_people_who_speak_are_not_the_topic() -> None:
    found = terms(
        [
            "I'm Grace Okafor, and this is the show.",
            "Hank, what did Grace Okafor tell you?",
            "I told Grace Okafor the truth.",
            "Seriously, Hank.",
        ]
    )
    assert not {"Hank", "Grace Okafor"} & set(found)
