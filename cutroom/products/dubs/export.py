"""The dubs of a video, for an export of its library."""

from collections.abc import Sequence

from cutroom.jobs.ids import DubProduct, JobKey, JobType
from cutroom.library.exported_files import ExportedFile, exported_json
from cutroom.platform.db import Connection


async def export_files(connection: Connection, library_id: str, video_id: str) -> Sequence[ExportedFile]:
    """Finished audio and the spoken lines; separated chunks and single lines are intermediate."""
    rows = await connection.fetch(
        """SELECT language, product, completion, segments, speakers, edits, revision, broken_terms, audio_path FROM dubs
           WHERE library_id = $1 AND video_id = $2 ORDER BY language, product""",
        library_id,
        video_id,
    )
    files = []
    for row in rows:
        document = dict(row)
        path, name = document.pop("audio_path"), f"dubs/{row['language']}-{row['product']}"
        key = JobKey(JobType.DUB, video_id, language=row["language"], product=DubProduct(row["product"]))
        files.append(exported_json(f"{name}.json", "dub_script", document, job_id=key.id))
        if path is not None:
            files.append(ExportedFile(f"{name}.m4a", "dub", path, job_id=key.id))
    return files
