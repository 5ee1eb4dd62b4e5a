"""The transcript of a video and its subtitles, for an export of its library."""

from collections.abc import Sequence
from typing import get_args

from cutroom.jobs.ids import JobKey, JobType
from cutroom.library.exported_files import SUBTITLE_TEXT, ExportedFile, exported_json
from cutroom.platform.db import Connection
from cutroom.products.transcripts.editing.publishing import document_rows
from cutroom.products.transcripts.optimizing.stored_scripts import find_script
from cutroom.products.transcripts.service import SubtitleFormat, find_transcript, subtitle_path
from cutroom.products.transcripts.subtitles import NAMED_FORMATS


async def export_files(connection: Connection, library_id: str, video_id: str) -> Sequence[ExportedFile]:
    found = await find_transcript(connection, library_id, video_id)
    if found is None:
        return []
    job_id = JobKey(JobType.TRANSCRIPT, video_id).id
    document = {
        "language": found.language,
        "engine": found.engine,
        "speakers": found.speakers,
        "segments": document_rows(found.segments),
    }
    files = [
        exported_json("transcript/transcript.json", "transcript", document, job_id=job_id),
        ExportedFile("transcript/words.json", "words", found.alignment_path, job_id=job_id),
    ]
    script = await find_script(connection, library_id, video_id)
    if script.revision:
        files.append(exported_json("transcript/optimized.json", "transcript", script.to_row(), job_id=job_id))
    if found.segments:
        files += subtitle_files(library_id, video_id, found.language, job_id=job_id)
    return files


def subtitle_files(library_id: str, video_id: str, language: str, *, job_id: str) -> list[ExportedFile]:
    files = []
    for format_ in get_args(SubtitleFormat):
        path = subtitle_path(library_id, video_id, language=language, format_=format_)
        kind = SUBTITLE_TEXT if format_ in NAMED_FORMATS else "subtitles"
        files.append(ExportedFile(f"subtitles/{path.rpartition('/')[2]}", kind, path, job_id=job_id))
    return files
