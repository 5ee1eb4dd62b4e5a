"""Which answers cannot be translations, whatever the languages."""

import pytest

from cutroom.engines.errors import EngineError
from cutroom.engines.translation.output_checks import check_answers, fault_in_answer

LONG = "We walked slowly along the river and talked about the weather."
BELIEVABLE = [
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
NOT = [
    ("Hello there.", "", "nothing"),
    ("Hello there.", " \n ", "nothing"),
    (LONG, "Nós.", "left out"),
    (LONG, "...", "left out"),
    (LONG, "我们", "left out"),
    ("Yes.", "Sim, e depois disso " * 5, "runs away"),
    (
        LONG,
        "Nós andamos e andamos e andamos e andamos e andamos e andamos e andamos e andamos e andamos.",
        "over and over",
    ),
    (LONG, "我们走" * 9, "over and over"),
]


@pytest.mark.parametrize(("sentence", "answer"), BELIEVABLE)
def test_it_may_be_a_translation(sentence: str, answer: str) -> None:
    assert fault_in_answer(sentence, answer) is None


@pytest.mark.parametrize(("sentence", "answer", "words"), NOT)
def test_it_cannot_be_one(sentence: str, answer: str, words: str) -> None:
    assert words in (fault_in_answer(sentence, answer) or "")
    with pytest.raises(EngineError, match=words):
        check_answers([sentence], [answer])


def test_as_many_as_were_asked_for() -> None:
    check_answers([], [])
    with pytest.raises(EngineError, match="1 answers for 2"):
        check_answers(["a", "b"], ["c"])


def test_a_long_answer_is_judged_quickly() -> None:
    """Every sentence passes here, and some patterns take time that grows without bound."""
    assert fault_in_answer("ab" * 10_000, "ba" * 10_000) is None
    assert fault_in_answer(LONG * 300, LONG[::-1] * 300) is None
