"""Packaging activities: writes titles and descriptions, and reads review decisions."""

import asyncio
from dataclasses import dataclass
from typing import Any

from temporalio import activity

from cutroom.engines.registry import Engines
from cutroom.engines.writing.port import DescriptionKind, TitleStyle
from cutroom.jobs.ids import AutomationType, parse_job_id
from cutroom.jobs.lifecycle import JobRef, require_running
from cutroom.jobs.progress import stop_measuring
from cutroom.jobs.steps import job_step
from cutroom.library.branding import load_brand
from cutroom.library.videos import get_text, set_text
from cutroom.notifications.rules import NotificationKind
from cutroom.notifications.service import notify
from cutroom.platform.clock import Clock
from cutroom.platform.db import Connection, Database
from cutroom.products.packaging import service
from cutroom.products.packaging.rules import SKIPPED, AutomationRun, skip_reason
from cutroom.products.thumbnails import service as thumbnails
from cutroom.products.thumbnails.inputs import ThumbnailRef, writing_input
from cutroom.products.transcripts.kept_terms import load_kept_terms
from cutroom.products.transcripts.service import load_transcript
from cutroom.products.transcripts.staleness.query import TRANSCRIPT_REVISION


@dataclass(frozen=True, slots=True)
class PackagingActivities:
    """Idempotent: a retry writes the same text."""

    database: Database
    engines: Engines
    clock: Clock

    @activity.defn(name="write_packaging_text")
    async def write_text(self, ref: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        """Writes a title or description, unless the overwrite mode keeps the current one."""
        key = parse_job_id(ref.job_id)
        assert key is not None
        assert key.automation is not None
        run, video_id = AutomationRun(key.automation, plan), plan["video_id"]
        async with job_step(self.database, self.clock, ref, "writing", progress=90):
            async with self.database.transaction(ref.library_id) as connection:
                current = await get_text(connection, ref.library_id, video_id, field=service.VIDEO_FIELD[run.type])
                skipped = skip_reason(run.overwrite, current)
                if skipped is not None:
                    return {SKIPPED: skipped}
                transcript = await load_transcript(connection, ref.library_id, video_id)
                brand = await load_brand(connection, ref.library_id, plan.get("brandVoiceId"))
                kept = await load_kept_terms(connection, ref.library_id, video_id, transcript)
            title = current if run.type is AutomationType.TITLE else None
            source = writing_input(transcript, guidelines=brand.guidelines, title=title, names=kept.terms.names)
            writer = await asyncio.to_thread(self.engines.writer)
            if run.type is AutomationType.TITLE:
                written = await asyncio.to_thread(writer.title, source, style=TitleStyle(plan["titleType"]))
            else:
                kind = DescriptionKind(plan["descriptionType"])
                written = await asyncio.to_thread(writer.description, source, kind=kind)
            async with self.database.transaction(ref.library_id) as connection:
                await require_running(connection, ref)
                await set_text(
                    connection,
                    ref.library_id,
                    video_id,
                    field=service.VIDEO_FIELD[run.type],
                    text=written.text,
                    now=self.clock(),
                )
        note = {"note": written.note} if written.note else {}
        candidates = [written.text, *written.alternatives]
        return {
            TRANSCRIPT_REVISION: transcript.revision,
            service.VIDEO_FIELD[run.type]: written.text,
            "candidates": candidates,
            "engine": written.engine,
            **kept.report(candidates),
            **note,
        }

    @activity.defn(name="read_review_decision")
    async def read_decision(self, ref: JobRef, thumbnail: ThumbnailRef) -> bool | None:
        """Whether the detections were approved; None while undecided."""
        async with (
            job_step(self.database, self.clock, ref, "waiting for approval", progress=50),
            self.database.transaction(ref.library_id) as connection,
        ):
            _, decision = await thumbnails.load_detections(connection, ref.library_id, thumbnail.request_id)
            if decision is None:
                await stop_measuring(connection, ref)
                await self._request_review(connection, ref, thumbnail)
        return None if decision is None else bool(decision["approved"])

    async def _request_review(self, connection: Connection, ref: JobRef, thumbnail: ThumbnailRef) -> None:
        """Notify the members who want it: once per run of the job, however often the decision is read."""
        await notify(
            connection,
            ref.library_id,
            NotificationKind.REVIEW_REQUESTED,
            source=f"review {ref.job_id} {ref.attempt}",
            subject={"id": ref.job_id, "videoId": thumbnail.video_id},
            now=self.clock(),
        )
