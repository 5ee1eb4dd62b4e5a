"""Tools that add and change without cost: uploads, imports, titles, edits, downloads, cancellation, the trash."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

from mcp.server.mcpserver import MCPServer
from pydantic import Field

from cutroom_client import models
from cutroom_client.errors import NotFoundError
from cutroom_client.mcp.connection import ADD, FETCH, REPEAT, REPLACE, Connection
from cutroom_client.mcp.reading import JobId, VideoId
from cutroom_client.mcp.results import (
    Done,
    EditedTranscript,
    JobInfo,
    JobList,
    SavedFile,
    VideoInfo,
    job_info,
    tool_errors,
    video_info,
)

FileName = Annotated[str, Field(min_length=1, max_length=200, description="A file name, without a path.")]
Revision = Annotated[int, Field(ge=1, description="The revision that was read; a newer one is not overwritten.")]


def register(server: MCPServer[None], connection: Connection) -> None:
    """Add the tools to a server."""
    _register_texts(server, connection)
    _register_library(server, connection)
    if connection.folder is not None:
        _register_files(server, connection)


def _register_texts(server: MCPServer[None], connection: Connection) -> None:
    client = connection.client

    @server.tool(annotations=ADD)
    async def write_titles(
        video_id: VideoId,
        style: Annotated[
            str, Field(pattern="^[a-z-]{1,30}$", description="Such as catchy, clickbait or funny.")
        ] = "catchy",
    ) -> JobList:
        """Write a title for a video; costs no credits."""
        with tool_errors():
            jobs = await client.videos.handle(video_id).package(title=style, max_credits=0)
        return JobList(jobs=[job_info(each.data) for each in jobs])

    @server.tool(annotations=REPLACE)
    async def edit_segment(
        video_id: VideoId,
        segment_id: Annotated[str, Field(min_length=1, max_length=100)],
        text: Annotated[str, Field(min_length=1, max_length=2000)],
        revision: Revision,
    ) -> EditedTranscript:
        """Replace the text of one segment of a transcript. `undo_edit` takes it back."""
        operation = models.ReplaceTextOperation(op="replaceText", id=segment_id, text=text)
        with tool_errors():
            change = await client.operations.edit_transcript(
                video_id, models.TranscriptEdit(revision=revision, operations=[operation])
            )
        return EditedTranscript(revision=change.revision, changed_segments=change.total_changes)

    @server.tool(annotations=ADD)
    async def undo_edit(video_id: VideoId, revision: Revision) -> EditedTranscript:
        """Take back the last edit of a transcript, as a new revision."""
        with tool_errors():
            change = await client.operations.undo_edit(video_id, models.RevisionGuard(revision=revision))
        return EditedTranscript(revision=change.revision, changed_segments=change.total_changes)


def _register_library(server: MCPServer[None], connection: Connection) -> None:
    client = connection.client

    @server.tool(annotations=FETCH)
    async def import_video(url: Annotated[str, Field(min_length=1, max_length=2000)]) -> VideoInfo:
        """Import a video from a URL: HTTPS, YouTube, Google Drive or Dropbox. It is transcribed for free."""
        with tool_errors():
            return video_info((await client.videos.import_url(url)).data)

    @server.tool(annotations=REPLACE)
    async def cancel_job(job_id: JobId) -> JobInfo:
        """Cancel an unfinished job: what it has made so far is removed, and its price returned."""
        with tool_errors():
            return job_info((await client.jobs.handle(job_id).cancel()).data)

    @server.tool(annotations=REPLACE)
    async def delete_video(video_id: VideoId) -> Done:
        """Move a video to the trash. `restore_video` takes it out again."""
        with tool_errors():
            try:
                await client.videos.delete(video_id)
            except NotFoundError:  # repeating the call has no further effect
                if not [each async for each in client.videos.trash() if each.id == video_id]:
                    raise
        return Done()

    @server.tool(annotations=REPEAT)
    async def restore_video(video_id: VideoId) -> VideoInfo:
        """Take a video out of the trash."""
        with tool_errors():
            return video_info((await client.videos.restore(video_id)).data)


def _register_files(server: MCPServer[None], connection: Connection) -> None:
    client = connection.client

    @server.tool(annotations=ADD)
    async def upload_video(file_name: FileName) -> VideoInfo:
        """Upload a file of the folder of this connection as a new video. It is transcribed for free."""
        with tool_errors():
            path = connection.file(file_name)
            if not await asyncio.to_thread(path.is_file):
                raise ValueError("There is no such file in the folder of this connection.")
            return video_info((await client.videos.upload(path)).data)

    @server.tool(annotations=ADD)
    async def download(job_id: JobId, file_name: FileName) -> SavedFile:
        """Save what a finished job made as a new file in the folder of this connection.

        Its ending selects the form: .m4a or .mp4 for a dub, .srt or .vtt for captions and transcripts.
        """
        with tool_errors():
            path = connection.file(file_name)
            if await asyncio.to_thread(path.exists):
                raise ValueError("There is a file with this name. Choose another one.")
            saved = await (await client.jobs.get(job_id)).download(path)
        return SavedFile(name=file_name, bytes=saved.size, sha256=saved.sha256)

    @server.tool(annotations=ADD)
    async def download_subtitles(
        video_id: VideoId,
        language: Annotated[str, Field(max_length=20)],
        file_name: FileName,
        format: Literal["srt", "vtt"] = "srt",  # noqa: A002
    ) -> SavedFile:
        """Save the subtitles of a language as a new file in the folder of this connection."""
        with tool_errors():
            path = connection.file(f"{file_name.removesuffix('.' + format)}.{format}")
            if await asyncio.to_thread(path.exists):
                raise ValueError("There is a file with this name. Choose another one.")
            saved = await client.videos.handle(video_id).subtitles(language, path)
        return SavedFile(name=path.name, bytes=saved.size, sha256=saved.sha256)
