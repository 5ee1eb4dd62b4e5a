"""Requests captions as an API client, and reads stored captions and receipts."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from cutroom.credits import ledger
from cutroom.credits.receipts import receipt
from cutroom.platform.clock import system_clock
from cutroom.platform.storage.objects import Storage
from cutroom.products.transcripts.alignment import segment_rows, write_alignment
from cutroom.products.transcripts.segmentation import TranscriptSegment
from cutroom.products.transcripts.service import StoredTranscript, alignment_path, save_transcript
from tests.support.stage import TERMINAL, Stage

SPOKEN = "en"
POLL_SECONDS = 0.3
CAPTION_SECONDS = 900
GRANTED_MILLICREDITS = 1_000_000


@dataclass(frozen=True, slots=True)
class CaptionsClient:
    """An API client for captions."""

    stage: Stage
    client: httpx.AsyncClient

    async def grant(self) -> None:
        await ledger.grant(
            self.stage.accounts.connection,
            self.stage.person.library_id,
            millicredits=GRANTED_MILLICREDITS,
            reference="proof",
            now=system_clock(),
        )

    async def quote(self, video_id: str, languages: Sequence[str]) -> dict[str, Any]:
        """Price of captions, and the wallet's balance."""
        response = await self.client.post(
            f"/v1/videos/{video_id}/quote", json={"captionLanguageCodes": list(languages)}
        )
        quoted: dict[str, Any] = response.raise_for_status().json()
        return quoted

    async def request(self, video_id: str, languages: Sequence[str]) -> httpx.Response:
        return await self.client.post(f"/v1/videos/{video_id}/captions", json={"languages": list(languages)})

    async def make_captions(self, video_id: str, languages: Sequence[str]) -> list[dict[str, Any]]:
        """Request captions and return their jobs once finished."""
        response = (await self.request(video_id, languages)).raise_for_status()
        return [await self.wait_for_job(job["id"]) for job in response.json()["jobs"]]

    async def wait_for_job(self, job_id: str) -> dict[str, Any]:
        deadline = time.monotonic() + CAPTION_SECONDS
        while True:
            job: dict[str, Any] = (await self.client.get(f"/v1/jobs/{job_id}")).raise_for_status().json()
            if job["status"] in TERMINAL:
                return job
            if time.monotonic() > deadline:
                raise RuntimeError(f"{job_id} did not finish\n{self.stage.worker.read_log()[-3000:]}")
            await asyncio.sleep(POLL_SECONDS)

    async def receipt(self, holder: str) -> dict[str, Any]:
        return await receipt(self.stage.accounts.connection, self.stage.person.library_id, holder=holder)

    async def captions(self, video_id: str, language: str) -> list[dict[str, Any]]:
        """The stored translated segments."""
        translated: list[dict[str, Any]] = await self.stage.accounts.connection.fetchval(
            "SELECT segments FROM captions WHERE library_id = $1 AND video_id = $2 AND language = $3",
            self.stage.person.library_id,
            video_id,
            language,
        )
        return translated

    async def replace_transcript(self, video_id: str, segments: Sequence[TranscriptSegment]) -> None:
        """Replace a video's transcript, as the last step of transcription would."""
        library_id = self.stage.person.library_id
        stored = alignment_path(library_id, video_id)
        await Storage.connect(self.stage.settings).put(stored, write_alignment(segments, language=SPOKEN))
        made = StoredTranscript(
            language=SPOKEN,
            segments=segment_rows(segments),
            speakers=[{"id": "speaker_1", "label": "Speaker 1"}],
            alignment_path=stored,
            engine="none",
        )
        connection = self.stage.accounts.connection
        await save_transcript(connection, library_id, video_id, transcript=made, now=system_clock())
