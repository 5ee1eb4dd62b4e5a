"""Makes the track of a dub for a recording whose deleted words are cut: the background is cut, the lines are not."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cutroom.engines.samples import resample
from cutroom.errors import Code, CutroomError
from cutroom.media.cutting.samples import CHANNELS, FRAME_BYTES, cut_file, encode_samples
from cutroom.media.cutting.timeline import CutTimeline
from cutroom.media.dubbing import AudioRange, change_tempo, write_track
from cutroom.media.formats import Container
from cutroom.platform.db import Connection, Database
from cutroom.products.dubs.artifacts import DubArtifacts, DubRef
from cutroom.products.dubs.cutting.placement import CutLine, place_cut_lines
from cutroom.products.dubs.editing.lines import PublishedDub
from cutroom.products.dubs.mixdown import PEAK
from cutroom.products.dubs.mixing import (
    EDGE_SECONDS,
    HEADROOM,
    LINE_RATE,
    MIX_RATE,
    QUIET,
    SILENCE_RATIO,
    insert_original,
)
from cutroom.products.dubs.script import DubChunk, DubScript
from cutroom.products.dubs.service import dub_path
from cutroom.products.speech.encoding import from_pcm

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

FULL_SCALE = 32_768
PAUSE_SECONDS = 0.06  # between words
FRAME_SECONDS = 0.01
_DUBS = """SELECT language, product, generation, audio_path, lines FROM dubs
    WHERE library_id = $1 AND video_id = $2 AND completion = 'complete' AND lines IS NOT NULL"""


@dataclass(frozen=True, slots=True)
class PublishedTrack:
    """A published dub, and what its track is made of."""

    dub: DubRef
    lines: PublishedDub


async def find_published_track(
    connection: Connection, library_id: str, video_id: str, audio_path: str
) -> PublishedTrack | None:
    """The dub of a track, or of one that has replaced it; None if its lines or its level were not recorded."""
    for row in await connection.fetch(_DUBS, library_id, video_id):
        dub = DubRef(library_id, video_id, row["language"], row["product"], row["generation"])
        is_same = row["audio_path"] == audio_path or audio_path.startswith(
            dub_path(library_id, video_id, f"{dub.name}/")
        )
        if is_same and row["lines"]["gain_db"] is not None:
            return PublishedTrack(dub, PublishedDub.from_row(row["lines"]))
    return None


async def make_cut_track(
    artifacts: DubArtifacts, database: Database, dub: DubRef, audio_path: str, *, timeline: CutTimeline, output: Path
) -> Path | None:
    """The track as AAC in MP4; None for a dub whose lines were not recorded, or keep original sound that was deleted.

    `dub` says of which video; the published version is found by its track.
    """
    async with database.transaction(dub.library_id) as connection:
        track = await find_published_track(connection, dub.library_id, dub.video_id, audio_path)
    if track is None:
        return None
    script = await artifacts.script(track.dub)
    schedule = await artifacts.schedule(track.dub, "schedule")
    if schedule.original and not await _has_source(artifacts, track.dub):
        return None
    sources = {each.line.number: each.segment_spans for each in track.lines.lines}
    lines = place_cut_lines(schedule.lines, sources, timeline)
    whole, cut = output / "background.raw", output / "mixed.raw"
    for index in range(script.chunk_count):
        samples = await _background(artifacts, track.dub, script, index, original=schedule.original)
        await asyncio.to_thread(_append, whole, samples)
    await asyncio.to_thread(cut_file, whole, cut, timeline.sound_pieces(MIX_RATE))
    whole.unlink()
    for line in lines:
        speech = await _speech(artifacts, track.dub, line)
        await asyncio.to_thread(_overlay, cut, speech, start_seconds=line.line.start_seconds)
    flac = await encode_samples(cut, "mixed.flac", muxer="flac", output=output, sandbox=artifacts.sandbox)
    assert track.lines.gain_db is not None
    made = await write_track(
        flac,
        gain_db=track.lines.gain_db,
        peak=PEAK,
        language=track.dub.language,
        output=output,
        sandbox=artifacts.sandbox,
    )
    flac.unlink()
    return made


async def _has_source(artifacts: DubArtifacts, dub: DubRef) -> bool:
    """Whether the original sound is there, or can be extracted again."""
    try:
        await artifacts.source_audio(dub, "mix.mka")
    except CutroomError as error:
        if error.code != Code.FAILED_PRECONDITION:
            raise
        return False
    return True


async def _background(
    artifacts: DubArtifacts, dub: DubRef, script: DubScript, index: int, *, original: Sequence[tuple[float, float]]
) -> bytes:
    """One chunk of what is heard beside the lines, as long as its time."""
    import numpy as np  # noqa: PLC0415 - numpy is absent on workers without engines

    chunk = DubChunk.of(script, index)
    audio_range = AudioRange(0.0, chunk.seconds + 1, rate=MIX_RATE, channels=2)
    background = await artifacts.read_audio(dub.background_path(script, index), Container.FLAC, audio_range)
    spans = [(start - chunk.start_seconds, end - chunk.start_seconds) for start, end in original]
    if any(start < chunk.seconds and end > 0 for start, end in spans):
        whole = AudioRange(chunk.start_seconds, chunk.seconds, rate=MIX_RATE, channels=2)
        source = await artifacts.read_audio(await artifacts.source_audio(dub, "mix.mka"), Container.MATROSKA, whole)
        background = await asyncio.to_thread(insert_original, background, source * HEADROOM, spans)
    samples = np.zeros((round(chunk.seconds * MIX_RATE), CHANNELS), np.float32)
    count = min(len(samples), background.shape[-1])
    samples[:count] = background.T[:count]
    return _to_pcm(samples)


async def _speech(artifacts: DubArtifacts, dub: DubRef, cut: CutLine) -> "Samples":
    """The audio of a line at its level, as it is made to fit."""
    pcm = await artifacts.read(dub.line_path(cut.line.key))
    if cut.tempo > 1:
        with artifacts.media_cache.temp_dir() as folder:
            raw = folder / "raw"
            raw.write_bytes(pcm)
            faster = await change_tempo(raw, rate=LINE_RATE, tempo=cut.tempo, output=folder, sandbox=artifacts.sandbox)
            pcm = faster.read_bytes()
    samples = from_pcm(pcm)
    if cut.limit_seconds is not None:
        samples = ended_at_pause(samples, cut.limit_seconds)
    speech: Samples = resample(samples, LINE_RATE, MIX_RATE) * (cut.line.gain * HEADROOM)
    return speech


def ended_at_pause(samples: "Samples", limit_seconds: float) -> "Samples":
    """Speech up to the last pause between words before a limit, faded; nothing if there is no pause."""
    import numpy as np  # noqa: PLC0415 - as above

    limit = round(limit_seconds * LINE_RATE)
    if len(samples) <= limit:
        return samples
    frame = round(FRAME_SECONDS * LINE_RATE)
    framed = np.abs(samples[: limit // frame * frame]).reshape(-1, frame).max(axis=1, initial=0.0)
    is_quiet = framed <= max(SILENCE_RATIO * float(np.abs(samples).max(initial=0.0)), QUIET)
    needed = round(PAUSE_SECONDS / FRAME_SECONDS)
    runs = np.convolve(is_quiet, np.ones(needed), mode="valid") if len(is_quiet) >= needed else np.zeros(0)
    pauses = np.nonzero(runs >= needed - 0.5)[0]
    if not len(pauses):
        return samples[:0]
    ended: Samples = samples[: (int(pauses[-1]) + needed) * frame].copy()
    fade = min(round(EDGE_SECONDS * LINE_RATE), len(ended))
    ended[len(ended) - fade :] *= np.linspace(1.0, 0.0, fade, dtype=np.float32)
    return ended


def _overlay(path: Path, speech: "Samples", *, start_seconds: float) -> None:
    """Add mono speech to a file of raw stereo samples in place; what is after its end is not heard."""
    import numpy as np  # noqa: PLC0415 - as above

    first = round(start_seconds * MIX_RATE)
    with path.open("r+b") as file:
        file.seek(first * FRAME_BYTES)
        data = file.read(len(speech) * FRAME_BYTES)
        mixed = np.frombuffer(data, "<i2").reshape(-1, CHANNELS).astype(np.float32) / np.float32(FULL_SCALE)
        mixed += speech[: len(mixed), None]
        file.seek(first * FRAME_BYTES)
        file.write(_to_pcm(mixed))


def _append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def _to_pcm(samples: "Samples") -> bytes:
    import numpy as np  # noqa: PLC0415 - as above

    pcm: bytes = np.clip(np.round(samples * FULL_SCALE), -FULL_SCALE, FULL_SCALE - 1).astype("<i2").tobytes()
    return pcm
