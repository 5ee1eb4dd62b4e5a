"""The source and poster of a video, for an export of its library."""

import re
from collections.abc import Sequence

from cutroom.library.exported_files import ExportedFile
from cutroom.platform.db import Connection
from cutroom.text.file_names import title_stem

_EXTENSION = re.compile(r"[a-z0-9]{2,5}")


async def export_files(connection: Connection, library_id: str, video_id: str) -> Sequence[ExportedFile]:
    row = await connection.fetchrow(
        """SELECT v.title, v.poster_path, s.storage_path, s.file_name, s.size_bytes FROM videos v
           LEFT JOIN sources s ON s.library_id = v.library_id AND s.video_id = v.id
           WHERE v.library_id = $1 AND v.id = $2""",
        library_id,
        video_id,
    )
    files = []
    if row is not None and row["size_bytes"] is not None:
        files.append(
            ExportedFile(f"source/{source_name(row['file_name'] or row['title'])}", "source", row["storage_path"])
        )
    if row is not None and row["poster_path"] is not None:
        files.append(ExportedFile("poster.jpg", "poster", row["poster_path"]))
    return files


def source_name(name: str | None) -> str:
    """The uploaded file's name, safe on every file system; `bin` stands in for a missing extension."""
    extension = (name or "").rpartition(".")[2].lower()
    return f"{title_stem(name)}.{extension if _EXTENSION.fullmatch(extension) else 'bin'}"
