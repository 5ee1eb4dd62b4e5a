"""Recordings of voices in, spoken text out: one codec call each, in the sandbox."""

from collections.abc import Sequence
from pathlib import Path

from cutroom.media.probe import MediaInfo, reading
from cutroom.media.sandbox import INPUT, Limits, Sandbox, ffmpeg, inside

SPEECH_RATE = 16_000
LIMITS = Limits(wall_seconds=120, cpu_seconds=120)
_BARE = ("-map_metadata", "-1", "-fflags", "+bitexact", "-flags:a", "+bitexact")


async def decode_voice(
    path: Path, info: MediaInfo, *, rate: int, max_seconds: float, output: Path, sandbox: Sandbox
) -> tuple[Path, Path]:
    """The start of a recording as raw 16-bit mono sound: at the given rate, and at the one that asr_engines want."""
    arguments = ["-t", f"{max_seconds:.3f}", *reading(info.container)]
    for name, hertz in (("voice.raw", rate), ("speech.raw", SPEECH_RATE)):
        arguments += ["-map", "0:a:0", "-ac", "1", "-ar", str(hertz), "-f", "s16le", name]
    await ffmpeg(sandbox, arguments, inputs={INPUT: path}, output=output, limits=LIMITS)
    return output / "voice.raw", output / "speech.raw"


async def encode_speech(path: Path, *, rate: int, codec: Sequence[str], output: Path, sandbox: Sandbox) -> Path:
    """Raw 16-bit mono sound in the form that the codec's arguments describe."""
    raw = ["-f", "s16le", "-ar", str(rate), "-ac", "1", "-protocol_whitelist", "file", "-i", inside()]
    await ffmpeg(sandbox, [*raw, *codec, *_BARE, "encoded"], inputs={INPUT: path}, output=output, limits=LIMITS)
    return output / "encoded"
