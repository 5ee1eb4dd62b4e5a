"""API schemas of exports."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from cutroom.jobs.states import JobState
from cutroom.web.schema import ApiModel, Omittable, Uri


class ExportedKind(ApiModel):
    """The files of one kind."""

    files: int
    bytes: int


class ExportSummary(ApiModel):
    """What the archive contains; its `manifest.json` lists every file."""

    format_version: int
    videos: Annotated[int, Field(description="Videos with a folder in the archive, including those in the trash.")]
    trashed_videos: int
    missing_files: Annotated[int, Field(description="Files that no longer existed; the manifest names them.")]
    kinds: Annotated[dict[str, ExportedKind], Field(description="Number and size of files, by kind.")]


class LibraryExport(ApiModel):
    """An export of the library."""

    id: str
    status: JobState
    progress: Annotated[float, Field(ge=0, le=100, description="Percent of the work that is done.")]
    created_at: datetime
    finished_at: Annotated[datetime | None, Field(description="When it became ready or failed.")]
    expires_at: Annotated[datetime, Field(description="When the export is removed.")]
    file_count: Annotated[int | None, Field(description="Files in the archive; null until they are counted.")]
    content_bytes: Annotated[int | None, Field(description="Size of all files in the archive.")]
    archive_bytes: Annotated[int | None, Field(description="Size of the archive.")]
    sha256: Annotated[str | None, Field(description="SHA-256 of the archive, hexadecimal; null until ready.")]
    summary: Annotated[ExportSummary | None, Field(description="Null until the files are counted.")]
    download_url: Annotated[
        Uri | None,
        Field(
            description="URL of the archive; null until ready. It is valid for an hour and supports `Range` requests. "
            "Get the export again for a new URL and resume with it."
        ),
    ]
    error: Annotated[Omittable[dict[str, Any]], Field(description="The error of a failed export.")] = None


class LibraryExportList(ApiModel):
    """Exports of the library, newest first."""

    exports: list[LibraryExport]
