"""Translated headlines are checked."""

import pytest

from cutroom.products.thumbnails.headlines import checked_translation


@pytest.mark.parametrize(
    ("headline", "translated"),
    [
        ("200 days in space", "200 dias no espaço"),
        ("Five ways to bake", "Cinco maneiras de assar"),
        ("Lost in Lisbon", "Perdido em Lisboa"),
        ("Coffee (at last)", "Café (finalmente)"),
    ],
)
def test_faithful_translation_is_used(headline: str, translated: str) -> None:
    assert checked_translation(headline, translated, source="en", target="pt", identifier=None) == translated


@pytest.mark.parametrize(
    ("headline", "translated"),
    [
        pytest.param("Daniel Carter", "Daniel Carter (em inglês)", id="note"),
        pytest.param("Daniel Carter", "Daniel Carter [em inglês]", id="note in square brackets"),
        pytest.param("Better coffee", "更好的咖啡（英语）", id="full-width brackets"),  # noqa: RUF001
        pytest.param("5 lessons from orbit", "Lições da órbita", id="lost number"),
        pytest.param("Bake bread", "Assar 3 pães", id="invented number"),
        pytest.param("How Eileen flew", "Como ela voou", id="lost name"),
        pytest.param("Better coffee at home", "", id="empty"),
        pytest.param("Better coffee at home", "See more at example.com", id="invented address"),
    ],
)
def test_unfaithful_translation_is_rejected(headline: str, translated: str) -> None:
    assert checked_translation(headline, translated, source="en", target="pt", identifier=None) is None
