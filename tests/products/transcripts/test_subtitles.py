"""Reading speed report: cues that stay too fast are listed for review."""

import pytest

from cutroom.engines.recognition.port import Word
from cutroom.products.transcripts import subtitles
from cutroom.products.transcripts.segmentation import split_segments
from cutroom.products.transcripts.subtitles import reading_speed_report
from cutroom.products.transcripts.subtitling.cue_rules import rules_for, shown_columns
from cutroom.products.transcripts.subtitling.cues import make_cues

TEXT = "Nobody understands complicated explanations that are delivered at this remarkable speed."


def spoken(*, words_per_second: float, repeats: int = 1) -> list[Word]:
    step = 1 / words_per_second
    return [Word(text, at * step, (at + 1) * step, 0.9) for at, text in enumerate((TEXT + " ").split() * repeats)]


def report(*, words_per_second: float, repeats: int = 1) -> dict[str, object]:
    words = spoken(words_per_second=words_per_second, repeats=repeats)
    return reading_speed_report(make_cues(split_segments(words, lambda _: "A", language="en"), rules_for("en")))


def test_slow_speech_has_no_fast_cues() -> None:
    assert report(words_per_second=1.4) == {"readingSpeedExceptions": 0, "fastCues": []}


def test_pause_after_fast_speech_slows_the_cue_down() -> None:
    words = spoken(words_per_second=6.0)[:5]
    sheet = make_cues(split_segments(words, lambda _: "A", language="en"), rules_for("en"))
    assert reading_speed_report(sheet) == {"readingSpeedExceptions": 0, "fastCues": []}


def test_fast_cues_are_listed_with_their_speed() -> None:
    segments = split_segments(spoken(words_per_second=6.0, repeats=3), lambda _: "A", language="en")
    sheet = make_cues(segments, rules_for("en"))
    found = reading_speed_report(sheet)
    assert found["readingSpeedExceptions"] == len(found["fastCues"]) > 1
    shown = {cue.start_seconds: cue for cue in sheet.cues}
    for each in found["fastCues"]:
        cue = shown[each["start"]]
        assert each["end"] == cue.end_seconds
        assert each["charactersPerSecond"] > 17
        seconds = each["end"] - each["start"]
        assert each["charactersPerSecond"] == pytest.approx(shown_columns(cue) / seconds, abs=0.1)


def test_list_is_bounded_and_the_count_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subtitles, "MAX_FAST_CUES", 1)
    found = report(words_per_second=6.0, repeats=3)
    assert isinstance(found["fastCues"], list)
    assert len(found["fastCues"]) == 1
    assert isinstance(found["readingSpeedExceptions"], int)
    assert found["readingSpeedExceptions"] > 1
