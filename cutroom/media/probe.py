"""Decides whether a file may be worked on, and says what it holds."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from cutroom.media.formats import DECODERS, SEEKS_TO_KEY_FRAMES, STATES_DURATION, Container, is_protected, sniff
from cutroom.media.process import MediaError, Reason
from cutroom.media.sandbox import INPUT, MIB, Limits, Sandbox, ffmpeg, inside, require_file

MAX_STREAMS = 32
MAX_SIDE_PIXELS = 8192
MAX_PIXELS = 64 * 1024 * 1024
MAX_DURATION_SECONDS = 24 * 60 * 60
MAX_FRAME_RATE = 240
MAX_CHANNELS = 16
MIN_SAMPLE_RATE, MAX_SAMPLE_RATE = 4_000, 384_000
MAX_ALLOCATION_BYTES = 512 * MIB
PROBE_BYTES = 5_000_000  # read to learn about the streams
DECODER_THREADS = 2  # each holds frames of its own

# At least this part of the duration that the header states must be there.
WHOLE_FRACTION = 0.9
PADDING_SECONDS = 0.5
# Less than any codec needs for silence: times that lie, which would have us make hours out of nothing.
MIN_BITS_A_SECOND = 400
SHORT_SECONDS = 600
DECODE_AT_FRACTIONS = (0.0, 0.45, 0.9)
DECODE_FRAMES = 5
DECODE_SECONDS = 1.0

HEADER_LIMITS = Limits(wall_seconds=30, cpu_seconds=20)
DECODE_LIMITS = Limits(wall_seconds=60, cpu_seconds=40)
SCAN_LIMITS = Limits(wall_seconds=300, cpu_seconds=60)

FIELDS = (
    "format=duration,start_time"
    ":stream=index,codec_type,codec_name,codec_tag_string,width,height,sample_aspect_ratio,avg_frame_rate,"
    "r_frame_rate,channels,sample_rate"
    ":stream_disposition=attached_pic:stream_tags=rotate:stream_side_data=rotation"
)


@dataclass(frozen=True, slots=True)
class MediaInfo:
    """What a file holds; sizes are as stored, before rotation."""

    media_type: Literal["video", "audio"]
    container: Container
    size_bytes: int
    duration_seconds: float
    video_streams: int
    audio_streams: int
    other_streams: int
    video_codec: str | None = None
    width: int | None = None
    height: int | None = None
    pixel_aspect: Fraction = Fraction(1)
    frame_rate: Fraction | None = None
    rotation_degrees: int = 0
    audio_codec: str | None = None
    audio_channels: int | None = None
    audio_sample_rate: int | None = None


def reading(container: Container) -> list[str]:
    """The input options of every run on a stranger's file: one container, known codecs, bounded sizes."""
    return [
        *("-f", container.value),
        *("-protocol_whitelist", "file"),
        # The protocol list alone is not enough: a playlist is a format too, and reads other files.
        *("-format_whitelist", container.value),
        *("-codec_whitelist", DECODERS),
        *("-max_streams", str(MAX_STREAMS)),
        *("-max_pixels", str(MAX_PIXELS)),
        *("-probesize", str(PROBE_BYTES)),
        *("-threads", str(DECODER_THREADS)),
        *("-i", inside()),
    ]


async def probe(path: Path, *, sandbox: Sandbox) -> MediaInfo:
    """Read the header, walk through all packets for the true duration, and decode a little at several places."""
    info = await probe_header(path, sandbox=sandbox)
    duration = await _measure(path, info, sandbox=sandbox)
    info = _with_duration(info, duration)
    # Where a picture cannot be sought exactly, a part that is missing has shown in the duration.
    seekable = info.media_type == "audio" or info.container in SEEKS_TO_KEY_FRAMES
    for fraction in DECODE_AT_FRACTIONS if seekable else DECODE_AT_FRACTIONS[:1]:
        await _decode_at(path, info, at_seconds=fraction * duration, sandbox=sandbox)
    return info


async def probe_header(path: Path, *, sandbox: Sandbox) -> MediaInfo:
    """The quick half, for a file that is still arriving: what the header says, judged by the rules."""
    size_bytes = require_file(path)
    if size_bytes == 0:
        raise MediaError(Reason.EMPTY, "The file is empty.")
    container = sniff(path)
    if container is None:
        raise MediaError(Reason.UNSUPPORTED_FORMAT, "The file is not of a supported video or audio format.")
    if container is Container.MOV and is_protected(path):
        raise MediaError(Reason.ENCRYPTED, "The file is encrypted.")
    arguments = ["-v", "error", "-max_alloc", str(MAX_ALLOCATION_BYTES), *reading(container)]
    arguments += ["-of", "json", "-show_entries", FIELDS]
    finished = await sandbox.run("ffprobe", arguments, inputs={INPUT: path}, limits=HEADER_LIMITS)
    try:
        found = json.loads(finished.stdout)
    except ValueError as error:
        raise MediaError(Reason.UNREADABLE, "The file cannot be read.", detail=str(error)) from error
    return describe(found, container, size_bytes=size_bytes)


def describe(found: Mapping[str, Any], container: Container, *, size_bytes: int) -> MediaInfo:
    """Judge what ffprobe found; a duration of 0 means that the header states none."""
    streams = found.get("streams", [])
    if len(streams) > MAX_STREAMS:
        raise MediaError(Reason.TOO_MANY_STREAMS, f"The file has more than {MAX_STREAMS} streams.")
    # Cover art is a video stream to ffmpeg.
    videos = [s for s in streams if s.get("codec_type") == "video" and not _is_cover(s)]
    audios = [s for s in streams if s.get("codec_type") == "audio"]
    if not videos and not audios:
        raise MediaError(Reason.NO_STREAMS, "The file has neither video nor audio.")
    for stream in (*videos, *audios):
        _require_open(stream)
    return MediaInfo(
        media_type="video" if videos else "audio",
        container=container,
        size_bytes=size_bytes,
        duration_seconds=_stated_duration(found),
        video_streams=len(videos),
        audio_streams=len(audios),
        other_streams=len(streams) - len(videos) - len(audios),
        **(_describe_video(videos[0]) if videos else {}),
        **(_describe_audio(audios[0]) if audios else {}),
    )


def _is_cover(stream: Mapping[str, Any]) -> bool:
    return bool(stream.get("disposition", {}).get("attached_pic"))


def _require_open(stream: Mapping[str, Any]) -> None:
    if str(stream.get("codec_tag_string", "")).lower() in ("encv", "enca", "drmi", "drms", "drmv", "drma"):
        raise MediaError(Reason.ENCRYPTED, "The file is encrypted.")
    if stream.get("codec_name", "unknown") in ("unknown", "none"):
        raise MediaError(Reason.UNSUPPORTED_CODEC, "The file uses a codec that is not supported.")


def _describe_video(stream: Mapping[str, Any]) -> dict[str, Any]:
    width, height = int(stream.get("width", 0)), int(stream.get("height", 0))
    if width <= 0 or height <= 0:
        raise MediaError(Reason.UNREADABLE, "The size of the picture cannot be read.")
    if max(width, height) > MAX_SIDE_PIXELS or width * height > MAX_PIXELS:
        raise MediaError(Reason.PICTURE_TOO_LARGE, f"The picture is larger than {MAX_SIDE_PIXELS} x {MAX_SIDE_PIXELS}.")
    # r_frame_rate is a guess at the finest tick, 1000 for many a harmless WebM; it is only the second choice.
    rate = _fraction(stream.get("avg_frame_rate")) or _fraction(stream.get("r_frame_rate"))
    _require_frame_rate(rate)
    return {
        "video_codec": stream["codec_name"],
        "width": width,
        "height": height,
        "pixel_aspect": _fraction(str(stream.get("sample_aspect_ratio", "1:1")).replace(":", "/")) or Fraction(1),
        "frame_rate": rate,
        "rotation_degrees": _rotation(stream),
    }


def _require_frame_rate(rate: Fraction | float | None) -> None:
    if rate is not None and rate > MAX_FRAME_RATE:
        raise MediaError(Reason.FRAME_RATE_TOO_HIGH, f"The video has more than {MAX_FRAME_RATE} frames a second.")


def _describe_audio(stream: Mapping[str, Any]) -> dict[str, Any]:
    channels, rate = int(stream.get("channels", 0)), int(stream.get("sample_rate", 0))
    if channels > MAX_CHANNELS:
        raise MediaError(Reason.TOO_MANY_CHANNELS, f"The audio has more than {MAX_CHANNELS} channels.")
    if channels < 1 or not MIN_SAMPLE_RATE <= rate <= MAX_SAMPLE_RATE:
        raise MediaError(Reason.UNREADABLE, "The audio has no usable channels or sample rate.")
    return {"audio_codec": stream["codec_name"], "audio_channels": channels, "audio_sample_rate": rate}


def _rotation(stream: Mapping[str, Any]) -> int:
    """Clockwise, one of 0, 90, 180, 270; the display matrix turns the other way than the older tag."""
    matrices = [s["rotation"] for s in stream.get("side_data_list", []) if "rotation" in s]
    try:
        degrees = -float(matrices[0]) if matrices else float(stream.get("tags", {}).get("rotate", 0))
        return round(degrees / 90) * 90 % 360
    except (ValueError, OverflowError):
        return 0


def _fraction(text: str | None) -> Fraction | None:
    try:
        value = Fraction(text or "0")
    except (ValueError, ZeroDivisionError):
        return None
    return value if value > 0 else None


def _stated_duration(found: Mapping[str, Any]) -> float:
    try:
        seconds = float(found.get("format", {}).get("duration", 0))
    except ValueError:
        return 0.0
    _require_duration(seconds)
    return max(0.0, seconds)


def _require_duration(seconds: float) -> None:
    if not seconds <= MAX_DURATION_SECONDS:
        raise MediaError(Reason.TOO_LONG, f"The file is longer than {MAX_DURATION_SECONDS // 3600} hours.")


def _with_duration(info: MediaInfo, seconds: float) -> MediaInfo:
    values = {name: getattr(info, name) for name in MediaInfo.__dataclass_fields__}
    return MediaInfo(**{**values, "duration_seconds": seconds})


async def _measure(path: Path, info: MediaInfo, *, sandbox: Sandbox) -> float:
    """Copy all packets to nowhere: where the last one ends is the duration, and what is missing shows."""
    # No further than needed to see that it is too long: edit lists can repeat a track without end.
    enough = ["-t", str(MAX_DURATION_SECONDS + PADDING_SECONDS)]
    arguments = [*reading(info.container), "-map", "0:V:0?", "-map", "0:a:0?", "-c", "copy", *enough, "-f", "null", "-"]
    done = await ffmpeg(sandbox, arguments, inputs={INPUT: path}, limits=SCAN_LIMITS)
    seconds = done.seconds
    if seconds <= 0:
        raise MediaError(Reason.DURATION_UNKNOWN, "The duration of the file cannot be found.")
    _require_duration(seconds)
    if info.container in STATES_DURATION and seconds < WHOLE_FRACTION * info.duration_seconds:
        raise MediaError(Reason.TRUNCATED, "The file ends too early: a part of it is missing.")
    if seconds > SHORT_SECONDS and info.size_bytes * 8 < MIN_BITS_A_SECOND * seconds:
        raise MediaError(Reason.UNREADABLE, "The file holds far too little for its duration.")
    if seconds >= 1:  # below that, a single frame makes any rate
        _require_frame_rate(done.frames / seconds)
    # The last audio packet is padded, and the last pictures are counted in decoding order, which ends a little early;
    # the header knows better, if it is otherwise right.
    trusted = abs(seconds - info.duration_seconds) <= PADDING_SECONDS
    return info.duration_seconds if trusted else seconds


async def _decode_at(path: Path, info: MediaInfo, *, at_seconds: float, sandbox: Sandbox) -> None:
    """Decode a little; of video from the key frame before that place, which exists however long a picture stands."""
    where = ["-ss", f"{at_seconds:.3f}"]
    if info.media_type == "video":
        where += ["-noaccurate_seek"]
        what = ["-map", "0:V:0", "-frames:v", str(DECODE_FRAMES)]
    else:
        what = ["-map", "0:a:0", "-t", str(DECODE_SECONDS)]
    where += reading(info.container)
    done = await ffmpeg(sandbox, [*where, *what, "-f", "null", "-"], inputs={INPUT: path}, limits=DECODE_LIMITS)
    if (done.frames if info.media_type == "video" else done.seconds) <= 0:
        reason, part = (Reason.UNREADABLE, "beginning") if at_seconds == 0 else (Reason.TRUNCATED, "later part")
        raise MediaError(reason, f"The {part} of the file cannot be decoded.")
