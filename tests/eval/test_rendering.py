"""A rendered talk has speech where its timing says, and the background between the lines."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cutroom.engines.synthesis.port import StockVoice, SynthesizedSpeech
from dev.fixtures.generated_audio import RATE, SPEECH_LEVEL, VOICE_RATE, rms_level
from eval.backgrounds import BELOW_SPEECH_DB, make_background, telephone_band
from eval.rendering import LEAD_SECONDS, TURN_PAUSE_SECONDS, render_talk
from eval.talks import Background, load_talks
from tests.support.dub_stage import decode_samples

if TYPE_CHECKING:
    from numpy.typing import NDArray

EDGE_SECONDS = 0.1  # not measured, because a codec blurs the ends of a line


class ToneSynthesizer:
    """Speaks every text as one second of a tone that a telephone carries, at the level of speech."""

    name = "tone"

    def voices(self) -> Sequence[StockVoice]:
        return ()

    def synthesize(self, text: str, *, voice: str, language: str, speed: float = 1.0) -> SynthesizedSpeech:  # noqa: ARG002 - the port's signature
        tone = np.sin(2 * np.pi * 1000 * np.arange(VOICE_RATE) / VOICE_RATE)
        return SynthesizedSpeech((SPEECH_LEVEL * np.sqrt(2) * tone).astype(np.float32), VOICE_RATE)


def test_two_lines_are_spoken_at_the_returned_times(tmp_path: Path) -> None:
    [talk] = [talk for talk in load_talks() if talk.slug == "missing_cable_call"]
    talk = replace(talk, lines=talk.lines[:2])
    rendered = render_talk(talk, ToneSynthesizer(), folder=tmp_path)

    assert [(line.speaker, line.text) for line in rendered.lines] == [(line.speaker, line.en) for line in talk.lines]
    first, second = rendered.lines
    assert first.start_seconds == LEAD_SECONDS
    assert TURN_PAUSE_SECONDS[0] <= second.start_seconds - first.end_seconds <= TURN_PAUSE_SECONDS[1]
    assert rendered.seconds == pytest.approx(second.end_seconds + LEAD_SECONDS, abs=0.001)

    for path in (rendered.audio_path, rendered.path):
        samples = decode_samples(path, rate=RATE, channels=2)
        assert samples.shape[1] / RATE == pytest.approx(rendered.seconds, abs=0.1)
        times = [0.0, first.start_seconds, first.end_seconds, second.start_seconds, second.end_seconds]
        levels = [_level_db(samples, start, end) for start, end in pairwise([*times, rendered.seconds])]
        assert levels[1::2] == pytest.approx([0.0] * 2, abs=1.0)
        expected = -BELOW_SPEECH_DB[Background.PHONE]
        assert levels[0::2] == pytest.approx([expected] * 3, abs=2.0)


@pytest.mark.parametrize("background", list(BELOW_SPEECH_DB))
def test_background_has_its_stated_level(background: Background) -> None:
    samples = make_background(background, 25 * RATE)
    assert samples.shape == (25 * RATE, 2)
    assert 20 * np.log10(rms_level(samples) / SPEECH_LEVEL) == pytest.approx(-BELOW_SPEECH_DB[background], abs=0.01)
    assert float(np.abs(samples).max()) < 1 - SPEECH_LEVEL
    loudness = [rms_level(part) for part in np.array_split(samples, 10)]
    assert min(loudness) > 0.2 * max(loudness)  # everywhere


def test_no_background_is_silent() -> None:
    assert not make_background(Background.NONE, RATE).any()


@pytest.mark.parametrize(("hertz", "passes"), [(60, False), (1000, True), (12000, False)])
def test_telephone_carries_only_the_middle_of_the_voice(hertz: int, *, passes: bool) -> None:
    tone = np.sin(2 * np.pi * hertz * np.arange(RATE) / RATE).astype(np.float32)
    assert (rms_level(telephone_band(tone)) > 0.5 * rms_level(tone)) is passes


def _level_db(samples: "NDArray[np.float32]", start: float, end: float) -> float:
    part = samples[:, round((start + EDGE_SECONDS) * RATE) : round((end - EDGE_SECONDS) * RATE)]
    return float(20 * np.log10(rms_level(part) / SPEECH_LEVEL))
