"""Assignment of stock voices to speakers."""

from hypothesis import given
from hypothesis import strategies as st

from cutroom.engines.synthesis.port import Gender, StockVoice
from cutroom.products.dubs.casting import SpeakerProfile, cast_voices, voices_for


def voice(
    name: str, pitch: float, language: str = "pt-BR", gender: Gender = Gender.NEUTRAL, age: str = "young"
) -> StockVoice:
    return StockVoice(name, name.title(), language, gender, age, pitch)


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


WOMAN, MAN = voice("woman", 140, gender=Gender.FEMALE), voice("man", 157, gender=Gender.MALE)
SANTA = voice("santa", 118, gender=Gender.MALE, age="old")


def test_gender_counts_more_than_pitch() -> None:
    chosen = cast_voices([SpeakerProfile("anna", 180, 10), SpeakerProfile("ben", 120, 90)], [MAN, WOMAN])
    assert (chosen["anna"], chosen["ben"]) == (WOMAN, MAN)
    shared = cast_voices([SpeakerProfile(name, 190, 10) for name in ("a", "b", "c")], [MAN, WOMAN])
    assert shared["c"] == WOMAN


def test_voices_stay_distinct_across_genders() -> None:
    chosen = cast_voices([SpeakerProfile("a", 190, 10), SpeakerProfile("b", 200, 20)], [MAN, WOMAN])
    assert {each.name for each in chosen.values()} == {"man", "woman"}


def test_old_voice_is_the_last_choice() -> None:
    profiles = [SpeakerProfile("ben", 118, 10)]
    assert cast_voices(profiles, [SANTA, MAN, WOMAN])["ben"] == MAN
    both = cast_voices([*profiles, SpeakerProfile("tom", 110, 5)], [SANTA, MAN, WOMAN])
    assert {each.name for each in both.values()} == {"man", "santa"}


def test_voice_of_the_same_age_is_preferred() -> None:
    young, middle = voice("young", 130, gender=Gender.MALE), voice("mid", 122, gender=Gender.MALE, age="middle-aged")
    assert cast_voices([SpeakerProfile("ben", 125, 10)], [middle, young])["ben"] == young
    assert cast_voices([SpeakerProfile("tom", 100, 10)], [middle, young])["tom"] == middle


@given(
    pitches=st.lists(st.one_of(st.none(), st.floats(60, 400)), min_size=1, max_size=9),
    genders=st.lists(st.sampled_from(Gender), min_size=1, max_size=9),
)
def test_as_many_distinct_voices_as_possible(pitches: list[float | None], genders: list[Gender]) -> None:
    voices = [voice(f"v{at}", 90 + 20 * at, gender=gender) for at, gender in enumerate(genders)]
    profiles = [SpeakerProfile(f"s{at}", pitch, 10.0 + at) for at, pitch in enumerate(pitches)]
    chosen = cast_voices(profiles, voices)
    assert set(chosen) == {profile.speaker for profile in profiles}
    assert len({each.name for each in chosen.values()}) == min(len(profiles), len(voices))


def test_voices_of_the_exact_locale_are_preferred() -> None:
    brazilian, european = voice("a", 100, "pt-BR"), voice("b", 100, "pt-PT")
    assert voices_for("pt-PT", [brazilian, european]) == [european]
    assert voices_for("pt", [european, brazilian]) == [brazilian, european]
    assert voices_for("pt-AO", [brazilian, european]) == [brazilian, european]
    assert voices_for("es", [brazilian, european]) == []
