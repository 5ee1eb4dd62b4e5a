"""A video with a ready transcript, shared by product tests."""

from dataclasses import dataclass
from typing import Any

import pytest

from cutroom.engines.recognition.port import Word
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.products.transcripts import service
from cutroom.products.transcripts.alignment import segment_rows, write_alignment
from cutroom.products.transcripts.segmentation import split_segments
from cutroom.products.transcripts.service import StoredTranscript
from cutroom.products.transcripts.subtitles import store_subtitles
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person

TEXT = "Good morning. The train leaves at 10:30 from platform 4."


@dataclass(frozen=True)
class TranscribedVideo:
    """A one-minute video with a transcript."""

    library_id: str
    video_id: str
    accounts: Accounts

    async def job(self, **changes: Any) -> None:  # noqa: ANN401 (columns)
        """Update columns of the transcript's job."""
        columns = ", ".join(f"{name} = ${number}" for number, name in enumerate(changes, start=3))
        await self.accounts.connection.execute(
            f"UPDATE jobs SET {columns} WHERE library_id = $1 AND id = $2",  # noqa: S608
            self.library_id,
            f"transcript_{self.video_id}",
            *changes.values(),
        )


@pytest.fixture
async def transcribed(runtime: Runtime, accounts: Accounts, person: Person) -> TranscribedVideo:
    video_id, now = new_id(), system_clock()
    base = {"library_id": person.library_id, "created_at": now}
    video = {**base, "id": video_id, "status": "ready", "import_status": "ready", "duration_seconds": 60.0}
    job = {
        **base,
        "id": f"transcript_{video_id}",
        "type": "transcript",
        "status": "ready",
        "video_id": video_id,
        "attempt": 1,
        "plan": {},
        "depends_on": [],
        "progress": 100,
        "updated_at": now,
        "finished_at": now,
    }
    await insert(accounts.connection, "videos", video)
    await insert(accounts.connection, "jobs", job)
    words = [Word(text, 1.0 + at / 3, 1.3 + at / 3, 1.0) for at, text in enumerate(TEXT.split())]
    segments = split_segments(words, lambda _word: "speaker_1", language="en")
    path = service.alignment_path(person.library_id, video_id)
    await runtime.storage.put(path, write_alignment(segments, language="en"))
    await store_subtitles(
        runtime.storage,
        segments,
        library_id=person.library_id,
        video_id=video_id,
        language="en",
        until_seconds=60.0,
        labels={"speaker_1": "Speaker 1"},
    )
    transcript = StoredTranscript(
        language="en",
        segments=segment_rows(segments),
        speakers=[{"id": "speaker_1", "label": "Speaker 1"}],
        alignment_path=path,
        engine="none",
    )
    async with runtime.database.transaction(person.library_id) as connection:
        await service.save_transcript(connection, person.library_id, video_id, transcript=transcript, now=now)
    return TranscribedVideo(person.library_id, video_id, accounts)
