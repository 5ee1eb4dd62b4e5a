"""Opening marks of Spanish questions and exclamations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.text.inverted_marks import add_opening_marks


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("De quién? No hay nada.", "¿De quién? No hay nada."),
        ("Espera! Ya voy.", "¡Espera! Ya voy."),
        ("Lucia, qué perdiste?", "Lucia, ¿qué perdiste?"),
        ("¿Ya está? Sí.", "¿Ya está? Sí."),
        ("Cuesta 2.5 euros.", "Cuesta 2.5 euros."),
        ('"Vienes?" dijo.', '"¿Vienes?" dijo.'),
    ],
)
def test_marks_open_where_the_question_starts(text: str, marked: str) -> None:
    assert add_opening_marks(text) == marked


@given(st.text(alphabet="ab ,.?!¿¡", max_size=40))
def test_only_marks_are_added_and_once(text: str) -> None:
    marked = add_opening_marks(text)
    assert marked.replace("¿", "").replace("¡", "") == text.replace("¿", "").replace("¡", "")
    assert add_opening_marks(marked) == marked
