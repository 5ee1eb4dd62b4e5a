"""Renders a video of ten minutes in which no line is spoken twice, so that no product can reuse its work."""

import wave
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cutroom.engines.synthesis.port import SpeechSynthesizer
from dev.fixtures.generated_audio import RATE, write_stereo
from eval.render_cache import render_cached
from eval.talks import Background, load_talks
from tests.support.shorts_video import FPS, render_video

LANGUAGE = "en"


def make_talk_video(folder: Path, synthesizer: SpeechSynthesizer, *, minutes: float) -> Path:
    """Evaluation talks one after another, without background sounds, over the pictures of shorts."""
    frames = round(minutes * 60 * FPS)
    length = frames * RATE // FPS
    parts, spoken = [], 0
    for talk in (each for each in load_talks() if each.language == LANGUAGE):
        if spoken >= length:
            break
        parts.append(
            _read(render_cached(replace(talk, background=Background.NONE), synthesizer, folder=folder).audio_path)
        )
        spoken += len(parts[-1])
    audio = folder / "talks.wav"
    write_stereo(audio, np.concatenate(parts)[:length])
    return render_video(folder, audio, seconds=min(length, spoken) // (RATE // FPS) / FPS).path


def _read(path: Path) -> NDArray[np.float32]:
    with wave.open(str(path)) as file:
        frames = np.frombuffer(file.readframes(file.getnframes()), "<i2")
    return frames.reshape(-1, 2).astype(np.float32) / np.float32(32768)
