"""The codec calls of shorts: small pictures of a moment for engines to look at, its sound, and the one encode."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from cutroom.media.formats import Container
from cutroom.media.probe import MediaInfo, reading
from cutroom.media.process import MediaError, OnFraction, Progress, Reason
from cutroom.media.sandbox import GIB, INPUT, Limits, Sandbox, ffmpeg, inside
from cutroom.media.video import PROXY_HEIGHT, PROXY_WIDTH, UNKNOWN_RATE, fit, proxy_rate

LIMITS = Limits(wall_seconds=3_600, cpu_seconds=7_000, address_space_bytes=6 * GIB, file_bytes=16 * GIB)
FACES_PER_SECOND = 5
FACES_SIDE, SHOTS_SIDE = 480, 160  # pixels of the longer side of what engines look at
MAX_RATE = 60
RATE_DENOMINATOR = 1001
FADE_SECONDS = 0.012  # so that a cut in the sound does not click
PEAK_RATE = 192_000  # a limiter that sees between the samples
MUSIC_FADE_SECONDS = 1.5
STANDS_SECONDS = 0.5  # how much shorter than the sound a film's picture may be
_BARE = ("-map_metadata", "-1", "-map_chapters", "-1", "-fflags", "+bitexact")


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of the film."""

    start_seconds: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Frames:
    """Raw pictures in a file: rows of red, green and blue bytes, one picture behind the other."""

    path: Path
    width: int
    height: int
    rate: Fraction


def shown_size(info: MediaInfo) -> tuple[int, int]:
    """How the film is shown: upright, with square pixels; both sides even."""
    return fit(info, width=1 << 16, height=1 << 16)


def shown_rate(info: MediaInfo) -> Fraction:
    """The film's own frame rate, halved while nobody would see a difference."""
    rate = (info.frame_rate or UNKNOWN_RATE).limit_denominator(RATE_DENOMINATOR) or UNKNOWN_RATE
    while rate > MAX_RATE:
        rate /= 2
    return rate


async def take_frames(
    proxy: Path, info: MediaInfo, part: Part, *, output: Path, sandbox: Sandbox
) -> tuple[Frames, Frames]:
    """Pictures of a stretch of the proxy: some each second for faces, and all of them, smaller, for shots."""
    width, height = fit(info, width=PROXY_WIDTH, height=PROXY_HEIGHT)
    faces = Frames(output / "faces.raw", *_within(width, height, FACES_SIDE), Fraction(FACES_PER_SECOND))
    shots = Frames(output / "shots.raw", *_within(width, height, SHOTS_SIDE), proxy_rate(info))
    graph = (
        f"[0:V:0]split=2[one][two];"
        f"[one]fps={faces.rate}:start_time=0,scale={faces.width}:{faces.height}:flags=area[faces];"
        f"[two]fps={shots.rate}:start_time=0,scale={shots.width}:{shots.height}:flags=fast_bilinear[shots]"
    )
    arguments = ["-ss", f"{part.start_seconds:.6f}", "-t", f"{part.seconds:.6f}", *reading(Container.MOV)]
    arguments += ["-filter_complex", graph]
    for name, frames in (("faces", faces), ("shots", shots)):
        arguments += ["-map", f"[{name}]", "-pix_fmt", "rgb24", "-f", "rawvideo", frames.path.name]
    await ffmpeg(sandbox, arguments, inputs={INPUT: proxy}, output=output, limits=LIMITS)
    return faces, shots


def _within(width: int, height: int, side: int) -> tuple[int, int]:
    scale = min(1.0, side / max(width, height))
    return max(2, round(width * scale / 2) * 2), max(2, round(height * scale / 2) * 2)


async def make_sound(
    mix: Path,
    parts: Sequence[Part],
    *,
    gain_db: float,
    peak: float,
    music: Path | None,
    output: Path,
    sandbox: Sandbox,
) -> Path:
    """The parts of the mix behind each other, at this gain and below this peak, over music that makes room for them."""
    arguments: list[str] = []
    for part in parts:
        arguments += ["-ss", f"{part.start_seconds:.6f}", "-t", f"{part.seconds:.6f}", *reading(Container.MATROSKA)]
    graph = [
        f"[{at}:a:0]apad=whole_dur={part.seconds:.6f},atrim=duration={part.seconds:.6f},asetpts=PTS-STARTPTS,"
        f"afade=t=in:d={FADE_SECONDS},"
        f"afade=t=out:d={FADE_SECONDS}:st={max(0.0, part.seconds - FADE_SECONDS):.6f}[a{at}]"
        for at, part in enumerate(parts)
    ]
    joined = "".join(f"[a{at}]" for at in range(len(parts)))
    graph.append(f"{joined}concat=n={len(parts)}:v=0:a=1,volume={gain_db:.3f}dB[speech]")
    inputs = {INPUT: mix}
    if music is not None:
        inputs["music"] = music
        arguments += ["-f", "wav", "-protocol_whitelist", "file", "-i", inside("music")]
        graph += _ducked(len(parts), sum(part.seconds for part in parts))
    last = "mixed" if music is not None else "speech"
    limiter = f"alimiter=limit={peak:.4f}:attack=2:release=60:level=disabled:latency=1"
    graph.append(f"[{last}]aresample={PEAK_RATE},{limiter},aresample=48000[sound]")
    arguments += ["-filter_complex", ";".join(graph), "-map", "[sound]", "-c:a", "flac", "-sample_fmt", "s16"]
    arguments += [*_BARE, "-f", "flac", "sound.part"]
    await ffmpeg(sandbox, arguments, inputs=inputs, output=output, limits=LIMITS)
    sound = output / "sound.flac"
    (output / "sound.part").replace(sound)
    return sound


def _ducked(music_input: int, seconds: float) -> list[str]:
    """Music that gets out of the way of speech, and fades at the end."""
    fade = f"afade=t=in:d=0.5,afade=t=out:st={max(0.0, seconds - MUSIC_FADE_SECONDS):.3f}:d={MUSIC_FADE_SECONDS}"
    return [
        f"[{music_input}:a:0]aresample=48000,aformat=channel_layouts=stereo,atrim=duration={seconds:.6f},{fade}[music]",
        "[speech]aformat=channel_layouts=stereo,asplit=2[over][key]",
        # Quick to give way and slow to come back, so that it does not pump between words.
        "[music][key]sidechaincompress=threshold=0.02:ratio=6:attack=15:release=700[under]",
        "[over][under]amix=inputs=2:duration=first:normalize=0[mixed]",
    ]


@dataclass(frozen=True, slots=True)
class Encode:
    """What one output is made of; the filters lead from `[joined]` to `[shown]`."""

    parts: Sequence[Part]
    filters: str
    rate: Fraction
    width: int  # of the whole picture of the film, before it is framed
    height: int

    @property
    def seconds(self) -> float:
        return sum(part.seconds for part in self.parts)


async def encode_output(
    source: Path,
    info: MediaInfo,
    encode: Encode,
    *,
    sound: Path | None,
    output: Path,
    sandbox: Sandbox,
    on_fraction: OnFraction | None = None,
) -> Path:
    """The one encode of an output: its parts joined, framed and captioned, with its sound."""
    arguments: list[str] = []
    for part in encode.parts:
        if info.media_type == "video":
            arguments += ["-ss", f"{part.start_seconds:.6f}", "-t", f"{part.seconds + 0.5:.6f}"]
            arguments += ["-reinit_filter", "0", *reading(info.container)]
        else:
            ground = f"color=c=0x14213d:s={encode.width}x{encode.height}:r={encode.rate}"
            arguments += ["-f", "lavfi", "-t", f"{part.seconds:.6f}", "-i", ground]
    inputs = {INPUT: source}
    if sound is not None:
        inputs["sound"] = sound
        arguments += ["-f", "flac", "-protocol_whitelist", "file", "-i", inside("sound")]
    arguments += ["-filter_complex", f"{_joined(encode)};{encode.filters}", "-map", "[shown]"]
    arguments += ["-map", f"{len(encode.parts)}:a:0"] if sound is not None else []
    gop = max(1, round(encode.rate * 2))
    arguments += ["-c:v", "libx264", "-preset", "veryfast", "-crf", "20", "-profile:v", "high", "-g", str(gop)]
    arguments += ["-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-threads", "2"]
    arguments += ["-c:a", "aac", "-b:a", "160k", "-t", f"{encode.seconds:.6f}", *_BARE]
    # The index at the front: a player can begin before it has everything.
    arguments += ["-movflags", "+faststart", "-f", "mp4", "output.part"]
    progress = Progress(encode.seconds, on_fraction)
    await ffmpeg(sandbox, arguments, inputs=inputs, output=output, progress=progress, limits=LIMITS)
    frames = sum(_frames(part, encode.rate) for part in encode.parts)
    if progress.frames < frames:
        sentence = "The picture of the video cannot be read there."
        raise MediaError(Reason.UNREADABLE, sentence, detail=f"{progress.frames} of {frames} frames")
    made = output / "output.mp4"
    (output / "output.part").replace(made)
    return made


def _frames(part: Part, rate: Fraction) -> int:
    return max(1, round(Fraction(part.seconds) * rate))


def _joined(encode: Encode) -> str:
    """Each part lasts as long as it should, to the frame; at the film's end its last picture may stand for a moment."""
    chains = [
        f"[{at}:v:0]scale={encode.width}:{encode.height}:flags=bicubic,setsar=1,format=yuv420p,"
        f"fps={encode.rate}:start_time=0,tpad=stop_duration={STANDS_SECONDS}:stop_mode=clone,"
        f"trim=end_frame={_frames(part, encode.rate)},setpts=PTS-STARTPTS[v{at}]"
        for at, part in enumerate(encode.parts)
    ]
    if len(encode.parts) == 1:
        return f"{chains[0]};[v0]null[joined]"
    inputs = "".join(f"[v{at}]" for at in range(len(encode.parts)))
    return ";".join([*chains, f"{inputs}concat=n={len(encode.parts)}:v=1:a=0[joined]"])


async def take_thumbnail(path: Path, *, at_seconds: float, output: Path, sandbox: Sandbox) -> Path:
    """One picture out of a finished output."""
    arguments = ["-ss", f"{at_seconds:.3f}", *reading(Container.MOV), "-map", "0:V:0", "-frames:v", "1"]
    arguments += ["-q:v", "3", *_BARE, "-f", "mjpeg", "thumbnail.jpg"]
    await ffmpeg(sandbox, arguments, inputs={INPUT: path}, output=output, limits=LIMITS)
    return output / "thumbnail.jpg"
