"""Splitting of recordings into chunks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.engines.types import TimeSpan
from cutroom.products.transcripts.chunks import (
    DETECTION_PROGRESS,
    MAX_SECONDS,
    MIN_SECONDS,
    TRANSCRIPTION_PROGRESS,
    TranscriptChunk,
    language_probe,
    plan_chunks,
    speech_within,
    transcription_share,
)


def spans(*pairs: tuple[float, float]) -> list[TimeSpan]:
    return [TimeSpan(start, end) for start, end in pairs]


def edges(chunks: list[TranscriptChunk]) -> list[tuple[float, float]]:
    return [(chunk.start_seconds, chunk.end_seconds) for chunk in chunks]


@pytest.mark.parametrize(
    ("speech", "duration", "expected"),
    [
        pytest.param([], 3600.0, [], id="no speech"),
        pytest.param(spans((1, 2)), 10.0, [(0.0, 10.0)], id="short"),
        pytest.param(spans((0, 360)), 360.0, [(0.0, 360.0)], id="exactly one chunk"),
        pytest.param(
            spans((0, 280), (290, 600)), 600.0, [(0.0, 285.0), (285.0, 600.0)], id="middle of the only silence"
        ),
        pytest.param(
            spans((0, 250), (251, 330), (340, 600)),
            600.0,
            [(0.0, 335.0), (335.0, 600.0)],
            id="longest silence",
        ),
        pytest.param(
            spans((0, 250), (255, 299), (305, 330), (335, 600)),
            600.0,
            [(0.0, 302.0), (302.0, 600.0)],
            id="nearest to the target among similar silences",
        ),
        pytest.param(
            spans((0, 700)),
            700.0,
            [(0.0, 300.0), (300.0, 600.0), (600.0, 700.0)],
            id="no silence: at the target",
        ),
        pytest.param(
            spans((0, 10), (1000, 1010)),
            1010.0,
            [(0.0, 300.0), (900.0, 1010.0)],
            id="chunks without speech are left out",
        ),
    ],
)
def test_chunks_are_split_at_silences(
    speech: list[TimeSpan], duration: float, expected: list[tuple[float, float]]
) -> None:
    chunks = plan_chunks(speech, duration_seconds=duration)
    assert edges(chunks) == expected
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))


@st.composite
def recordings(draw: st.DrawFn) -> tuple[list[TimeSpan], float]:
    """Alternating speech and pauses of any length."""
    at, speech = 0.0, []
    for _ in range(draw(st.integers(0, 60))):
        at += draw(st.floats(0.3, 400))
        end = at + draw(st.floats(0.25, 120))
        speech.append(TimeSpan(at, end))
        at = end
    return speech, at + draw(st.floats(0, 50)) + 0.1


@given(recordings())
def test_each_speech_span_is_in_exactly_one_chunk(recording: tuple[list[TimeSpan], float]) -> None:
    speech, duration = recording
    chunks = plan_chunks(speech, duration_seconds=duration)
    assert all(chunk.end_seconds - chunk.start_seconds <= MAX_SECONDS + 1e-6 for chunk in chunks)
    assert all(chunk.end_seconds - chunk.start_seconds >= MIN_SECONDS - 1e-6 for chunk in chunks[:-1])
    restored = [
        TimeSpan(span.start_seconds + chunk.start_seconds, span.end_seconds + chunk.start_seconds)
        for chunk in chunks
        for span in speech_within(speech, chunk)
    ]
    assert len(restored) == len(speech), "no speech span is split when there are pauses in range"
    for found, given_ in zip(restored, speech, strict=True):
        assert found.start_seconds == pytest.approx(given_.start_seconds)
        assert found.end_seconds == pytest.approx(given_.end_seconds)


def test_language_probe_is_the_early_chunk_with_most_speech() -> None:
    chunks = [
        TranscriptChunk(at, at * 300.0, (at + 1) * 300.0, speech) for at, speech in enumerate([5.0, 90.0, 20.0, 280.0])
    ]
    assert language_probe(chunks) is chunks[1]


@given(total=st.integers(1, 500))
def test_shares_of_all_chunks_are_the_progress_of_transcription(total: int) -> None:
    assert DETECTION_PROGRESS + total * transcription_share(total) == pytest.approx(TRANSCRIPTION_PROGRESS)
