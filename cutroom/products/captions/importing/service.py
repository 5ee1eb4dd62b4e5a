"""Imports translated subtitles as captions, whose texts count as set by hand."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from cutroom.accounts.principals import Principal
from cutroom.engines.translation.port import Quality
from cutroom.errors import Code, CutroomError, invalid_field
from cutroom.jobs.ids import JobKey, JobType
from cutroom.jobs.immediate.finished_jobs import record_finished_job
from cutroom.library.service import get_video
from cutroom.library.trash import keep_video
from cutroom.platform.db import Connection
from cutroom.products.captions.editing.operations import (
    SeenTranscript,
    SetText,
    apply_operations,
    changes_between,
)
from cutroom.products.captions.editing.schemas import described_changes
from cutroom.products.captions.editing.segments import CaptionSegment
from cutroom.products.captions.editing.service import CaptionEditor
from cutroom.products.captions.editing.tracks import (
    CurrentTranscript,
    StoredCaptions,
    TrackRef,
    add_imported,
    count_tracks,
    find_track,
    find_unfinished,
    publish_edited,
    read_transcript,
    save_edit,
    start_publication,
)
from cutroom.products.captions.importing.cue_placement import PlacedCues
from cutroom.products.captions.importing.line_placement import place_lines
from cutroom.products.captions.importing.schemas import CaptionImport, CaptionImportResult
from cutroom.products.transcripts.editing.operations import InvalidEditError
from cutroom.products.transcripts.editing.read_cues import MalformedSubtitlesError
from cutroom.products.transcripts.editing.service import require_state

ENGINE = "import"
MAX_LANGUAGES = 100  # of the captions of a video


@dataclass(frozen=True, slots=True)
class CaptionImporter:
    """A caller who imports captions of one language."""

    connection: Connection
    principal: Principal
    video_id: str
    language: str
    now: datetime

    async def import_captions(self, request: CaptionImport) -> CaptionImportResult:
        """Set the texts of the file; raise CONFLICT if the caller has seen older captions."""
        try:
            lines = await asyncio.to_thread(request.lines)
        except MalformedSubtitlesError as error:
            raise invalid_field("content", str(error)) from error
        await get_video(self.connection, self.principal, self.video_id)
        await keep_video(self.connection, self.principal.library_id, self.video_id)
        state = await require_state(self.connection, self.principal, self.video_id)
        track = await self._track(request.revision, spoken=state.language)
        transcript = await read_transcript(self.connection, self.principal.library_id, self.video_id, state)
        before = track.by_id if track is not None else {}
        placed = await asyncio.to_thread(place_lines, lines, transcript.segments, before, language=self.language)
        after = _with_texts(before, placed, transcript)
        changes = changes_between(before, after)
        revision = track.revision if track is not None else 0
        if changes:
            revision += 1
            ref = TrackRef(self.principal.library_id, self.video_id, self.language, revision)
            if track is None:
                await self._add(ref, after, placed, transcript, cues=len(lines))
            else:
                await save_edit(
                    self.connection, ref, list(after.values()), previous={each.id: each.before for each in changes}
                )
                await publish_edited(self.connection, ref, kind="import", changed_segments=len(changes), now=self.now)
            await start_publication(self.connection, ref)
        return CaptionImportResult(
            video_id=self.video_id,
            language=self.language,
            revision=revision,
            changes=described_changes(changes),
            total_changes=len(changes),
            placed_segments=len(placed.texts),
            empty_segments=len(transcript.segments) - len(placed.texts),
            unplaced_cues=placed.unplaced,
        )

    async def _track(self, revision: int, *, spoken: str) -> StoredCaptions | None:
        """The captions that are changed, locked; None if there are none. New ones need another language."""
        if revision:
            editor = CaptionEditor(self.connection, self.principal, self.video_id, self.language, self.now)
            track, _ = await editor.load(lock=True)
            editor.require_revision(track, revision)
            return track
        if spoken == self.language:
            message = "This is the language of the transcript. Import the file as its text."
            details = {"reason": "same_language", "language": self.language}
            raise CutroomError(Code.FAILED_PRECONDITION, message=message, details=details)
        library_id = self.principal.library_id
        running = await find_unfinished(self.connection, library_id, self.video_id, self.language)
        if running is not None:
            message = "These captions are being made. Wait until the job has ended, or cancel it."
            details = {"reason": "captions", "jobId": running}
            raise CutroomError(Code.FAILED_PRECONDITION, message=message, details=details)
        existing = await find_track(self.connection, library_id, self.video_id, self.language)
        if existing is not None:
            CaptionEditor.require_revision(existing, revision)
        if await count_tracks(self.connection, library_id, self.video_id) >= MAX_LANGUAGES:
            raise invalid_field("lang", f"A video has captions in at most {MAX_LANGUAGES} languages.")
        return None

    async def _add(
        self,
        ref: TrackRef,
        segments: Mapping[str, CaptionSegment],
        placed: PlacedCues,
        transcript: CurrentTranscript,
        *,
        cues: int,
    ) -> None:
        """Store captions of their own, with a job that is ready, as other captions have one."""
        key = JobKey(JobType.CAPTIONS, self.video_id, language=self.language)
        result = {
            "language": self.language,
            "sourceLanguage": transcript.language,
            "quality": Quality.PUBLISHABLE.value,
            "engines": [ENGINE],
            "via": [],
            "importedCues": cues - placed.unplaced,
            "flaggedLines": 0,
            "flagged": [],
        }
        if not await record_finished_job(
            self.connection, self.principal, key, self.video_id, result=result, now=self.now
        ):
            message = "The captions were made in the meantime. Get their revision, then repeat the import."
            raise CutroomError(Code.CONFLICT, message=message, details={"revision": 1})
        await add_imported(self.connection, ref, list(segments.values()), quality=Quality.PUBLISHABLE, now=self.now)


def _with_texts(
    before: Mapping[str, CaptionSegment], placed: PlacedCues, transcript: CurrentTranscript
) -> dict[str, CaptionSegment]:
    """The captions with imported texts; segments whose text is the same stay as they are."""
    known = {id_: each.text for id_, each in before.items()}
    operations = [SetText(id_, text) for id_, text in placed.texts.items() if known.get(id_) != text]
    seen = SeenTranscript(transcript.revision, {each.id: each for each in transcript.segments})
    try:
        after = apply_operations(before, operations, seen)
    except InvalidEditError as error:
        raise invalid_field("content", error.message) from error
    for each in operations:
        segment = after[each.segment_id]
        if segment.translation is None:
            after[each.segment_id] = replace(segment, engine=ENGINE)
    return after
