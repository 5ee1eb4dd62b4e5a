"""Muxes a video with one or more language tracks and subtitles."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cutroom.media import encoders
from cutroom.media.cutting.timeline import CutTimeline, select_frames
from cutroom.media.formats import Container
from cutroom.media.probe import MediaInfo, input_options
from cutroom.media.process import FfmpegProgress, OnFraction
from cutroom.media.sandbox import GIB, INPUT, Sandbox, SandboxLimits, ffmpeg, input_url
from cutroom.media.video import UNKNOWN_RATE, fit_size
from cutroom.text.language_tags import alpha3

LIMITS = SandboxLimits(wall_seconds=5400, cpu_seconds=10_800, file_bytes=100 * GIB)
AUDIO_BIT_RATE = "192k"
MAX_SIDE = 4096
QUALITY = 20
ROUNDING_SECONDS = 0.001
# Codecs that players support in MP4; others are re-encoded.
_MP4_CODECS = frozenset({"h264", "hevc", "av1", "mpeg4"})
_REPRODUCIBLE = ("-map_metadata", "-1", "-map_chapters", "-1", "-fflags", "+bitexact")


@dataclass(frozen=True, slots=True)
class AudioTrack:
    """An audio track that covers the whole video from 0."""

    path: Path
    container: Container
    language: str
    title: str
    is_aac: bool = False  # AAC can be copied


@dataclass(frozen=True, slots=True)
class SubtitleTrack:
    """A SubRip file in the output directory."""

    name: str
    language: str


@dataclass(frozen=True, slots=True)
class MediaTracks:
    """Tracks in the order in which players list them; the first audio track is the default."""

    audio: Sequence[AudioTrack] = ()
    subtitles: Sequence[SubtitleTrack] = field(default_factory=tuple)
    timeline: CutTimeline | None = None  # that they have, if parts of the recording are cut out


async def make_language_video(
    source: Path,
    info: MediaInfo,
    *,
    tracks: MediaTracks,
    cap_seconds: float | None,
    output: Path,
    sandbox: Sandbox,
    on_fraction: OnFraction | None = None,
) -> Path:
    """Writes an MP4. Streams are copied, unless `cap_seconds` cuts them: only re-encoding can end on an exact frame.

    Of a recording that is cut, only the frames that remain are written.
    """
    timeline = tracks.timeline
    has_video = info.media_type == "video"
    inputs = {INPUT: source} if has_video else {}
    arguments = list(input_options(info.container)) if has_video else []
    maps, options = (
        ["-map", "0:V:0"] if has_video else [],
        _video_options(info, cap_seconds, sandbox.encoder, timeline) if has_video else [],
    )
    first_input = len(inputs)
    for number, track in enumerate(tracks.audio):
        inputs[f"track{number}"] = track.path
        arguments += ["-f", track.container.value, "-protocol_whitelist", "file", "-i", input_url(f"track{number}")]
        maps += ["-map", f"{first_input + number}:a:0"]
        options += _audio_options(track, number, copied=track.is_aac and cap_seconds is None)
    first_input += len(tracks.audio)
    for number, subtitle in enumerate(tracks.subtitles):
        arguments += ["-f", "srt", "-protocol_whitelist", "file", "-i", f"file:{subtitle.name}"]
        maps += ["-map", f"{first_input + number}:s:0"]
        options += [f"-metadata:s:s:{number}", f"language={alpha3(subtitle.language)}"]
        options += [f"-metadata:s:s:{number}", f"title={subtitle.language}"]
    options += ["-c:s", "mov_text"] if tracks.subtitles else []
    cap = ["-t", f"{cap_seconds:.6f}"] if cap_seconds is not None else []
    # faststart moves the index to the front, so that playback can start before the download ends.
    muxer = [*_REPRODUCIBLE, "-movflags", "+faststart", "-f", "mp4", "joined.part"]
    command = [*arguments, *maps, *options, *cap, *muxer]
    seconds = timeline.seconds if timeline is not None else info.duration_seconds
    progress = FfmpegProgress(min(cap_seconds or seconds, seconds), on_fraction)
    await ffmpeg(sandbox, command, inputs=inputs, output=output, progress=progress, limits=LIMITS)
    joined = output / ("joined.mp4" if has_video else "joined.m4a")
    (output / "joined.part").replace(joined)
    return joined


def _video_options(
    info: MediaInfo, cap_seconds: float | None, encoder: encoders.VideoEncoder, timeline: CutTimeline | None
) -> list[str]:
    if cap_seconds is None and timeline is None and info.video_codec in _MP4_CODECS:
        # Apple's players require this tag for HEVC.
        return ["-c:v", "copy", *(("-tag:v", "hvc1") if info.video_codec == "hevc" else ())]
    width, height = fit_size(info, width=MAX_SIDE, height=MAX_SIDE)
    scale = f"scale={width}:{height}:flags=bicubic,setsar=1,format=yuv420p"
    if timeline is not None:
        scale += f",fps={timeline.rate}:start_time=0,{select_frames(timeline.kept, rate=timeline.rate)}"
    if cap_seconds is not None:  # the last frame must also end in time
        scale += f",trim=end={cap_seconds - float(1 / (info.frame_rate or UNKNOWN_RATE)) + ROUNDING_SECONDS:.6f}"
    return ["-vf", scale, *encoders.h264(encoder, quality=QUALITY)]


def _audio_options(track: AudioTrack, number: int, *, copied: bool) -> list[str]:
    codec = ["copy"] if copied else ["aac", f"-b:a:{number}", AUDIO_BIT_RATE]
    return [
        *(f"-c:a:{number}", *codec),
        *(f"-metadata:s:a:{number}", f"language={alpha3(track.language)}"),
        *(f"-metadata:s:a:{number}", f"title={track.title}"),
        *(f"-disposition:a:{number}", "default" if number == 0 else "0"),
    ]
