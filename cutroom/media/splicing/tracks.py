"""Encodes a part of a language track, and writes it into the AAC file of the whole track."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cutroom.media.chunks import write_concat_list
from cutroom.media.dubbing import LIMITS, REPRODUCIBLE, TRACK_ENCODER, TRACK_FILE, TRACK_RATE, track_filter
from cutroom.media.formats import Container
from cutroom.media.probe import input_options
from cutroom.media.sandbox import INPUT, Sandbox, ffmpeg
from cutroom.media.splicing.aac_frames import (
    FRAME_SAMPLES,
    AacStream,
    Replacement,
    StreamPart,
    changed_frames,
    read_stream,
    spliced,
)

CONTEXT_FRAMES = 47  # encoded on both sides of what has changed, about a second: joints are found in it


@dataclass(frozen=True, slots=True)
class ChangedAudio:
    """A part of a track that has changed, and the lossless files that have it with its context."""

    first_sample: int
    last_sample: int
    files: Sequence[Path]  # consecutive, in the folder of the output
    files_start: int  # the sample of the track at which the first file begins

    @property
    def first_frame(self) -> int:
        """The first frame of the new encoding."""
        return max(0, self.first_sample // FRAME_SAMPLES - CONTEXT_FRAMES)

    @property
    def end_sample(self) -> int:
        return self.last_sample + CONTEXT_FRAMES * FRAME_SAMPLES


@dataclass(frozen=True, slots=True)
class TrackLevel:
    """The gain of a track and its peak limit."""

    gain_db: float
    peak: float


async def splice_track(
    track: Path,
    changes: Sequence[ChangedAudio],
    *,
    level: TrackLevel,
    language: str,
    output: Path,
    sandbox: Sandbox,
) -> Path | None:
    """The track with the changed parts, all other frames being the same bytes; None if there are no joints for them."""
    streamed = output / "stream.aac"
    arguments = [*input_options(Container.MOV), "-map", "0:a:0", "-c", "copy", "-f", "adts", streamed.name]
    await ffmpeg(sandbox, arguments, inputs={INPUT: track}, output=output, limits=LIMITS)
    old = await asyncio.to_thread(read_stream, streamed)
    replacements = [
        await _encode(each, old, number=number, level=level, output=output, sandbox=sandbox)
        for number, each in enumerate(changes)
    ]
    parts = spliced(old, replacements)
    if parts is None:
        return None
    joined = output / "spliced.aac"
    await asyncio.to_thread(_write, parts, joined)
    return await _write_file(joined, language=language, output=output, sandbox=sandbox)


def _write(parts: Sequence[StreamPart], path: Path) -> None:
    with path.open("wb") as output:
        for part in parts:
            output.writelines(part.read())


async def _encode(
    change: ChangedAudio, old: AacStream, *, number: int, level: TrackLevel, output: Path, sandbox: Sandbox
) -> Replacement:
    """The new frames of a part; its first sample is that of a frame of the track."""
    start = change.first_frame * FRAME_SAMPLES - change.files_start
    trim = f"atrim=start_sample={start}:end_sample={change.end_sample - change.files_start},asetpts=PTS-STARTPTS"
    chain = f"{trim},{track_filter(gain_db=level.gain_db, peak=level.peak)}"
    part = output / f"part-{number:05}.aac"
    listed = write_concat_list(change.files, output)
    arguments = ["-f", "concat", "-protocol_whitelist", "file", "-i", f"file:{listed.name}", "-map", "0:a:0"]
    arguments += ["-af", chain, *TRACK_ENCODER, *REPRODUCIBLE, "-f", "adts", part.name]
    await ffmpeg(sandbox, arguments, inputs={}, output=output, limits=LIMITS)
    stream = await asyncio.to_thread(read_stream, part)
    changed = changed_frames(change.first_sample, change.last_sample, frames=old.frames)
    return Replacement(stream, change.first_frame, changed)


async def _write_file(stream: Path, *, language: str, output: Path, sandbox: Sandbox) -> Path:
    """Remuxes a stream; its first frame is before the start of the track, as an encoder's is."""
    priming = ["-itsoffset", f"{-FRAME_SAMPLES / TRACK_RATE:.9f}"]
    arguments = [*priming, *input_options(Container.AAC), "-map", "0:a:0", "-c", "copy", "-bsf:a", "aac_adtstoasc"]
    arguments += ["-avoid_negative_ts", "disabled", *REPRODUCIBLE, "-metadata:s:a:0", f"language={language}"]
    arguments += [*TRACK_FILE, "track.m4a"]
    await ffmpeg(sandbox, arguments, inputs={INPUT: stream}, output=output, limits=LIMITS)
    return output / "track.m4a"
