"""Repairs of translated lines."""

import pytest

from cutroom.engines.translation.document import DocumentLine
from cutroom.engines.translation.line_repairs import document_names, lost_names, repair_line, with_kept_names


def repaired(source: str, text: str, *, target: str = "pt", gender: str | None = None) -> str:
    return repair_line(DocumentLine("1", source), text, source="en", target=target, gender=gender)


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        ("Thank you, Mrs. Hayes.", "Obrigado, Hayes (em inglês).", "Obrigado, Hayes."),
        ("It weighs 6.5 pounds.", "Pesa 6,5 quilos.", "Pesa 6,5 libras."),
        ("It is 3 miles long.", "Tem 3 quilômetros.", "Tem 3 milhas."),
        ("It costs $18.50.", "Custa $18.50.", "Custa US$ 18,50."),
        ("About $1.2 million.", "Cerca de US $ 1,2 milhões.", "Cerca de US$ 1,2 milhão."),
        ("Around 6,000 people.", "Cerca de 6,000 pessoas.", "Cerca de 6.000 pessoas."),
        ("Orders open at 3:30 p.m.", "Pedidos abertos às 3:30 p.m.", "Pedidos abertos às 15h30."),
        ("Good morning, Peter.", "Bom dia, Pedro.", "Bom dia, Peter."),
        ("I can take that.", "Posso levá- lo.", "Posso levá-lo."),
        ("A hair, huh?", "Um cabelo, huh?", "Um cabelo, hein?"),
        ("Good morning.", "bom dia.", "Bom dia."),
    ],
)
def test_repairs_follow_from_the_source(source: str, text: str, expected: str) -> None:
    assert repaired(source, text) == expected
    assert repaired(source, expected) == expected


def test_correct_units_and_notes_of_the_source_stay() -> None:
    assert repaired("It weighs 6.5 kilos.", "Pesa 6,5 quilos.") == "Pesa 6,5 quilos."
    assert (
        repaired("The title (in English) is long.", "O título (em inglês) é longo.") == "O título (em inglês) é longo."
    )


def test_thanks_agree_with_the_speaker() -> None:
    assert repaired("No, thank you.", "Não, obrigado.", gender="female") == "Não, obrigada."
    assert repaired("No, thank you.", "Não, obrigado.", gender="male") == "Não, obrigado."


def test_spanish_questions_get_their_opening_mark() -> None:
    assert repaired("From whom?", "De quién?", target="es") == "¿De quién?"


def test_names_of_a_document() -> None:
    names = document_names(
        [
            "I work at Second Shift with Lucia Ferro.",
            "A girl named June came on Fridays.",
            "It took a Dane, the English say.",
        ]
    )
    assert {"Second Shift", "Lucia Ferro", "Lucia", "Ferro", "June"} <= names
    assert not names & {"Fridays", "Dane", "English", "Second"}


def test_a_translated_surname_is_lost_and_a_translated_city_is_not() -> None:
    names = frozenset({"Lucia Ferro", "Lucia", "Ferro", "Lisbon"})
    assert lost_names("Ask Lucia Ferro in Lisbon.", "Pregunta a Lucia Hierro en Lisboa.", names) == ["Lucia Ferro"]
    assert lost_names("Ask Lucia Ferro.", "Pergunte a Lucia Ferro.", names) == []


def test_kept_names_are_placeholders() -> None:
    assert with_kept_names("It's Biscuit, Biscuit!", ["Biscuit"]) == "It's {Biscuit}, {Biscuit}!"
