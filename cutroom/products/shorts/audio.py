"""An output's sound, as loud as platforms play it."""

import asyncio
import wave
from pathlib import Path

from cutroom.engines.soundtrack import RATE, make_music
from cutroom.media.dubbing import SILENCE_LUFS, measure_loudness
from cutroom.media.formats import Container
from cutroom.media.sandbox import Sandbox
from cutroom.media.shorts import make_sound
from cutroom.products.shorts.timeline import Timeline

LUFS = -14.0
PEAK = 0.84  # -1.5 dB, for a codec adds a little
CLOSE_ENOUGH_LU = 0.3
TRIES = 4  # a limiter takes some of what is added
MAX_GAIN_DB = 30.0


async def make_levelled_sound(
    mix: Path, timeline: Timeline, *, with_music: bool, drawer: Path, sandbox: Sandbox
) -> Path:
    """The parts' sound at LUFS; what is nearly silent stays so."""
    music = None
    if with_music:
        music = drawer / "music.wav"
        await asyncio.to_thread(_write_music, music, timeline.seconds)
    gain, sound = 0.0, drawer / "sound.flac"
    for _ in range(TRIES):
        await make_sound(mix, timeline.parts, gain_db=gain, peak=PEAK, music=music, output=drawer, sandbox=sandbox)
        measured = await measure_loudness(sound, container=Container.FLAC, sandbox=sandbox, output=drawer)
        missing = LUFS - measured
        if abs(missing) <= CLOSE_ENOUGH_LU or measured <= SILENCE_LUFS + 10 or gain + missing > MAX_GAIN_DB:
            break
        gain += missing
    return sound


def _write_music(path: Path, seconds: float) -> None:
    import numpy as np  # noqa: PLC0415 - a worker without engines must be able to import this room

    music = make_music(seconds)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((np.clip(music.T, -1, 1) * 32767).astype("<i2").tobytes())
