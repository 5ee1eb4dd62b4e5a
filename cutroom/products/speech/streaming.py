"""The answer to a reading: waits for its sound outside any transaction, and sends it as it comes."""

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
from cutroom.products.speech.rules import Codec, reading_path, wav_header
from cutroom.products.speech.synthesis import Reading, Standing, standing
from cutroom.web.error_responses import problem_of

SHORTEST_LOOK_SECONDS = 0.03
LONGEST_LOOK_SECONDS = 0.5
LONGER = 1.15  # each look waits so many times as long as the one before
GIVE_UP_SECONDS = 600.0  # without anything new


@dataclass(frozen=True, slots=True)
class Listening:
    """Looks again and again how far a reading has come."""

    reading: Reading
    database: Database
    storage: Storage

    async def look(self) -> Standing:
        async with self.database.transaction(self.reading.library_id) as connection:
            return await standing(connection, self.reading)

    async def until(self, is_enough: Callable[[Standing], bool]) -> Standing:
        """How it stands once enough is there; a reading that failed is told as what it failed with."""
        pause, deadline, seen = SHORTEST_LOOK_SECONDS, time.monotonic() + GIVE_UP_SECONDS, 0
        while True:
            now = await self.look()
            if now.status is JobState.FAILED:
                raise _error(now)
            if is_enough(now):
                return now
            if len(now.sizes) > seen:
                pause, deadline, seen = SHORTEST_LOOK_SECONDS, time.monotonic() + GIVE_UP_SECONDS, len(now.sizes)
            if time.monotonic() > deadline:
                raise CutroomError(Code.INTERNAL)
            await asyncio.sleep(pause)
            pause = min(pause * LONGER, LONGEST_LOOK_SECONDS)

    async def sound(self, attempt: int) -> AsyncIterator[bytes]:
        """The passages in order, each as soon as it is there."""
        for number in range(self.reading.passages if self.reading.format.joins else 1):
            await self.until(partial(_has, number))
            path = reading_path(self.reading.library_id, self.reading.id, f"{attempt}/{number}")
            async for chunk in self.storage.read(path):
                yield chunk


class Enough:
    """Whether what is there by now is enough to begin an answer with."""

    def __init__(self, reading: Reading, *, patience_seconds: float) -> None:
        self._pieces = reading.passages if reading.format.joins else 1
        self._until = time.monotonic() + patience_seconds

    def __call__(self, now: Standing) -> bool:
        """All of it, or its beginning once patience is at its end."""
        return len(now.sizes) >= self._pieces or (0 in now.sizes and time.monotonic() >= self._until)


class SpeechAnswer(Response):
    """Sound, or the error that came instead of it. It is made after the request's transaction is at its end."""

    def __init__(self, listening: Listening, *, patience_seconds: float) -> None:
        super().__init__()
        self._listening = listening
        self._patience = patience_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        reading = self._listening.reading
        try:
            ready = self._listening.until(Enough(reading, patience_seconds=self._patience))
            now = await _unless_gone(Request(scope, receive), ready)
        except CutroomError as error:
            problem = problem_of(error)
            problem.headers.update({name: value for name, value in self.headers.items() if name != "content-length"})
            await problem(scope, receive, send)
            return
        if now is None:
            return
        pieces = reading.passages if reading.format.joins else 1
        size = sum(now.sizes.values()) if len(now.sizes) >= pieces else None
        headers = {name: value for name, value in self.headers.items() if name != "content-length"}
        head = wav_header(reading.format.sample_rate, size) if reading.format.codec is Codec.WAV else b""
        if size is not None:
            headers["content-length"] = str(len(head) + size)
        body = _with_head(head, self._listening.sound(now.attempt))
        answer = StreamingResponse(body, media_type=reading.format.media_type, headers=headers)
        await answer(scope, receive, send)


async def _with_head(head: bytes, sound: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    if head:
        yield head
    async for chunk in sound:
        yield chunk


async def _unless_gone(request: Request, ready: Awaitable[Standing]) -> Standing | None:
    """Wait for what is wanted, or until the caller has hung up: the reading then goes on without anybody waiting."""
    waiting = asyncio.ensure_future(ready)
    leaving = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({waiting, leaving}, return_when=asyncio.FIRST_COMPLETED)
        return await waiting if waiting.done() else None
    finally:
        waiting.cancel()
        leaving.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _has(number: int, now: Standing) -> bool:
    return number in now.sizes


def _error(now: Standing) -> CutroomError:
    code = Code(now.error_code) if now.error_code in set(Code) else Code.INTERNAL
    return CutroomError(code, message=now.error_message)
