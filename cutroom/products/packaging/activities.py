"""The steps of packaging: writing a title or a description, and reading what a review decided."""

import asyncio
from dataclasses import dataclass
from typing import Any

from temporalio import activity

from cutroom.engines.registry import Engines
from cutroom.engines.writing.port import DescriptionKind, TitleStyle
from cutroom.jobs.ids import AutomationType, parse_job_id
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.steps import job_step
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.products.packaging import service
from cutroom.products.packaging.rules import SKIPPED, Run, why_skipped
from cutroom.products.thumbnails import service as thumbnails
from cutroom.products.thumbnails.material import ThumbnailRef, material_of
from cutroom.products.transcripts.service import transcript_of


@dataclass(frozen=True, slots=True)
class PackagingActivities:
    """A repeat writes the same text again."""

    database: Database
    engines: Engines
    clock: Clock

    @activity.defn(name="write_packaging")
    async def write_text(self, ref: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        """Write a title or a description onto the video, unless what is there shall stay."""
        key = parse_job_id(ref.job_id)
        assert key is not None
        assert key.automation is not None
        run, video_id = Run(key.automation, plan), plan["video_id"]
        async with job_step(self.database, self.clock, ref, "writing", progress=90):
            async with self.database.transaction(ref.library_id) as connection:
                current = await service.current_text(connection, ref.library_id, video_id, of=run.type)
                skipped = why_skipped(run.overwrite, current)
                if skipped is not None:
                    return {SKIPPED: skipped}
                transcript = await transcript_of(connection, ref.library_id, video_id)
                brand = await thumbnails.brand_of(connection, ref.library_id, plan.get("brandVoiceId"))
            material = material_of(transcript, guidelines=brand.guidelines)
            writer = await asyncio.to_thread(self.engines.writer)
            if run.type is AutomationType.TITLE:
                written = await asyncio.to_thread(writer.title, material, style=TitleStyle(plan["titleType"]))
            else:
                kind = DescriptionKind(plan["descriptionType"])
                written = await asyncio.to_thread(writer.description, material, kind=kind)
            async with self.database.transaction(ref.library_id) as connection:
                await service.put_text(connection, ref.library_id, video_id, of=run.type, text=written.text)
        note = {"note": written.note} if written.note else {}
        return {service.FIELD[run.type]: written.text, "engine": written.engine, **note}

    @activity.defn(name="read_review")
    async def read_decision(self, ref: JobRef, thumbnail: ThumbnailRef) -> bool | None:
        """Whether what was detected may be used, once somebody has said so."""
        async with (
            job_step(self.database, self.clock, ref, "waiting for approval", progress=50),
            self.database.transaction(ref.library_id) as connection,
        ):
            _, decision = await thumbnails.detected_for(connection, ref.library_id, thumbnail.request_id)
        return None if decision is None else bool(decision["approved"])
