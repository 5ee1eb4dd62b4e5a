"""ffmpeg operations for shorts: frames for analysis, the audio mix, and the final encode."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from cutroom.media import encoders
from cutroom.media.formats import Container
from cutroom.media.probe import MediaInfo, input_options
from cutroom.media.process import FfmpegProgress, MediaError, OnFraction, Reason
from cutroom.media.sandbox import GIB, INPUT, Sandbox, SandboxLimits, ffmpeg, input_url
from cutroom.media.video import RATE_DENOMINATOR, UNKNOWN_RATE, bounded_frame_rate, fit_size

LIMITS = SandboxLimits(wall_seconds=3_600, cpu_seconds=7_000, address_space_bytes=6 * GIB, file_bytes=16 * GIB)
FACE_FRAMES_PER_SECOND = 5
FACE_FRAME_SIDE, SHOT_FRAME_SIDE = 480, 160  # longer side in pixels of the frames that are analyzed
MAX_RATE = 60
QUALITY = 20
MIN_SHOT_RATE, MAX_SHOT_RATE = 15, 30  # frames per second in which shots are detected
FADE_SECONDS = 0.012  # avoids clicks at cuts
PEAK_RATE = 192_000  # oversampling lets the limiter catch inter-sample peaks
MUSIC_FADE_SECONDS = 1.5
MAX_FREEZE_SECONDS = 0.5  # how much shorter than the audio the video may be
_REPRODUCIBLE = ("-map_metadata", "-1", "-map_chapters", "-1", "-fflags", "+bitexact")


@dataclass(frozen=True, slots=True)
class SourceRange:
    """A time range of the source video."""

    start_seconds: float
    seconds: float


@dataclass(frozen=True, slots=True)
class RawFrames:
    """Raw RGB frames, concatenated in one file."""

    path: Path
    width: int
    height: int
    rate: Fraction

    @property
    def frame_bytes(self) -> int:
        return self.width * self.height * 3

    @property
    def count(self) -> int:
        return max(1, self.path.stat().st_size // self.frame_bytes)


def display_size(info: MediaInfo) -> tuple[int, int]:
    """The display size: upright, square pixels, both sides even."""
    return fit_size(info, width=1 << 16, height=1 << 16)


def display_frame_rate(info: MediaInfo) -> Fraction:
    """The source frame rate, halved until it is at most MAX_RATE."""
    rate = (info.frame_rate or UNKNOWN_RATE).limit_denominator(RATE_DENOMINATOR) or UNKNOWN_RATE
    while rate > MAX_RATE:
        rate /= 2
    return rate


async def extract_frames(
    source: Path, info: MediaInfo, source_range: SourceRange, *, output: Path, sandbox: Sandbox
) -> tuple[RawFrames, RawFrames]:
    """Decodes a range of the source once and writes its frames in two sizes.

    Some frames per second are for faces; all, at low resolution, are for shot detection.
    """
    faces = RawFrames(
        output / "faces.raw",
        *fit_size(info, width=FACE_FRAME_SIDE, height=FACE_FRAME_SIDE),
        Fraction(FACE_FRAMES_PER_SECOND),
    )
    shots = RawFrames(
        output / "shots.raw",
        *fit_size(info, width=SHOT_FRAME_SIDE, height=SHOT_FRAME_SIDE),
        bounded_frame_rate(info, at_least=MIN_SHOT_RATE, at_most=MAX_SHOT_RATE),
    )
    graph = (
        f"[0:V:0]split=2[one][two];"
        f"[one]fps={faces.rate}:start_time=0,scale={faces.width}:{faces.height}:flags=area,setsar=1[faces];"
        f"[two]fps={shots.rate}:start_time=0,scale={shots.width}:{shots.height}:flags=fast_bilinear,setsar=1[shots]"
    )
    arguments = ["-ss", f"{source_range.start_seconds:.6f}", "-t", f"{source_range.seconds:.6f}"]
    arguments += ["-reinit_filter", "0", *input_options(info.container), "-filter_complex", graph]
    for name, frames in (("faces", faces), ("shots", shots)):
        arguments += ["-map", f"[{name}]", "-pix_fmt", "rgb24", "-f", "rawvideo", frames.path.name]
    await ffmpeg(sandbox, arguments, inputs={INPUT: source}, output=output, limits=LIMITS)
    return faces, shots


async def mix_short_audio(
    mix: Path,
    ranges: Sequence[SourceRange],
    *,
    gain_db: float,
    peak: float,
    music: Path | None,
    output: Path,
    sandbox: Sandbox,
) -> Path:
    """Joins ranges of the mix, with this gain and peak limit, over optional ducked music."""
    arguments: list[str] = []
    for source_range in ranges:
        arguments += [
            "-ss",
            f"{source_range.start_seconds:.6f}",
            "-t",
            f"{source_range.seconds:.6f}",
            *input_options(Container.MATROSKA),
        ]
    graph = [
        f"[{index}:a:0]apad=whole_dur={source_range.seconds:.6f},atrim=duration={source_range.seconds:.6f},asetpts=PTS-STARTPTS,"
        f"afade=t=in:d={FADE_SECONDS},"
        f"afade=t=out:d={FADE_SECONDS}:st={max(0.0, source_range.seconds - FADE_SECONDS):.6f}[a{index}]"
        for index, source_range in enumerate(ranges)
    ]
    joined = "".join(f"[a{index}]" for index in range(len(ranges)))
    graph.append(f"{joined}concat=n={len(ranges)}:v=0:a=1,volume={gain_db:.3f}dB[speech]")
    inputs = {INPUT: mix}
    if music is not None:
        inputs["music"] = music
        arguments += ["-f", "wav", "-protocol_whitelist", "file", "-i", input_url("music")]
        graph += _ducked(len(ranges), sum(source_range.seconds for source_range in ranges))
    last = "mixed" if music is not None else "speech"
    limiter = f"alimiter=limit={peak:.4f}:attack=2:release=60:level=disabled:latency=1"
    graph.append(f"[{last}]aresample={PEAK_RATE},{limiter},aresample=48000[audio]")
    arguments += ["-filter_complex", ";".join(graph), "-map", "[audio]", "-c:a", "flac", "-sample_fmt", "s16"]
    arguments += [*_REPRODUCIBLE, "-f", "flac", "audio.source_range"]
    await ffmpeg(sandbox, arguments, inputs=inputs, output=output, limits=LIMITS)
    audio = output / "audio.flac"
    (output / "audio.source_range").replace(audio)
    return audio


def _ducked(music_input: int, seconds: float) -> list[str]:
    """Filters for music that is ducked under speech and faded at both ends."""
    fade = f"afade=t=in:d=0.5,afade=t=out:st={max(0.0, seconds - MUSIC_FADE_SECONDS):.3f}:d={MUSIC_FADE_SECONDS}"
    return [
        f"[{music_input}:a:0]aresample=48000,aformat=channel_layouts=stereo,atrim=duration={seconds:.6f},{fade}[music]",
        "[speech]aformat=channel_layouts=stereo,asplit=2[over][key]",
        # Fast attack and slow release, so that the music does not pump between words.
        "[music][key]sidechaincompress=threshold=0.02:ratio=6:attack=15:release=700[under]",
        "[over][under]amix=inputs=2:duration=first:normalize=0[mixed]",
    ]


@dataclass(frozen=True, slots=True)
class EncodeSpec:
    """Inputs of one encode; the filters lead from `[joined]` to `[shown]`."""

    ranges: Sequence[SourceRange]
    filters: str
    rate: Fraction
    width: int  # of the source frame, before cropping
    height: int

    @property
    def seconds(self) -> float:
        return sum(source_range.seconds for source_range in self.ranges)


async def encode_output(
    source: Path,
    info: MediaInfo,
    spec: EncodeSpec,
    *,
    audio: Path | None,
    output: Path,
    sandbox: Sandbox,
    on_fraction: OnFraction | None = None,
) -> Path:
    """Encodes an output in one pass: ranges joined, cropped and captioned, with its audio."""
    arguments: list[str] = []
    for source_range in spec.ranges:
        if info.media_type == "video":
            arguments += ["-ss", f"{source_range.start_seconds:.6f}", "-t", f"{source_range.seconds + 0.5:.6f}"]
            arguments += ["-reinit_filter", "0", *input_options(info.container)]
        else:
            background = f"color=c=0x14213d:s={spec.width}x{spec.height}:r={spec.rate}"
            arguments += ["-f", "lavfi", "-t", f"{source_range.seconds:.6f}", "-i", background]
    inputs = {INPUT: source}
    if audio is not None:
        inputs["audio"] = audio
        arguments += ["-f", "flac", "-protocol_whitelist", "file", "-i", input_url("audio")]
    arguments += ["-filter_complex", f"{_join_filter(spec)};{spec.filters}", "-map", "[shown]"]
    arguments += ["-map", f"{len(spec.ranges)}:a:0"] if audio is not None else []
    gop = max(1, round(spec.rate * 2))
    arguments += [*encoders.h264(sandbox.encoder, quality=QUALITY), "-g", str(gop)]
    arguments += ["-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709"]
    arguments += ["-c:a", "aac", "-b:a", "160k", "-t", f"{spec.seconds:.6f}", *_REPRODUCIBLE]
    # faststart moves the index to the front, so that playback can start before the download ends.
    arguments += ["-movflags", "+faststart", "-f", "mp4", "output.source_range"]
    progress = FfmpegProgress(spec.seconds, on_fraction)
    await ffmpeg(sandbox, arguments, inputs=inputs, output=output, progress=progress, limits=LIMITS)
    frames = sum(_frame_count(source_range, spec.rate) for source_range in spec.ranges)
    if progress.frames < frames:
        message = "This part of the video cannot be decoded."
        raise MediaError(Reason.UNREADABLE, message, detail=f"{progress.frames} of {frames} frames")
    encoded = output / "output.mp4"
    (output / "output.source_range").replace(encoded)
    return encoded


def _frame_count(source_range: SourceRange, rate: Fraction) -> int:
    return max(1, round(Fraction(source_range.seconds) * rate))


def _join_filter(spec: EncodeSpec) -> str:
    """Makes every range frame-exact; at the end of the video, the last frame may be repeated briefly."""
    chains = [
        f"[{index}:v:0]scale={spec.width}:{spec.height}:flags=bicubic,setsar=1,format=yuv420p,"
        f"fps={spec.rate}:start_time=0,tpad=stop_duration={MAX_FREEZE_SECONDS}:stop_mode=clone,"
        f"trim=end_frame={_frame_count(source_range, spec.rate)},setpts=PTS-STARTPTS[v{index}]"
        for index, source_range in enumerate(spec.ranges)
    ]
    if len(spec.ranges) == 1:
        return f"{chains[0]};[v0]null[joined]"
    inputs = "".join(f"[v{index}]" for index in range(len(spec.ranges)))
    return ";".join([*chains, f"{inputs}concat=n={len(spec.ranges)}:v=1:a=0[joined]"])


async def extract_framed_thumbnail(
    source: Path, info: MediaInfo, spec: EncodeSpec, *, output: Path, sandbox: Sandbox
) -> Path:
    """Extracts the first frame of an encode from a video source as a JPEG."""
    start_seconds = spec.ranges[0].start_seconds
    arguments = ["-ss", f"{start_seconds:.6f}", "-t", f"{spec.seconds + 0.5:.6f}", *input_options(info.container)]
    arguments += ["-filter_complex", f"{_join_filter(spec)};{spec.filters}", "-map", "[shown]", "-frames:v", "1"]
    return await _write_thumbnail(arguments, source, output=output, sandbox=sandbox)


async def extract_thumbnail(path: Path, *, at_seconds: float, output: Path, sandbox: Sandbox) -> Path:
    """Extracts one frame of a finished output as a JPEG."""
    arguments = ["-ss", f"{at_seconds:.3f}", *input_options(Container.MOV), "-map", "0:V:0", "-frames:v", "1"]
    return await _write_thumbnail(arguments, path, output=output, sandbox=sandbox)


async def _write_thumbnail(arguments: Sequence[str], path: Path, *, output: Path, sandbox: Sandbox) -> Path:
    encoding = ["-q:v", "3", *_REPRODUCIBLE, "-f", "mjpeg", "thumbnail.jpg"]
    await ffmpeg(sandbox, [*arguments, *encoding], inputs={INPUT: path}, output=output, limits=LIMITS)
    return output / "thumbnail.jpg"
