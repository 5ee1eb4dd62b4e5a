"""What remains of a recording: frames, samples, times and cues, for any cuts."""

import json
from fractions import Fraction
from io import BytesIO
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.media.cutting.cues import cut_cues
from cutroom.media.cutting.samples import CHANNELS, FRAME_BYTES, cut_samples
from cutroom.media.cutting.timeline import CutTimeline, FrameSpan, SoundPiece, kept_ranges, select_frames

RATES = [Fraction(25), Fraction(30000, 1001), Fraction(24000, 1001), Fraction(60), Fraction(50)]
SAMPLE_RATE = 48_000
TWO = CutTimeline(Fraction(25), (FrameSpan(0, 50), FrameSpan(100, 200)))


@st.composite
def timelines(draw: st.DrawFn) -> CutTimeline:
    """Parts of two frames or more, with cuts of two frames or more between them."""
    at, kept = draw(st.integers(0, 100)), []
    for _ in range(draw(st.integers(1, 30))):
        end = at + draw(st.integers(2, 400))
        kept.append(FrameSpan(at, end))
        at = end + draw(st.integers(2, 400))
    return CutTimeline(draw(st.sampled_from(RATES)), tuple(kept))


@given(timelines(), st.integers(1, 300))
def test_chunks_of_the_output_are_the_kept_frames_in_order(timeline: CutTimeline, size: int) -> None:
    spans = [each for start in range(0, timeline.frames, size) for each in timeline.source_spans(start, size)]
    frames = [frame for each in spans for frame in range(each.start, each.end)]
    assert frames == [frame for each in timeline.kept for frame in range(each.start, each.end)]


@given(timelines())
def test_sound_never_drifts_from_the_picture(timeline: CutTimeline) -> None:
    """The middle of each crossfade is within a sample of the edge of its frame, after any number of cuts."""
    pieces = timeline.sound_pieces(SAMPLE_RATE)
    at = 0
    for number, (piece, part) in enumerate(zip(pieces, timeline.kept, strict=True)):
        half = piece.fade // 2 if number else 0
        assert abs(at + half - timeline.starts[number] * SAMPLE_RATE / timeline.rate) <= 0.5
        assert abs(piece.start + half - part.start * SAMPLE_RATE / timeline.rate) <= 0.5
        at += piece.end - piece.start - piece.fade
    assert abs(at + pieces[-1].fade - timeline.frames * SAMPLE_RATE / timeline.rate) <= 0.5
    assert all(piece.end - piece.start >= 2 * piece.fade for piece in pieces)


@given(timelines(), st.lists(st.floats(0, 500), min_size=2).map(sorted))
def test_times_keep_their_order_and_kept_times_their_distances(timeline: CutTimeline, times: list[float]) -> None:
    moved = [timeline.output_seconds(each) for each in times]
    assert all(left <= right for left, right in pairwise(moved))
    assert all(0 <= each <= timeline.seconds + 1e-9 for each in moved)
    for number, part in enumerate(timeline.kept):
        middle = float((part.start + part.frames / 2) / timeline.rate)
        expected = float((timeline.starts[number] + part.frames / 2) / timeline.rate)
        assert timeline.output_seconds(middle) == pytest.approx(expected)


@given(timelines())
def test_a_timeline_survives_being_stored(timeline: CutTimeline) -> None:
    assert CutTimeline.from_json(json.loads(json.dumps(timeline.as_json()))) == timeline


def samples_of(*values: int) -> bytes:
    return b"".join(value.to_bytes(2, "little", signed=True) * CHANNELS for value in values)


def cut(source: bytes, *pieces: SoundPiece) -> list[int]:
    target = BytesIO()
    cut_samples(BytesIO(source), target, pieces)
    data = target.getvalue()
    return [int.from_bytes(data[at : at + 2], "little", signed=True) for at in range(0, len(data), FRAME_BYTES)]


def test_pieces_fade_into_each_other_and_from_and_to_silence() -> None:
    source = samples_of(*[1000] * 10, *[-5000] * 10, *[1000] * 10)
    assert cut(source, SoundPiece(0, 10, 4), SoundPiece(20, 30, 4))[4:12] == [1000] * 8  # the joint
    assert cut(source, SoundPiece(0, 10, 4)) == [125, 375, 625, 875, 1000, 1000, 875, 625, 375, 125]
    half = cut(source, SoundPiece(0, 10, 4), SoundPiece(10, 20, 4))
    assert half[6:10] == [250, -1250, -2750, -4250]


def test_sound_that_ends_early_is_silent() -> None:
    assert cut(samples_of(*[1000] * 6), SoundPiece(0, 12, 2))[2:] == [1000] * 4 + [0] * 6


def test_cues_move_and_those_of_deleted_words_disappear() -> None:
    srt = (
        "1\n00:00:00,500 --> 00:00:01,500\nOne\n\n2\n00:00:02,100 --> 00:00:03,900\nUm\n\n"
        "3\n00:00:03,500 --> 00:00:05,250\nTwo\nlines\n"
    )
    assert cut_cues(srt, TWO) == (
        "1\n00:00:00,500 --> 00:00:01,500\nOne\n\n2\n00:00:02,000 --> 00:00:03,250\nTwo\nlines\n"
    )
    vtt = "WEBVTT\n\n00:00:02.100 --> 00:00:03.900\nUm\n\n00:00:04.000 --> 00:00:05.000\n<v A>1 --&gt; 2</v>\n"
    assert cut_cues(vtt, TWO) == "WEBVTT\n\n00:00:02.000 --> 00:00:03.000\n<v A>1 --&gt; 2</v>\n"
    assert cut_cues("", TWO) == ""


def test_filters_and_ranges_of_a_timeline() -> None:
    expected = "select='between(n,0,49)+between(n,100,199)',settb=1/25,setpts=N"
    assert select_frames(TWO.kept, rate=TWO.rate) == expected
    assert list(kept_ranges(TWO)) == [(0.0, 2.0), (4.0, 8.0)]
    assert TWO.seconds == 6.0
