"""Reads subtitle files for the API."""

from cutroom.accounts.principals import Principal
from cutroom.engines.translation.port import Quality
from cutroom.errors import not_found
from cutroom.jobs.ids import JobKey, JobType
from cutroom.library.service import get_video
from cutroom.platform.db import Connection
from cutroom.platform.storage.objects import Storage
from cutroom.products.transcripts.schemas import Subtitles
from cutroom.products.transcripts.service import (
    SubtitleFormat,
    find_transcript,
    subtitle_extension,
    subtitle_path,
)
from cutroom.products.transcripts.subtitles import NAMED_FORMATS, complete_subtitles
from cutroom.text.file_names import file_name
from cutroom.text.language_tags import canonical_language, is_language


async def get_subtitles(
    connection: Connection,
    principal: Principal,
    video_id: str,
    *,
    language: str,
    format_: SubtitleFormat,
    storage: Storage,
) -> Subtitles:
    """The subtitle file of one language, from the transcript or from translated captions."""
    video = await get_video(connection, principal, video_id)
    if not is_language(language):
        raise not_found()
    language, library_id = canonical_language(language), principal.library_id
    quality = await _caption_quality(connection, library_id, video_id, language)
    if quality is not None or await _has_subtitles(connection, library_id, video_id, language):
        path = subtitle_path(library_id, video_id, language=language, format_=format_)
        if format_ in NAMED_FORMATS:
            await _complete(connection, library_id, video_id, language=language, storage=storage)
        return Subtitles(
            status="ready",
            video_id=video_id,
            language=language,
            format=format_,
            quality=quality,
            download_url=storage.download_url(
                path, file_name(video.title, language, extension=subtitle_extension(format_))
            ),
        )
    captions = JobKey(JobType.CAPTIONS, video_id, language=language).id
    running = await connection.fetchval(
        """SELECT count(*) FROM jobs WHERE library_id = $1 AND ((id = ANY($2) AND status IN ('queued', 'processing'))
               OR (id = $3 AND status = 'ready' AND output_deleted_at IS NULL))""",
        library_id,
        [JobKey(JobType.TRANSCRIPT, video_id).id, captions],
        captions,  # ready without files: they were imported a moment ago
    )
    if not running:
        raise not_found()
    return Subtitles(status="processing", video_id=video_id)


async def _caption_quality(connection: Connection, library_id: str, video_id: str, language: str) -> Quality | None:
    """The class of translated captions; None if there are none in this language."""
    quality: str | None = await connection.fetchval(
        "SELECT quality FROM published_captions WHERE library_id = $1 AND video_id = $2 AND language = $3",
        library_id,
        video_id,
        language,
    )
    return Quality(quality) if quality is not None else None


async def _has_subtitles(connection: Connection, library_id: str, video_id: str, language: str) -> bool:
    found: bool = await connection.fetchval(
        """SELECT EXISTS (SELECT FROM transcripts t JOIN jobs j
                             ON j.library_id = t.library_id AND j.id = 'transcript_' || t.video_id
                           WHERE t.library_id = $1 AND t.video_id = $2 AND t.language = $3 AND j.status = 'ready')""",
        library_id,
        video_id,
        language,
    )
    return found


async def _complete(connection: Connection, library_id: str, video_id: str, *, language: str, storage: Storage) -> None:
    transcript = await find_transcript(connection, library_id, video_id)
    labels = transcript.labels if transcript is not None else {}
    await complete_subtitles(storage, library_id, video_id, language=language, labels=labels)
