"""Transcript and loudness of a video, as input for shorts."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from cutroom.engines.recognition.port import Word
from cutroom.engines.types import SAMPLE_RATE, TimeSpan
from cutroom.library.service import get_duration
from cutroom.media.dubbing import AudioRange, decode_range
from cutroom.media.formats import Container
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.sandbox import Sandbox
from cutroom.platform.db import Connection
from cutroom.platform.storage.objects import Storage
from cutroom.products.shorts.timeline import Timeline
from cutroom.products.transcripts.alignment import attach_words, read_words
from cutroom.products.transcripts.cutting.edit_list import make_edit_list
from cutroom.products.transcripts.editing.revisions import FIRST
from cutroom.products.transcripts.segmentation import TranscriptSegment
from cutroom.products.transcripts.service import load_transcript

RANGE_SECONDS = 300.0
CUT_RATE = Fraction(100)  # at which deleted words are cut; frames of the output are counted from there
SILENCE_RMS = 1e-4


@dataclass(frozen=True, slots=True)
class TranscriptView:
    """The undeleted segments of a transcript."""

    language: str
    duration_seconds: float
    segments: tuple[TranscriptSegment, ...]
    revision: int = FIRST
    cuts: tuple[TimeSpan, ...] = ()  # around deleted words

    @property
    def words(self) -> list[Word]:
        return [
            Word(word.text, word.start_seconds, word.end_seconds, 1.0)
            for segment in self.segments
            for word in segment.words
        ]

    @property
    def speakers(self) -> list[str]:
        """Speaker of each word."""
        return [segment.speaker for segment in self.segments for _ in segment.words]

    def speaker_turns(self, timeline: Timeline) -> Iterator[tuple[TimeSpan, str]]:
        """Speaker turns in output time."""
        for source_range, start in zip(timeline.ranges, timeline.starts(), strict=True):
            for segment in self.segments:
                offset = max(segment.start_seconds, source_range.start_seconds) - source_range.start_seconds
                end = min(segment.end_seconds - source_range.start_seconds, source_range.seconds)
                if offset < end:
                    yield TimeSpan(start + offset, start + end), segment.speaker


async def load_transcript_view(
    connection: Connection, storage: Storage, library_id: str, video_id: str
) -> TranscriptView:
    """Loads the current transcript without deleted segments."""
    transcript = await load_transcript(connection, library_id, video_id)
    duration = await get_duration(connection, library_id, video_id)
    data = b"".join([chunk async for chunk in storage.read(transcript.alignment_path)])
    everything = attach_words(transcript.segments, read_words(data))
    segments = [each for each in everything if not each.deleted]
    end_seconds = duration or max((each.end_seconds for each in segments), default=0.0)
    cuts = tuple(_cuts(everything, end_seconds)) if len(segments) < len(everything) else ()
    return TranscriptView(transcript.language, end_seconds, tuple(segments), transcript.revision, cuts)


def _cuts(segments: Sequence[TranscriptSegment], end_seconds: float) -> Iterator[TimeSpan]:
    edit_list = make_edit_list(segments, duration_seconds=end_seconds, frame_rate=CUT_RATE)
    for cut in edit_list.cuts:
        yield TimeSpan(edit_list.seconds(cut.start), edit_list.seconds(cut.end))


async def measure_energy(path: str, seconds: float, media_cache: LocalMediaCache, sandbox: Sandbox) -> list[float]:
    """Loudness of each second in dB."""
    import numpy as np  # noqa: PLC0415 - workers without engines import this module without numpy

    levels: list[float] = []
    async with media_cache.fetch(path) as copy:
        position = 0.0
        while position < seconds:
            audio_range = AudioRange(position, min(RANGE_SECONDS, seconds - position), SAMPLE_RATE, 1)
            with media_cache.temp_dir() as temp_dir:
                raw = await decode_range(
                    copy.path, audio_range, container=Container.FLAC, output=temp_dir, sandbox=sandbox
                )
                samples = await asyncio.to_thread(np.fromfile, raw, "<f4")
            for second in range(0, len(samples), SAMPLE_RATE):
                level = float(np.sqrt(np.mean(samples[second : second + SAMPLE_RATE] ** 2)))
                levels.append(20 * float(np.log10(max(level, SILENCE_RMS))))
            position += RANGE_SECONDS
    return levels
