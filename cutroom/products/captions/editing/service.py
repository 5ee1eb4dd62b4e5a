"""Reads and edits the segments of captions for the API."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cutroom.accounts.principals import Principal
from cutroom.capabilities.service import rate_translations
from cutroom.credits.pricing import Action, BillableItem, PriceList, Term, price, to_credits, to_milliseconds
from cutroom.credits.service import is_subscriber
from cutroom.engines.translation.port import Quality
from cutroom.errors import Code, CutroomError, invalid_field, not_found
from cutroom.jobs.ids import JobKey, JobType
from cutroom.jobs.states import JobState
from cutroom.library.service import get_duration, get_video
from cutroom.library.trash import keep_video
from cutroom.platform.db import Connection
from cutroom.products.captions.editing.operations import (
    Operation,
    SeenTranscript,
    apply_operations,
    changes_between,
)
from cutroom.products.captions.editing.rules import (
    SegmentStatus,
    changed_milliseconds,
    compare_track,
    estimate_seconds,
    select_stale,
)
from cutroom.products.captions.editing.schemas import (
    CaptionChange,
    CaptionEdit,
    CaptionSegments,
    RegenerationQuote,
    UndoOperation,
    described_changes,
    described_segment,
)
from cutroom.products.captions.editing.segments import CaptionSegment
from cutroom.products.captions.editing.tracks import (
    CurrentTranscript,
    StoredCaptions,
    TrackRef,
    find_track,
    publish_edited,
    read_transcript,
    save_edit,
    start_publication,
)
from cutroom.products.transcripts.editing.operations import InvalidEditError
from cutroom.products.transcripts.editing.revisions import TranscriptState, find_state

MEASURED_JOBS = 5  # whose time for each line an estimate is based on
_LINE_SECONDS = f"""SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) FROM (
    SELECT extract(epoch FROM finished_at - started_at) / (result ->> 'lines')::integer AS seconds FROM jobs
     WHERE library_id = $1 AND type = 'captions' AND status = 'ready' AND language = $2
       AND (result ->> 'lines')::integer > 0
     ORDER BY finished_at DESC LIMIT {MEASURED_JOBS}) measured"""  # noqa: S608 (a constant)


@dataclass(frozen=True, slots=True)
class CaptionEditor:
    """A caller who reads or edits the captions of one language."""

    connection: Connection
    principal: Principal
    video_id: str
    language: str
    now: datetime

    async def get_segments(self, *, prices: PriceList) -> CaptionSegments:
        """Every segment with its state, and what bringing the stale ones up to date takes."""
        track, state = await self.load()
        transcript = await self.read(state)
        statuses = compare_track(track.segments, transcript.segments)
        stale = select_stale(statuses, None)
        return CaptionSegments(
            video_id=self.video_id,
            language=self.language,
            revision=track.revision,
            transcript_revision=transcript.revision,
            quality=track.quality,
            segments=[described_segment(each) for each in statuses],
            stale_segments=len(stale),
            review_segments=sum(each.needs_review for each in statuses),
            regeneration=await self._quote(stale, transcript, prices=prices),
        )

    async def _quote(
        self, stale: Sequence[SegmentStatus], transcript: CurrentTranscript, *, prices: PriceList
    ) -> RegenerationQuote:
        lines = sum(each.needs_translation for each in stale)
        milliseconds, cost, quality = changed_milliseconds(stale), 0, None
        if milliseconds:
            quality = await self.rate(transcript)
            cost = await self._price(regeneration_item(self.language, milliseconds, quality), prices)
        line_seconds: float | None = await self.connection.fetchval(
            _LINE_SECONDS, self.principal.library_id, self.language
        )
        return RegenerationQuote(
            segments=len(stale),
            translated_segments=lines,
            seconds=milliseconds / 1000,
            credits=to_credits(cost),
            quality=quality,
            estimated_seconds=estimate_seconds(lines, line_seconds=line_seconds),
        )

    async def _price(self, item: BillableItem, prices: PriceList) -> int:
        duration = await get_duration(self.connection, self.principal.library_id, self.video_id)
        milliseconds = to_milliseconds(duration) if duration is not None else None
        return price(
            item, prices=prices, duration_milliseconds=milliseconds, is_subscriber=is_subscriber(self.principal)
        )

    async def rate(self, transcript: CurrentTranscript) -> Quality | None:
        """The class of a translation made now; None if there is no route."""
        rated = await rate_translations(self.connection, [self.language], source=transcript.language, now=self.now)
        return rated.get(self.language)

    async def edit(self, edit: CaptionEdit) -> CaptionChange:
        """Apply operations to the current revision; raise CONFLICT if the caller has seen an older one."""
        await keep_video(self.connection, self.principal.library_id, self.video_id)
        track, state = await self.load(lock=True)
        self.require_revision(track, edit.revision)
        before = track.by_id
        if any(isinstance(each, UndoOperation) for each in edit.operations):
            after, kind = _reverted(track, len(edit.operations)), "undo"
        else:
            operations = [each.to_operation() for each in edit.operations if not isinstance(each, UndoOperation)]
            after, kind = await self._applied(track, state, operations, seen=edit.transcript_revision), "edit"
        changes = changes_between(before, after)
        revision = track.revision
        if changes:
            revision += 1
            ref = TrackRef(self.principal.library_id, self.video_id, self.language, revision)
            previous = {each.id: each.before for each in changes}
            await save_edit(self.connection, ref, list(after.values()), previous=previous)
            await publish_edited(self.connection, ref, kind=kind, changed_segments=len(changes), now=self.now)
            await start_publication(self.connection, ref)
        return CaptionChange(
            video_id=self.video_id,
            language=self.language,
            revision=revision,
            changes=described_changes(changes),
            total_changes=len(changes),
        )

    async def _applied(
        self, track: StoredCaptions, state: TranscriptState, operations: Sequence[Operation], *, seen: int | None
    ) -> dict[str, CaptionSegment]:
        if seen is not None and seen > state.revision:
            raise invalid_field("transcriptRevision", "There is no such revision of the transcript.")
        transcript = await self.read(state, seen)
        segments = {each.id: each for each in transcript.segments}
        try:
            return apply_operations(track.by_id, operations, SeenTranscript(transcript.revision, segments))
        except InvalidEditError as error:
            raise invalid_field(error.field, error.message) from error

    async def load(self, *, lock: bool = False) -> tuple[StoredCaptions, TranscriptState]:
        """The finished captions and the state of their transcript."""
        await get_video(self.connection, self.principal, self.video_id)
        library_id = self.principal.library_id
        job_id = JobKey(JobType.CAPTIONS, self.video_id, language=self.language).id
        job = await self.connection.fetchrow(
            "SELECT status, output_deleted_at FROM jobs WHERE library_id = $1 AND id = $2", library_id, job_id
        )
        if job is None or job["output_deleted_at"] is not None:
            raise not_found()
        track = await find_track(self.connection, library_id, self.video_id, self.language, lock=lock)
        state = await find_state(self.connection, library_id, self.video_id)
        if job["status"] != JobState.READY or track is None or state is None:
            message = "There are no finished captions in this language."
            raise CutroomError(
                Code.FAILED_PRECONDITION, message=message, details={"reason": "captions", "jobId": job_id}
            )
        return track, state

    async def read(self, state: TranscriptState, revision: int | None = None) -> CurrentTranscript:
        return await read_transcript(self.connection, self.principal.library_id, self.video_id, state, revision)

    @staticmethod
    def require_revision(track: StoredCaptions, revision: int) -> None:
        if track.revision != revision:
            message = "The captions were changed in the meantime. Get their current revision, then repeat the change."
            raise CutroomError(Code.CONFLICT, message=message, details={"revision": track.revision})


def _reverted(track: StoredCaptions, operations: int) -> dict[str, CaptionSegment]:
    if operations > 1:
        raise invalid_field("operations", "An undo is the only operation of its request.")
    if not track.previous:
        message = "There is nothing to undo."
        raise CutroomError(Code.FAILED_PRECONDITION, message=message, details={"reason": "nothing_to_undo"})
    replaced = track.by_id | dict(track.previous)
    return {id_: segment for id_, segment in replaced.items() if segment is not None}


def regeneration_item(language: str, milliseconds: int, quality: Quality | None) -> BillableItem:
    """What translating a part of captions again is charged as."""
    item = BillableItem(Action.CAPTIONS, "captions", language, terms={Term.MILLISECONDS.value: milliseconds})
    return item.as_draft() if quality is Quality.DRAFT else item
