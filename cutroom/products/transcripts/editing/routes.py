"""HTTP routes of the revisions of a transcript."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from cutroom.accounts.scopes import Scope
from cutroom.errors import Code
from cutroom.products.transcripts.editing.schemas import (
    MAX_REVISION,
    RevisionComparison,
    RevisionDocument,
    RevisionGuard,
    RevisionPage,
    TranscriptChange,
    TranscriptEdit,
    TranscriptImport,
    described,
)
from cutroom.products.transcripts.editing.service import TranscriptEditor
from cutroom.web.middleware import CurrentCall, OperationRoute, RequestCall
from cutroom.web.operation import Access, operation
from cutroom.web.paging import DEFAULT_PAGE, MAX_PAGE

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Transcripts"])

VideoId = Annotated[str, Path(alias="videoId", min_length=1, description="The video's id.")]
RevisionNumber = Annotated[int, Path(ge=1, le=MAX_REVISION, description="The number of the revision.")]


@router.patch("/videos/{videoId}/transcript", summary="Edit a transcript")
@operation(scope=Scope.DUBS_WRITE, access=Access.WRITE, errors=(Code.CONFLICT, Code.FAILED_PRECONDITION))
async def edit_transcript(call: CurrentCall, video_id: VideoId, edit: TranscriptEdit) -> TranscriptChange:
    """Applies operations to a revision, all or none, and returns the new revision.

    If there is a newer revision than the given one, nothing is changed (409 `CONFLICT`): `details.revision` is the
    current one. Words of edited text are aligned with the sound in the background.
    """
    return _recorded(call, edit.revision, await _editor(call).edit(video_id, edit))


@router.post("/videos/{videoId}/transcript/undo", summary="Undo an edit of a transcript")
@operation(scope=Scope.DUBS_WRITE, access=Access.WRITE, errors=(Code.CONFLICT, Code.FAILED_PRECONDITION))
async def undo_edit(call: CurrentCall, video_id: VideoId, guard: RevisionGuard) -> TranscriptChange:
    """Returns to what the transcript was before its last change, as a new revision. Repeat it to go back further."""
    return _recorded(call, guard.revision, await _editor(call).undo(video_id, guard.revision))


@router.post("/videos/{videoId}/transcript/redo", summary="Redo an edit of a transcript")
@operation(scope=Scope.DUBS_WRITE, access=Access.WRITE, errors=(Code.CONFLICT, Code.FAILED_PRECONDITION))
async def redo_edit(call: CurrentCall, video_id: VideoId, guard: RevisionGuard) -> TranscriptChange:
    """Reverts the last undo, as a new revision."""
    return _recorded(call, guard.revision, await _editor(call).redo(video_id, guard.revision))


@router.post("/videos/{videoId}/transcript/import", summary="Import a text as transcript")
@operation(scope=Scope.DUBS_WRITE, access=Access.WRITE, errors=(Code.CONFLICT, Code.FAILED_PRECONDITION))
async def import_transcript(call: CurrentCall, video_id: VideoId, text: TranscriptImport) -> TranscriptChange:
    """Puts the words of subtitles or of a script in place of the recognized ones, as a new revision.

    The words are aligned with those that were recognized: segments keep their ids, times and speakers. Names of
    speakers in WebVTT are used.
    """
    return _recorded(call, text.revision, await _editor(call).import_text(video_id, text))


@router.get("/videos/{videoId}/transcript/revisions", summary="List revisions of a transcript")
@operation(scope=Scope.TRANSCRIPTS_READ, access=Access.READ, errors=(Code.INVALID_ARGUMENT, Code.FAILED_PRECONDITION))
async def list_revisions(
    call: CurrentCall,
    video_id: VideoId,
    limit: Annotated[
        int, Query(ge=1, le=MAX_PAGE, description="Maximum number of revisions to return.")
    ] = DEFAULT_PAGE,
    page_token: Annotated[
        str | None, Query(alias="pageToken", description="The `nextPageToken` of the previous page.")
    ] = None,
) -> RevisionPage:
    """Returns who changed the transcript, when and how, newest first. Results are paginated."""
    tokens, library_id = call.runtime.page_tokens, call.principal.library_id
    listing = f"revisions of {video_id}"
    before = tokens.read(page_token, listing=listing, library_id=library_id) if page_token is not None else None
    revision, found, more = await _editor(call).list_revisions(video_id, limit=limit, before_id=before)
    token = tokens.after(found[-1].id, listing=listing, library_id=library_id) if more else None
    return RevisionPage(revision=revision, revisions=[described(each) for each in found], next_page_token=token)


@router.get("/videos/{videoId}/transcript/revisions/{revision}", summary="Get a revision of a transcript")
@operation(scope=Scope.TRANSCRIPTS_READ, access=Access.READ, errors=(Code.INVALID_ARGUMENT, Code.FAILED_PRECONDITION))
async def get_revision(call: CurrentCall, video_id: VideoId, revision: RevisionNumber) -> RevisionDocument:
    """Retrieves a revision with its segments, which have the ids that edits refer to."""
    return await _editor(call).get_revision(video_id, revision)


@router.get("/videos/{videoId}/transcript/revisions/{revision}/comparison", summary="Compare revisions of a transcript")
@operation(scope=Scope.TRANSCRIPTS_READ, access=Access.READ, errors=(Code.INVALID_ARGUMENT, Code.FAILED_PRECONDITION))
async def compare_revisions(
    call: CurrentCall,
    video_id: VideoId,
    revision: RevisionNumber,
    to: Annotated[int, Query(ge=1, le=MAX_REVISION, description="The revision to compare with.", examples=[4])],
) -> RevisionComparison:
    """Returns the segments that differ between two revisions, matched by their ids."""
    return await _editor(call).compare(video_id, revision, to)


@router.post("/videos/{videoId}/transcript/revisions/{revision}/restore", summary="Restore a revision of a transcript")
@operation(scope=Scope.DUBS_WRITE, access=Access.WRITE, errors=(Code.CONFLICT, Code.FAILED_PRECONDITION))
async def restore_revision(
    call: CurrentCall, video_id: VideoId, revision: RevisionNumber, guard: RevisionGuard
) -> TranscriptChange:
    """Returns to the content of an earlier revision, as a new revision."""
    return _recorded(call, guard.revision, await _editor(call).restore(video_id, revision, guard.revision))


def _editor(call: RequestCall) -> TranscriptEditor:
    return TranscriptEditor(call.connection, call.principal, call.runtime.storage, call.now)


def _recorded(call: RequestCall, before: int, change: TranscriptChange) -> TranscriptChange:
    """Adds the revisions to the audit entry; never texts."""
    call.record_change(before={"revision": before}, after={"revision": change.revision})
    return change
