"""ffmpeg operations for dubs: decoding ranges, encoding chunks, measuring loudness and writing tracks."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cutroom.media.chunks import write_concat_list
from cutroom.media.formats import Container
from cutroom.media.probe import input_options
from cutroom.media.process import MediaError, Reason
from cutroom.media.sandbox import GIB, INPUT, Sandbox, SandboxLimits, ffmpeg, input_url

LIMITS = SandboxLimits(wall_seconds=900, cpu_seconds=600, file_bytes=32 * GIB)
REPRODUCIBLE = ("-map_metadata", "-1", "-fflags", "+bitexact", "-flags:a", "+bitexact")
TRACK_RATE = 48_000
TRACK_ENCODER = ("-c:a", "aac", "-b:a", "192k")
TRACK_FILE = ("-movflags", "+faststart", "-f", "mp4")
# Oversampling lets the limiter catch inter-sample peaks.
PEAK_RATE = 192_000
SILENCE_LUFS = -70.0


@dataclass(frozen=True, slots=True)
class AudioRange:
    """A time range of a recording, and the sample format to decode it to."""

    start_seconds: float
    seconds: float
    rate: int
    channels: int


async def decode_range(
    path: Path, audio_range: AudioRange, *, container: Container, output: Path, sandbox: Sandbox
) -> Path:
    """Decodes a range of one of our own files to raw 32-bit float samples."""
    arguments = [
        "-ss",
        f"{audio_range.start_seconds:.6f}",
        "-t",
        f"{audio_range.seconds:.6f}",
        *input_options(container),
    ]
    arguments += [
        "-map",
        "0:a:0",
        "-ac",
        str(audio_range.channels),
        "-ar",
        str(audio_range.rate),
        "-f",
        "f32le",
        "range.raw",
    ]
    await ffmpeg(sandbox, arguments, inputs={INPUT: path}, output=output, limits=LIMITS)
    return output / "range.raw"


async def encode_flac(path: Path, *, rate: int, channels: int, output: Path, sandbox: Sandbox) -> Path:
    """Encodes raw 32-bit float samples as FLAC."""
    raw = ["-f", "f32le", "-ar", str(rate), "-ac", str(channels), "-protocol_whitelist", "file", "-i", input_url()]
    arguments = [*raw, "-c:a", "flac", "-sample_fmt", "s16", *REPRODUCIBLE, "-f", "flac", "encoded.flac"]
    await ffmpeg(sandbox, arguments, inputs={INPUT: path}, output=output, limits=LIMITS)
    return output / "encoded.flac"


async def change_tempo(path: Path, *, rate: int, tempo: float, output: Path, sandbox: Sandbox) -> Path:
    """Changes the tempo of raw 16-bit mono audio, keeping the pitch."""
    raw = ["-f", "s16le", "-ar", str(rate), "-ac", "1", "-protocol_whitelist", "file", "-i", input_url()]
    arguments = [*raw, "-af", f"rubberband=tempo={tempo:.6f}", "-f", "s16le", "tempo.raw"]
    await ffmpeg(sandbox, arguments, inputs={INPUT: path}, output=output, limits=LIMITS)
    return output / "tempo.raw"


async def measure_loudness(
    path: Path, *, container: Container, sandbox: Sandbox, output: Path, seconds: float | None = None
) -> float:
    """Integrated EBU R 128 loudness in LUFS, of the whole file or its start; at least SILENCE_LUFS."""
    chain = "ebur128=metadata=1:framelog=verbose,ametadata=print:key=lavfi.r128.I:file=loudness.txt"
    start = ["-t", f"{seconds:.3f}"] if seconds is not None else []
    arguments = [*start, *input_options(container), "-map", "0:a:0", "-af", chain]
    await ffmpeg(sandbox, [*arguments, "-f", "null", "-"], inputs={INPUT: path}, output=output, limits=LIMITS)
    report = (output / "loudness.txt").read_text()
    found = re.findall(r"lavfi\.r128\.I=(-?[\d.]+|-inf|nan)", report)
    if not found:
        return SILENCE_LUFS
    try:
        return max(float(found[-1]), SILENCE_LUFS)
    except ValueError as error:
        raise MediaError(Reason.UNREADABLE, "The loudness cannot be measured.", detail=found[-1]) from error


async def join_flac(paths: Sequence[Path], *, output: Path, sandbox: Sandbox) -> Path:
    """Concatenates FLAC files."""
    listed = write_concat_list(paths, output)
    arguments = ["-f", "concat", "-protocol_whitelist", "file", "-i", f"file:{listed.name}", "-map", "0:a:0"]
    arguments += ["-c:a", "flac", *REPRODUCIBLE, "-f", "flac", "joined.part"]
    await ffmpeg(sandbox, arguments, inputs={}, output=output, limits=LIMITS)
    joined = output / "joined.flac"
    (output / "joined.part").replace(joined)
    return joined


def track_filter(*, gain_db: float, peak: float) -> str:
    """Gain and a peak limit."""
    limiter = f"alimiter=limit={peak:.4f}:attack=2:release=60:level=disabled:latency=1"
    return f"volume={gain_db:.3f}dB,aresample={PEAK_RATE},{limiter},aresample={TRACK_RATE}"


async def write_track(
    path: Path, *, gain_db: float, peak: float, language: str, output: Path, sandbox: Sandbox
) -> Path:
    """Encodes a finished language track as AAC in MP4, with gain and a peak limit."""
    arguments = [*input_options(Container.FLAC), "-map", "0:a:0", "-af", track_filter(gain_db=gain_db, peak=peak)]
    arguments += [*TRACK_ENCODER, *REPRODUCIBLE, "-metadata:s:a:0", f"language={language}", *TRACK_FILE, "track.m4a"]
    await ffmpeg(sandbox, arguments, inputs={INPUT: path}, output=output, limits=LIMITS)
    return output / "track.m4a"
