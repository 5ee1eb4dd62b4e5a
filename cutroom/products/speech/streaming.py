"""Streams synthesized speech to the client as passages are finished, outside the request's transaction."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from cutroom.errors import Code, CutroomError
from cutroom.jobs.states import JobState
from cutroom.platform.db import Database
from cutroom.platform.storage.objects import Storage
from cutroom.products.speech.rules import Codec, synthesis_path, wav_header
from cutroom.products.speech.synthesis import SynthesisProgress, SynthesisRef, get_progress
from cutroom.web.error_responses import error_response

MIN_POLL_SECONDS = 0.03
MAX_POLL_SECONDS = 0.5
POLL_BACKOFF = 1.15
STALL_TIMEOUT_SECONDS = 600.0  # without a new passage


@dataclass(frozen=True, slots=True)
class SynthesisStream:
    """Polls the progress of a synthesis and reads its passages."""

    synthesis: SynthesisRef
    database: Database
    storage: Storage

    async def progress(self) -> SynthesisProgress:
        async with self.database.transaction(self.synthesis.library_id) as connection:
            return await get_progress(connection, self.synthesis)

    async def wait_until(self, condition: Callable[[SynthesisProgress], bool]) -> SynthesisProgress:
        """Poll until the condition holds; raises the error of a failed synthesis."""
        delay, deadline, seen = MIN_POLL_SECONDS, time.monotonic() + STALL_TIMEOUT_SECONDS, 0
        while True:
            progress = await self.progress()
            if progress.status is JobState.FAILED:
                raise _error(progress)
            if condition(progress):
                return progress
            if len(progress.passage_sizes) > seen:
                delay, deadline, seen = (
                    MIN_POLL_SECONDS,
                    time.monotonic() + STALL_TIMEOUT_SECONDS,
                    len(progress.passage_sizes),
                )
            if time.monotonic() > deadline:
                raise CutroomError(Code.INTERNAL)
            await asyncio.sleep(delay)
            delay = min(delay * POLL_BACKOFF, MAX_POLL_SECONDS)

    async def audio(self, attempt: int) -> AsyncIterator[bytes]:
        """Yield the passages in order, each as soon as it is finished."""
        for number in range(self.synthesis.file_count):
            await self.wait_until(partial(_has_passage, number))
            path = synthesis_path(self.synthesis.library_id, self.synthesis.id, f"{attempt}/{number}")
            async for chunk in self.storage.read(path):
                yield chunk


class ResponseReady:
    """Condition under which the response can start."""

    def __init__(self, synthesis: SynthesisRef, *, max_wait_seconds: float) -> None:
        self._file_count = synthesis.file_count
        self._deadline = time.monotonic() + max_wait_seconds

    def __call__(self, progress: SynthesisProgress) -> bool:
        """All passages are finished, or the first one is and the wait time is over."""
        return len(progress.passage_sizes) >= self._file_count or (
            0 in progress.passage_sizes and time.monotonic() >= self._deadline
        )


class SpeechResponse(Response):
    """The audio, or an error response; runs after the request's transaction has been committed."""

    def __init__(self, stream: SynthesisStream, *, max_wait_seconds: float) -> None:
        super().__init__()
        self._stream = stream
        self._max_wait = max_wait_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        synthesis = self._stream.synthesis
        try:
            ready = self._stream.wait_until(ResponseReady(synthesis, max_wait_seconds=self._max_wait))
            progress = await _unless_disconnected(Request(scope, receive), ready)
        except CutroomError as error:
            problem = error_response(error)
            problem.headers.update({name: value for name, value in self.headers.items() if name != "content-length"})
            await problem(scope, receive, send)
            return
        if progress is None:
            return
        complete = len(progress.passage_sizes) >= synthesis.file_count
        size = sum(progress.passage_sizes.values()) if complete else None
        headers = {name: value for name, value in self.headers.items() if name != "content-length"}
        header = wav_header(synthesis.format.sample_rate, size) if synthesis.format.codec is Codec.WAV else b""
        if size is not None:
            headers["content-length"] = str(len(header) + size)
        body = _with_header(header, self._stream.audio(progress.attempt))
        response = StreamingResponse(body, media_type=synthesis.format.media_type, headers=headers)
        await response(scope, receive, send)


async def _with_header(header: bytes, audio: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    if header:
        yield header
    async for chunk in audio:
        yield chunk


async def _unless_disconnected(request: Request, ready: Awaitable[SynthesisProgress]) -> SynthesisProgress | None:
    """Wait for progress, or return None if the client disconnects; the synthesis continues either way."""
    waiting = asyncio.ensure_future(ready)
    disconnect = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait({waiting, disconnect}, return_when=asyncio.FIRST_COMPLETED)
        return await waiting if waiting.done() else None
    finally:
        waiting.cancel()
        disconnect.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _has_passage(number: int, progress: SynthesisProgress) -> bool:
    return number in progress.passage_sizes


def _error(progress: SynthesisProgress) -> CutroomError:
    code = Code(progress.error_code) if progress.error_code in set(Code) else Code.INTERNAL
    return CutroomError(code, message=progress.error_message)
