"""Confirms that a speaker of a transcript is a member of the cast, and starts the work on the voice print."""

from dataclasses import dataclass
from datetime import datetime

from cutroom.accounts.principals import Principal
from cutroom.cast.appearances import confirm_speaker
from cutroom.cast.schemas import CastAppearance
from cutroom.errors import not_found
from cutroom.platform.db import Connection
from cutroom.platform.outbox import WorkflowStart, enqueue
from cutroom.products.transcripts.editing.revisions import read_document
from cutroom.products.transcripts.editing.service import require_state

EMBED_WORKFLOW = "embed-speaker"


@dataclass(frozen=True, slots=True)
class SpeakerEmbeddingRef:
    """Identifies the appearance whose voice print is made."""

    library_id: str
    appearance_id: str

    @property
    def workflow_id(self) -> str:
        return f"{EMBED_WORKFLOW}_{self.appearance_id}"


async def add_appearance(
    connection: Connection, principal: Principal, member_id: str, video_id: str, *, speaker: str, now: datetime
) -> CastAppearance:
    """Raises NOT_FOUND without this member, video or speaker, FAILED_PRECONDITION without a finished transcript."""
    library_id = principal.library_id
    # Locked, because a comparison of existing transcripts may add the same speaker.
    state = await require_state(connection, principal, video_id, lock=True)
    document = await read_document(connection, library_id, video_id, state)
    if speaker not in document.speakers:
        raise not_found()
    found = await confirm_speaker(connection, library_id, member_id, video_id, speaker=speaker, now=now)
    if found.appearance.embedding_status == "pending":
        ref = SpeakerEmbeddingRef(library_id, found.id)
        argument = {"library_id": library_id, "appearance_id": found.id}
        await enqueue(connection, WorkflowStart(library_id, EMBED_WORKFLOW, ref.workflow_id, argument))
    return found.appearance
