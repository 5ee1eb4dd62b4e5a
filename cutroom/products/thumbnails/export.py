"""The thumbnails of a video, for an export of its library."""

from collections.abc import Sequence

from cutroom.library.exported_files import ExportedFile
from cutroom.platform.db import Connection


async def export_files(connection: Connection, library_id: str, video_id: str) -> Sequence[ExportedFile]:
    rows = await connection.fetch(
        """SELECT t.path, t.language, r.job_id FROM thumbnails t
               LEFT JOIN thumbnail_requests r ON r.library_id = t.library_id AND r.id = t.request_id
           WHERE t.library_id = $1 AND t.video_id = $2 ORDER BY t.request_id, t.number, t.id""",
        library_id,
        video_id,
    )
    return [
        ExportedFile(f"thumbnails/{_stem(index, row['language'])}.jpg", "thumbnail", row["path"], job_id=row["job_id"])
        for index, row in enumerate(rows, 1)
    ]


def _stem(index: int, language: str | None) -> str:
    return f"{index:03}-{language}" if language else f"{index:03}"
