"""The transcript of a video and its subtitles, for an export of its library."""

from collections.abc import Sequence

from cutroom.jobs.ids import JobKey, JobType
from cutroom.library.exported_files import ExportedFile, exported_json
from cutroom.platform.db import Connection
from cutroom.products.transcripts.service import subtitle_path


async def export_files(connection: Connection, library_id: str, video_id: str) -> Sequence[ExportedFile]:
    row = await connection.fetchrow(
        """SELECT language, segments, speakers, engine, alignment_path FROM transcripts
           WHERE library_id = $1 AND video_id = $2""",
        library_id,
        video_id,
    )
    if row is None:
        return []
    job_id = JobKey(JobType.TRANSCRIPT, video_id).id
    document = {name: row[name] for name in ("language", "engine", "speakers", "segments")}
    files = [
        exported_json("transcript/transcript.json", "transcript", document, job_id=job_id),
        ExportedFile("transcript/words.json", "words", row["alignment_path"], job_id=job_id),
    ]
    if row["segments"]:
        files += subtitle_files(library_id, video_id, row["language"], job_id=job_id)
    return files


def subtitle_files(library_id: str, video_id: str, language: str, *, job_id: str) -> list[ExportedFile]:
    paths = {
        "srt": _path(library_id, video_id, language, is_vtt=False),
        "vtt": _path(library_id, video_id, language, is_vtt=True),
    }
    return [
        ExportedFile(f"subtitles/{language}.{format_}", "subtitles", path, job_id=job_id)
        for format_, path in paths.items()
    ]


def _path(library_id: str, video_id: str, language: str, *, is_vtt: bool) -> str:
    return subtitle_path(library_id, video_id, language=language, format_="vtt" if is_vtt else "srt")
