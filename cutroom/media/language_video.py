"""One file that speaks a language: the picture, the sound of each language, and subtitles."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cutroom.media.formats import Container
from cutroom.media.probe import MediaInfo, reading
from cutroom.media.sandbox import GIB, INPUT, Limits, Sandbox, ffmpeg, inside
from cutroom.media.track_languages import track_language
from cutroom.media.video import UNKNOWN_RATE, fit

LIMITS = Limits(wall_seconds=5400, cpu_seconds=10_800, file_bytes=100 * GIB)
AUDIO_BIT_RATE = "192k"
MAX_SIDE = 4096
TRIM_SECONDS = 0.001  # of rounding
# What players take out of an MP4; everything else is encoded anew.
_COPIED = frozenset({"h264", "hevc", "av1", "mpeg4"})
_BARE = ("-map_metadata", "-1", "-map_chapters", "-1", "-fflags", "+bitexact")


@dataclass(frozen=True, slots=True)
class SoundTrack:
    """A sound that spans the whole video, from its first instant."""

    path: Path
    container: Container
    language: str
    title: str
    is_aac: bool = False  # then it can be copied


@dataclass(frozen=True, slots=True)
class SubtitleTrack:
    """A SubRip file in the output folder."""

    name: str
    language: str


@dataclass(frozen=True, slots=True)
class Tracks:
    """In the order in which players list them; the first sound is the one that is heard."""

    sounds: Sequence[SoundTrack] = ()
    subtitles: Sequence[SubtitleTrack] = field(default_factory=tuple)


async def make_language_video(
    source: Path, info: MediaInfo, *, tracks: Tracks, cap_seconds: float | None, output: Path, sandbox: Sandbox
) -> Path:
    """MP4. What is not cut is copied; a sample is encoded, for only so can it end on the frame."""
    has_picture = info.media_type == "video"
    inputs = {INPUT: source} if has_picture else {}
    arguments = list(reading(info.container)) if has_picture else []
    maps, options = ["-map", "0:V:0"] if has_picture else [], _picture(info, cap_seconds) if has_picture else []
    at = len(inputs)
    for number, sound in enumerate(tracks.sounds):
        inputs[f"sound{number}"] = sound.path
        arguments += ["-f", sound.container.value, "-protocol_whitelist", "file", "-i", inside(f"sound{number}")]
        maps += ["-map", f"{at + number}:a:0"]
        options += _sound(sound, number, copied=sound.is_aac and cap_seconds is None)
    at += len(tracks.sounds)
    for number, text in enumerate(tracks.subtitles):
        arguments += ["-f", "srt", "-protocol_whitelist", "file", "-i", f"file:{text.name}"]
        maps += ["-map", f"{at + number}:s:0"]
        options += [f"-metadata:s:s:{number}", f"language={track_language(text.language)}"]
        options += [f"-metadata:s:s:{number}", f"title={text.language}"]
    options += ["-c:s", "mov_text"] if tracks.subtitles else []
    cap = ["-t", f"{cap_seconds:.6f}"] if cap_seconds is not None else []
    # The index at the front, so that a player can begin before it has everything.
    ending = [*_BARE, "-movflags", "+faststart", "-f", "mp4", "made.part"]
    await ffmpeg(sandbox, [*arguments, *maps, *options, *cap, *ending], inputs=inputs, output=output, limits=LIMITS)
    made = output / ("made.mp4" if has_picture else "made.m4a")
    (output / "made.part").replace(made)
    return made


def _picture(info: MediaInfo, cap_seconds: float | None) -> list[str]:
    if cap_seconds is None and info.video_codec in _COPIED:
        # Apple's players take HEVC under this name only.
        return ["-c:v", "copy", *(("-tag:v", "hvc1") if info.video_codec == "hevc" else ())]
    width, height = fit(info, width=MAX_SIDE, height=MAX_SIDE)
    scale = f"scale={width}:{height}:flags=bicubic,setsar=1,format=yuv420p"
    if cap_seconds is not None:  # the last picture lasts too, and must be over in time
        scale += f",trim=end={cap_seconds - float(1 / (info.frame_rate or UNKNOWN_RATE)) + TRIM_SECONDS:.6f}"
    encoder = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "20", "-profile:v", "high", "-threads", "2"]
    return ["-vf", scale, *encoder]


def _sound(sound: SoundTrack, number: int, *, copied: bool) -> list[str]:
    codec = ["copy"] if copied else ["aac", f"-b:a:{number}", AUDIO_BIT_RATE]
    return [
        *(f"-c:a:{number}", *codec),
        *(f"-metadata:s:a:{number}", f"language={track_language(sound.language)}"),
        *(f"-metadata:s:a:{number}", f"title={sound.title}"),
        *(f"-disposition:a:{number}", "default" if number == 0 else "0"),
    ]
