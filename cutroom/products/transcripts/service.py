"""Reads transcripts for the API, and stores and loads transcripts for workflows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from cutroom.accounts.principals import Principal
from cutroom.cast.appearances import members_of
from cutroom.credits.schemas import CreditBundle
from cutroom.credits.service import NOT_TRANSLATED, Qualities
from cutroom.errors import Code, CutroomError, not_found
from cutroom.jobs.cancellation import EndedJob
from cutroom.jobs.ids import JobKey, JobType
from cutroom.jobs.schemas import Job
from cutroom.jobs.service import get_job
from cutroom.jobs.states import JobState
from cutroom.library.rules import video_path
from cutroom.library.schemas import Video
from cutroom.library.service import get_video
from cutroom.library.videos import set_transcript_language
from cutroom.platform.db import Connection, insert
from cutroom.platform.ids import new_id
from cutroom.platform.storage.objects import Storage
from cutroom.products.transcripts.document import document_of, speaker_rows
from cutroom.products.transcripts.editing.differences import difference_between
from cutroom.products.transcripts.editing.history import RevisionKind, after_change
from cutroom.products.transcripts.editing.identity import keep_ids
from cutroom.products.transcripts.editing.publishing import current_rows
from cutroom.products.transcripts.editing.revisions import (
    FIRST,
    NewRevision,
    RevisionAuthor,
    TranscriptState,
    add_revision,
    find_state,
    publish,
    read_document,
)
from cutroom.products.transcripts.schemas import Segment, Transcript, TranscriptSpeaker
from cutroom.text.file_names import file_name

SubtitleFormat = Literal["srt", "vtt", "ttml", "text"]
UNKNOWN_LANGUAGE = "und"  # no speech, or the language was not detected
UNFINISHED = frozenset({JobState.QUEUED, JobState.PROCESSING})
_JOB = "SELECT status, stage FROM jobs WHERE library_id = $1 AND id = $2"


def speech_path(library_id: str, video_id: str) -> str:
    """The mono audio for speech recognition, created by the import; absent if the video has no audio."""
    return video_path(library_id, video_id, "speech.flac")


def alignment_path(library_id: str, video_id: str) -> str:
    return video_path(library_id, video_id, "transcript/words.json")


def revision_words_path(library_id: str, video_id: str, revision: int) -> str:
    """The words of a published revision that was edited."""
    return f"{revision_words_prefix(library_id, video_id)}{revision}.json"


def revision_words_prefix(library_id: str, video_id: str) -> str:
    """What the paths of all published revisions begin with."""
    return video_path(library_id, video_id, "transcript/words-")


def aligned_path(library_id: str, video_id: str, revision: int, *, name: str) -> str:
    """Words of a part of a revision, until it is published."""
    return video_path(library_id, video_id, f"transcript/chunks/aligned-{revision}/{name}")


def subtitle_extension(format_: SubtitleFormat) -> str:
    return "txt" if format_ == "text" else format_


def subtitle_path(library_id: str, video_id: str, *, language: str, format_: SubtitleFormat) -> str:
    return video_path(library_id, video_id, f"subtitles/{language}.{subtitle_extension(format_)}")


def subtitle_paths(library_id: str, video_id: str, *, language: str) -> tuple[str, ...]:
    """Every subtitle file of a language."""
    formats = get_args(SubtitleFormat)
    return tuple(subtitle_path(library_id, video_id, language=language, format_=each) for each in formats)


@dataclass(frozen=True, slots=True)
class StoredTranscript:
    """A transcript as stored in the database; without a path of its own, its words belong to its revision."""

    language: str
    segments: Sequence[Mapping[str, Any]]
    speakers: Sequence[Mapping[str, Any]]
    alignment_path: str
    engine: str
    revision: int = FIRST
    published_revision: int = FIRST  # of the subtitle files

    @property
    def labels(self) -> dict[str, str]:
        """The labels of its speakers."""
        return {each["id"]: each["label"] for each in self.speakers}

    @property
    def segment_ids(self) -> list[str]:
        """The id of each segment."""
        return [segment.id for segment in document_of(self.segments, ()).segments]


async def get_transcript(
    connection: Connection, principal: Principal, video_id: str, *, storage: Storage
) -> Transcript:
    """The transcript, or its processing status."""
    video = await get_video(connection, principal, video_id)
    library_id = principal.library_id
    job = await connection.fetchrow(_JOB, library_id, JobKey(JobType.TRANSCRIPT, video_id).id)
    if job is None:
        return _pending("not_found", video_id)
    if job["status"] in UNFINISHED:
        return _pending("processing", video_id, processing_status=job["stage"] or "queued")
    found = await find_transcript(connection, library_id, video_id)
    if job["status"] == JobState.FAILED or found is None:
        return _pending("failed", video_id)
    members = await members_of(connection, library_id, video_id)
    return Transcript(
        status="ready",
        user_video_id=video_id,
        language=found.language if found.language != UNKNOWN_LANGUAGE else None,
        segments=[Segment(**{name: each[name] for name in Segment.model_fields}) for each in found.segments],
        speakers=[TranscriptSpeaker(**each, cast_member_id=members.get(each["id"])) for each in found.speakers],
        word_alignment_url=storage.download_url(
            found.alignment_path, file_name(video.title, "words", extension="json")
        ),
        word_alignment_storage_path=found.alignment_path,
    )


def _pending(
    status: Literal["not_found", "processing", "failed"], video_id: str, *, processing_status: str | None = None
) -> Transcript:
    return Transcript(
        status=status,
        user_video_id=video_id,
        word_alignment_url=None,
        word_alignment_storage_path=None,
        processing_status=processing_status,
    )


async def save_transcript(
    connection: Connection, library_id: str, video_id: str, *, transcript: StoredTranscript, now: datetime
) -> TranscriptState:
    """Store what an engine recognized, set the video's language, and return what is stored now.

    If there is a transcript already, this is a new revision of it, in which segments of the same sound keep their ids.
    """
    state = await find_state(connection, library_id, video_id, lock=True)
    if state is None:
        row = {
            "library_id": library_id,
            "video_id": video_id,
            "language": transcript.language,
            "segments": list(transcript.segments),
            "speakers": list(transcript.speakers),
            "alignment_path": transcript.alignment_path,
            "engine": transcript.engine,
            "created_at": now,
        }
        await insert(connection, "transcripts", row)
    else:
        await _save_again(connection, library_id, video_id, state, transcript=transcript, now=now)
    if transcript.language != UNKNOWN_LANGUAGE:
        await set_transcript_language(connection, library_id, video_id, language=transcript.language)
    stored = await find_state(connection, library_id, video_id)
    assert stored is not None
    return stored


async def _save_again(
    connection: Connection,
    library_id: str,
    video_id: str,
    state: TranscriptState,
    *,
    transcript: StoredTranscript,
    now: datetime,
) -> None:
    before = await read_document(connection, library_id, video_id, state)
    recognized = document_of(transcript.segments, transcript.speakers)
    after = keep_ids(before, recognized, new_id=lambda: new_id(now.timestamp()))
    difference = difference_between(before, after)
    revision = state.revision
    if difference:
        links = after_change(revision)
        new = NewRevision(RevisionKind.RECOGNITION, RevisionAuthor(), difference, links, {})
        revision = await add_revision(connection, library_id, video_id, state, new, now=now)
    segments = [
        {**row, "id": segment.id, "deleted": segment.deleted}
        for row, segment in zip(transcript.segments, after.segments, strict=True)
    ]
    await publish(
        connection,
        library_id,
        video_id,
        revision=revision,
        segments=segments,
        speakers=transcript.speakers,
        alignment_path=transcript.alignment_path or revision_words_path(library_id, video_id, revision),
    )
    await connection.execute(
        """UPDATE transcripts SET language = $3, engine = $4, created_at = $5, recognized_revision = $6
           WHERE library_id = $1 AND video_id = $2""",
        library_id,
        video_id,
        transcript.language,
        transcript.engine,
        now,
        revision,
    )


async def load_transcript(connection: Connection, library_id: str, video_id: str) -> StoredTranscript:
    """The current revision of the transcript of a video, for other products; deleted segments are marked."""
    found = await find_transcript(connection, library_id, video_id)
    if found is None:
        raise not_found()
    return found


async def find_transcript(connection: Connection, library_id: str, video_id: str) -> StoredTranscript | None:
    """The current revision of a transcript; None if there is none."""
    state = await find_state(connection, library_id, video_id)
    if state is None:
        return None
    segments, speakers = state.segments, state.speakers
    if state.revision != state.published_revision:
        document = await read_document(connection, library_id, video_id, state)
        segments, speakers = current_rows(state.segments, document), speaker_rows(document)
    return StoredTranscript(
        state.language,
        segments,
        speakers,
        state.alignment_path,
        state.engine,
        state.revision,
        state.published_revision,
    )


async def require_transcript(connection: Connection, principal: Principal, video_id: str) -> tuple[Job, str | None]:
    """The transcript's job, and its language if the job is ready; raises if the job failed."""
    job_id = JobKey(JobType.TRANSCRIPT, video_id).id
    job = await get_job(connection, principal.library_id, job_id)
    if job.status is JobState.FAILED:
        raise CutroomError(Code.FAILED_PRECONDITION, details={"jobId": job_id})
    if job.status is not JobState.READY:
        return job, None
    return job, await transcript_language(connection, principal.library_id, video_id)


async def transcript_language(connection: Connection, library_id: str, video_id: str) -> str | None:
    """The language of a transcript, which is `und` without speech; None if there is no transcript."""
    language: str | None = await connection.fetchval(
        "SELECT language FROM transcripts WHERE library_id = $1 AND video_id = $2", library_id, video_id
    )
    return language


async def check_bundle(
    connection: Connection,
    principal: Principal,
    video: Video,
    *,
    bundle: CreditBundle,
    now: datetime,  # noqa: ARG001 (the form of every check)
) -> Qualities:
    """Refuses a transcript of a video that cannot be transcribed."""
    if bundle.transcript_only:
        await require_transcript(connection, principal, video.id)
    return NOT_TRANSLATED


async def discard(connection: Connection, job: EndedJob) -> None:
    """Removes a transcript that was stored, but whose job has not become ready. Another recognition keeps it."""
    if job.key.revision is not None:
        return
    await connection.execute(
        "DELETE FROM transcripts WHERE library_id = $1 AND video_id = $2", job.library_id, job.video_id
    )
