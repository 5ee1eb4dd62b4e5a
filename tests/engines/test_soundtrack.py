"""Generated background music: duration, level, determinism, chord changes and no clicks."""

import numpy as np
import pytest

from cutroom.engines.soundtrack import LOUDNESS, RATE, generate_music


@pytest.mark.parametrize("seconds", [0.5, 11.0, 47.3])
def test_music_has_requested_duration_and_level(seconds: float) -> None:
    music = generate_music(seconds)
    assert music.shape == (2, round(seconds * RATE))
    assert np.sqrt(np.mean(music**2)) == pytest.approx(LOUDNESS, rel=1e-3)
    assert np.abs(music).max() < 0.9


def test_music_is_deterministic_and_chords_differ() -> None:
    music = generate_music(12.0)
    assert np.array_equal(music, generate_music(12.0))
    chords = [np.abs(np.fft.rfft(music[0, at * 120_000 : (at + 1) * 120_000])) for at in range(4)]
    for at in range(3):
        one, two = chords[at], chords[at + 1]
        assert float(one @ two / np.sqrt((one @ one) * (two @ two))) < 0.9


def test_music_has_no_clicks() -> None:
    music = generate_music(10.0)
    assert np.abs(np.diff(music, axis=1)).max() < 0.12
