"""Encodes the rendition ladder of a video in chunks that are processed in parallel and join seamlessly."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from cutroom.media import encoders
from cutroom.media.chunks import MediaChunk, plan_chunks
from cutroom.media.cutting.timeline import CutTimeline, FrameSpan, select_frames
from cutroom.media.formats import SEEKS_TO_KEY_FRAMES
from cutroom.media.probe import MediaInfo, input_options
from cutroom.media.process import FfmpegProgress, MediaError, Reason
from cutroom.media.sandbox import GIB, INPUT, Sandbox, SandboxLimits, ffmpeg
from cutroom.media.video import PREROLL_SECONDS, bounded_frame_rate, fit_size, timescale

VERSION = 1  # bump to re-encode every ladder
KEY_FRAME_SECONDS = 2
SEGMENT_SECONDS = 2 * KEY_FRAME_SECONDS
CHUNK_SECONDS, MAX_CHUNK_SECONDS = 32.0, 96.0
MAX_CHUNKS = 3_600  # at least 24 s each at 24 hours; the history of a workflow has room for a few thousand
# At this pixel rate, a 32 s chunk takes less than a minute on two cores; smaller frames have longer chunks.
PIXELS_PER_SECOND = 1920 * 1080 * 30
MIN_RATE, MAX_RATE = 15, 60
QUALITY = 23
# Shorter side in pixels, and maximum kbit/s.
RENDITION_SIZES = ((1080, 5000), (720, 2800), (480, 1400), (240, 400))
LOW_BIT_RATE = 0.8  # of a rendition's maximum: a source below it is streamed at this bandwidth in a larger rendition
MIN_EXTRA_RATIO = Fraction(11, 10)  # a source barely larger than a rendition gets no rendition of its own
CHUNK_LIMITS = SandboxLimits(wall_seconds=3600, cpu_seconds=3600, address_space_bytes=6 * GIB, file_bytes=4 * GIB)
JOIN_LIMITS = SandboxLimits(wall_seconds=1800, cpu_seconds=600, file_bytes=100 * GIB)


@dataclass(frozen=True, slots=True)
class Rendition:
    """One size and bit rate of the ladder."""

    name: str
    width: int
    height: int
    max_kbps: int


def plan_ladder(info: MediaInfo) -> list[Rendition]:
    """The ladder for a video, largest first, never larger than the source."""
    width, height = fit_size(info, width=10_000, height=10_000)
    short_side = min(width, height)
    sides = [(side, max_kbps) for side, max_kbps in RENDITION_SIZES if side <= short_side]
    if not sides or (short_side < RENDITION_SIZES[0][0] and short_side > sides[0][0] * MIN_EXTRA_RATIO):
        above = [max_kbps for side, max_kbps in RENDITION_SIZES if side > short_side]
        sides.insert(0, (short_side, above[-1]))
    return [_rendition(info, side, max_kbps, wide=width >= height) for side, max_kbps in sides]


def useful_renditions(info: MediaInfo, ladder: Sequence[Rendition]) -> list[Rendition]:
    """The ladder without renditions that add nothing.

    Those between the largest and the smallest are left out if the source has no more bits than they may have: a larger
    one, which is encoded at constant quality, then plays at the same bandwidth.
    """
    kbps = info.size_bytes * 8 / 1000 / max(info.duration_seconds, 1.0)
    ends = (ladder[0], ladder[-1])
    return [each for each in ladder if each in ends or kbps > LOW_BIT_RATE * each.max_kbps]


def _rendition(info: MediaInfo, side: int, max_kbps: int, *, wide: bool) -> Rendition:
    bounds = {"width": 10_000, "height": side} if wide else {"width": side, "height": 10_000}
    return Rendition(f"{side}p", *fit_size(info, **bounds), max_kbps=max_kbps)


def ladder_frame_rate(info: MediaInfo) -> Fraction:
    """The source frame rate, halved or doubled into the range 15 to 60."""
    return bounded_frame_rate(info, at_least=MIN_RATE, at_most=MAX_RATE)


def segment_frames(rate: Fraction) -> int:
    return 2 * _gop_frames(rate)


def _gop_frames(rate: Fraction) -> int:
    return max(1, round(KEY_FRAME_SECONDS * rate))


def plan_ladder_chunks(info: MediaInfo, *, max_seconds: float = MAX_CHUNK_SECONDS) -> list[MediaChunk]:
    """Chunks of whole segments, so that segments align across renditions and chunk boundaries."""
    rate = ladder_frame_rate(info)
    pixels_per_second = (info.width or 1) * (info.height or 1) * float(rate)
    least_seconds = SEGMENT_SECONDS * max(1, math.ceil(info.duration_seconds / (MAX_CHUNKS * SEGMENT_SECONDS)))
    seconds = min(max_seconds, max(least_seconds, CHUNK_SECONDS * PIXELS_PER_SECOND / pixels_per_second))
    return plan_chunks(info.duration_seconds, rate=rate, chunk_seconds=seconds, multiple_of=segment_frames(rate))


def rendition_file(rendition: Rendition, chunk: MediaChunk, output: Path) -> Path:
    return output / f"{rendition.name}-{chunk.index:05}.mp4"


async def encode_ladder_chunk(
    path: Path,
    info: MediaInfo,
    chunk: MediaChunk,
    *,
    renditions: Sequence[Rendition],
    output: Path,
    sandbox: Sandbox,
    timeline: CutTimeline | None = None,
) -> list[Path]:
    """Encodes exactly the frames of this chunk in every rendition, decoding once.

    With a timeline, the chunk is one of its output, and consists of several parts of the file.
    """
    spans = [FrameSpan(chunk.start, chunk.start + chunk.count)]
    if timeline is not None:
        spans = timeline.source_spans(chunk.start, chunk.count)
    first_seconds = float(spans[0].start / chunk.rate)
    preroll = 0.0 if info.container in SEEKS_TO_KEY_FRAMES else PREROLL_SECONDS
    progress = FfmpegProgress(chunk.seconds, length_frames=chunk.count)
    # Seek to the preceding key frame, or decode from the start if the file cannot be seeked. -noaccurate_seek also
    # decodes from that key frame, whose frame may still be visible at the start; -copyts -start_at_zero keep timestamps
    # relative to the file start, so that `fps` can select frames. A resolution change must not reinitialize the
    # filters, which count frames; `scale` accepts any size.
    for start_seconds in dict.fromkeys((max(0.0, first_seconds - preroll), 0.0)):
        seek = ["-copyts", "-start_at_zero", "-noaccurate_seek", "-ss", f"{start_seconds:.6f}", "-reinit_filter", "0"]
        arguments = [*seek, *input_options(info.container), "-filter_complex", _graph(chunk, spans, renditions)]
        for rendition in renditions:
            arguments += ["-map", f"[{rendition.name}]", *_encoding(rendition, chunk, sandbox.encoder)]
        await ffmpeg(sandbox, arguments, inputs={INPUT: path}, output=output, progress=progress, limits=CHUNK_LIMITS)
        if progress.frames > 0:
            break
    if progress.frames != chunk.count:
        message = "The video cannot be decoded completely."
        raise MediaError(Reason.UNREADABLE, message, detail=f"{progress.frames} of {chunk.count} frames")
    encoded = []
    for rendition in renditions:
        (output / f"{rendition.name}.part").replace(rendition_file(rendition, chunk, output))
        encoded.append(rendition_file(rendition, chunk, output))
    return encoded


def _graph(chunk: MediaChunk, spans: Sequence[FrameSpan], renditions: Sequence[Rendition]) -> str:
    """Scales each rendition from the next larger one, which is cheaper and looks the same."""
    first, rate, start = renditions[0], chunk.rate, spans[0].start
    chosen = f",{select_frames(spans, rate=rate, first=start)}" if len(spans) > 1 else ""
    chain = (
        f"[0:V:0]scale={first.width}:{first.height}:flags=bicubic,setsar=1,format=yuv420p,"
        # Constant frame rate, repeat the last frame forever, then cut from the start of the chunk.
        f"fps={rate},tpad=stop=-1:stop_mode=clone,fps={rate}:start_time={float(start / rate):.6f},"
        f"setpts=PTS-STARTPTS,trim=end_frame={spans[-1].end - start}{chosen}"
    )
    chains = []
    for rendition, smaller in zip(renditions, [*renditions[1:], None], strict=True):
        if smaller is None:
            chains.append(f"{chain}[{rendition.name}]")
        else:
            chains.append(f"{chain},split=2[{rendition.name}][below{rendition.name}]")
            chain = f"[below{rendition.name}]scale={smaller.width}:{smaller.height}:flags=bicubic,setsar=1"
    return ";".join(chains)


def _encoding(rendition: Rendition, chunk: MediaChunk, encoder: encoders.VideoEncoder) -> list[str]:
    return [
        *("-frames:v", str(chunk.count), "-an", "-sn", "-dn"),
        # Constant quality, capped at a bit rate that players can rely on.
        *encoders.h264(encoder, quality=QUALITY, max_kbps=rendition.max_kbps),
        # Key frames at identical positions in every rendition, and nowhere else.
        *encoders.fixed_gop(encoder, _gop_frames(chunk.rate)),
        *("-video_track_timescale", str(timescale(chunk.rate))),
        *("-map_metadata", "-1", "-map_chapters", "-1", "-fflags", "+bitexact", "-flags:v", "+bitexact"),
        *("-f", "mp4", f"{rendition.name}.part"),
    ]


async def join_rendition(rendition: Rendition, chunks: Sequence[MediaChunk], *, output: Path, sandbox: Sandbox) -> Path:
    """Joins the chunks of a rendition, which are in the output directory."""
    listed = output / f"{rendition.name}.txt"
    lines = ["ffconcat version 1.0"]
    for chunk in chunks:
        # State exact durations: those in the files are rounded and would accumulate errors.
        lines += [f"file {rendition_file(rendition, chunk, output).name}", f"duration {chunk.seconds:.6f}"]
    listed.write_text("\n".join(lines) + "\n")
    arguments = ["-f", "concat", "-protocol_whitelist", "file", "-i", f"file:{listed.name}", "-map", "0:v:0"]
    arguments += ["-c", "copy", "-video_track_timescale", str(timescale(chunks[0].rate))]
    await ffmpeg(
        sandbox, [*arguments, "-f", "mp4", f"{rendition.name}.mp4"], inputs={}, output=output, limits=JOIN_LIMITS
    )
    return output / f"{rendition.name}.mp4"
