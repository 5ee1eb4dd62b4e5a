"""Implausible translations are rejected for any language pair."""

import pytest

from cutroom.engines.errors import EngineError
from cutroom.engines.translation.output_checks import check_translations, translation_fault

LONG = "We walked slowly along the river and talked about the weather."
PLAUSIBLE = [
    ("No.", "Não."),
    ("Hi", "Bom dia a todos"),
    ("...", ""),
    ("1984", ""),
    ("{x}", ""),
    (LONG, "Caminamos despacio."),
    (LONG, "我们沿着河边慢慢走\uff0c谈论天气。"),
    ("我们沿着河边慢慢走\uff0c谈论天气。", LONG),
    ("天気について話しました。", "We talked about the weather."),
    ("날씨에 대해 이야기했습니다.", "We talked about the weather."),
    ("Ha ha ha ha!", "Ha ha ha ha ha ha ha ha ha ha!"),
    ("Wait for it", "Espera........................"),
    ("A" * 3, "No-" * 4),
]
IMPLAUSIBLE = [
    ("Hello there.", "", "empty"),
    ("Hello there.", " \n ", "empty"),
    (LONG, "Nós.", "too short"),
    (LONG, "...", "too short"),
    (LONG, "我们", "too short"),
    ("Yes.", "Sim, e depois disso " * 5, "too long"),
    (
        LONG,
        "Nós andamos e andamos e andamos e andamos e andamos e andamos e andamos e andamos e andamos.",
        "repeats itself",
    ),
    (LONG, "我们走" * 9, "repeats itself"),
]


@pytest.mark.parametrize(("sentence", "translation"), PLAUSIBLE)
def test_plausible_translation_is_accepted(sentence: str, translation: str) -> None:
    assert translation_fault(sentence, translation) is None


@pytest.mark.parametrize(("sentence", "translation", "message"), IMPLAUSIBLE)
def test_implausible_translation_is_rejected(sentence: str, translation: str, message: str) -> None:
    assert message in (translation_fault(sentence, translation) or "")
    with pytest.raises(EngineError, match=message):
        check_translations([sentence], [translation])


def test_translation_count_must_match() -> None:
    check_translations([], [])
    with pytest.raises(EngineError, match="1 translations for 2"):
        check_translations(["a", "b"], ["c"])


def test_long_text_is_checked_quickly() -> None:
    """Guards against catastrophic backtracking."""
    assert translation_fault("ab" * 10_000, "ba" * 10_000) is None
    assert translation_fault(LONG * 300, LONG[::-1] * 300) is None
