"""Tools that read: videos, transcripts, products, jobs, prices and usage."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Optional

from mcp.server.mcpserver import Context, MCPServer
from pydantic import Field

from cutroom_client import models
from cutroom_client.errors import JobFailedError, WaitTimeoutError
from cutroom_client.mcp.connection import READ, Connection
from cutroom_client.mcp.results import (
    JobInfo,
    JobList,
    ProductFile,
    ProductList,
    Texts,
    TranscriptLine,
    TranscriptPage,
    Usage,
    VideoInfo,
    VideoList,
    job_info,
    media_text,
    tool_errors,
    video_info,
)

MAX_SEARCHED = 1_000
PAGE_SEGMENTS = 200
MAX_WAIT_SECONDS = 600

VideoId = Annotated[str, Field(min_length=1, max_length=64, description="The id of a video.")]
JobId = Annotated[str, Field(min_length=1, max_length=200, description="The id of a job.")]
Limit = Annotated[int, Field(ge=1, le=100)]
Query = Annotated[Optional[str], Field(max_length=200, description="Part of a title; any if left out.")]  # noqa: UP045


def register(server: MCPServer[None], connection: Connection) -> None:
    """Add the tools to a server."""
    _register_videos(server, connection)
    _register_jobs(server, connection)


def _register_videos(server: MCPServer[None], connection: Connection) -> None:
    client = connection.client

    @server.tool(annotations=READ)
    async def search_videos(query: Query = None, limit: Limit = 20) -> VideoList:
        """List videos of the library, newest first, or those whose title contains a text."""
        found: list[VideoInfo] = []
        searched = 0
        with tool_errors():
            async for video in client.videos.list():
                searched += 1
                if query is None or query.casefold() in (video.title or "").casefold():
                    found.append(video_info(video.data))
                if len(found) >= limit or searched >= MAX_SEARCHED:
                    break
        return VideoList(videos=found, searched=searched)

    @server.tool(annotations=READ)
    async def get_video(video_id: VideoId) -> VideoInfo:
        """Get a video: whether it is imported and transcribed, and its duration."""
        with tool_errors():
            return video_info((await client.videos.get(video_id)).data)

    @server.tool(annotations=READ)
    async def get_transcript(video_id: VideoId, offset: Annotated[int, Field(ge=0)] = 0) -> TranscriptPage:
        """Get the transcript with the ids of its segments, 200 at a time, and the revision that edits refer to."""
        with tool_errors():
            return await transcript_page(connection, video_id, offset)

    @server.tool(annotations=READ)
    async def list_products(video_id: VideoId) -> ProductList:
        """List the dubs, shorts, thumbnails and texts that were made of a video."""
        with tool_errors():
            return await products_of(connection, video_id)

    @server.tool(annotations=READ)
    async def get_titles(video_id: VideoId) -> Texts:
        """Get the title and description that were written for a video."""
        with tool_errors():
            state = await client.operations.get_packaging(video_id)
        return Texts(title=media_text(state.title), description=media_text(state.description))


def _register_jobs(server: MCPServer[None], connection: Connection) -> None:
    client = connection.client

    @server.tool(annotations=READ)
    async def list_jobs(video_id: VideoId) -> JobList:
        """List the jobs of a video, newest first."""
        with tool_errors():
            listed = await client.operations.list_video_jobs(video_id)
        return JobList(jobs=[job_info(each) for each in listed.jobs])

    @server.tool(annotations=READ)
    async def get_job(job_id: JobId) -> JobInfo:
        """Get a job: its status, progress, error and price."""
        with tool_errors():
            return job_info((await client.jobs.get(job_id)).data)

    @server.tool(annotations=READ)
    async def wait_for_job(
        job_id: JobId,
        context: Context[None, None],
        timeout_seconds: Annotated[int, Field(ge=1, le=MAX_WAIT_SECONDS)] = 60,
    ) -> JobInfo:
        """Wait until a job has ended, with progress notifications. If it has not, its current state is returned."""
        seen: asyncio.Queue[models.Job] = asyncio.Queue()

        async def report() -> None:
            while True:
                job = await seen.get()
                await context.report_progress(job.progress or 0, 100, f"{job.type} {job.status}")

        reporting = asyncio.create_task(report())
        try:
            with tool_errors():
                ended = await client.jobs.wait(job_id, timeout_seconds, seen.put_nowait)
                return job_info(ended.data)
        except Exception as error:
            if isinstance(error.__cause__, JobFailedError):
                return job_info(error.__cause__.job)
            if isinstance(error.__cause__, WaitTimeoutError):
                return job_info((await client.jobs.get(job_id)).data)
            raise
        finally:
            reporting.cancel()

    @server.tool(annotations=READ)
    async def get_usage() -> Usage:
        """Get the credits of the library, and what this connection may spend and has spent."""
        with tool_errors():
            library = await client.library()
        budget = connection.budget
        return Usage(
            plan=library.plan,
            balance=library.credits.balance,
            in_escrow=library.credits.in_escrow,
            connection_limit=float(budget.limit),
            connection_spent=float(budget.spent),
        )


async def transcript_page(connection: Connection, video_id: str, offset: int) -> TranscriptPage:
    operations = connection.client.operations
    transcript = await operations.get_transcript(video_id)
    if transcript.status != "ready":
        return TranscriptPage(status=transcript.status)
    newest = (await operations.list_revisions(video_id, limit=1)).revisions[0].revision
    document = await operations.get_revision(video_id, str(newest))
    page = document.segments[offset : offset + PAGE_SEGMENTS]
    return TranscriptPage(
        status="ready",
        revision=newest,
        segments=[
            TranscriptLine(id=each.id, start=each.start, end=each.end, speaker=each.speaker, untrusted_text=each.text)
            for each in page
        ],
        next_offset=offset + PAGE_SEGMENTS if len(document.segments) > offset + PAGE_SEGMENTS else None,
    )


async def products_of(connection: Connection, video_id: str) -> ProductList:
    operations = connection.client.operations
    dubs = (await operations.list_dubs(video_id)).dubs
    shorts = (await operations.list_shorts(video_id)).to_wire()
    thumbnails = (await operations.list_thumbnails(video_id)).to_wire()
    texts = (await operations.get_packaging(video_id)).automations
    found = [
        ProductFile(kind="dub", status=str(each.to_wire().get("status")), language=each.to_wire().get("languageCode"))
        for each in dubs
    ]
    for kind, listed in (("shorts", shorts), ("thumbnail", thumbnails)):
        requests: list[dict[str, Any]] = next(iter(listed.values()), [])
        found += [
            ProductFile(kind=kind, status=str(each.get("status")), id=each.get(f"{kind}RequestId")) for each in requests
        ]
    found += [ProductFile(kind=each.type, status=each.status) for each in texts]
    return ProductList(products=found)
