"""Validates a media file and reads its properties."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from cutroom.media.formats import DECODERS, SEEKS_TO_KEY_FRAMES, STATES_DURATION, Container, is_encrypted, sniff
from cutroom.media.process import MediaError, Reason
from cutroom.media.sandbox import INPUT, MIB, Sandbox, SandboxLimits, ffmpeg, input_url, require_file

MAX_STREAMS = 32
MAX_SIDE_PIXELS = 8192
MAX_PIXELS = 64 * 1024 * 1024
MAX_DURATION_SECONDS = 24 * 60 * 60
MAX_FRAME_RATE = 240
MAX_CHANNELS = 16
MIN_SAMPLE_RATE, MAX_SAMPLE_RATE = 4_000, 384_000
MAX_ALLOCATION_BYTES = 512 * MIB
PROBE_BYTES = 5_000_000  # ffmpeg's -probesize
DECODER_THREADS = 2  # each holds its own frames

# Minimum fraction of the header's duration that must be present.
MIN_COMPLETE_FRACTION = 0.9
PADDING_SECONDS = 0.5
# Lower than any codec needs for silence; rejects forged timestamps that would expand into hours of output.
MIN_BITS_PER_SECOND = 400
SHORT_SECONDS = 600
DECODE_AT_FRACTIONS = (0.0, 0.45, 0.9)
DECODE_FRAMES = 5
DECODE_SECONDS = 1.0

HEADER_LIMITS = SandboxLimits(wall_seconds=30, cpu_seconds=20)
DECODE_LIMITS = SandboxLimits(wall_seconds=60, cpu_seconds=40)
SCAN_LIMITS = SandboxLimits(wall_seconds=300, cpu_seconds=60)

FIELDS = (
    "format=duration,start_time"
    ":stream=index,codec_type,codec_name,codec_tag_string,width,height,sample_aspect_ratio,avg_frame_rate,"
    "r_frame_rate,channels,sample_rate"
    ":stream_disposition=attached_pic:stream_tags=rotate:stream_side_data=rotation"
)


@dataclass(frozen=True, slots=True)
class MediaInfo:
    """Properties of a media file; width and height are as stored, before rotation."""

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


def input_options(container: Container) -> list[str]:
    """Input options for any untrusted file: one demuxer, allowed codecs, bounded sizes."""
    return [
        *("-f", container.value),
        *("-protocol_whitelist", "file"),
        # The protocol whitelist alone is not enough: playlists are a format and open other files.
        *("-format_whitelist", container.value),
        *("-codec_whitelist", DECODERS),
        *("-max_streams", str(MAX_STREAMS)),
        *("-max_pixels", str(MAX_PIXELS)),
        *("-probesize", str(PROBE_BYTES)),
        *("-threads", str(DECODER_THREADS)),
        *("-i", input_url()),
    ]


async def probe(path: Path, *, sandbox: Sandbox) -> MediaInfo:
    """Reads the header, scans all packets for the true duration, and decodes samples at several positions."""
    info = await probe_header(path, sandbox=sandbox)
    duration = await _measure(path, info, sandbox=sandbox)
    info = _with_duration(info, duration)
    # Without exact seeking, truncation already shows in the measured duration.
    seekable = info.media_type == "audio" or info.container in SEEKS_TO_KEY_FRAMES
    for fraction in DECODE_AT_FRACTIONS if seekable else DECODE_AT_FRACTIONS[:1]:
        await _decode_at(path, info, at_seconds=fraction * duration, sandbox=sandbox)
    return info


async def probe_header(path: Path, *, sandbox: Sandbox) -> MediaInfo:
    """Validates the header only, for a file that is still being uploaded."""
    size_bytes = require_file(path)
    if size_bytes == 0:
        raise MediaError(Reason.EMPTY, "The file is empty.")
    container = sniff(path)
    if container is None:
        raise MediaError(Reason.UNSUPPORTED_FORMAT, "The file is not of a supported video or audio format.")
    if container is Container.MOV and is_encrypted(path):
        raise MediaError(Reason.ENCRYPTED, "The file is encrypted.")
    arguments = ["-v", "error", "-max_alloc", str(MAX_ALLOCATION_BYTES), *input_options(container)]
    arguments += ["-of", "json", "-show_entries", FIELDS]
    finished = await sandbox.run("ffprobe", arguments, inputs={INPUT: path}, limits=HEADER_LIMITS)
    try:
        parsed = json.loads(finished.stdout)
    except ValueError as error:
        raise MediaError(Reason.UNREADABLE, "The file cannot be read.", detail=str(error)) from error
    return parse_probe(parsed, container, size_bytes=size_bytes)


def parse_probe(parsed: Mapping[str, Any], container: Container, *, size_bytes: int) -> MediaInfo:
    """Validates ffprobe's output; a duration of 0 means that the header states none."""
    streams = parsed.get("streams", [])
    if len(streams) > MAX_STREAMS:
        raise MediaError(Reason.TOO_MANY_STREAMS, f"The file has more than {MAX_STREAMS} streams.")
    # ffmpeg reports cover art as a video stream.
    videos = [s for s in streams if s.get("codec_type") == "video" and not _is_cover(s)]
    audios = [s for s in streams if s.get("codec_type") == "audio"]
    if not videos and not audios:
        raise MediaError(Reason.NO_STREAMS, "The file has neither video nor audio.")
    for stream in (*videos, *audios):
        _require_decodable(stream)
    return MediaInfo(
        media_type="video" if videos else "audio",
        container=container,
        size_bytes=size_bytes,
        duration_seconds=_stated_duration(parsed),
        video_streams=len(videos),
        audio_streams=len(audios),
        other_streams=len(streams) - len(videos) - len(audios),
        **(_describe_video(videos[0]) if videos else {}),
        **(_describe_audio(audios[0]) if audios else {}),
    )


def _is_cover(stream: Mapping[str, Any]) -> bool:
    return bool(stream.get("disposition", {}).get("attached_pic"))


def _require_decodable(stream: Mapping[str, Any]) -> None:
    if str(stream.get("codec_tag_string", "")).lower() in ("encv", "enca", "drmi", "drms", "drmv", "drma"):
        raise MediaError(Reason.ENCRYPTED, "The file is encrypted.")
    if stream.get("codec_name", "unknown") in ("unknown", "none"):
        raise MediaError(Reason.UNSUPPORTED_CODEC, "The file uses a codec that is not supported.")


def _describe_video(stream: Mapping[str, Any]) -> dict[str, Any]:
    width, height = int(stream.get("width", 0)), int(stream.get("height", 0))
    if width <= 0 or height <= 0:
        raise MediaError(Reason.UNREADABLE, "The frame size cannot be read.")
    if max(width, height) > MAX_SIDE_PIXELS or width * height > MAX_PIXELS:
        raise MediaError(Reason.PICTURE_TOO_LARGE, f"The video is larger than {MAX_SIDE_PIXELS} x {MAX_SIDE_PIXELS}.")
    # r_frame_rate is the finest tick, 1000 for many valid WebM files, so it is only the fallback.
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
        raise MediaError(Reason.FRAME_RATE_TOO_HIGH, f"The video has more than {MAX_FRAME_RATE} frames per second.")


def _describe_audio(stream: Mapping[str, Any]) -> dict[str, Any]:
    channels, rate = int(stream.get("channels", 0)), int(stream.get("sample_rate", 0))
    if channels > MAX_CHANNELS:
        raise MediaError(Reason.TOO_MANY_CHANNELS, f"The audio has more than {MAX_CHANNELS} channels.")
    if channels < 1 or not MIN_SAMPLE_RATE <= rate <= MAX_SAMPLE_RATE:
        raise MediaError(Reason.UNREADABLE, "The audio has no usable channels or sample rate.")
    return {"audio_codec": stream["codec_name"], "audio_channels": channels, "audio_sample_rate": rate}


def _rotation(stream: Mapping[str, Any]) -> int:
    """Clockwise rotation, one of 0, 90, 180, 270; the display matrix has the opposite sign of the older tag."""
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


def _stated_duration(parsed: Mapping[str, Any]) -> float:
    try:
        seconds = float(parsed.get("format", {}).get("duration", 0))
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
    """Stream-copies all packets to the null muxer: the end of the last one is the true duration."""
    # Stop once the file is known to be too long: edit lists can repeat a track without end.
    limit = ["-t", str(MAX_DURATION_SECONDS + PADDING_SECONDS)]
    arguments = [
        *input_options(info.container),
        "-map",
        "0:V:0?",
        "-map",
        "0:a:0?",
        "-c",
        "copy",
        *limit,
        "-f",
        "null",
        "-",
    ]
    progress = await ffmpeg(sandbox, arguments, inputs={INPUT: path}, limits=SCAN_LIMITS)
    seconds = progress.seconds
    if seconds <= 0:
        raise MediaError(Reason.DURATION_UNKNOWN, "The duration of the file cannot be determined.")
    _require_duration(seconds)
    if info.container in STATES_DURATION and seconds < MIN_COMPLETE_FRACTION * info.duration_seconds:
        raise MediaError(Reason.TRUNCATED, "The file is truncated: a part of it is missing.")
    if seconds > SHORT_SECONDS and info.size_bytes * 8 < MIN_BITS_PER_SECOND * seconds:
        raise MediaError(Reason.UNREADABLE, "The file is far too small for its duration.")
    if seconds >= 1:  # below that, one frame gives an arbitrary rate
        _require_frame_rate(progress.frames / seconds)
    # The last audio packet is padded, and video is counted in decoding order, which ends slightly early;
    # the header is more accurate if it agrees otherwise.
    header_is_accurate = abs(seconds - info.duration_seconds) <= PADDING_SECONDS
    return info.duration_seconds if header_is_accurate else seconds


async def _decode_at(path: Path, info: MediaInfo, *, at_seconds: float, sandbox: Sandbox) -> None:
    """Decodes a short sample; for video from the preceding key frame, which exists however long a frame is shown."""
    input_arguments = ["-ss", f"{at_seconds:.3f}"]
    if info.media_type == "video":
        input_arguments += ["-noaccurate_seek"]
        output_arguments = ["-map", "0:V:0", "-frames:v", str(DECODE_FRAMES)]
    else:
        output_arguments = ["-map", "0:a:0", "-t", str(DECODE_SECONDS)]
    input_arguments += input_options(info.container)
    progress = await ffmpeg(
        sandbox, [*input_arguments, *output_arguments, "-f", "null", "-"], inputs={INPUT: path}, limits=DECODE_LIMITS
    )
    if (progress.frames if info.media_type == "video" else progress.seconds) <= 0:
        reason, part = (Reason.UNREADABLE, "beginning") if at_seconds == 0 else (Reason.TRUNCATED, "later part")
        raise MediaError(reason, f"The {part} of the file cannot be decoded.")
