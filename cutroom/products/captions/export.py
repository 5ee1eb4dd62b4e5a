"""The translated captions of a video, for an export of its library."""

from collections.abc import Sequence

from cutroom.jobs.ids import JobKey, JobType
from cutroom.library.exported_files import ExportedFile, exported_json
from cutroom.platform.db import Connection
from cutroom.products.transcripts.export import subtitle_files


async def export_files(connection: Connection, library_id: str, video_id: str) -> Sequence[ExportedFile]:
    rows = await connection.fetch(
        "SELECT language, quality, segments FROM captions WHERE library_id = $1 AND video_id = $2 ORDER BY language",
        library_id,
        video_id,
    )
    files: list[ExportedFile] = []
    for row in rows:
        job_id = JobKey(JobType.CAPTIONS, video_id, language=row["language"]).id
        files.append(exported_json(f"captions/{row['language']}.json", "captions", dict(row), job_id=job_id))
        files += subtitle_files(library_id, video_id, row["language"], job_id=job_id)
    return files
