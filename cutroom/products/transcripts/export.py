"""The transcript of a video and its subtitles, for an export of its library."""

from collections.abc import Sequence

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
    document = {name: row[name] for name in ("language", "engine", "speakers", "segments")}
    files = [
        exported_json("transcript/transcript.json", "transcript", document),
        ExportedFile("transcript/words.json", "words", row["alignment_path"]),
    ]
    return files + subtitle_files(library_id, video_id, row["language"]) if row["segments"] else files


def subtitle_files(library_id: str, video_id: str, language: str) -> list[ExportedFile]:
    return [
        ExportedFile(f"subtitles/{language}.srt", "subtitles", _path(library_id, video_id, language, is_vtt=False)),
        ExportedFile(f"subtitles/{language}.vtt", "subtitles", _path(library_id, video_id, language, is_vtt=True)),
    ]


def _path(library_id: str, video_id: str, language: str, *, is_vtt: bool) -> str:
    return subtitle_path(library_id, video_id, language=language, format_="vtt" if is_vtt else "srt")
