"""The codec calls of a dub: stretches of the mix in, rendered pieces out, and the whole measured and written."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cutroom.media.chunks import write_list
from cutroom.media.formats import Container
from cutroom.media.probe import reading
from cutroom.media.process import MediaError, Reason
from cutroom.media.sandbox import GIB, INPUT, Limits, Sandbox, ffmpeg, inside

LIMITS = Limits(wall_seconds=900, cpu_seconds=600, file_bytes=32 * GIB)
_BARE = ("-map_metadata", "-1", "-fflags", "+bitexact", "-flags:a", "+bitexact")
BIT_RATE = "192k"
# A limiter that sees between the samples, so that what a player makes of them stays below full scale too.
PEAK_RATE = 192_000
SILENCE_LUFS = -70.0


@dataclass(frozen=True, slots=True)
class AudioRange:
    """A stretch of a recording, and how its samples are wanted."""

    start_seconds: float
    seconds: float
    rate: int
    channels: int


async def decode_stretch(
    path: Path, stretch: AudioRange, *, container: Container, output: Path, sandbox: Sandbox
) -> Path:
    """Raw 32-bit samples of a stretch of a file that is our own."""
    arguments = ["-ss", f"{stretch.start_seconds:.6f}", "-t", f"{stretch.seconds:.6f}", *reading(container)]
    arguments += ["-map", "0:a:0", "-ac", str(stretch.channels), "-ar", str(stretch.rate), "-f", "f32le", "stretch.raw"]
    await ffmpeg(sandbox, arguments, inputs={INPUT: path}, output=output, limits=LIMITS)
    return output / "stretch.raw"


async def encode_stretch(path: Path, *, rate: int, channels: int, output: Path, sandbox: Sandbox) -> Path:
    """FLAC of raw 32-bit samples."""
    raw = ["-f", "f32le", "-ar", str(rate), "-ac", str(channels), "-protocol_whitelist", "file", "-i", inside()]
    arguments = [*raw, "-c:a", "flac", "-sample_fmt", "s16", *_BARE, "-f", "flac", "stretch.flac"]
    await ffmpeg(sandbox, arguments, inputs={INPUT: path}, output=output, limits=LIMITS)
    return output / "stretch.flac"


async def stretch_speech(path: Path, *, rate: int, tempo: float, output: Path, sandbox: Sandbox) -> Path:
    """Raw 16-bit mono sound, as much faster as `tempo` says, at its own pitch."""
    raw = ["-f", "s16le", "-ar", str(rate), "-ac", "1", "-protocol_whitelist", "file", "-i", inside()]
    arguments = [*raw, "-af", f"rubberband=tempo={tempo:.6f}", "-f", "s16le", "stretched.raw"]
    await ffmpeg(sandbox, arguments, inputs={INPUT: path}, output=output, limits=LIMITS)
    return output / "stretched.raw"


async def measure_loudness(
    path: Path, *, container: Container, sandbox: Sandbox, output: Path, seconds: float | None = None
) -> float:
    """Integrated loudness in LUFS, as EBU R 128 measures it, of all or of the start; silence is as low as it goes."""
    chain = "ebur128=metadata=1:framelog=verbose,ametadata=print:key=lavfi.r128.I:file=told"
    start = ["-t", f"{seconds:.3f}"] if seconds is not None else []
    arguments = [*start, *reading(container), "-map", "0:a:0", "-af", chain]
    await ffmpeg(sandbox, [*arguments, "-f", "null", "-"], inputs={INPUT: path}, output=output, limits=LIMITS)
    told = (output / "told").read_text()
    found = re.findall(r"lavfi\.r128\.I=(-?[\d.]+|-inf|nan)", told)
    if not found:
        return SILENCE_LUFS
    try:
        return max(float(found[-1]), SILENCE_LUFS)
    except ValueError as error:
        raise MediaError(Reason.UNREADABLE, "The loudness cannot be measured.", detail=found[-1]) from error


async def join_stretches(paths: Sequence[Path], *, output: Path, sandbox: Sandbox) -> Path:
    """One FLAC of several that follow each other."""
    listed = write_list(paths, output)
    arguments = ["-f", "concat", "-protocol_whitelist", "file", "-i", f"file:{listed.name}", "-map", "0:a:0"]
    arguments += ["-c:a", "flac", *_BARE, "-f", "flac", "joined.part"]
    await ffmpeg(sandbox, arguments, inputs={}, output=output, limits=LIMITS)
    joined = output / "joined.flac"
    (output / "joined.part").replace(joined)
    return joined


async def write_track(
    path: Path, *, gain_db: float, peak: float, language: str, output: Path, sandbox: Sandbox
) -> Path:
    """The finished sound as a language track: AAC in MP4, at its loudness and below its peak."""
    chain = (
        f"volume={gain_db:.3f}dB,aresample={PEAK_RATE},alimiter=limit={peak:.4f}:attack=2:release=60:level=disabled:latency=1,"
        "aresample=48000"
    )
    arguments = [*reading(Container.FLAC), "-map", "0:a:0", "-af", chain, "-c:a", "aac", "-b:a", BIT_RATE, *_BARE]
    arguments += ["-metadata:s:a:0", f"language={language}"]
    arguments += ["-movflags", "+faststart", "-f", "mp4", "track.m4a"]
    await ffmpeg(sandbox, arguments, inputs={INPUT: path}, output=output, limits=LIMITS)
    return output / "track.m4a"
