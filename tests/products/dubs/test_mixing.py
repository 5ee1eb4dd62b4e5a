"""Sample-level audio processing of dubs."""

import numpy as np
import pytest

from cutroom.engines.samples import resample
from cutroom.products.dubs.mixing import (
    LINE_RATE,
    MIX_RATE,
    blend_background,
    matching_gain,
    overlay_lines,
    render_speech,
    speech_level,
    trim_silence,
)
from cutroom.products.dubs.script import PlacedLine


def placed(start: float, seconds: float, gain: float = 1.0) -> PlacedLine:
    return PlacedLine(0, "key", start, seconds, 1.0, "text", shortened=False, gain=gain)


def tone(hertz: float, seconds: float, rate: int) -> np.ndarray:
    return np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate).astype(np.float32)


def test_resampling_keeps_frequency_and_duration() -> None:
    samples = np.stack([tone(440, 2, 44_100), tone(880, 2, 44_100)])
    other = resample(samples, 44_100, 48_000)
    assert other.shape == (2, 96_000)
    middle = slice(4_800, 91_200)
    assert np.abs(other[0][middle] - tone(440, 2, 48_000)[middle]).max() < 0.02
    back = resample(other, 48_000, 44_100)
    assert np.abs(back - samples).max() < 0.05


def test_background_is_the_original_mix_outside_speech() -> None:
    mix, rest = np.ones((2, 4 * MIX_RATE), np.float32), np.zeros((2, 4 * MIX_RATE), np.float32)
    background = blend_background(mix, rest, [(1.0, 2.0)], rate=MIX_RATE)
    assert (background[:, : round(0.6 * MIX_RATE)] == 1).all()
    assert (background[:, round(1.0 * MIX_RATE) : round(2.0 * MIX_RATE)] == 0).all()
    assert (background[:, round(2.4 * MIX_RATE) :] == 1).all()
    assert np.abs(np.diff(background[0])).max() < 0.001  # faded at the boundaries
    assert (blend_background(mix, rest, [], rate=MIX_RATE) == 1).all()
    assert (blend_background(mix, rest, [(0.0, 4.0)], rate=MIX_RATE) == 0).all()


def test_trim_silence_removes_edges_and_fades() -> None:
    quiet = np.zeros(LINE_RATE, np.float32)
    kept = trim_silence(np.concatenate([quiet, tone(200, 1, LINE_RATE), quiet]))
    assert len(kept) / LINE_RATE == pytest.approx(1.03, abs=0.005)
    assert kept[0] == kept[-1] == 0
    assert len(trim_silence(quiet)) == LINE_RATE


def test_speech_level_ignores_silence() -> None:
    loud = np.float32(0.1) * tone(200, 1, LINE_RATE)
    padded = np.concatenate([loud, np.zeros(3 * LINE_RATE, np.float32)])
    assert speech_level(padded) == pytest.approx(speech_level(loud), rel=0.02)
    assert speech_level(np.zeros(0, np.float32)) == 0


@pytest.mark.parametrize(
    ("source", "line", "gain"),
    [(0.1, 0.1, 1.0), (0.2, 0.1, 2.0), (0.9, 0.01, 3.9811), (0.001, 0.5, 0.2512), (0, 1, 1.0)],
)
def test_matching_gain_is_limited(source: float, line: float, gain: float) -> None:
    assert matching_gain(source, line) == gain


def test_lines_are_overlaid_at_their_start_and_clipped_to_the_chunk() -> None:
    background = np.zeros((2, 2 * MIX_RATE), np.float32)
    samples = np.full(LINE_RATE, 0.5, np.float32)
    mixed = overlay_lines(background, [(placed(60.5, 1.0, gain=0.5), samples)], start_seconds=60.0)
    assert mixed[0, round(0.4 * MIX_RATE)] == 0
    assert mixed[1, round(1.0 * MIX_RATE)] == pytest.approx(0.25, abs=0.01)
    assert mixed[1, round(1.7 * MIX_RATE)] == 0
    over = overlay_lines(background, [(placed(59.5, 1.0), samples), (placed(61.5, 1.0), samples)], start_seconds=60.0)
    assert over.shape == background.shape
    assert over[0, round(0.25 * MIX_RATE)] == pytest.approx(0.5, abs=0.01)
    assert over[0, round(1.75 * MIX_RATE)] == pytest.approx(0.5, abs=0.01)
    assert not background.any()


def test_rendered_speech_has_no_background() -> None:
    samples = np.full(LINE_RATE, 0.5, np.float32)
    mixed = render_speech([(placed(10.5, 1.0), samples)], start_seconds=10.0, seconds=2.0)
    assert len(mixed) == 2 * LINE_RATE
    assert mixed[: LINE_RATE // 2].sum() == 0
    assert mixed[LINE_RATE // 2 : LINE_RATE // 2 + LINE_RATE].mean() == 0.5
