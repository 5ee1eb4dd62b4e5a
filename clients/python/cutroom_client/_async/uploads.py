"""Uploads files in the resumable protocol of Google Cloud Storage, and continues where another process stopped."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from cutroom_client._async import runtime
from cutroom_client._async.operations import AsyncOperations
from cutroom_client._async.transport import AsyncTransport, reason_of
from cutroom_client.errors import (
    ChecksumError,
    ConflictError,
    ConnectionFailedError,
    NotFoundError,
    UnexpectedResponseError,
)
from cutroom_client.log_redaction import unlogged
from cutroom_client.models import NewUploadSession
from cutroom_client.retrying import retry_after_seconds
from cutroom_client.transfers import FileDigest, TransferProgress, read_at
from cutroom_client.upload_state import UploadStateFile, exclusive_state, state_name
from cutroom_client.urls import checked_url

CHUNK_BYTES = 8 * 1024 * 1024
CHUNK_UNIT = 256 * 1024
MAX_SESSIONS = 3  # a session that has expired is replaced by another
STORED = re.compile(r"bytes=0-(\d+)")


@dataclass(frozen=True)
class UploadSource:
    """The file, and the request that creates its video."""

    file: Path
    file_name: str
    content_type: str
    request: Mapping[str, Any]
    chunk_bytes: int = CHUNK_BYTES


class SessionLostError(Exception):
    """The session no longer exists; another one is needed."""


class AsyncUpload:
    """One upload: creates the video, opens a session, sends the file."""

    def __init__(self, transport: AsyncTransport, source: UploadSource, progress: TransferProgress | None) -> None:
        if source.chunk_bytes <= 0 or source.chunk_bytes % CHUNK_UNIT:
            raise ValueError(f"chunk_bytes must be a multiple of {CHUNK_UNIT}")
        self._transport = transport
        self._operations = AsyncOperations(transport)
        self._source = source
        self._progress = progress
        self._size = source.file.stat().st_size
        if not self._size:
            raise ValueError(f"{source.file} is empty")
        self._digest = FileDigest(source.file)
        self._failures = 0

    async def run(self, *, resume: bool = True) -> str:
        """The id of the video, once all bytes are stored."""
        settings = self._transport.settings
        # The limit is part of what the idempotency key identifies.
        options = json.dumps([self._source.request, str(settings.max_credits)], sort_keys=True)
        key = settings.api_key.get_secret_value()
        name = state_name(self._source.file, base_url=settings.base_url, api_key=key, options=options)
        folder = settings.state_dir / "uploads" if resume else None
        with exclusive_state(folder, name) as state:
            video_id = await self._run(state)
            state.remove()
            return video_id

    async def _run(self, state: UploadStateFile) -> str:
        for _ in range(MAX_SESSIONS):
            try:
                video_id, session_url = await self._session(state)
                if session_url is not None:
                    await self._send(session_url, await self._stored(session_url) if state.resumed else 0)
            except SessionLostError:  # noqa: PERF203 (at most three times)
                state.save(session_url=None)
                state.resumed = True
            else:
                return video_id
        raise UnexpectedResponseError("the service ended every upload session before the file was sent")

    async def _session(self, state: UploadStateFile) -> tuple[str, str | None]:
        """The video and its session; no session if the file has arrived already."""
        if state.state.session_url is not None and state.state.video_id is not None:
            url = checked_url(state.state.session_url, base_url=self._transport.settings.base_url)
            return state.state.video_id, url
        for attempt in (1, 2):
            if state.state.video_id is None:
                state.save()  # the key first: after a crash, it finds the video that was created
                created = await self._operations.create_video(
                    self._source.request, idempotency_key=state.state.create_key
                )
                state.save(video_id=created.video_id)
            video_id = str(state.state.video_id)
            session = NewUploadSession(file_name=self._source.file_name, content_type=self._source.content_type)
            try:
                granted = await self._operations.create_upload(video_id, session)
            except (NotFoundError, ConflictError) as error:
                if not state.resumed or attempt == 2:
                    raise
                if isinstance(error, ConflictError) and await self._has_arrived(video_id):
                    return video_id, None
                state.start_over()  # deleted, canceled or expired since
                continue
            url = await self._start(granted.url)
            state.save(session_url=url)
            return video_id, url
        raise UnexpectedResponseError("no upload session")

    async def _has_arrived(self, video_id: str) -> bool:
        return (await self._operations.get_job(f"import_{video_id}")).status != "failed"

    async def _start(self, url: str) -> str:
        checked = checked_url(url, base_url=self._transport.settings.base_url)
        headers = {"x-goog-resumable": "start", "Content-Type": self._source.content_type, "Content-Length": "0"}
        while True:
            response = await self._request("POST", checked, headers)
            if response is not None and response.status_code in {200, 201} and "location" in response.headers:
                return checked_url(
                    response.headers["location"], base_url=self._transport.settings.base_url, after=checked
                )
            if response is not None:
                await self._refused(response)

    async def _stored(self, session: str) -> int:
        """How many bytes are stored."""
        while True:
            response = await self._request("PUT", session, {"Content-Range": f"bytes */{self._size}"})
            if response is not None:
                if (stored := self._progress_of(response)) is not None:
                    return stored
                await self._refused(response)

    async def _send(self, session: str, offset: int) -> None:
        """Sends what is missing. After a failure, asks how far it has come, and continues there."""
        self._report(offset)
        while offset < self._size:
            end = min(offset + self._source.chunk_bytes, self._size)
            chunk = await runtime.in_thread(read_at, self._source.file, offset, end - offset)
            if len(chunk) != end - offset:
                raise ChecksumError(f"{self._source.file} became shorter while it was sent")
            headers = {"Content-Range": f"bytes {offset}-{end - 1}/{self._size}"}
            if end == self._size:
                headers["X-Goog-Hash"] = f"md5={await runtime.in_thread(self._digest.until, end)}"
            response = await self._request("PUT", session, headers, chunk)
            stored = self._progress_of(response) if response is not None else None
            if stored is None:
                if response is not None:
                    await self._refused(response)
                stored = await self._stored(session)
            if stored > offset:
                self._failures = 0
            else:
                await self._pause(None)
            offset = stored
            self._report(offset)

    def _progress_of(self, response: httpx.Response) -> int | None:
        """The number of stored bytes, if the response states it."""
        if response.status_code in {200, 201, 412}:  # 412: it is complete already
            return self._size
        if response.status_code != 308:
            return None
        match = STORED.fullmatch(response.headers.get("range", ""))
        return int(match[1]) + 1 if match else 0

    async def _request(
        self, method: str, url: str, headers: Mapping[str, str], content: bytes = b""
    ) -> httpx.Response | None:
        """A response of the upload protocol, without the key; None after a pause if none came."""
        try:
            with unlogged():
                return await self._transport.http.request(
                    method, url, headers=dict(headers), content=content, follow_redirects=False
                )
        except httpx.TransportError as failure:
            await self._pause(None, failure)
            return None

    async def _refused(self, response: httpx.Response) -> None:
        """Waits if the refusal is temporary; raises otherwise."""
        status, reason = response.status_code, reason_in(response)
        if reason == "BadDigest":
            raise ChecksumError(f"{self._source.file} changed while it was sent, or was damaged on the way")
        if status in {404, 410} or reason == "ExpiredToken":
            raise SessionLostError
        if status in {408, 429} or status >= 500:
            await self._pause(retry_after_seconds(response.headers.get("retry-after")))
            return
        raise UnexpectedResponseError(f"the upload was refused with status {status}{f' ({reason})' if reason else ''}")

    async def _pause(self, retry_after: float | None, failure: Exception | None = None) -> None:
        policy = self._transport.settings.retry
        if self._failures >= policy.retries:
            reason = reason_of(failure) if failure is not None else "the service is not available"
            raise ConnectionFailedError(f"upload of {self._source.file}: {reason}") from failure
        seconds = policy.wait(self._failures, retry_after)
        self._failures += 1
        await runtime.sleep(seconds)

    def _report(self, stored: int) -> None:
        if self._progress is not None:
            self._progress(stored, self._size)


def reason_in(response: httpx.Response) -> str | None:
    """The reason of an error in Google's format."""
    try:
        reason = response.json()["error"]["errors"][0]["reason"]
    except (ValueError, KeyError, IndexError, TypeError):
        return None
    return str(reason)
