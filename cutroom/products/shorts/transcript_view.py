"""The film as it is heard: its words, who says them, and how loudly."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

from cutroom.engines.recognition.port import Word
from cutroom.engines.types import SAMPLE_RATE, TimeSpan
from cutroom.library.service import duration_of
from cutroom.media.dubbing import AudioRange, decode_stretch
from cutroom.media.formats import Container
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.sandbox import Sandbox
from cutroom.platform.db import Connection
from cutroom.platform.storage.objects import Storage
from cutroom.products.shorts.timeline import Timeline
from cutroom.products.transcripts.alignment import read_words, segments_of
from cutroom.products.transcripts.sentences import Segment
from cutroom.products.transcripts.service import transcript_of

STRETCH_SECONDS = 300.0
QUIET = 1e-4  # root mean square below which nothing is heard


@dataclass(frozen=True, slots=True)
class TranscriptView:
    """What is said in a film."""

    language: str
    duration_seconds: float
    segments: tuple[Segment, ...]

    @property
    def words(self) -> list[Word]:
        return [
            Word(word.text, word.start_seconds, word.end_seconds, 1.0)
            for segment in self.segments
            for word in segment.words
        ]

    @property
    def speakers(self) -> list[str]:
        """Who says each of the words."""
        return [segment.speaker for segment in self.segments for _ in segment.words]

    def talking(self, timeline: Timeline) -> Iterator[tuple[TimeSpan, str]]:
        """Who speaks when, in an output's time."""
        for part, start in zip(timeline.parts, timeline.starts(), strict=True):
            for segment in self.segments:
                begin = max(segment.start_seconds, part.start_seconds) - part.start_seconds
                end = min(segment.end_seconds - part.start_seconds, part.seconds)
                if begin < end:
                    yield TimeSpan(start + begin, start + end), segment.speaker


async def read_heard(connection: Connection, storage: Storage, library_id: str, video_id: str) -> TranscriptView:
    """The transcript as it stands, without what was deleted from it."""
    transcript = await transcript_of(connection, library_id, video_id)
    duration = await duration_of(connection, library_id, video_id)
    data = b"".join([chunk async for chunk in storage.read(transcript.alignment_path)])
    segments = [each for each in segments_of(transcript.segments, read_words(data)) if not each.deleted]
    until = duration or max((each.end_seconds for each in segments), default=0.0)
    return TranscriptView(transcript.language, until, tuple(segments))


async def energy_of(path: str, seconds: float, workbench: LocalMediaCache, sandbox: Sandbox) -> list[float]:
    """How loud each second is, in decibels."""
    import numpy as np  # noqa: PLC0415 - a worker without engines must be able to import this room

    found: list[float] = []
    async with workbench.fetch(path) as copy:
        at = 0.0
        while at < seconds:
            stretch = AudioRange(at, min(STRETCH_SECONDS, seconds - at), SAMPLE_RATE, 1)
            with workbench.drawer() as drawer:
                raw = await decode_stretch(copy.path, stretch, container=Container.FLAC, output=drawer, sandbox=sandbox)
                samples = await asyncio.to_thread(np.fromfile, raw, "<f4")
            for second in range(0, len(samples), SAMPLE_RATE):
                level = float(np.sqrt(np.mean(samples[second : second + SAMPLE_RATE] ** 2)))
                found.append(20 * float(np.log10(max(level, QUIET))))
            at += STRETCH_SECONDS
    return found
