"""Windows cover all speech, are cut at silences, and map times back to the recording."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutroom.engines.recognition.speech_windows import CONTEXT_SECONDS, DecodingWindow, SpeechChunk, plan_windows
from cutroom.engines.types import SAMPLE_RATE, TimeSpan

LOUD = np.ones(120 * SAMPLE_RATE, np.float32)


def spans(*pairs: tuple[float, float]) -> list[TimeSpan]:
    return [TimeSpan(start, end) for start, end in pairs]


def chunks_of(window: DecodingWindow) -> list[tuple[float, float]]:
    return [(chunk.start / SAMPLE_RATE, chunk.end / SAMPLE_RATE) for chunk in window.chunks]


@pytest.mark.parametrize(
    ("speech", "expected"),
    [
        pytest.param([], [], id="no speech"),
        pytest.param([(1, 5)], [[(0.75, 5.25)]], id="one"),
        pytest.param([(0, 5)], [[(0, 5.25)]], id="at the start"),
        pytest.param([(115, 130)], [[(114.75, 120)]], id="past the end"),
        pytest.param([(130, 140), (5, 5), (6, 4)], [], id="invalid spans"),
        pytest.param([(1, 5), (5.2, 8)], [[(0.75, 5.1), (5.1, 8.25)]], id="close spans keep the pause"),
        pytest.param([(1, 5), (50, 55)], [[(0.75, 5.25), (49.75, 55.25)]], id="distant spans drop the silence"),
        pytest.param([(5, 8), (1, 4), (3, 5.5)], [[(0.75, 8.25)]], id="overlapping, out of order"),
        pytest.param(
            [(0, 20), (22, 26), (26.4, 29), (29.5, 40)],
            [[(0, 20.25)], [(21.75, 26.2), (26.2, 29.25), (29.25, 40.25)]],
            id="cut at the longest silence near the end",
        ),
        pytest.param(
            [(0, 5), (15, 29), (29.4, 40)],
            [[(0, 5.25), (14.75, 29.2)], [(29.2, 40.25)]],
            id="no cut at an early silence",
        ),
    ],
)
def test_speech_is_packed_into_windows(
    speech: list[tuple[float, float]], expected: list[list[tuple[float, float]]]
) -> None:
    windows = plan_windows(LOUD, spans(*speech), max_seconds=30)
    assert [chunks_of(window) for window in windows] == expected


def test_continuous_speech_is_cut_at_quietest_point() -> None:
    samples = LOUD.copy()
    samples[round(25 * SAMPLE_RATE) : round(25.1 * SAMPLE_RATE)] = 0.01
    first, *others = plan_windows(samples, [TimeSpan(0, 70)], max_seconds=30)
    assert chunks_of(first)[0][1] == pytest.approx(25.05, abs=0.03)
    assert len(others) == 2


def test_window_extracts_its_chunks() -> None:
    samples = np.arange(100, dtype=np.float32)
    window = DecodingWindow((SpeechChunk(10, 13), SpeechChunk(50, 52)))
    assert window.extract(samples).tolist() == [10, 11, 12, 50, 51]
    assert window.length == 5


def test_window_times_map_to_recording_times() -> None:
    (window,) = plan_windows(LOUD, spans((1, 5), (50, 55)), max_seconds=30)
    assert window.to_recording_time(TimeSpan(0.25, 1.25)) == TimeSpan(1.0, 2.0)
    assert window.to_recording_time(TimeSpan(5.0, 6.0)) == TimeSpan(50.25, 51.25)
    assert window.to_recording_time(TimeSpan(9, 99)) == TimeSpan(
        54.25, 144.25
    )  # past the end: mapped by the last chunk
    assert window.speech_in_window_time(spans((1, 5), (50, 55), (60, 70))) == spans((0.25, 4.25), (4.75, 9.75))


gaps = st.lists(st.tuples(st.floats(0.0, 8), st.floats(0.1, 45)), max_size=10)


@settings(deadline=None)
@given(gaps, st.floats(2, 40))
def test_windows_cover_all_speech_within_the_limit(steps: list[tuple[float, float]], max_seconds: float) -> None:
    at, speech = 0.0, []
    for gap, length in steps:
        speech.append(TimeSpan(at + gap, at + gap + length))
        at += gap + length
    samples = np.zeros(round(at * SAMPLE_RATE), np.float32)
    windows = plan_windows(samples, speech, max_seconds=max_seconds)
    chunks = [chunk for window in windows for chunk in window.chunks]
    assert all(window.seconds <= max_seconds for window in windows)
    assert all(left.end <= right.start for left, right in pairwise(chunks))
    covered = np.zeros(len(samples), bool)
    for chunk in chunks:
        assert chunk.start < chunk.end
        covered[chunk.start : chunk.end] = True
    expected = np.zeros(len(samples), bool)
    for span in speech:
        expected[round(span.start_seconds * SAMPLE_RATE) : round(span.end_seconds * SAMPLE_RATE)] = True
    assert not (expected & ~covered).any()
    widened = 2 * CONTEXT_SECONDS * SAMPLE_RATE * len(speech)
    assert covered.sum() <= expected.sum() + widened + 2 * len(speech)


@settings(deadline=None)
@given(st.floats(0, 29), st.floats(0.01, 1))
def test_mapping_to_recording_time_keeps_durations(start: float, length: float) -> None:
    (window,) = plan_windows(LOUD, spans((1, 9), (30, 39), (80, 89)), max_seconds=30)
    span = window.to_recording_time(TimeSpan(start, start + length))
    assert span.end_seconds - span.start_seconds == pytest.approx(length)
