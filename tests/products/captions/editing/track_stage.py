"""A video with captions in one language, and the steps of the jobs that change them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx
from temporalio.testing import ActivityEnvironment

from cutroom.credits import ledger
from cutroom.credits.pricing import load_prices
from cutroom.engines.translation.port import Quality, Route
from cutroom.engines.types import OnProgress
from cutroom.jobs import lifecycle
from cutroom.jobs.lifecycle import Failure, JobRef
from cutroom.platform.clock import system_clock
from cutroom.products.captions.editing.activities import CaptionEditingActivities, RegenerationPlan
from cutroom.products.captions.editing.tracks import TrackRef
from cutroom.products.transcripts.service import subtitle_path
from cutroom.web.runtime import Runtime
from tests.products.captions.test_activities import EchoTranslator, FakeEngines, result
from tests.products.conftest import TranscribedVideo

LANGUAGE = "pt"
ROUTE = Route("en", LANGUAGE, Quality.PUBLISHABLE)


@dataclass(frozen=True)
class CountingTranslator(EchoTranslator):
    """Returns sentences unchanged, and remembers them."""

    seen: list[str]

    def translate(
        self, sentences: Sequence[str], *, source: str, target: str, on_progress: OnProgress | None = None
    ) -> list[str]:
        self.seen.extend(sentences)
        return super().translate(sentences, source=source, target=target, on_progress=on_progress)


@dataclass(frozen=True)
class CaptionTrackStage:
    """Captions of the transcribed video, as a client and a worker see them."""

    runtime: Runtime
    api: httpx.AsyncClient
    transcribed: TranscribedVideo
    translator: CountingTranslator

    @property
    def url(self) -> str:
        return f"/videos/{self.transcribed.video_id}/captions/{LANGUAGE}"

    @property
    def activities(self) -> CaptionEditingActivities:
        engines = FakeEngines(self.translator)
        return CaptionEditingActivities(self.runtime.database, self.runtime.storage, engines, system_clock)

    async def make(self) -> None:
        """Store captions as their job does."""
        await result(self.runtime, self.transcribed, self.translator, language=LANGUAGE)
        await self.transcribed.accounts.connection.execute(
            "UPDATE jobs SET status = 'ready', started_at = created_at, finished_at = now() WHERE id = $1",
            f"captions_{self.transcribed.video_id}_{LANGUAGE}",
        )
        self.translator.seen.clear()

    async def get(self) -> dict[str, Any]:
        response = await self.api.get(f"{self.url}/segments")
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found

    async def segment(self, segment_id: str) -> dict[str, Any]:
        found: dict[str, Any] = next(each for each in (await self.get())["segments"] if each["id"] == segment_id)
        return found

    async def edit(self, revision: int, *operations: Mapping[str, Any], **more: Any) -> httpx.Response:  # noqa: ANN401 (JSON)
        body = {"revision": revision, "operations": list(operations), **more}
        return await self.api.patch(f"{self.url}/segments", json=body)

    async def edit_transcript(self, revision: int, *operations: Mapping[str, Any]) -> None:
        body = {"revision": revision, "operations": list(operations)}
        response = await self.api.patch(f"/videos/{self.transcribed.video_id}/transcript", json=body)
        assert response.status_code == 200, response.text

    async def regenerate(self, revision: int, **more: Any) -> httpx.Response:  # noqa: ANN401 (JSON)
        return await self.api.post(f"{self.url}/regenerate", json={"revision": revision, **more})

    async def rows(self) -> dict[str, dict[str, Any]]:
        """Stored segments by their ids."""
        stored = await self.transcribed.accounts.connection.fetchval(
            "SELECT segments FROM captions WHERE video_id = $1 AND language = $2", self.transcribed.video_id, LANGUAGE
        )
        return {each["id"]: each for each in stored}

    async def start(self, job_id: str) -> tuple[JobRef, RegenerationPlan] | None:
        """Start a job as its workflow does; None if it cannot be made."""
        library_id = self.transcribed.library_id
        async with self.runtime.database.transaction(library_id) as connection:
            attempt = await connection.fetchval("SELECT attempt FROM jobs WHERE id = $1", job_id)
            ref = JobRef(library_id, job_id, attempt)
            plan = await lifecycle.start(connection, ref, prices=load_prices(), now=system_clock())
        if plan is None:
            return None
        return ref, RegenerationPlan(plan["video_id"], **plan["regeneration"])

    async def run(self, ref: JobRef, plan: RegenerationPlan) -> dict[str, Any]:
        found: dict[str, Any] = await ActivityEnvironment().run(self.activities.regenerate_captions, ref, plan)
        return found

    async def complete(self, ref: JobRef, outcome: dict[str, Any]) -> None:
        async with self.runtime.database.transaction(ref.library_id) as connection:
            assert await lifecycle.complete(connection, ref, result=outcome, now=system_clock(), prices=load_prices())

    async def finish(self, job_id: str) -> dict[str, Any]:
        """Every step of a regeneration; returns its result."""
        started = await self.start(job_id)
        assert started is not None
        outcome = await self.run(*started)
        await self.complete(started[0], outcome)
        return outcome

    async def fail(self, ref: JobRef) -> None:
        async with self.runtime.database.transaction(ref.library_id) as connection:
            await lifecycle.fail(connection, ref, failure=Failure("INTERNAL", "No."), now=system_clock())

    async def publish(self, revision: int) -> bool:
        ref = TrackRef(self.transcribed.library_id, self.transcribed.video_id, LANGUAGE, revision)
        published: bool = await ActivityEnvironment().run(self.activities.publish_captions, ref)
        return published

    async def file(self) -> str:
        path = subtitle_path(self.transcribed.library_id, self.transcribed.video_id, language=LANGUAGE, format_="srt")
        return b"".join([chunk async for chunk in self.runtime.storage.read(path)]).decode()

    async def balance(self) -> int:
        return await ledger.wallet_balance(self.transcribed.accounts.connection, self.transcribed.library_id)
