"""The event stream of an open page: which topics have changed, and the progress of running jobs."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import Any, Self

from starlette.responses import Response

from cutroom.console.framework.page_context import PageContext, page
from cutroom.console.framework.security import cookie_name
from cutroom.console.framework.states import progress_text
from cutroom.errors import Code, CutroomError
from cutroom.events.feed import JobProgressReport
from cutroom.events.hub import Batch, Subscription
from cutroom.events.streaming import ServerSentEvents, StreamWriter
from cutroom.platform.db import DATABASE_ERRORS
from cutroom.platform.messages.changes import ChangeFollower, Changes, Snapshot
from cutroom.platform.slots import SlotLimit, SlotsFullError

BEAT_SECONDS = 15.0
ACCESS = "access"  # topic of changes of members, of suspensions and of ended sessions
SIGNED_OUT, NO_ACCESS = "signed-out", "no-access"
MAX_PAGES = 1_000  # of a library that are visible at once
RETRY_SECONDS = 15


async def stream_changes(context: PageContext) -> Response:
    """Streams until the page is closed, the session ends or its user leaves the library."""
    query = context.request.query_params
    if context.signed_in is None:
        return _EndedStream(SIGNED_OUT)
    library = next((each for each in context.libraries if each.id == query.get("library")), None)
    if library is None or library.suspended:
        return _EndedStream(NO_ACCESS)
    return _PageStream(context, library.id, after=query.get("after", ""))


def _message(event: str, data: str = "", *, cursor: str | None = None) -> bytes:
    position = f"id: {cursor}\n" if cursor is not None else ""
    return f"{position}event: {event}\ndata: {data}\n\n".encode()


class _EndedStream(ServerSentEvents):
    """Tells a page not to connect again."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self._reason = reason

    async def stream(self, writer: StreamWriter) -> None:
        await writer.start()
        await writer.write([_message("end", self._reason)])
        await writer.end()


class _PageStream(ServerSentEvents):
    """What an open page has not seen since a snapshot, and everything from now on.

    It holds no database connection between its checks of the session. Pages have a limit of their own per library.
    """

    def __init__(self, context: PageContext, library_id: str, *, after: str) -> None:
        super().__init__()
        self._runtime = context.runtime
        self._sessions = context.session_service
        self._token = context.request.cookies.get(cookie_name(context.runtime.settings, "session"), "")
        self._user_id = context.me.user_id
        self._library_id = library_id
        self._session = f"session:{context.me.principal.id}"
        self._after = after

    async def stream(self, writer: StreamWriter) -> None:
        runtime, library_id = self._runtime, self._library_id
        try:
            async with (
                runtime.slots.hold([SlotLimit(f"pages:{library_id}", MAX_PAGES)]),
                runtime.changes.follow((library_id, self._session), since=Snapshot.parse(self._after)) as follower,
                runtime.events.subscribe(library_id, types=(), with_progress=True) as progress,
            ):
                await writer.start()
                reason = await self._follow(writer, follower, progress)
        except SlotsFullError as error:
            headers = {"Retry-After": str(RETRY_SECONDS)}
            raise CutroomError(Code.RATE_LIMITED, headers=headers) from error
        if reason is not None:
            await writer.write([_message("end", reason)])
        await writer.end()

    async def _follow(self, writer: StreamWriter, follower: ChangeFollower, progress: Subscription) -> str | None:
        """Return why the stream has ended; None if the process stops."""
        clock = self._runtime.monotonic
        reason, cursor = await self._check()
        await writer.write([_message("ready")])
        async with _Waits(follower, progress) as waits:
            beat_at = clock() + BEAT_SECONDS
            while reason is None and not progress.has_ended:
                changes, batch = await waits.next(max(0.0, beat_at - clock()))
                await writer.write(self._messages(changes, batch))
                if changes.is_incomplete or ACCESS in changes.topics:
                    reason, _ = await self._check()
                if clock() >= beat_at:
                    # What the last snapshot sees was announced long before: the stream can go on from there.
                    await writer.write([_message("beat", cursor=cursor)])
                    reason, cursor = await self._check()
                    beat_at = clock() + BEAT_SECONDS
        return reason

    def _messages(self, changes: Changes, batch: Batch) -> Iterator[bytes]:
        if changes.is_incomplete:
            yield _message("missed")
        elif topics := changes.topics - {ACCESS}:
            yield _message("changed", json.dumps(sorted(topics)))
        for report in batch.progress:
            yield _message("progress", json.dumps(_describe(report, now=self._runtime.clock())))

    async def _check(self) -> tuple[str | None, str | None]:
        """Why the stream must end, if it must, and what is committed now; neither is known without a database."""
        with suppress(*DATABASE_ERRORS):
            async with self._runtime.database.connection() as connection:
                access = await self._sessions.check_access(
                    connection,
                    self._token,
                    user_id=self._user_id,
                    library_id=self._library_id,
                    now=self._runtime.clock(),
                )
            reason = None if access.is_member else NO_ACCESS
            return reason if access.is_signed_in else SIGNED_OUT, access.snapshot
        return None, None


def _describe(report: JobProgressReport, *, now: datetime) -> dict[str, Any]:
    """What the elements that show a job say now."""
    job: dict[str, Any] = json.loads(report.payload)
    percent, ready_at = job.get("progress") or 0, job.get("estimatedReadyAt")
    text = progress_text(percent, datetime.fromisoformat(ready_at) if ready_at else None, now=now)
    stage = job.get("stage") or ""
    return {"job": report.job_id, "percent": percent, "text": text, "stage": stage[:1].upper() + stage[1:]}


class _Waits:
    """Waits for changes and for progress at once."""

    def __init__(self, follower: ChangeFollower, progress: Subscription) -> None:
        self._follower, self._progress = follower, progress
        self._tasks: tuple[asyncio.Task[Changes], asyncio.Task[Batch]]

    async def __aenter__(self) -> Self:
        self._tasks = asyncio.create_task(self._follower.next()), asyncio.create_task(self._progress.next())
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def next(self, timeout_seconds: float) -> tuple[Changes, Batch]:
        """Both are empty when the time is up."""
        await asyncio.wait(self._tasks, timeout=timeout_seconds, return_when=asyncio.FIRST_COMPLETED)
        changes_task, progress_task = self._tasks
        changes, batch = Changes(), Batch()
        if changes_task.done():
            changes, changes_task = changes_task.result(), asyncio.create_task(self._follower.next())
        if progress_task.done():
            batch, progress_task = progress_task.result(), asyncio.create_task(self._progress.next())
        self._tasks = changes_task, progress_task
        return changes, batch


ROUTES = [
    page("/events", stream_changes, is_public=True),
]
