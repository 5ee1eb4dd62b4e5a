"""Which voice speaks for whom."""

from cutroom.engines.synthesis.port import Gender, StockVoice
from cutroom.products.dubs.casting import Part, cast, voices_for


def voice(name: str, pitch: float, language: str = "pt-BR") -> StockVoice:
    return StockVoice(name, name.title(), language, Gender.NEUTRAL, "young", pitch)


LOW, MIDDLE, HIGH = voice("low", 100), voice("middle", 150), voice("high", 210)


def test_speakers_get_distinct_voices_near_in_pitch() -> None:
    chosen = cast([Part("a", 205, 50), Part("b", 110, 40)], [LOW, MIDDLE, HIGH])
    assert (chosen["a"], chosen["b"]) == (HIGH, LOW)


def test_two_alike_are_still_told_apart_and_who_speaks_most_is_served_best() -> None:
    chosen = cast([Part("a", 100, 10), Part("b", 101, 90)], [LOW, MIDDLE, HIGH])
    assert (chosen["b"], chosen["a"]) == (LOW, MIDDLE)


def test_more_speakers_than_voices_share_and_nobody_is_silent() -> None:
    chosen = cast([Part("a", 200, 30), Part("b", 100, 20), Part("c", 105, 10)], [LOW, HIGH])
    assert chosen == {"a": HIGH, "b": LOW, "c": LOW}


def test_a_voice_that_could_not_be_measured_gets_one_too() -> None:
    assert cast([Part("a", None, 5)], [LOW, MIDDLE, HIGH])["a"] == MIDDLE


def test_many_speakers_and_voices_are_cast_without_trying_every_way() -> None:
    voices = [voice(f"v{number:02}", 90 + 5 * number) for number in range(20)]
    parts = [Part(f"s{number}", 95 + 9 * number, 10 - number) for number in range(8)]
    chosen = cast(parts, voices)
    assert len({each.name for each in chosen.values()}) == 8


def test_the_region_matters_where_there_is_a_choice() -> None:
    here, there = voice("a", 100, "pt-BR"), voice("b", 100, "pt-PT")
    assert voices_for("pt-PT", [here, there]) == [there]
    assert voices_for("pt", [there, here]) == [here, there]
    assert voices_for("pt-AO", [here, there]) == [here, there]
    assert voices_for("es", [here, there]) == []
