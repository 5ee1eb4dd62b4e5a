"""Shorter wordings keep names, numbers, negations and terms, and fit."""

import pytest

from cutroom.products.dubs.editing.text_fit import TextFit
from cutroom.products.dubs.editing.wordings import WordingOrigin, fitting_wordings, shorter_wordings
from cutroom.text.glossary.line_glossary import LineGlossary
from cutroom.text.glossary.rules import TermRule

NO_TERMS = LineGlossary()


@pytest.mark.parametrize(
    ("language", "text", "shortest"),
    [
        ("pt", "Na verdade, nós vamos fechar a comporta em seguida.", "Vamos fechar a comporta depois."),
        ("en", "Well, we do this in order to close the gate, you know.", "We do this to close the gate."),
        ("es", "Bueno, a fin de cerrar la compuerta, Ana llamó a Luis.", "Para cerrar la compuerta, Ana llamó a Luis."),
    ],
)
def test_fillers_and_redundant_words_are_left_out(language: str, text: str, shortest: str) -> None:
    found = list(shorter_wordings(text, language=language, source="", glossary=NO_TERMS))
    assert found[-1] == shortest
    assert [len(each) for each in found] == sorted((len(each) for each in found), reverse=True)


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("Ana e Bruno chegaram às 10 horas.", "Ana chegou às 10 horas."),
        ("O trem parte da plataforma 4 agora.", "O trem parte agora."),
        ("Isso não é um problema de verdade.", "Isso é um problema."),
        ("Escreva para ana@example.com hoje ainda.", "Escreva hoje."),
    ],
)
def test_names_numbers_negations_and_addresses_are_never_lost(text: str, known: str) -> None:
    assert known not in shorter_wordings(text, language="pt", source="", glossary=NO_TERMS, known=[text, known])


def test_terms_of_the_glossary_are_never_lost() -> None:
    terms = LineGlossary((TermRule("gate", ("comporta",)),))
    known = ["Feche a comporta do canal agora mesmo.", "Feche a porta agora.", "Feche a comporta agora."]
    found = shorter_wordings(known[0], language="pt", source="Close the gate.", glossary=terms, known=known)
    assert list(found) == ["Feche a comporta agora."]


def test_translations_in_several_lengths_count_only_for_one_of_them() -> None:
    known = ["Vamos fechar tudo isso agora.", "Vamos fechar tudo."]
    found = shorter_wordings(known[0], language="pt", source="", glossary=NO_TERMS, known=known)
    assert found == {known[1]: WordingOrigin.TRANSLATION}
    assert not shorter_wordings("Vou abrir tudo isso aqui.", language="pt", source="", glossary=NO_TERMS, known=known)


LINE = "Honestly, we should really meet Anna at 10:30 on Friday and not later."


@pytest.mark.parametrize(
    ("written", "is_offered"),
    [
        ("Let us meet Anna at 10:30 on Friday, not later.", True),
        ("We should meet Anna on Friday and not later.", False),  # a number is lost
        ("We should meet at 10:30 on Friday and not later.", False),  # a name
        ("We should meet Anna at 10:30 on Friday, later.", False),  # a negation
        ("We should meet Anna and Bob at 10:30 Friday, not later.", False),  # a name is added
        ("Visit anna.example.com at 10:30 on Friday, Anna, not later.", False),  # an address
        ("Buy Anna cheap watches now, 10:30 Friday, do not wait.", False),  # something else
        ("<b>Meet Anna at 10:30 on Friday, not later.</b>", False),
        (f"{LINE} Really.", False),
        ("", False),
    ],
)
def test_a_wording_of_a_model_says_the_same(written: str, *, is_offered: bool) -> None:
    found = shorter_wordings(LINE, language="en", source="", glossary=NO_TERMS, written=[written])
    assert (found.get(written) is WordingOrigin.MODEL) is is_offered


def test_at_most_three_that_fit_are_offered() -> None:
    wordings = ["x" * size for size in (30, 25, 20, 15, 10)]
    assert fitting_wordings(wordings, TextFit(2.5, 0.1)) == wordings[1:4]
    assert fitting_wordings(wordings, TextFit(0.5, 0.1)) == []
