"""Makes the proxy of a video: small H.264 with a key frame every second, in chunks that join seamlessly."""

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from cutroom.media.chunks import MediaChunk, chunk_progress, plan_chunks, write_concat_list
from cutroom.media.formats import SEEKS_TO_KEY_FRAMES
from cutroom.media.probe import MediaInfo, input_options
from cutroom.media.process import FfmpegProgress, MediaError, OnFraction, Reason
from cutroom.media.sandbox import GIB, INPUT, Sandbox, SandboxLimits, ffmpeg, input_url

PROXY_HEIGHT = 480
PROXY_WIDTH = 1920  # bounds very wide videos
MIN_PROXY_RATE, MAX_PROXY_RATE = 15, 30
UNKNOWN_RATE = Fraction(25)
RATE_DENOMINATOR = 1001
CHUNK_SECONDS = 60.0
PREROLL_SECONDS = 15.0  # longer than the key frame interval of almost any broadcast
MIN_CHUNK_SECONDS = 5.0
MAX_CHUNKS = 2_880  # 30 s each of a large video of 24 hours; the history of a workflow has room for a few thousand
# Up to this pixel rate, a 60 s chunk takes less than 60 s on two cores.
PIXELS_PER_SECOND = 1920 * 1080 * 60
TIMESCALE = 10_000
TOLERANCE_SECONDS = 0.04
ENCODER_THREADS = 2
JOIN_LIMITS = SandboxLimits(wall_seconds=900, cpu_seconds=300, file_bytes=32 * GIB)


def proxy_frame_rate(info: MediaInfo) -> Fraction:
    """The source frame rate, halved or doubled into the range 15 to 30, so that frames stay evenly spaced."""
    rate = (info.frame_rate or UNKNOWN_RATE).limit_denominator(RATE_DENOMINATOR) or UNKNOWN_RATE
    while rate > MAX_PROXY_RATE:
        rate /= 2
    while rate < MIN_PROXY_RATE:
        rate *= 2
    return rate


def fit_size(info: MediaInfo, *, width: int, height: int) -> tuple[int, int]:
    """The display size (upright, square pixels) scaled down to fit; both sides even."""
    display_width = Fraction(info.width or 2) * info.pixel_aspect
    display_height = Fraction(info.height or 2)
    if info.rotation_degrees in (90, 270):
        display_width, display_height = display_height, display_width
    scale = min(Fraction(1), width / display_width, height / display_height)
    return _even(display_width * scale), _even(display_height * scale)


def _even(value: Fraction) -> int:
    return max(2, round(value / 2) * 2)


def plan_proxy(info: MediaInfo, *, chunk_seconds: float = CHUNK_SECONDS) -> list[MediaChunk]:
    rate = proxy_frame_rate(info)
    pixels_per_second = (info.width or 1) * (info.height or 1) * float(info.frame_rate or UNKNOWN_RATE)
    least_seconds = max(MIN_CHUNK_SECONDS, info.duration_seconds / MAX_CHUNKS)
    seconds = min(chunk_seconds, max(least_seconds, CHUNK_SECONDS * PIXELS_PER_SECOND / pixels_per_second))
    return plan_chunks(info.duration_seconds, rate=rate, chunk_seconds=seconds)


async def make_proxy(
    path: Path,
    info: MediaInfo,
    *,
    audio: Path | None,
    output: Path,
    sandbox: Sandbox,
    on_fraction: OnFraction | None = None,
    chunk_seconds: float = CHUNK_SECONDS,
) -> Path:
    """Makes and joins all chunks, keeping those already in the output directory."""
    chunks = plan_proxy(info, chunk_seconds=chunk_seconds)
    chunk_paths = []
    for chunk in chunks:
        file = proxy_chunk_file(chunk, output)
        if not file.exists():
            report = chunk_progress(chunk, chunks, on_fraction)
            await make_proxy_chunk(path, info, chunk, output=output, sandbox=sandbox, on_fraction=report)
        chunk_paths.append(file)
    return await join_proxy(chunk_paths, info, audio=audio, output=output, sandbox=sandbox)


def proxy_chunk_file(chunk: MediaChunk, output: Path) -> Path:
    return output / f"video-{chunk.index:05}.mp4"


async def make_proxy_chunk(
    path: Path,
    info: MediaInfo,
    chunk: MediaChunk,
    *,
    output: Path,
    sandbox: Sandbox,
    on_fraction: OnFraction | None = None,
) -> Path:
    """Encodes exactly the frames of this chunk, whatever the source has there."""
    preroll = 0.0 if info.container in SEEKS_TO_KEY_FRAMES else PREROLL_SECONDS
    progress = FfmpegProgress(chunk.seconds, on_fraction, length_frames=chunk.count)
    # Fall back to decoding from the start if nothing is found after seeking.
    for start_seconds in dict.fromkeys((max(0.0, chunk.start_seconds - preroll), 0.0)):
        # -noaccurate_seek also decodes from the preceding key frame, whose frame may still be visible at the start;
        # -copyts -start_at_zero keep timestamps relative to the file start, so that `fps` can select frames.
        seek = ["-copyts", "-start_at_zero", "-noaccurate_seek", "-ss", f"{start_seconds:.6f}"]
        # A resolution change must not reinitialize the filters, which count frames; `scale` accepts any size.
        seek += ["-reinit_filter", "0"]
        arguments = [*seek, *input_options(info.container), "-map", "0:V:0", *_encoding(info, chunk)]
        await ffmpeg(sandbox, arguments, inputs={INPUT: path}, output=output, progress=progress)
        if progress.frames > 0:
            break
    if progress.frames != chunk.count:
        message = "The video cannot be decoded completely."
        raise MediaError(Reason.UNREADABLE, message, detail=f"{progress.frames} of {chunk.count} frames")
    (output / "video.part").replace(proxy_chunk_file(chunk, output))
    return proxy_chunk_file(chunk, output)


def _encoding(info: MediaInfo, chunk: MediaChunk) -> list[str]:
    width, height = fit_size(info, width=PROXY_WIDTH, height=PROXY_HEIGHT)
    rate = chunk.rate
    gop = max(1, round(rate))
    # Constant frame rate, repeat the last frame forever (tpad), then cut from the start of the chunk; a late first
    # frame is extended to the left.
    filters = (
        f"scale={width}:{height}:flags=bicubic,setsar=1,format=yuv420p,"
        f"fps={rate},tpad=stop=-1:stop_mode=clone,fps={rate}:start_time={chunk.start_seconds:.6f},"
        "setpts=PTS-STARTPTS"
    )
    return [
        *("-vf", filters, "-frames:v", str(chunk.count), "-an", "-sn", "-dn"),
        *("-c:v", "libx264", "-preset", "veryfast", "-crf", "26", "-profile:v", "main"),
        # A key frame every second and nowhere else; without B-frames, chunks start at 0 and need no edit list.
        *("-g", str(gop), "-keyint_min", str(gop), "-sc_threshold", "0", "-bf", "0"),
        *("-threads", str(ENCODER_THREADS)),
        # A time base in which every frame lasts a whole number of ticks.
        *("-video_track_timescale", str(timescale(rate))),
        *("-map_metadata", "-1", "-map_chapters", "-1", "-fflags", "+bitexact", "-flags:v", "+bitexact"),
        *("-f", "mp4", "video.part"),
    ]


def timescale(rate: Fraction) -> int:
    return rate.numerator * -(-TIMESCALE // rate.numerator)


async def join_proxy(
    chunks: Sequence[Path], info: MediaInfo, *, audio: Path | None, output: Path, sandbox: Sandbox
) -> Path:
    """Joins the chunks with the `proxy` audio of `make_audio`, and checks that both stay in sync."""
    listed = write_concat_list(chunks, output)
    arguments = ["-f", "concat", "-protocol_whitelist", "file", "-i", f"file:{listed.name}"]
    inputs = {}
    if audio is not None:
        arguments += ["-f", "aac", "-protocol_whitelist", "file", "-i", input_url("audio")]
        inputs["audio"] = audio
    arguments += ["-map", "0:v:0", "-map", "1:a:0?"] if audio is not None else ["-map", "0:v:0"]
    # faststart moves the index to the front, so that players can seek before the download ends.
    arguments += ["-c", "copy", "-movflags", "+faststart", "-fflags", "+bitexact", "-f", "mp4", "proxy.part"]
    await ffmpeg(sandbox, arguments, inputs=inputs, output=output, limits=JOIN_LIMITS)
    await _require_sync(output / "proxy.part", info, sandbox=sandbox)
    proxy = output / "proxy.mp4"
    (output / "proxy.part").replace(proxy)
    return proxy


async def _require_sync(path: Path, info: MediaInfo, *, sandbox: Sandbox) -> None:
    """Requires video and audio to start at 0 and to last as long as the source."""
    arguments = ["-v", "error", "-f", "mov", "-protocol_whitelist", "file", "-i", input_url()]
    arguments += ["-of", "json", "-show_entries", "stream=codec_type,start_time,duration"]
    finished = await sandbox.run("ffprobe", arguments, inputs={INPUT: path}, limits=JOIN_LIMITS)
    for stream in json.loads(finished.stdout)["streams"]:
        start, duration = float(stream["start_time"]), float(stream["duration"])
        if abs(start) > TOLERANCE_SECONDS or abs(duration - info.duration_seconds) > TOLERANCE_SECONDS:
            detail = f"{stream['codec_type']}: {start} + {duration} s, source {info.duration_seconds} s"
            raise MediaError(Reason.OUT_OF_SYNC, "Video and audio could not be kept in sync.", detail=detail)
