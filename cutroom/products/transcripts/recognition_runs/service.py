"""Starts comparisons of existing transcripts with the cast, and stores who was recognized."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from cutroom.accounts.principals import Principal
from cutroom.cast import recognition, runs
from cutroom.cast.matching import RecognizedSpeaker
from cutroom.cast.schemas import CastRecognitionRun
from cutroom.platform.db import Connection
from cutroom.platform.outbox import WorkflowStart, enqueue
from cutroom.products.transcripts.document import TranscriptDocument, speaker_label
from cutroom.products.transcripts.editing import history
from cutroom.products.transcripts.editing.differences import difference_between
from cutroom.products.transcripts.editing.history import RevisionKind
from cutroom.products.transcripts.editing.revisions import (
    NewRevision,
    RevisionAuthor,
    TranscriptState,
    add_revision,
    read_document,
)
from cutroom.products.transcripts.editing.service import AlignmentRef, publish_edited, start_alignment

RUN_WORKFLOW = "recognize-cast"
PAGE = 200  # transcripts that are read at once
MAX_LISTED = 50  # videos per execution of the workflow


@dataclass(frozen=True, slots=True)
class RecognitionRunRef:
    """Identifies a comparison of existing transcripts with the cast."""

    library_id: str
    run_id: str

    @property
    def workflow_id(self) -> str:
        return f"{RUN_WORKFLOW}_{self.run_id}"


async def start_run(
    connection: Connection, principal: Principal, *, folder_id: str | None, now: datetime
) -> CastRecognitionRun:
    run = await runs.start_run(connection, principal.library_id, folder_id=folder_id, now=now)
    ref = RecognitionRunRef(principal.library_id, run.id)
    argument = {"library_id": ref.library_id, "run_id": ref.run_id}
    await enqueue(connection, WorkflowStart(ref.library_id, RUN_WORKFLOW, ref.workflow_id, argument))
    return run


async def next_videos(connection: Connection, ref: RecognitionRunRef) -> list[str]:
    """The next videos to compare, in the order of their ids; none at the end."""
    run = await runs.find_running(connection, ref.library_id, ref.run_id)
    if run is None:
        return []
    found, after = list[str](), run.last_video_id
    while len(found) < MAX_LISTED:
        rows = await connection.fetch(
            """SELECT t.video_id FROM transcripts t
               JOIN videos v ON v.library_id = t.library_id AND v.id = t.video_id AND v.deleted_at IS NULL
               WHERE t.library_id = $1 AND ($2::text IS NULL OR t.video_id > $2)
               ORDER BY t.video_id LIMIT $3""",
            ref.library_id,
            after,
            PAGE,
        )
        if not rows:
            break
        listed = [row["video_id"] for row in rows]
        after = listed[-1]
        found += await runs.recognized_among(connection, ref.library_id, run, listed)
    return found[:MAX_LISTED]


async def save_recognized(
    connection: Connection,
    library_id: str,
    video_id: str,
    state: TranscriptState,
    recognized: Sequence[RecognizedSpeaker],
    *,
    now: datetime,
) -> int:
    """Store who was recognized in a transcript whose row the caller has locked; return how many were added.

    They get the name of the member, as a revision that people can undo. Names that people have set stay.
    """
    added = await recognition.add_recognized(connection, library_id, video_id, recognized, now=now)
    before = await read_document(connection, library_id, video_id, state)
    names = {each.speaker: each.name for each in added if before.labels[each.speaker] == speaker_label(each.speaker)}
    if names:
        after = replace(before, labels={**before.labels, **names})
        await _add_names(connection, library_id, video_id, state, (before, after), now=now)
    return len(added)


async def _add_names(
    connection: Connection,
    library_id: str,
    video_id: str,
    state: TranscriptState,
    documents: tuple[TranscriptDocument, TranscriptDocument],
    *,
    now: datetime,
) -> None:
    before, after = documents
    difference = difference_between(before, after)
    links, summary = history.after_change(state.revision), {"renameSpeaker": len(difference.labels)}
    new = NewRevision(RevisionKind.EDIT, RevisionAuthor(), difference, links, summary)
    revision = await add_revision(connection, library_id, video_id, state, new, now=now)
    changes = history.compare(before, after)
    await publish_edited(
        connection, library_id, video_id, revision=revision, kind=RevisionKind.EDIT, changes=changes, now=now
    )
    await start_alignment(connection, AlignmentRef(library_id, video_id, revision))
