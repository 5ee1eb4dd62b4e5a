"""Music of our own: as long as it should be, as loud as it should be, the same each time, and not a drone."""

import numpy as np
import pytest

from cutroom.engines.soundtrack import LOUDNESS, RATE, make_music


@pytest.mark.parametrize("seconds", [0.5, 11.0, 47.3])
def test_music_has_its_length_and_level(seconds: float) -> None:
    music = make_music(seconds)
    assert music.shape == (2, round(seconds * RATE))
    assert np.sqrt(np.mean(music**2)) == pytest.approx(LOUDNESS, rel=1e-3)
    assert np.abs(music).max() < 0.9


def test_it_is_the_same_each_time_and_changes_with_its_chords() -> None:
    music = make_music(12.0)
    assert np.array_equal(music, make_music(12.0))
    chords = [np.abs(np.fft.rfft(music[0, at * 120_000 : (at + 1) * 120_000])) for at in range(4)]
    for at in range(3):
        one, two = chords[at], chords[at + 1]
        assert float(one @ two / np.sqrt((one @ one) * (two @ two))) < 0.9


def test_it_does_not_click() -> None:
    music = make_music(10.0)
    assert np.abs(np.diff(music, axis=1)).max() < 0.12
