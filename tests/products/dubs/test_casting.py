"""Assignment of stock voices to speakers."""

from cutroom.engines.synthesis.port import Gender, StockVoice
from cutroom.products.dubs.casting import SpeakerProfile, cast_voices, voices_for


def voice(name: str, pitch: float, language: str = "pt-BR") -> StockVoice:
    return StockVoice(name, name.title(), language, Gender.NEUTRAL, "young", pitch)


LOW, MIDDLE, HIGH = voice("low", 100), voice("middle", 150), voice("high", 210)


def test_speakers_get_distinct_voices_close_in_pitch() -> None:
    chosen = cast_voices([SpeakerProfile("a", 205, 50), SpeakerProfile("b", 110, 40)], [LOW, MIDDLE, HIGH])
    assert (chosen["a"], chosen["b"]) == (HIGH, LOW)


def test_similar_speakers_get_distinct_voices_and_the_longest_speaker_the_best_match() -> None:
    chosen = cast_voices([SpeakerProfile("a", 100, 10), SpeakerProfile("b", 101, 90)], [LOW, MIDDLE, HIGH])
    assert (chosen["b"], chosen["a"]) == (LOW, MIDDLE)


def test_speakers_share_voices_when_there_are_too_few() -> None:
    chosen = cast_voices(
        [SpeakerProfile("a", 200, 30), SpeakerProfile("b", 100, 20), SpeakerProfile("c", 105, 10)], [LOW, HIGH]
    )
    assert chosen == {"a": HIGH, "b": LOW, "c": LOW}


def test_speaker_with_unknown_pitch_gets_a_voice() -> None:
    assert cast_voices([SpeakerProfile("a", None, 5)], [LOW, MIDDLE, HIGH])["a"] == MIDDLE


def test_many_speakers_and_voices_get_distinct_voices() -> None:
    voices = [voice(f"v{number:02}", 90 + 5 * number) for number in range(20)]
    profiles = [SpeakerProfile(f"s{number}", 95 + 9 * number, 10 - number) for number in range(8)]
    chosen = cast_voices(profiles, voices)
    assert len({each.name for each in chosen.values()}) == 8


def test_voices_of_the_exact_locale_are_preferred() -> None:
    brazilian, european = voice("a", 100, "pt-BR"), voice("b", 100, "pt-PT")
    assert voices_for("pt-PT", [brazilian, european]) == [european]
    assert voices_for("pt", [european, brazilian]) == [brazilian, european]
    assert voices_for("pt-AO", [brazilian, european]) == [brazilian, european]
    assert voices_for("es", [brazilian, european]) == []
