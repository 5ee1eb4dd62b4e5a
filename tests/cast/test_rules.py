"""Names of members, and their voice in a language."""

import pytest

from cutroom.cast.rules import name_error, voice_for


@pytest.mark.parametrize("name", ["Ana", "Dr. Ngũgĩ wa Thiong'o", "李雷", "R2-D2"])
def test_names_are_accepted(name: str) -> None:
    assert name_error(name) is None


@pytest.mark.parametrize("name", ["...", "<b>Ana", "a\u202eb", "Ana {x}", "a\nb"])
def test_names_that_mark_up_text_are_refused(name: str) -> None:
    assert name_error(name) is not None


@pytest.mark.parametrize(
    ("language", "voice"), [("pt-BR", "brazil"), ("pt", "any"), ("pt-PT", "any"), ("es", None), ("es-MX", "mexico")]
)
def test_the_exact_locale_precedes_the_base_language(language: str, voice: str | None) -> None:
    assert voice_for({"pt": "any", "pt-BR": "brazil", "es-MX": "mexico"}, language) == voice
