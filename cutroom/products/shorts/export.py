"""The shorts, promos and clips of a video, for an export of its library."""

from collections.abc import Sequence

from cutroom.jobs.ids import JobKey, JobType
from cutroom.library.exported_files import ExportedFile
from cutroom.platform.db import Connection
from cutroom.text.file_names import safe_stem


async def export_files(connection: Connection, library_id: str, video_id: str) -> Sequence[ExportedFile]:
    rows = await connection.fetch(
        """SELECT request_id, title, video_path, thumbnail_path FROM shorts_outputs
           WHERE library_id = $1 AND video_id = $2 AND deleted_at IS NULL ORDER BY request_id, number, id""",
        library_id,
        video_id,
    )
    files = []
    for index, row in enumerate(rows, 1):
        name = f"shorts/{index:03}-{safe_stem(row['title'])}"
        job_id = JobKey(JobType.SHORTS, row["request_id"]).id
        files.append(ExportedFile(f"{name}.mp4", "short", row["video_path"], job_id=job_id))
        files.append(ExportedFile(f"{name}.jpg", "short_poster", row["thumbnail_path"], job_id=job_id))
    return files
