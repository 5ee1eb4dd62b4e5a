"""Requests jobs that bring stale segments of captions up to date."""

from collections.abc import Sequence

from cutroom.capabilities.rules import REFUSES_DRAFTS
from cutroom.capabilities.service import check_languages, refuse_drafts
from cutroom.credits.pricing import PriceList
from cutroom.credits.rules import Charge
from cutroom.credits.service import is_subscriber
from cutroom.errors import Code, CutroomError, invalid_field
from cutroom.jobs.ids import JobKey, JobType
from cutroom.jobs.schemas import Job
from cutroom.jobs.service import NewJob, get_job, request_jobs
from cutroom.library.trash import keep_video
from cutroom.products.captions.editing.rules import SegmentStatus, changed_milliseconds, compare_track, select_stale
from cutroom.products.captions.editing.schemas import Regeneration
from cutroom.products.captions.editing.service import CaptionEditor, regeneration_item
from cutroom.products.captions.editing.tracks import CurrentTranscript, StoredCaptions, find_unfinished


async def regenerate(editor: CaptionEditor, request: Regeneration, *, prices: PriceList) -> Job:
    """Create the job, or return the one that was created for this revision before.

    The row of the captions is locked until the transaction ends, so that a segment is never charged twice.
    """
    connection, library_id = editor.connection, editor.principal.library_id
    await keep_video(connection, library_id, editor.video_id)
    track, state = await editor.load(lock=True)
    key = JobKey(JobType.CAPTIONS, editor.video_id, language=editor.language, revision=request.revision)
    running = await find_unfinished(connection, library_id, editor.video_id, editor.language)
    if running == key.id or _is_done(track, key):
        return await get_job(connection, library_id, key.id)
    editor.require_revision(track, request.revision)
    if running is not None:
        message = "Segments of these captions are being translated. Wait until the job has ended, or cancel it."
        details = {"reason": "regenerating", "jobId": running}
        raise CutroomError(Code.FAILED_PRECONDITION, message=message, details=details)
    if request.transcript_revision is not None and request.transcript_revision != state.revision:
        message = "The transcript was changed in the meantime. Get the segments again."
        revisions = {"revision": track.revision, "transcriptRevision": state.revision}
        raise CutroomError(Code.CONFLICT, message=message, details=revisions)
    transcript = await editor.read(state)
    selected = _select(compare_track(track.segments, transcript.segments), request.segment_ids)
    charge = await _charge(editor, selected, transcript, accept_draft=request.accept_draft)
    # Apart from the fields of other plans: a worker of 0.1.0 would translate the whole track.
    regeneration = {
        "language": editor.language,
        "revision": request.revision,
        "transcript_revision": transcript.revision,
        "segment_ids": request.segment_ids,
    }
    plan = {
        "regeneration": regeneration,
        "is_translated": charge is not None,
        REFUSES_DRAFTS: editor.principal.refuses_drafts and not request.accept_draft,
    }
    # A ready job of this revision is one of captions that were deleted since, whose revisions began again.
    job = NewJob(key, editor.video_id, plan=plan, charge=charge, rerun=True)
    ((created, _),) = await request_jobs(connection, editor.principal, [job], prices=prices, now=editor.now)
    return created


def _is_done(track: StoredCaptions, key: JobKey) -> bool:
    """Whether the job of this key has changed the track last."""
    changed_by = track.regenerated["jobId"] if track.regenerated is not None else None
    return changed_by == key.id and key.revision is not None and track.revision > key.revision


def _select(statuses: Sequence[SegmentStatus], ids: Sequence[str] | None) -> list[SegmentStatus]:
    known = {each.id for each in statuses}
    for at, segment_id in enumerate(ids or ()):
        if segment_id not in known:
            raise invalid_field(f"segmentIds.{at}", "There is no such segment.")
    selected = select_stale(statuses, ids)
    if not selected:
        message = "None of these segments is stale."
        raise CutroomError(Code.FAILED_PRECONDITION, message=message, details={"reason": "nothing_stale"})
    return selected


async def _charge(
    editor: CaptionEditor, selected: Sequence[SegmentStatus], transcript: CurrentTranscript, *, accept_draft: bool
) -> Charge | None:
    """The charge for what is translated; None if only times, speakers or removed segments are taken over."""
    milliseconds = changed_milliseconds(selected)
    if not milliseconds:
        return None
    languages, source = [editor.language], transcript.language
    await check_languages(editor.connection, languages, source=source, now=editor.now)
    quality = await editor.rate(transcript)
    if quality is not None and editor.principal.refuses_drafts and not accept_draft:
        refuse_drafts({editor.language: quality})
    item = regeneration_item(editor.language, milliseconds, quality)
    return Charge(items=(item,), is_subscriber=is_subscriber(editor.principal))
