"""What a translation has to say for the terms of its source."""

import pytest

from cutroom.text.glossary.pronunciation import Pronunciation, respell
from cutroom.text.glossary.rules import BrokenTerm, TermFinder, TermRule
from cutroom.text.glossary.terms import Term, TermTranslation, for_language, glossary_for

GATE = TermRule("gate", ("comporta", "comportas"))
VALVE = TermRule("gate valve", ("válvula de comporta",))
BRAND = TermRule("Brightwell", ("Brightwell",), case_sensitive=True)
FINDER = TermFinder([GATE, VALVE, BRAND])

CHECKED = [
    ("Open the gate.", "Abra a comporta.", []),
    ("Open the gate.", "Abra o portão.", ["gate"]),
    ("Open the gate.", "Comportas abertas.", []),
    ("The gate at the gate valve.", "A comporta na válvula de comporta.", []),
    ("The gate at the gate valve.", "O portão na válvula de comporta.", ["gate"]),
    ("The gate valve.", "A comporta.", ["gate valve"]),
    ("A gate and a gate.", "Uma comporta e outra.", ["gate"]),
    ("Brightwell makes it.", "Brightwell faz isso.", []),
    ("Brightwell makes it.", "brightwell faz isso.", ["Brightwell"]),
    ("brightwell", "claro", []),
    ("No terms.", "Sem termos.", []),
]


@pytest.mark.parametrize(("source", "text", "broken"), CHECKED)
def test_broken_terms_are_found(source: str, text: str, broken: list[str]) -> None:
    assert [each.term for each in FINDER.broken(source, text)] == broken


def test_broken_term_says_what_is_expected() -> None:
    assert FINDER.broken("gate", "portão") == [BrokenTerm("gate", "comporta")]


def test_terms_are_taken_out_of_both_texts() -> None:
    said, rest = FINDER.without_terms("Open the gate at Brightwell.", "Abra a comporta em Brightwell.")
    assert (said.split(), rest.split()) == (["Open", "the", "at", "."], ["Abra", "a", "em", "."])


def test_source_is_rewritten_with_other_wordings() -> None:
    assert FINDER.rewritten("A gate valve, a gate.", lambda rule: rule.expected) == "A válvula de comporta, a comporta."


@pytest.mark.parametrize(
    ("tags", "wanted", "expected"),
    [
        (["pt-BR", "pt"], "pt-BR", "pt-BR"),
        (["pt"], "pt-BR", "pt"),
        (["pt"], "pt-PT", "pt"),
        (["pt-BR"], "pt", "pt-BR"),
        (["pt-PT"], "pt-BR", None),
        (["es"], "pt", None),
    ],
)
def test_entries_of_another_region_are_not_used(tags: list[str], wanted: str, expected: str | None) -> None:
    assert for_language({tag: tag for tag in tags}, wanted) == expected


def test_rules_follow_from_terms_of_the_source_language() -> None:
    terms = [
        Term("gate", "en", translations={"pt": TermTranslation("porteira")}),  # of a folder
        Term("Gate", "en", translations={"pt": TermTranslation("comporta"), "es": TermTranslation("compuerta")}),
        Term("GIF", "en", keep=True, pronunciations={"pt": "guif"}),
        Term("lock", "en", translations={"es": TermTranslation("esclusa")}),
        Term("Schleuse", "de", translations={"pt": TermTranslation("eclusa")}, pronunciations={"pt": "eklusa"}),
    ]
    glossary = glossary_for(terms, source="en-US", target="pt-BR")
    assert [(each.term, each.expected) for each in glossary.rules] == [("gate", "porteira"), ("GIF", "GIF")]
    assert glossary.pronunciations == (Pronunciation("GIF", "guif"),)


def test_version_follows_the_content() -> None:
    def version(expected: str) -> str:
        term = Term("gate", "en", translations={"pt": TermTranslation(expected)})
        return glossary_for([term], source="en", target="pt").version

    assert version("comporta") == version("comporta") != version("porteira")


def test_words_are_respelled_for_the_voice() -> None:
    spoken = [Pronunciation("GIF", "guif"), Pronunciation("GIF animado", "guif")]
    assert respell("Um GIF animado e um gif, não gifs.", spoken) == "Um guif e um guif, não gifs."
    assert respell("Um GIF.", []) == "Um GIF."
