"""Sound by the sample."""

import numpy as np
import pytest

from cutroom.engines.samples import resampled
from cutroom.products.dubs.mixing import (
    LINE_RATE,
    MIX_RATE,
    blended,
    gain_for,
    laid_over,
    loudness_of,
    speech_alone,
    without_edges,
)
from cutroom.products.dubs.script import PlacedLine


def laid(start: float, seconds: float, gain: float = 1.0) -> PlacedLine:
    return PlacedLine(0, "key", start, seconds, 1.0, "text", shortened=False, gain=gain)


def tone(hertz: float, seconds: float, rate: int) -> np.ndarray:
    return np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate).astype(np.float32)


def test_another_rate_keeps_the_tone_and_the_length() -> None:
    sound = np.stack([tone(440, 2, 44_100), tone(880, 2, 44_100)])
    other = resampled(sound, 44_100, 48_000)
    assert other.shape == (2, 96_000)
    middle = slice(4_800, 91_200)
    assert np.abs(other[0][middle] - tone(440, 2, 48_000)[middle]).max() < 0.02
    back = resampled(other, 48_000, 44_100)
    assert np.abs(back - sound).max() < 0.05


def test_where_nobody_speaks_the_mix_itself_is_kept() -> None:
    mix, rest = np.ones((2, 4 * MIX_RATE), np.float32), np.zeros((2, 4 * MIX_RATE), np.float32)
    bed = blended(mix, rest, [(1.0, 2.0)], rate=MIX_RATE)
    assert (bed[:, : round(0.6 * MIX_RATE)] == 1).all()
    assert (bed[:, round(1.0 * MIX_RATE) : round(2.0 * MIX_RATE)] == 0).all()
    assert (bed[:, round(2.4 * MIX_RATE) :] == 1).all()
    assert np.abs(np.diff(bed[0])).max() < 0.001  # no step at the seams
    assert (blended(mix, rest, [], rate=MIX_RATE) == 1).all()
    assert (blended(mix, rest, [(0.0, 4.0)], rate=MIX_RATE) == 0).all()


def test_silence_around_speech_goes_and_nothing_clicks() -> None:
    quiet = np.zeros(LINE_RATE, np.float32)
    kept = without_edges(np.concatenate([quiet, tone(200, 1, LINE_RATE), quiet]))
    assert len(kept) / LINE_RATE == pytest.approx(1.03, abs=0.005)
    assert kept[0] == kept[-1] == 0
    assert len(without_edges(quiet)) == LINE_RATE


def test_loudness_does_not_count_silence() -> None:
    loud = np.float32(0.1) * tone(200, 1, LINE_RATE)
    padded = np.concatenate([loud, np.zeros(3 * LINE_RATE, np.float32)])
    assert loudness_of(padded) == pytest.approx(loudness_of(loud), rel=0.02)
    assert loudness_of(np.zeros(0, np.float32)) == 0


@pytest.mark.parametrize(
    ("source", "line", "gain"),
    [(0.1, 0.1, 1.0), (0.2, 0.1, 2.0), (0.9, 0.01, 3.9811), (0.001, 0.5, 0.2512), (0, 1, 1.0)],
)
def test_a_line_becomes_as_loud_as_the_one_before_it_within_reason(source: float, line: float, gain: float) -> None:
    assert gain_for(source, line) == gain


def test_lines_lie_where_they_belong_and_end_with_the_piece() -> None:
    bed = np.zeros((2, 2 * MIX_RATE), np.float32)
    sound = np.full(LINE_RATE, 0.5, np.float32)
    made = laid_over(bed, [(laid(60.5, 1.0, gain=0.5), sound)], start_seconds=60.0)
    assert made[0, round(0.4 * MIX_RATE)] == 0
    assert made[1, round(1.0 * MIX_RATE)] == pytest.approx(0.25, abs=0.01)
    assert made[1, round(1.7 * MIX_RATE)] == 0
    over = laid_over(bed, [(laid(59.5, 1.0), sound), (laid(61.5, 1.0), sound)], start_seconds=60.0)
    assert over.shape == bed.shape
    assert over[0, round(0.25 * MIX_RATE)] == pytest.approx(0.5, abs=0.01)
    assert over[0, round(1.75 * MIX_RATE)] == pytest.approx(0.5, abs=0.01)
    assert not bed.any()


def test_speech_alone_has_nothing_else() -> None:
    sound = np.full(LINE_RATE, 0.5, np.float32)
    made = speech_alone([(laid(10.5, 1.0), sound)], start_seconds=10.0, seconds=2.0)
    assert len(made) == 2 * LINE_RATE
    assert made[: LINE_RATE // 2].sum() == 0
    assert made[LINE_RATE // 2 : LINE_RATE // 2 + LINE_RATE].mean() == 0.5
