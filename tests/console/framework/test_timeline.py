"""The sync report as lanes: where lines lie, and which are worth a look."""

from typing import Any

import pytest

from cutroom.console.framework.timeline import dub_lane, is_weak, speech_lane, tell
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
    ],
)
def test_a_line_that_is_squeezed_or_unclear_is_worth_a_look(change: dict[str, Any], weak: bool) -> None:  # noqa: FBT001
    assert is_weak({**FINE, **change}) is weak


def test_slots_stand_where_the_source_spoke_and_speech_where_it_is_spoken() -> None:
    lane = dub_lane({"segments": [{**FINE, "line": 2, "start": 9.0, "withinSlot": False}, FINE]})
    assert [(round(bar.start, 3), bar.seconds) for bar in lane.slots] == [(2.0, 2.0), (8.9, 2.0)]
    assert [bar.start for bar in lane.spoken] == [2.1, 9.0]
    assert [bar.start for bar in lane.weak] == [9.0]
    assert dub_lane(None).spoken == ()


def test_a_line_is_told_in_words() -> None:
    words = tell({**FINE, "stretch": 1.1, "shortened": True})
    assert words == (
        "line 1: 1.9 s in a slot of 2.0 s, spoken 1.10 times as long, 100 ms off its start, "
        "90% of its words understood, shortened to fit"
    )


def test_what_was_deleted_is_not_drawn() -> None:
    kept = Segment(start=1, end=2, speaker="a", text="kept", deleted=False)
    gone = Segment(start=3, end=4, speaker="a", text="gone", deleted=True)
    assert [bar.words for bar in speech_lane([kept, gone])] == ["kept"]
