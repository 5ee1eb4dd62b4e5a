"""Merging of adjacent sentences."""

from cutroom.products.dubs.phrasing import DubPhrase, merge_phrases


def phrase(start: float, end: float, letters: int, speaker: str = "a") -> DubPhrase:
    return DubPhrase(start, end, speaker, "s" * 5, "t" * letters)


def times(found: list[DubPhrase]) -> list[tuple[float, float]]:
    return [(each.start_seconds, each.end_seconds) for each in found]


def test_phrases_that_fit_are_not_merged() -> None:
    given = [phrase(0, 2, 30), phrase(2.3, 4, 25)]
    assert merge_phrases(given, language="pt") == given


def test_long_phrase_is_merged_with_a_following_phrase_that_has_time() -> None:
    found = merge_phrases([phrase(0, 2, 60), phrase(2.3, 5, 20)], language="pt")
    assert times(found) == [(0, 5)]
    assert found[0].text == "t" * 60 + " " + "t" * 20


def test_long_phrase_is_merged_with_the_previous_phrase() -> None:
    assert times(merge_phrases([phrase(0, 3, 20), phrase(3.2, 4, 40)], language="pt")) == [(0, 4)]


def test_phrases_are_not_merged_across_speakers_or_pauses_or_when_it_does_not_help() -> None:
    other = [phrase(0, 2, 60), phrase(2.3, 5, 20, "b")]
    pause = [phrase(0, 2, 60), phrase(4, 7, 20)]
    pressed = [phrase(0, 2, 60), phrase(2.2, 4.2, 70)]
    long = [phrase(0, 2, 60), phrase(2.2, 14, 20)]
    for given in (other, pause, pressed, long):
        assert len(merge_phrases(given, language="pt")) == 2


def test_merge_helps_even_if_the_second_phrase_barely_fits() -> None:
    assert times(merge_phrases([phrase(0, 1.33, 40), phrase(1.82, 4.52, 63)], language="pt")) == [(0, 4.52)]


def test_very_short_phrase_is_too_long_because_of_the_utterance_overhead() -> None:
    assert times(merge_phrases([phrase(0, 0.62, 12), phrase(1.14, 6.58, 91)], language="pt")) == [(0, 6.58)]
