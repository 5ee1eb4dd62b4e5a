"""Which sentences are spoken together."""

from cutroom.products.dubs.phrasing import Phrase, phrases


def said(start: float, end: float, letters: int, speaker: str = "a") -> Phrase:
    return Phrase(start, end, speaker, "s" * 5, "t" * letters)


def times(found: list[Phrase]) -> list[tuple[float, float]]:
    return [(each.start_seconds, each.end_seconds) for each in found]


def test_what_fits_stays_as_it_is() -> None:
    given = [said(0, 2, 30), said(2.3, 4, 25)]
    assert phrases(given, language="pt") == given


def test_a_sentence_that_is_too_long_is_joined_with_the_next_that_has_time() -> None:
    found = phrases([said(0, 2, 60), said(2.3, 5, 20)], language="pt")
    assert times(found) == [(0, 5)]
    assert found[0].text == "t" * 60 + " " + "t" * 20


def test_or_with_the_one_before() -> None:
    assert times(phrases([said(0, 3, 20), said(3.2, 4, 40)], language="pt")) == [(0, 4)]


def test_never_with_another_speaker_over_a_pause_or_with_one_as_pressed() -> None:
    other = [said(0, 2, 60), said(2.3, 5, 20, "b")]
    pause = [said(0, 2, 60), said(4, 7, 20)]
    pressed = [said(0, 2, 60), said(2.2, 4.2, 70)]
    long = [said(0, 2, 60), said(2.2, 14, 20)]
    for given in (other, pause, pressed, long):
        assert len(phrases(given, language="pt")) == 2


def test_two_are_joined_though_the_second_alone_is_pressed_a_little() -> None:
    """A line of thanks that is too long by half, and one behind it that just fits."""
    assert times(phrases([said(0, 1.33, 40), said(1.82, 4.52, 63)], language="pt")) == [(0, 4.52)]


def test_a_very_short_one_is_pressed_by_what_every_line_takes() -> None:
    assert times(phrases([said(0, 0.62, 12), said(1.14, 6.58, 91)], language="pt")) == [(0, 6.58)]
