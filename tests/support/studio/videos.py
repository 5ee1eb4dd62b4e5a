"""A video with a transcript, a dub and captions to edit, inserted without running an engine."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection, insert
from cutroom.platform.ids import new_id
from cutroom.products.captions.editing.segments import CaptionSegment
from cutroom.products.dubs.editing.lines import DesiredLine, PublishedDub, PublishedLine, SourceLine
from cutroom.products.dubs.script import AssignedVoice, DubLine, PlacedLine
from cutroom.products.dubs.script_lines import line_id
from cutroom.products.dubs.service import dub_path
from cutroom.products.transcripts.document import DocumentSegment

SOURCE, DUBBED, CAPTIONED = "en", "pt", "es"
SEGMENT_SECONDS = 3.6
SPEAKERS = ({"id": "speaker_1", "label": "Ada"}, {"id": "speaker_2", "label": "Grace"})
_WORDS = (
    "the",
    "river",
    "runs",
    "past",
    "an",
    "old",
    "stone",
    "bridge",
    "while",
    "trains",
    "leave",
    "in",
    "morning",
    "light",
)
_RESULT = {"quality": "publishable", "flagged": []}


@dataclass(frozen=True, slots=True)
class StudioVideo:
    """The video and its segments as they were recognized."""

    id: str
    library_id: str
    segments: Sequence[DocumentSegment]

    @property
    def path(self) -> str:
        return f"/videos/{self.id}/studio"

    @property
    def dub_audio_path(self) -> str:
        """Where the audio of the dub would be."""
        return dub_path(self.library_id, self.id, f"{DUBBED}-plus/track.m4a")


def spoken_segments(count: int) -> list[DocumentSegment]:
    """Sentences of two speakers, each different from the others."""
    made = []
    for number in range(count):
        start = 1.0 + number * SEGMENT_SECONDS
        first = number % len(_WORDS)
        words = " ".join((_WORDS * 2)[first : first + 9])
        text = f"Line {number + 1}: {words}."
        speaker = SPEAKERS[number // 4 % 2]["id"]
        made.append(DocumentSegment(f"s{number + 1}", round(start, 3), round(start + 3.1, 3), text, speaker))
    return made


async def insert_studio_video(
    connection: Connection, library_id: str, *, segments: int = 6, alignment_path: str = "none"
) -> StudioVideo:
    """Insert an English video with a Portuguese dub and Spanish captions."""
    video = StudioVideo(new_id(), library_id, spoken_segments(segments))
    where = {"library_id": library_id, "created_at": system_clock()}
    duration = math.ceil(video.segments[-1].end_seconds + 1)
    states = {"status": "ready", "import_status": "ready", "transcript_status": "ready", "media_type": "video"}
    title = {"id": video.id, "title": "River talk", "duration_seconds": float(duration)}
    await insert(connection, "videos", {**where, **states, **title})
    for kind, more in (
        ("import", {}),
        ("transcript", {}),
        ("dub", {"language": DUBBED, "product": "plus", "result": _RESULT}),
        ("captions", {"language": CAPTIONED, "result": _RESULT}),
    ):
        await insert(connection, "jobs", {**where, **_finished_job(video.id, kind, more)})
    transcript = {
        "language": SOURCE,
        "segments": [{**each.to_row(), "deleted": False, "words": 0} for each in video.segments],
        "speakers": list(SPEAKERS),
        "alignment_path": alignment_path,
        "engine": "none",
    }
    await insert(connection, "transcripts", {**where, "video_id": video.id, **transcript})
    await _insert_dub(connection, video)
    await _insert_captions(connection, where, video)
    return video


def _finished_job(video_id: str, kind: str, more: dict[str, Any]) -> dict[str, Any]:
    now = system_clock()
    parts = [kind, video_id, *(more[name] for name in ("language", "product") if name in more)]
    done = {"status": "ready", "attempt": 1, "plan": {}, "depends_on": [], "progress": 100}
    return {
        **done,
        **more,
        "id": "_".join(parts),
        "type": kind,
        "video_id": video_id,
        "updated_at": now,
        "finished_at": now,
    }


async def _insert_dub(connection: Connection, video: StudioVideo) -> None:
    dub = {
        "library_id": video.library_id,
        "video_id": video.id,
        "language": DUBBED,
        "product": "plus",
        "completion": "complete",
        "segments": [],
        "speakers": [],
        "edits": {},
        "sync": {},
        "audio_path": video.dub_audio_path,
        "updated_at": system_clock(),
        "lines": PublishedDub([_published(at, each) for at, each in enumerate(video.segments)], 1, 0.0).to_row(),
    }
    await insert(connection, "dubs", dub)


def _published(number: int, segment: DocumentSegment) -> PublishedLine:
    """A line that says the text in capitals."""
    ids, start, end = (segment.id,), segment.start_seconds, segment.end_seconds
    source = SourceLine(line_id(ids), ids, start, end, segment.speaker, segment.text)
    text = translated(segment)
    line = DubLine(number, start, end, end, segment.speaker, segment.text, (text,), id=source.id)
    placed = PlacedLine(number, f"key-{source.id}", start, end - start, 1.0, text, shortened=False, gain=1.0)
    voice = AssignedVoice("kokoro", "pf_dora")
    inputs = DesiredLine(source).inputs
    return PublishedLine(source, inputs, line, placed, voice, text, (text,), source.text_fingerprint)


async def _insert_captions(connection: Connection, where: dict[str, Any], video: StudioVideo) -> None:
    rows = [
        CaptionSegment(
            each.id,
            each.start_seconds,
            each.end_seconds,
            each.speaker,
            translated(each),
            each.text,
            transcript_revision=1,
            engine="none",
        ).to_row()
        for each in video.segments
    ]
    captions = {"video_id": video.id, "language": CAPTIONED, "segments": rows, "quality": "publishable"}
    await insert(connection, "captions", {**where, **captions})


def translated(segment: DocumentSegment) -> str:
    """What the dub says and the captions show."""
    return segment.text.upper()
