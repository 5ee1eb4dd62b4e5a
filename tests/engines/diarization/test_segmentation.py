"""Speaker segmentation: borders of a real conversation, overlapping speech, and how speech is cut at them."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.engines.diarization.port import SpeakerSegmentation
from cutroom.engines.diarization.segmentation import (
    MIN_PIECE_SECONDS,
    PyannoteSegmenter,
    TimedSpeakers,
    overlapping_speech,
    speaker_changes,
    split_speech,
)
from cutroom.engines.errors import EngineError
from cutroom.engines.types import SAMPLE_RATE, TimeSpan
from tests.engines.recognition.recognizer_suite import model_folder
from tests.support.dialogue import DIALOGUE, build_conversation

REACH_SECONDS = 0.4


@cache
def segmenter() -> PyannoteSegmenter:
    return PyannoteSegmenter(model_folder("pyannote-segmentation-3.0"))


def test_changes_of_a_conversation_are_found() -> None:
    conversation = build_conversation(DIALOGUE)
    speech = [TimeSpan(turn.start_seconds, turn.end_seconds) for turn in conversation.truth]
    found = segmenter().segment(conversation.samples, speech=speech)
    truth = [
        (left.end_seconds, right.start_seconds)
        for left, right in pairwise(conversation.truth)
        if left.speaker != right.speaker
    ]
    assert list(found.changes) == sorted(found.changes)
    right = [
        change
        for change in found.changes
        if any(start - REACH_SECONDS < change < end + REACH_SECONDS for start, end in truth)
    ]
    assert len(right) >= 0.85 * len(found.changes)
    assert len(right) >= 0.6 * len(truth)
    assert found.overlaps == ()


def test_overlap_of_two_speakers_is_found() -> None:
    """Two turns of different speakers, mixed for three seconds in their middle."""
    conversation = build_conversation(DIALOGUE)
    first, second = (
        conversation.samples[round(start * SAMPLE_RATE) : round((start + 5) * SAMPLE_RATE)] for start in (6.5, 16.2)
    )
    samples = np.zeros(8 * SAMPLE_RATE, np.float32)
    samples[: 5 * SAMPLE_RATE] += first
    samples[3 * SAMPLE_RATE :] += second
    found = segmenter().segment(samples, speech=[TimeSpan(0.0, 8.0)])
    overlapped = sum(min(5.2, each.end_seconds) - max(2.8, each.start_seconds) for each in found.overlaps)
    assert overlapped > 1.0
    assert all(each.end_seconds > 2.5 and each.start_seconds < 5.5 for each in found.overlaps)


def test_windows_without_speech_are_skipped() -> None:
    assert segmenter().segment(np.zeros(0, np.float32), speech=[]) == SpeakerSegmentation((), ())
    noise = np.random.default_rng(2).normal(0, 0.001, 12 * SAMPLE_RATE).astype(np.float32)
    assert segmenter().segment(noise, speech=[]) == SpeakerSegmentation((), ())


def test_invalid_samples_are_rejected() -> None:
    with pytest.raises(EngineError, match="NaN"):
        segmenter().segment(np.full(SAMPLE_RATE, np.nan, np.float32), speech=[TimeSpan(0.0, 1.0)])


def run(start: float, end: float, *speakers: int) -> TimedSpeakers:
    return TimedSpeakers(TimeSpan(start, end), frozenset(speakers))


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([run(0, 2, 0), run(2, 4, 1)], [2.0]),
        ([run(0, 2, 0), run(2, 3), run(3, 4, 1)], [2.5]),
        ([run(0, 2, 0), run(2, 3, 0, 1), run(3, 4, 1)], [2.5]),
        ([run(0, 2, 0), run(2, 3), run(3, 4, 0)], []),
        ([run(0, 2, 0), run(2, 3.5), run(3.5, 4, 1)], []),
        ([run(0, 2)], []),
    ],
)
def test_changes_lie_between_two_speakers(runs: list[TimedSpeakers], expected: list[float]) -> None:
    assert speaker_changes(runs) == expected


def test_short_overlaps_are_ignored() -> None:
    assert overlapping_speech([run(0, 2, 0), run(2, 2.2, 0, 1), run(3, 4, 1, 2)]) == [TimeSpan(3, 4)]


SPEECH = [TimeSpan(0.0, 4.0), TimeSpan(6.0, 10.0)]


@pytest.mark.parametrize(
    ("changes", "overlaps", "expected"),
    [
        ((), (), [(0, 4), (6, 10)]),
        ((2.0,), (), [(0, 2), (2, 4), (6, 10)]),
        ((0.2, 5.0, 9.8), (), [(0, 4), (6, 10)]),
        ((8.0, 8.2), (), [(0, 4), (6, 8), (8, 10)]),
        ((), (TimeSpan(1.0, 2.0),), [(0, 1), (2, 4), (6, 10)]),
        ((), (TimeSpan(0.0, 4.0),), [(0, 4), (6, 10)]),
        ((2.0,), (TimeSpan(1.7, 2.4),), [(0, 1.7), (2.4, 4), (6, 10)]),
    ],
)
def test_speech_is_cut_at_changes_and_overlaps(
    changes: tuple[float, ...], overlaps: tuple[TimeSpan, ...], expected: list[tuple[float, float]]
) -> None:
    assert split_speech(SPEECH, SpeakerSegmentation(changes, overlaps)) == [TimeSpan(*each) for each in expected]


times = st.lists(st.floats(0, 12), max_size=5).map(sorted)


@given(times, times)
def test_pieces_are_ordered_inside_speech_and_long_enough(changes: list[float], borders: list[float]) -> None:
    overlaps = tuple(TimeSpan(start, end) for start, end in pairwise(borders[: len(borders) // 2 * 2]))[::2]
    pieces = split_speech(SPEECH, SpeakerSegmentation(tuple(changes), overlaps))
    assert {
        at
        for at, span in enumerate(SPEECH)
        for piece in pieces
        if span.start_seconds <= piece.start_seconds < span.end_seconds
    } == {0, 1}
    for piece in pieces:
        assert any(s.start_seconds <= piece.start_seconds and piece.end_seconds <= s.end_seconds for s in SPEECH)
        assert piece.end_seconds - piece.start_seconds >= MIN_PIECE_SECONDS - 1e-9
    assert all(left.end_seconds <= right.start_seconds for left, right in pairwise(pieces))
