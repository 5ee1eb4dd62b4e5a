"""Where recordings are cut for their asr_engines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.engines.types import TimeSpan
from cutroom.products.transcripts.chunks import (
    HEARD,
    LEAST_SECONDS,
    LISTENED,
    MOST_SECONDS,
    SpeechPiece,
    leader,
    plan_pieces,
    progress_after,
    within,
)


def spans(*pairs: tuple[float, float]) -> list[TimeSpan]:
    return [TimeSpan(start, end) for start, end in pairs]


def edges(pieces: list[SpeechPiece]) -> list[tuple[float, float]]:
    return [(piece.start_seconds, piece.end_seconds) for piece in pieces]


@pytest.mark.parametrize(
    ("speech", "duration", "expected"),
    [
        pytest.param([], 3600.0, [], id="nobody speaks"),
        pytest.param(spans((1, 2)), 10.0, [(0.0, 10.0)], id="short"),
        pytest.param(spans((0, 360)), 360.0, [(0.0, 360.0)], id="as long as one piece may be"),
        pytest.param(
            spans((0, 280), (290, 600)), 600.0, [(0.0, 285.0), (285.0, 600.0)], id="in the middle of the one silence"
        ),
        pytest.param(
            spans((0, 250), (251, 330), (340, 600)),
            600.0,
            [(0.0, 335.0), (335.0, 600.0)],
            id="in the longest silence",
        ),
        pytest.param(
            spans((0, 250), (255, 299), (305, 330), (335, 600)),
            600.0,
            [(0.0, 302.0), (302.0, 600.0)],
            id="nearest to the target among silences that are about as long",
        ),
        pytest.param(
            spans((0, 700)),
            700.0,
            [(0.0, 300.0), (300.0, 600.0), (600.0, 700.0)],
            id="without a silence, at the target",
        ),
        pytest.param(
            spans((0, 10), (1000, 1010)),
            1010.0,
            [(0.0, 300.0), (900.0, 1010.0)],
            id="pieces without speech are left out",
        ),
    ],
)
def test_cuts_fall_in_silence(speech: list[TimeSpan], duration: float, expected: list[tuple[float, float]]) -> None:
    pieces = plan_pieces(speech, duration_seconds=duration)
    assert edges(pieces) == expected
    assert [piece.index for piece in pieces] == list(range(len(pieces)))


@st.composite
def recordings(draw: st.DrawFn) -> tuple[list[TimeSpan], float]:
    """Speech and pauses of any length, one after the other."""
    at, speech = 0.0, []
    for _ in range(draw(st.integers(0, 60))):
        at += draw(st.floats(0.3, 400))
        end = at + draw(st.floats(0.25, 120))
        speech.append(TimeSpan(at, end))
        at = end
    return speech, at + draw(st.floats(0, 50)) + 0.1


@given(recordings())
def test_all_speech_is_in_exactly_one_piece_and_none_is_cut(recording: tuple[list[TimeSpan], float]) -> None:
    speech, duration = recording
    pieces = plan_pieces(speech, duration_seconds=duration)
    assert all(piece.end_seconds - piece.start_seconds <= MOST_SECONDS + 1e-6 for piece in pieces)
    assert all(piece.end_seconds - piece.start_seconds >= LEAST_SECONDS - 1e-6 for piece in pieces[:-1])
    back = [
        TimeSpan(span.start_seconds + piece.start_seconds, span.end_seconds + piece.start_seconds)
        for piece in pieces
        for span in within(speech, piece)
    ]
    assert len(back) == len(speech), "with pauses in reach, no stretch of speech is cut in two"
    for found, given_ in zip(back, speech, strict=True):
        assert found.start_seconds == pytest.approx(given_.start_seconds)
        assert found.end_seconds == pytest.approx(given_.end_seconds)


def test_the_piece_with_most_speech_among_the_first_tells_the_language() -> None:
    pieces = [
        SpeechPiece(at, at * 300.0, (at + 1) * 300.0, speech) for at, speech in enumerate([5.0, 90.0, 20.0, 280.0])
    ]
    assert leader(pieces) is pieces[1]


def test_progress_counts_the_pieces_that_are_done() -> None:
    told = [progress_after(done, of=5) for done in range(6)]
    assert told == [8, 24, 40, 57, 73, 90]
    assert (told[0], told[-1]) == (LISTENED, HEARD)


@given(of=st.integers(1, 500), data=st.data())
def test_progress_never_goes_back_or_past_what_is_left_to_do(of: int, data: st.DataObject) -> None:
    done = data.draw(st.integers(1, of))
    assert LISTENED <= progress_after(done - 1, of=of) <= progress_after(done, of=of) <= HEARD
