"""A video with a finished dub of its transcript, as the workflow leaves it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import httpx

from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.products.dubs.editing.lines import PublishedDub
from cutroom.products.transcripts.document import DocumentSegment
from tests.products.conftest import TranscribedVideo
from tests.products.dubs.editing.random_dubs import VOICE, published_line

LANGUAGE = "pt"


@dataclass(frozen=True)
class DubbedVideo:
    """A dub whose lines are the segments of the transcript."""

    video: TranscribedVideo
    api: httpx.AsyncClient

    @property
    def path(self) -> str:
        return f"/videos/{self.video.video_id}/dubs/{LANGUAGE}"

    @property
    def job_id(self) -> str:
        return f"dub_{self.video.video_id}_{LANGUAGE}_plus"

    async def read(self) -> dict[str, Any]:
        response = await self.api.get(f"{self.path}/segments")
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found

    async def stale(self) -> dict[str, list[str]]:
        return {each["id"]: each["stale"] for each in (await self.read())["segments"] if each["stale"]}

    async def patch(self, revision: int, *changes: dict[str, Any]) -> httpx.Response:
        return await self.api.patch(f"{self.path}/segments", json={"revision": revision, "changes": list(changes)})

    async def edit_transcript(self, revision: int, *operations: dict[str, Any]) -> None:
        body = {"revision": revision, "operations": list(operations)}
        response = await self.api.patch(f"/videos/{self.video.video_id}/transcript", json=body)
        assert response.status_code == 200, response.text

    async def publish(self, segments: Sequence[DocumentSegment], *, generation: str = "") -> None:
        """Store the dub as a workflow does when it has finished."""
        lines = [published_line(number, [each]) for number, each in enumerate(segments)]
        lines = [replace(each, voice=VOICE) for each in lines]
        connection, now = self.video.accounts.connection, system_clock()
        where = {"library_id": self.video.library_id, "video_id": self.video.video_id}
        dub = {
            **where,
            "language": LANGUAGE,
            "product": "plus",
            "completion": "complete",
            "segments": [],
            "speakers": [],
            "edits": {},
            "sync": {},
            "audio_path": "track",
            "updated_at": now,
            "lines": PublishedDub(lines, 1, 0.0).to_row(),
            "generation": generation,
        }
        job = {
            **where,
            "id": self.job_id,
            "type": "dub",
            "status": "ready",
            "language": LANGUAGE,
            "product": "plus",
            "attempt": 1,
            "plan": {},
            "depends_on": [],
            "progress": 100,
            "result": {"quality": "publishable"},
            "created_at": now,
            "updated_at": now,
            "finished_at": now,
        }
        await insert(connection, "jobs", job)
        await insert(connection, "dubs", dub)
