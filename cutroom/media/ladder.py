"""The picture of a video in several sizes, cut into pieces that are encoded side by side and join without a seam."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from cutroom.media.chunks import MediaChunk, plan_pieces
from cutroom.media.formats import SEEKS_TO_KEY_FRAMES
from cutroom.media.probe import MediaInfo, reading
from cutroom.media.process import MediaError, Progress, Reason
from cutroom.media.sandbox import GIB, INPUT, Limits, Sandbox, ffmpeg
from cutroom.media.video import PREROLL_SECONDS, RATE_DENOMINATOR, UNKNOWN_RATE, fit, timescale

VERSION = 1  # of how rungs are encoded: another number makes every ladder anew
KEY_FRAME_SECONDS = 2
SEGMENT_SECONDS = 2 * KEY_FRAME_SECONDS
PIECE_SECONDS = 32.0
MIN_PIECE_SECONDS = float(SEGMENT_SECONDS)
# Up to this many pixels a second, a piece of 32 s is less than a minute of work on two cores.
PIXELS_A_SECOND = 1920 * 1080 * 30
MIN_RATE, MAX_RATE = 15, 60
ENCODER_THREADS = 2
# The shorter side, and at most so many kilobits a second.
SIZES = ((1080, 5000), (720, 2800), (480, 1400), (240, 400))
CLOSE = Fraction(11, 10)  # a source that is hardly larger than a rung gets no rung of its own
PIECE_LIMITS = Limits(wall_seconds=3600, cpu_seconds=3600, address_space_bytes=6 * GIB, file_bytes=4 * GIB)
JOIN_LIMITS = Limits(wall_seconds=1800, cpu_seconds=600, file_bytes=100 * GIB)


@dataclass(frozen=True, slots=True)
class Rung:
    """One size of the picture."""

    name: str
    width: int
    height: int
    kilobits: int


def plan_ladder(info: MediaInfo) -> list[Rung]:
    """The sizes that a picture is shown in, the largest first; none is larger than the picture."""
    width, height = fit(info, width=10_000, height=10_000)
    short = min(width, height)
    sides = [(side, kilobits) for side, kilobits in SIZES if side <= short]
    if not sides or (short < SIZES[0][0] and short > sides[0][0] * CLOSE):
        above = [kilobits for side, kilobits in SIZES if side > short]
        sides.insert(0, (short, above[-1]))
    return [_rung(info, side, kilobits, wide=width >= height) for side, kilobits in sides]


def _rung(info: MediaInfo, side: int, kilobits: int, *, wide: bool) -> Rung:
    bounds = {"width": 10_000, "height": side} if wide else {"width": side, "height": 10_000}
    return Rung(f"{side}p", *fit(info, **bounds), kilobits=kilobits)


def ladder_rate(info: MediaInfo) -> Fraction:
    """The source's frame rate, halved or doubled into 15 to 60."""
    rate = (info.frame_rate or UNKNOWN_RATE).limit_denominator(RATE_DENOMINATOR) or UNKNOWN_RATE
    while rate > MAX_RATE:
        rate /= 2
    while rate < MIN_RATE:
        rate *= 2
    return rate


def segment_frames(rate: Fraction) -> int:
    return 2 * _key_frames(rate)


def _key_frames(rate: Fraction) -> int:
    return max(1, round(KEY_FRAME_SECONDS * rate))


def plan_ladder_pieces(info: MediaInfo) -> list[MediaChunk]:
    """Pieces of whole segments, so that segments are the same in every rung and across joints."""
    rate = ladder_rate(info)
    pixels_a_second = (info.width or 1) * (info.height or 1) * float(rate)
    seconds = min(PIECE_SECONDS, max(MIN_PIECE_SECONDS, PIECE_SECONDS * PIXELS_A_SECOND / pixels_a_second))
    return plan_pieces(info.duration_seconds, rate=rate, piece_seconds=seconds, multiple_of=segment_frames(rate))


def rung_file(rung: Rung, piece: MediaChunk, output: Path) -> Path:
    return output / f"{rung.name}-{piece.index:05}.mp4"


async def encode_ladder_piece(
    path: Path, info: MediaInfo, piece: MediaChunk, *, rungs: Sequence[Rung], output: Path, sandbox: Sandbox
) -> list[Path]:
    """Exactly the frames of this piece in every size, from one decoding."""
    preroll = 0.0 if info.container in SEEKS_TO_KEY_FRAMES else PREROLL_SECONDS
    progress = Progress(piece.seconds, length_frames=piece.count)
    # As for the proxy: from the key frame before the start, or from the start of a file that cannot be sought.
    for start_seconds in dict.fromkeys((max(0.0, piece.start_seconds - preroll), 0.0)):
        seek = ["-copyts", "-start_at_zero", "-noaccurate_seek", "-ss", f"{start_seconds:.6f}", "-reinit_filter", "0"]
        arguments = [*seek, *reading(info.container), "-filter_complex", _graph(piece, rungs)]
        for rung in rungs:
            arguments += ["-map", f"[{rung.name}]", *_encoding(rung, piece)]
        await ffmpeg(sandbox, arguments, inputs={INPUT: path}, output=output, progress=progress, limits=PIECE_LIMITS)
        if progress.frames > 0:
            break
    if progress.frames != piece.count:
        sentence = "The picture of the file cannot be read throughout."
        raise MediaError(Reason.UNREADABLE, sentence, detail=f"{progress.frames} of {piece.count} frames")
    made = []
    for rung in rungs:
        (output / f"{rung.name}.part").replace(rung_file(rung, piece, output))
        made.append(rung_file(rung, piece, output))
    return made


def _graph(piece: MediaChunk, rungs: Sequence[Rung]) -> str:
    """Each size is made from the next larger one, which costs less and looks the same."""
    first, rate = rungs[0], piece.rate
    chain = (
        f"[0:V:0]scale={first.width}:{first.height}:flags=bicubic,setsar=1,format=yuv420p,"
        # To the constant rate; the last picture stands for ever; then from the start of the piece on.
        f"fps={rate},tpad=stop=-1:stop_mode=clone,fps={rate}:start_time={piece.start_seconds:.6f},"
        f"setpts=PTS-STARTPTS,trim=end_frame={piece.count}"
    )
    parts = []
    for rung, smaller in zip(rungs, [*rungs[1:], None], strict=True):
        if smaller is None:
            parts.append(f"{chain}[{rung.name}]")
        else:
            parts.append(f"{chain},split=2[{rung.name}][below{rung.name}]")
            chain = f"[below{rung.name}]scale={smaller.width}:{smaller.height}:flags=bicubic,setsar=1"
    return ";".join(parts)


def _encoding(rung: Rung, piece: MediaChunk) -> list[str]:
    gop = str(_key_frames(piece.rate))
    return [
        *("-frames:v", str(piece.count), "-an", "-sn", "-dn"),
        # Even quality, below a ceiling that a player can rely on.
        *("-c:v", "libx264", "-preset", "veryfast", "-crf", "23", "-profile:v", "high"),
        *("-maxrate", f"{rung.kilobits}k", "-bufsize", f"{2 * rung.kilobits}k"),
        # Key frames at the same frames in every size, and nowhere else.
        *("-g", gop, "-keyint_min", gop, "-sc_threshold", "0"),
        *("-threads", str(ENCODER_THREADS)),
        *("-video_track_timescale", str(timescale(piece.rate))),
        *("-map_metadata", "-1", "-map_chapters", "-1", "-fflags", "+bitexact", "-flags:v", "+bitexact"),
        *("-f", "mp4", f"{rung.name}.part"),
    ]


async def join_rung(rung: Rung, pieces: Sequence[MediaChunk], *, output: Path, sandbox: Sandbox) -> Path:
    """One file of a rung's pieces, which lie in the output folder."""
    listed = output / f"{rung.name}.txt"
    lines = ["ffconcat version 1.0"]
    for piece in pieces:
        # The length is said exactly: what a file says of itself is rounded, and would add up.
        lines += [f"file {rung_file(rung, piece, output).name}", f"duration {piece.seconds:.6f}"]
    listed.write_text("\n".join(lines) + "\n")
    arguments = ["-f", "concat", "-protocol_whitelist", "file", "-i", f"file:{listed.name}", "-map", "0:v:0"]
    arguments += ["-c", "copy", "-video_track_timescale", str(timescale(pieces[0].rate))]
    await ffmpeg(sandbox, [*arguments, "-f", "mp4", f"{rung.name}.mp4"], inputs={}, output=output, limits=JOIN_LIMITS)
    return output / f"{rung.name}.mp4"
