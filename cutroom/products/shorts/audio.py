"""Mixes an output's audio at the loudness that platforms play."""

import asyncio
import wave
from pathlib import Path

from cutroom.engines.soundtrack import RATE, generate_music
from cutroom.media.dubbing import SILENCE_LUFS, measure_loudness
from cutroom.media.formats import Container
from cutroom.media.sandbox import Sandbox
from cutroom.media.shorts import mix_short_audio
from cutroom.products.shorts.timeline import Timeline

TARGET_LUFS = -14.0
PEAK = 0.84  # -1.5 dB, headroom for codec overshoot
TOLERANCE_LU = 0.3
MAX_PASSES = 4  # the limiter removes some of the added gain
MAX_GAIN_DB = 30.0


async def mix_normalized_audio(
    mix: Path, timeline: Timeline, *, with_music: bool, temp_dir: Path, sandbox: Sandbox
) -> Path:
    """Mixes the ranges at TARGET_LUFS; near-silent audio is not amplified."""
    music = None
    if with_music:
        music = temp_dir / "music.wav"
        await asyncio.to_thread(_write_music, music, timeline.seconds)
    gain, audio = 0.0, temp_dir / "audio.flac"
    for _ in range(MAX_PASSES):
        await mix_short_audio(
            mix, timeline.ranges, gain_db=gain, peak=PEAK, music=music, output=temp_dir, sandbox=sandbox
        )
        measured = await measure_loudness(audio, container=Container.FLAC, sandbox=sandbox, output=temp_dir)
        correction = TARGET_LUFS - measured
        if abs(correction) <= TOLERANCE_LU or measured <= SILENCE_LUFS + 10 or gain + correction > MAX_GAIN_DB:
            break
        gain += correction
    return audio


def _write_music(path: Path, seconds: float) -> None:
    import numpy as np  # noqa: PLC0415 - workers without engines import this module without numpy

    music = generate_music(seconds)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((np.clip(music.T, -1, 1) * 32767).astype("<i2").tobytes())
