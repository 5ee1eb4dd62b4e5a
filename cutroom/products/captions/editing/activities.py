"""Activities that store the files of edited captions, and that bring stale segments up to date."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from temporalio import activity

from cutroom.engines.registry import Engines
from cutroom.engines.translation.routing import lowest_quality
from cutroom.errors import not_found
from cutroom.glossary.broken_terms import broken_terms_report
from cutroom.glossary.service import load_glossary
from cutroom.jobs.ids import workflow_id
from cutroom.jobs.lifecycle import JobRef, require_running, start_playback
from cutroom.jobs.progress import stop_measuring
from cutroom.jobs.steps import heartbeating, job_step
from cutroom.library.service import get_duration, get_title
from cutroom.media.subtitles import MAX_SECONDS
from cutroom.platform.clock import Clock
from cutroom.platform.db import Connection, Database
from cutroom.platform.storage.objects import Storage
from cutroom.products.captions.editing.rules import (
    SegmentStatus,
    compare_track,
    merge_update,
    select_stale,
    updated_segment,
)
from cutroom.products.captions.editing.segments import CaptionSegment
from cutroom.products.captions.editing.tracks import (
    CurrentTranscript,
    StoredCaptions,
    TrackRef,
    find_track,
    mark_published,
    publish_edited,
    read_transcript,
    save_regeneration,
)
from cutroom.products.captions.editing.windows import RetranslatedLines, TalkContext, translate_windows
from cutroom.products.captions.editing.words import with_words
from cutroom.products.captions.translated_lines import MAX_FLAGGED
from cutroom.products.transcripts.alignment import attach_words, read_words
from cutroom.products.transcripts.editing.revisions import find_state
from cutroom.products.transcripts.segmentation import TranscriptSegment
from cutroom.products.transcripts.service import StoredTranscript, load_transcript
from cutroom.products.transcripts.subtitles import reading_speed_report, store_subtitles
from cutroom.products.transcripts.subtitling.cues import CueSheet

MAX_UNPUBLISHED = 50  # revisions; the files of one that is not the newest are left out before


@dataclass(frozen=True, slots=True)
class RegenerationPlan:
    """What a job was charged for: the revision of the transcript, and the segments, or every stale one."""

    video_id: str
    language: str
    revision: int
    transcript_revision: int
    segment_ids: list[str] | None


@dataclass(frozen=True, slots=True)
class _Prepared:
    track: StoredCaptions
    transcript: CurrentTranscript
    spoken: StoredTranscript  # with its words, for the timing of cues
    selected: Sequence[SegmentStatus]
    context: TalkContext
    result: dict[str, Any] | None  # of an attempt that had stored it when its worker was killed


@dataclass(frozen=True, slots=True)
class CaptionEditingActivities:
    """Activities of caption tracks that exist; a track is changed in one transaction, together with its files."""

    database: Database
    storage: Storage
    engines: Engines
    clock: Clock

    @activity.defn(name="publish_captions")
    async def publish_captions(self, ref: TrackRef) -> bool:
        """Store the subtitle files of the current revision; False if a later publication does, or did."""
        async with heartbeating():
            while True:
                async with self.database.transaction(ref.library_id) as connection:
                    track = await find_track(connection, ref.library_id, ref.video_id, ref.language)
                    if track is None or not _is_needed(track, ref):
                        return False
                    spoken = await load_transcript(connection, ref.library_id, ref.video_id)
                segments = await self._timed(track.segments, spoken)
                current = replace(ref, revision=track.revision)
                async with self.database.transaction(ref.library_id) as connection:
                    locked = await find_track(connection, ref.library_id, ref.video_id, ref.language, lock=True)
                    if locked is None:
                        return False
                    if locked.revision != track.revision:
                        continue
                    # Under the row lock, so that files of an older revision never replace those of a newer one.
                    await self._store(connection, current, segments, spoken=spoken)
                    await mark_published(connection, current, now=self.clock())
                    cause = f"{activity.info().workflow_id}.{track.revision}"
                    await start_playback(connection, ref.library_id, ref.video_id, cause=cause)
                return True

    @activity.defn(name="regenerate_captions")
    async def regenerate_captions(self, job: JobRef, plan: RegenerationPlan) -> dict[str, Any]:
        """Translate stale segments again, store the track with its files, and return the job's result."""
        async with heartbeating():
            prepared = await self._prepare(job, plan)
        if prepared.result is not None:
            return prepared.result
        wanted = [each.id for each in prepared.selected if each.needs_translation]
        lines = RetranslatedLines({})
        if wanted:
            async with job_step(self.database, self.clock, job, "translating", progress=90) as report_progress:
                lines = await asyncio.to_thread(
                    translate_windows,
                    self.engines,
                    prepared.transcript,
                    wanted,
                    target=plan.language,
                    context=prepared.context,
                    report_progress=report_progress,
                )
        async with heartbeating():
            return await self._save(job, plan, prepared, lines)

    async def _prepare(self, job: JobRef, plan: RegenerationPlan) -> _Prepared:
        async with self.database.transaction(job.library_id) as connection:
            # Its run says nothing about one that translates the whole video.
            await stop_measuring(connection, job)
            track = await find_track(connection, job.library_id, plan.video_id, plan.language)
            state = await find_state(connection, job.library_id, plan.video_id)
            if track is None or state is None:
                raise not_found()
            transcript = await read_transcript(
                connection, job.library_id, plan.video_id, state, plan.transcript_revision
            )
            spoken = await load_transcript(connection, job.library_id, plan.video_id)
            title = await get_title(connection, job.library_id, plan.video_id)
            glossary = await load_glossary(
                connection, job.library_id, plan.video_id, source=transcript.language, target=plan.language
            )
        is_stored = track.regenerated is not None and track.regenerated["holder"] == _holder(job)
        selected = select_stale(compare_track(track.segments, transcript.segments), plan.segment_ids)
        result = track.regenerated["result"] if is_stored and track.regenerated is not None else None
        return _Prepared(track, transcript, spoken, selected, TalkContext(spoken.speakers, title, glossary), result)

    async def _save(
        self, job: JobRef, plan: RegenerationPlan, prepared: _Prepared, lines: RetranslatedLines
    ) -> dict[str, Any]:
        revision = prepared.transcript.revision
        planned = {each.id: each.caption for each in prepared.selected}
        updated = {
            each.id: updated_segment(each, lines.segments.get(each.id), transcript_revision=revision)
            for each in prepared.selected
        }
        async with self.database.transaction(job.library_id) as connection:
            await require_running(connection, job)
            track = await find_track(connection, job.library_id, plan.video_id, plan.language, lock=True)
            if track is None:
                raise not_found()
            segments = merge_update(track.segments, planned, updated)
            ref = TrackRef(job.library_id, plan.video_id, plan.language, track.revision + 1)
            timed = await self._timed(segments, prepared.spoken)
            sheet = await self._store(connection, ref, timed, spoken=prepared.spoken)
            is_mixed = any(each.id not in lines.segments and not each.edited for each in segments)
            known = [track.quality] if is_mixed or lines.quality is None else []
            quality = lowest_quality([*known, *([lines.quality] if lines.quality else [])])
            result = {
                "language": plan.language,
                "sourceLanguage": prepared.transcript.language,
                "revision": ref.revision,
                "transcriptRevision": revision,
                "quality": (lines.quality or quality).value,
                "engines": list(lines.engines),
                "via": list(lines.via),
                "lines": len(lines.segments),
                "updatedSegments": len(updated),
                "flaggedLines": len(lines.flagged),
                "flagged": list(lines.flagged[:MAX_FLAGGED]),
                "fallbackLines": lines.fallback_lines,
                "glossaryVersion": prepared.context.glossary.version,
                **broken_terms_report(lines.broken),
                **reading_speed_report(sheet),
            }
            await save_regeneration(
                connection,
                ref,
                segments,
                quality=quality,
                regenerated={"jobId": job.job_id, "holder": _holder(job), "result": result},
                now=self.clock(),
            )
            await publish_edited(connection, ref, kind="regeneration", changed_segments=len(updated), now=self.clock())
        return result

    async def _store(
        self, connection: Connection, ref: TrackRef, segments: Sequence[TranscriptSegment], *, spoken: StoredTranscript
    ) -> CueSheet:
        duration = await get_duration(connection, ref.library_id, ref.video_id)
        return await store_subtitles(
            self.storage,
            segments,
            library_id=ref.library_id,
            video_id=ref.video_id,
            language=ref.language,
            until_seconds=duration or MAX_SECONDS,
            labels=spoken.labels,
        )

    async def _timed(self, captions: Sequence[CaptionSegment], transcript: StoredTranscript) -> list[TranscriptSegment]:
        exists = await self.storage.size(transcript.alignment_path) is not None
        words = read_words(await self._read(transcript.alignment_path)) if exists else []
        spoken = await asyncio.to_thread(attach_words, transcript.segments, words)
        return with_words(captions, spoken, transcript.segment_ids)

    async def _read(self, path: str) -> bytes:
        return b"".join([chunk async for chunk in self.storage.read(path)])


def _is_needed(track: StoredCaptions, ref: TrackRef) -> bool:
    if ref.revision <= track.published_revision:
        return False
    return ref.revision >= track.revision or track.revision - track.published_revision >= MAX_UNPUBLISHED


def _holder(job: JobRef) -> str:
    return workflow_id(job.job_id, job.attempt)
