"""Tests the timeline built from transcripts and sync reports."""

from typing import Any

import pytest

from cutroom.console.framework.timeline import describe_line, describe_tempo, dub_timeline, is_weak, speech_spans
from cutroom.products.transcripts.schemas import Segment

FINE = {
    "line": 1,
    "start": 2.1,
    "slotSeconds": 2.0,
    "spokenSeconds": 1.9,
    "stretch": 1.0,
    "startErrorMs": 100,
    "withinSlot": True,
    "score": 0.9,
}


@pytest.mark.parametrize(
    ("change", "weak"),
    [
        ({}, False),
        ({"withinSlot": False}, True),
        ({"score": 0.5}, True),
        ({"score": None}, False),
        ({"stretch": 1.25}, True),
        ({"stretch": 0.75}, True),
        ({"stretch": 1.15, "speakingRate": 1.1}, True),
        ({"levelDb": -6.0}, False),
        ({"levelDb": -9.3}, True),
    ],
)
def test_stretched_or_unintelligible_lines_are_weak(change: dict[str, Any], weak: bool) -> None:  # noqa: FBT001
    assert is_weak({**FINE, **change}) is weak


def test_dub_timeline_places_slots_and_spoken_lines() -> None:
    timeline = dub_timeline({"segments": [{**FINE, "line": 2, "start": 9.0, "withinSlot": False}, FINE]})
    assert [(round(span.start, 3), span.seconds) for span in timeline.slots] == [(2.0, 2.0), (8.9, 2.0)]
    assert [span.start for span in timeline.spoken] == [2.1, 9.0]
    assert [span.start for span in timeline.weak] == [9.0]
    assert dub_timeline(None).spoken == ()


def test_line_description() -> None:
    text = describe_line({**FINE, "stretch": 1.1, "shortened": True})
    assert text == (
        "line 1: 1.9 s in a slot of 2.0 s, 1.1 times as fast, starts 100 ms late, "
        "90% of words recognized, shortened to fit"
    )
    assert "9 dB quieter than the speaker's other lines" in describe_line({**FINE, "levelDb": -9.3})
    assert "starts 40 ms early" in describe_line({**FINE, "startErrorMs": -40})


@pytest.mark.parametrize(
    ("tempo", "text"),
    [(1.2, "1.2 times as fast"), (1.25, "1.25 times as fast"), (0.85, "0.85 times as fast"), (1.0, ""), (1.001, "")],
)
def test_tempo_above_one_is_faster(tempo: float, text: str) -> None:
    assert describe_tempo(tempo) == text


def test_deleted_segments_are_omitted() -> None:
    kept = Segment(start=1, end=2, speaker="a", text="kept", deleted=False)
    gone = Segment(start=3, end=4, speaker="a", text="gone", deleted=True)
    assert [span.label for span in speech_spans([kept, gone])] == ["kept"]
