"""The proxy of a video: small, H.264, a key frame every second, made in pieces that join without a seam."""

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from cutroom.media.chunks import MediaChunk, part_of, plan_pieces, write_list
from cutroom.media.formats import SEEKS_TO_KEY_FRAMES
from cutroom.media.probe import MediaInfo, reading
from cutroom.media.process import MediaError, OnFraction, Progress, Reason
from cutroom.media.sandbox import GIB, INPUT, Limits, Sandbox, ffmpeg, inside

PROXY_HEIGHT = 480
PROXY_WIDTH = 1920  # of a very wide picture
MIN_PROXY_RATE, MAX_PROXY_RATE = 15, 30
UNKNOWN_RATE = Fraction(25)
RATE_DENOMINATOR = 1001
PIECE_SECONDS = 60.0
PREROLL_SECONDS = 15.0  # longer than the key frames of almost any broadcast are apart
MIN_PIECE_SECONDS = 5.0
# Up to this many pixels a second, a piece of 60 s is less than 60 s of work on two cores.
PIXELS_A_SECOND = 1920 * 1080 * 60
TIMESCALE = 10_000
TOLERANCE_SECONDS = 0.04
ENCODER_THREADS = 2
JOIN_LIMITS = Limits(wall_seconds=900, cpu_seconds=300, file_bytes=32 * GIB)


def proxy_rate(info: MediaInfo) -> Fraction:
    """The source's frame rate, halved or doubled into 15 to 30, so that pictures stay evenly spaced."""
    rate = (info.frame_rate or UNKNOWN_RATE).limit_denominator(RATE_DENOMINATOR) or UNKNOWN_RATE
    while rate > MAX_PROXY_RATE:
        rate /= 2
    while rate < MIN_PROXY_RATE:
        rate *= 2
    return rate


def fit(info: MediaInfo, *, width: int, height: int) -> tuple[int, int]:
    """The size at which the picture is shown, upright and with square pixels, made to fit; both sides even."""
    shown_width = Fraction(info.width or 2) * info.pixel_aspect
    shown_height = Fraction(info.height or 2)
    if info.rotation_degrees in (90, 270):
        shown_width, shown_height = shown_height, shown_width
    scale = min(Fraction(1), width / shown_width, height / shown_height)
    return _even(shown_width * scale), _even(shown_height * scale)


def _even(value: Fraction) -> int:
    return max(2, round(value / 2) * 2)


def plan_proxy(info: MediaInfo, *, piece_seconds: float = PIECE_SECONDS) -> list[MediaChunk]:
    rate = proxy_rate(info)
    pixels_a_second = (info.width or 1) * (info.height or 1) * float(info.frame_rate or UNKNOWN_RATE)
    seconds = min(piece_seconds, max(MIN_PIECE_SECONDS, PIECE_SECONDS * PIXELS_A_SECOND / pixels_a_second))
    return plan_pieces(info.duration_seconds, rate=rate, piece_seconds=seconds)


async def make_proxy(
    path: Path,
    info: MediaInfo,
    *,
    audio: Path | None,
    output: Path,
    sandbox: Sandbox,
    on_fraction: OnFraction | None = None,
    piece_seconds: float = PIECE_SECONDS,
) -> Path:
    """All pieces and their joint; pieces already in the output folder are kept."""
    pieces = plan_proxy(info, piece_seconds=piece_seconds)
    made = []
    for piece in pieces:
        file = piece_file(piece, output)
        if not file.exists():
            told = part_of(piece, pieces, on_fraction)
            await make_proxy_piece(path, info, piece, output=output, sandbox=sandbox, on_fraction=told)
        made.append(file)
    return await join_proxy(made, info, audio=audio, output=output, sandbox=sandbox)


def piece_file(piece: MediaChunk, output: Path) -> Path:
    return output / f"picture-{piece.index:05}.mp4"


async def make_proxy_piece(
    path: Path,
    info: MediaInfo,
    piece: MediaChunk,
    *,
    output: Path,
    sandbox: Sandbox,
    on_fraction: OnFraction | None = None,
) -> Path:
    """Exactly the frames of this piece, whatever the source has there."""
    preroll = 0.0 if info.container in SEEKS_TO_KEY_FRAMES else PREROLL_SECONDS
    progress = Progress(piece.seconds, on_fraction, length_frames=piece.count)
    # The second way, from the start of the file, is for one in which nothing is found after seeking.
    for start_seconds in dict.fromkeys((max(0.0, piece.start_seconds - preroll), 0.0)):
        # -noaccurate_seek gives the pictures from the key frame before the start, of which one may still stand at it;
        # -copyts -start_at_zero keep their times, counted from the start of the file, so that `fps` can choose.
        seek = ["-copyts", "-start_at_zero", "-noaccurate_seek", "-ss", f"{start_seconds:.6f}"]
        # A new size in the middle must not restart the filters, which count; `scale` takes any size as it comes.
        seek += ["-reinit_filter", "0"]
        arguments = [*seek, *reading(info.container), "-map", "0:V:0", *_encoding(info, piece)]
        await ffmpeg(sandbox, arguments, inputs={INPUT: path}, output=output, progress=progress)
        if progress.frames > 0:
            break
    if progress.frames != piece.count:
        sentence = "The picture of the file cannot be read throughout."
        raise MediaError(Reason.UNREADABLE, sentence, detail=f"{progress.frames} of {piece.count} frames")
    (output / "picture.part").replace(piece_file(piece, output))
    return piece_file(piece, output)


def _encoding(info: MediaInfo, piece: MediaChunk) -> list[str]:
    width, height = fit(info, width=PROXY_WIDTH, height=PROXY_HEIGHT)
    rate = piece.rate
    gop = max(1, round(rate))
    # First to the constant rate, then the last picture stands for ever (tpad), then from the start of the piece on,
    # where the first picture is drawn out to the left if it comes late.
    filters = (
        f"scale={width}:{height}:flags=bicubic,setsar=1,format=yuv420p,"
        f"fps={rate},tpad=stop=-1:stop_mode=clone,fps={rate}:start_time={piece.start_seconds:.6f},"
        "setpts=PTS-STARTPTS"
    )
    return [
        *("-vf", filters, "-frames:v", str(piece.count), "-an", "-sn", "-dn"),
        *("-c:v", "libx264", "-preset", "veryfast", "-crf", "26", "-profile:v", "main"),
        # A key frame each second and nowhere else; without B-frames pieces start at 0 and need no edit list.
        *("-g", str(gop), "-keyint_min", str(gop), "-sc_threshold", "0", "-bf", "0"),
        *("-threads", str(ENCODER_THREADS)),
        # Ticks that make every frame of this rate a whole number of them.
        *("-video_track_timescale", str(timescale(rate))),
        *("-map_metadata", "-1", "-map_chapters", "-1", "-fflags", "+bitexact", "-flags:v", "+bitexact"),
        *("-f", "mp4", "picture.part"),
    ]


def timescale(rate: Fraction) -> int:
    return rate.numerator * -(-TIMESCALE // rate.numerator)


async def join_proxy(
    pieces: Sequence[Path], info: MediaInfo, *, audio: Path | None, output: Path, sandbox: Sandbox
) -> Path:
    """Copy the pieces into one file, with the sound of `make_audio` (its `proxy`), and check that all fits."""
    listed = write_list(pieces, output)
    arguments = ["-f", "concat", "-protocol_whitelist", "file", "-i", f"file:{listed.name}"]
    inputs = {}
    if audio is not None:
        arguments += ["-f", "aac", "-protocol_whitelist", "file", "-i", inside("sound")]
        inputs["sound"] = audio
    arguments += ["-map", "0:v:0", "-map", "1:a:0?"] if audio is not None else ["-map", "0:v:0"]
    # faststart moves the index to the front, so that a player can seek before it has everything.
    arguments += ["-c", "copy", "-movflags", "+faststart", "-fflags", "+bitexact", "-f", "mp4", "proxy.part"]
    await ffmpeg(sandbox, arguments, inputs=inputs, output=output, limits=JOIN_LIMITS)
    await _require_in_step(output / "proxy.part", info, sandbox=sandbox)
    proxy = output / "proxy.mp4"
    (output / "proxy.part").replace(proxy)
    return proxy


async def _require_in_step(path: Path, info: MediaInfo, *, sandbox: Sandbox) -> None:
    """Picture and sound begin at 0 and last as long as the source does."""
    arguments = ["-v", "error", "-f", "mov", "-protocol_whitelist", "file", "-i", inside()]
    arguments += ["-of", "json", "-show_entries", "stream=codec_type,start_time,duration"]
    finished = await sandbox.run("ffprobe", arguments, inputs={INPUT: path}, limits=JOIN_LIMITS)
    for stream in json.loads(finished.stdout)["streams"]:
        start, duration = float(stream["start_time"]), float(stream["duration"])
        if abs(start) > TOLERANCE_SECONDS or abs(duration - info.duration_seconds) > TOLERANCE_SECONDS:
            detail = f"{stream['codec_type']}: {start} + {duration} s, source {info.duration_seconds} s"
            raise MediaError(Reason.OUT_OF_SYNC, "Picture and sound could not be kept in step.", detail=detail)
