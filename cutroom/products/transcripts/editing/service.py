"""Edits transcripts for the API, and reads their revisions."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from cutroom.accounts.principals import Principal
from cutroom.errors import Code, CutroomError, invalid_field
from cutroom.jobs.ids import JobKey, JobType
from cutroom.jobs.states import JobState
from cutroom.library.service import get_duration, get_video
from cutroom.platform.db import Connection
from cutroom.platform.ids import new_id
from cutroom.platform.outbox import WorkflowStart, enqueue
from cutroom.platform.storage.objects import Storage
from cutroom.products.transcripts.alignment import read_words
from cutroom.products.transcripts.document import DocumentSegment, TranscriptDocument, speaker_rows
from cutroom.products.transcripts.editing import history
from cutroom.products.transcripts.editing.differences import compare_labels, difference_between
from cutroom.products.transcripts.editing.history import HistoryLinks, HistoryStep, RevisionKind, SegmentChange
from cutroom.products.transcripts.editing.operation_types import DeleteWords, SplitSegment
from cutroom.products.transcripts.editing.operations import EditContext, InvalidEditError, apply_operations
from cutroom.products.transcripts.editing.read_cues import MalformedSubtitlesError
from cutroom.products.transcripts.editing.revisions import (
    FIRST,
    NewRevision,
    RevisionAuthor,
    StoredRevision,
    TranscriptState,
    add_revision,
    find_revision,
    find_state,
    first_revision,
    list_revisions,
    read_document,
    read_links,
)
from cutroom.products.transcripts.editing.schemas import (
    RevisionComparison,
    RevisionDocument,
    TranscriptChange,
    TranscriptEdit,
    TranscriptImport,
    changed_segments,
    changed_speakers,
    described_document,
)
from cutroom.products.transcripts.editing.splitting import SplitPoint, split_point, words_within
from cutroom.products.transcripts.editing.text_placement import place_text
from cutroom.products.transcripts.segmentation import TimedWord
from cutroom.webhooks.publishing import publish_event

ALIGN_WORKFLOW = "align-transcript"


@dataclass(frozen=True, slots=True)
class AlignmentRef:
    """Identifies the revision of a transcript whose words are aligned."""

    library_id: str
    video_id: str
    revision: int

    @property
    def workflow_id(self) -> str:
        return f"{ALIGN_WORKFLOW}_{self.video_id}_{self.revision}"


@dataclass(frozen=True, slots=True)
class TranscriptEditor:
    """A caller who edits a transcript now."""

    connection: Connection
    principal: Principal
    storage: Storage
    now: datetime

    async def edit(self, video_id: str, edit: TranscriptEdit) -> TranscriptChange:
        """Apply operations to the current revision; raise CONFLICT if the caller has seen an older one."""
        operations = [each.to_operation() for each in edit.operations]
        words: Sequence[TimedWord] = ()
        if any(isinstance(each, SplitSegment | DeleteWords) for each in operations):  # before the row is locked
            words = await self._words(await self._state(video_id))
        state = await self._lock(video_id, edit.revision)
        before = await self._read(video_id, state)
        context = EditContext(
            language=state.language,
            duration_seconds=await get_duration(self.connection, self.principal.library_id, video_id),
            new_id=self._new_id,
            split_point=_split_points(words),
        )
        try:
            after = apply_operations(before, operations, context)
        except InvalidEditError as error:
            raise invalid_field(error.field, error.message) from error
        summary = Counter[str](each.op for each in edit.operations)
        return await self._save(
            video_id, state, (before, after), RevisionKind.EDIT, history.after_change(state.revision), summary=summary
        )

    async def import_text(self, video_id: str, text: TranscriptImport) -> TranscriptChange:
        """Put a text in place of the recognized one; raise CONFLICT if the caller has seen an older revision."""
        try:
            lines = await asyncio.to_thread(text.lines)
        except MalformedSubtitlesError as error:
            raise invalid_field("content", str(error)) from error
        state = await self._lock(video_id, text.revision)
        before = await self._read(video_id, state)
        until = await get_duration(self.connection, self.principal.library_id, video_id)
        place = partial(place_text, language=state.language, until_seconds=until, new_id=self._new_id)
        try:
            after = await asyncio.to_thread(place, before, lines)
        except InvalidEditError as error:
            raise invalid_field(error.field, error.message) from error
        links, summary = history.after_change(state.revision), {f"import.{text.format.value}": 1}
        return await self._save(video_id, state, (before, after), RevisionKind.EDIT, links, summary=summary)

    async def undo(self, video_id: str, revision: int) -> TranscriptChange:
        """Return to the content before the last change; after another undo, to the content before that."""
        return await self._walk(video_id, revision, RevisionKind.UNDO, history.undo)

    async def redo(self, video_id: str, revision: int) -> TranscriptChange:
        """Revert the last undo."""
        return await self._walk(video_id, revision, RevisionKind.REDO, history.redo)

    async def restore(self, video_id: str, target: int, revision: int) -> TranscriptChange:
        """Return to the content of an earlier revision."""
        state = await self._lock(video_id, revision)
        before, after = await self._read(video_id, state), await self._read(video_id, state, target)
        return await self._save(
            video_id,
            state,
            (before, after),
            RevisionKind.RESTORE,
            history.after_change(state.revision),
            restored_from=target,
        )

    async def get_revision(self, video_id: str, revision: int) -> RevisionDocument:
        """A revision with its content."""
        state = await self._state(video_id)
        stored = await find_revision(self.connection, self.principal.library_id, video_id, state, revision)
        document = await self._read(video_id, state, revision)
        return described_document(stored, document, speaker_rows(document))

    async def compare(self, video_id: str, from_: int, to: int) -> RevisionComparison:
        """What differs between two revisions."""
        state = await self._state(video_id)
        before, after = await self._read(video_id, state, from_), await self._read(video_id, state, to)
        changes = history.compare(before, after)
        return RevisionComparison(
            from_=from_,
            to=to,
            changes=changed_segments(changes),
            total_changes=len(changes),
            speakers=changed_speakers(compare_labels(before, after)),
        )

    async def list_revisions(
        self, video_id: str, *, limit: int, before_id: str | None
    ) -> tuple[int, list[StoredRevision], bool]:
        """The current revision, a page of revisions, and whether there are more."""
        state = await self._state(video_id)
        library_id = self.principal.library_id
        found = await list_revisions(self.connection, library_id, video_id, limit=limit + 1, before_id=before_id)
        if len(found) <= limit and (not found or found[-1].revision == FIRST + 1):
            found.append(first_revision(state))
        return state.revision, found[:limit], len(found) > limit

    async def _walk(
        self,
        video_id: str,
        revision: int,
        kind: RevisionKind,
        step: Callable[[Mapping[int, HistoryLinks], int], HistoryStep | None],
    ) -> TranscriptChange:
        state = await self._lock(video_id, revision)
        found = step(await read_links(self.connection, self.principal.library_id, video_id, state), state.revision)
        if found is None:
            reason = "nothing_to_undo" if kind is RevisionKind.UNDO else "nothing_to_redo"
            message = "There is nothing to undo." if kind is RevisionKind.UNDO else "There is nothing to redo."
            raise CutroomError(Code.FAILED_PRECONDITION, message=message, details={"reason": reason})
        documents = await self._read(video_id, state), await self._read(video_id, state, found.target)
        return await self._save(video_id, state, documents, kind, found.links, restored_from=found.target)

    async def _save(
        self,
        video_id: str,
        state: TranscriptState,
        documents: tuple[TranscriptDocument, TranscriptDocument],
        kind: RevisionKind,
        links: HistoryLinks,
        *,
        summary: Mapping[str, int] | None = None,
        restored_from: int | None = None,
    ) -> TranscriptChange:
        """Store a revision, publish its event, and start the alignment of its words."""
        before, after = documents
        difference = difference_between(before, after)
        if not difference and kind in {RevisionKind.EDIT, RevisionKind.RESTORE}:
            return TranscriptChange(
                video_id=video_id, revision=state.revision, changes=[], total_changes=0, speakers=[]
            )
        library_id = self.principal.library_id
        author = RevisionAuthor(self.principal.kind.value, self.principal.author_id)
        new = NewRevision(kind, author, difference, links, summary or {}, restored_from)
        revision = await add_revision(self.connection, library_id, video_id, state, new, now=self.now)
        changes = history.compare(before, after)
        await publish_edited(
            self.connection, library_id, video_id, revision=revision, kind=kind, changes=changes, now=self.now
        )
        await start_alignment(self.connection, AlignmentRef(library_id, video_id, revision))
        return TranscriptChange(
            video_id=video_id,
            revision=revision,
            changes=changed_segments(changes),
            total_changes=len(changes),
            speakers=changed_speakers(difference.labels),
        )

    def _new_id(self) -> str:
        return new_id(self.now.timestamp())

    async def _lock(self, video_id: str, revision: int) -> TranscriptState:
        state = await self._state(video_id, lock=True)
        if state.revision != revision:
            message = "The transcript was changed in the meantime. Get its current revision, then repeat the change."
            raise CutroomError(Code.CONFLICT, message=message, details={"revision": state.revision})
        return state

    async def _state(self, video_id: str, *, lock: bool = False) -> TranscriptState:
        return await require_state(self.connection, self.principal, video_id, lock=lock)

    async def _read(self, video_id: str, state: TranscriptState, revision: int | None = None) -> TranscriptDocument:
        return await read_document(self.connection, self.principal.library_id, video_id, state, revision)

    async def _words(self, state: TranscriptState) -> Sequence[TimedWord]:
        """The words that were published last, which are close to those of edited text."""
        if await self.storage.size(state.alignment_path) is None:
            return ()
        return read_words(b"".join([chunk async for chunk in self.storage.read(state.alignment_path)]))


def _split_points(words: Sequence[TimedWord]) -> Callable[[DocumentSegment, int], SplitPoint]:
    def find(segment: DocumentSegment, at: int) -> SplitPoint:
        return split_point(segment, at, known=words_within(words, segment.start_seconds, segment.end_seconds))

    return find


async def require_state(
    connection: Connection, principal: Principal, video_id: str, *, lock: bool = False
) -> TranscriptState:
    """A finished transcript of a video of the caller; raises FAILED_PRECONDITION if there is none."""
    await get_video(connection, principal, video_id)
    library_id = principal.library_id
    job_id = JobKey(JobType.TRANSCRIPT, video_id).id
    status = await connection.fetchval("SELECT status FROM jobs WHERE library_id = $1 AND id = $2", library_id, job_id)
    state = await find_state(connection, library_id, video_id, lock=lock)
    if status != JobState.READY or state is None:
        message = "There is no finished transcript."
        details = {"reason": "transcript", **({"jobId": job_id} if status is not None else {})}
        raise CutroomError(Code.FAILED_PRECONDITION, message=message, details=details)
    return state


async def publish_edited(
    connection: Connection,
    library_id: str,
    video_id: str,
    *,
    revision: int,
    kind: RevisionKind,
    changes: Sequence[SegmentChange],
    now: datetime,
) -> None:
    """Publish `transcript.edited`, without texts."""
    data = {"videoId": video_id, "revision": revision, "kind": kind.value, "changedSegments": len(changes)}
    await publish_event(connection, library_id, type="transcript.edited", data=data, now=now)


async def start_alignment(connection: Connection, ref: AlignmentRef) -> None:
    """Align the words of a revision in the background, and publish it with its subtitles."""
    argument = {"library_id": ref.library_id, "video_id": ref.video_id, "revision": ref.revision}
    await enqueue(connection, WorkflowStart(ref.library_id, ALIGN_WORKFLOW, ref.workflow_id, argument))
