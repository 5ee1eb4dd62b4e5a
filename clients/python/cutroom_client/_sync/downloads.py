# Generated from `cutroom_client._async.downloads` by `just clients`. Do not edit.

"""Downloads files in parallel ranges, checks them, and continues where an earlier attempt stopped."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial

import httpx

from cutroom_client._sync import runtime
from cutroom_client._sync.transport import Transport, error_of, reason_of
from cutroom_client.download_plan import DownloadPlan
from cutroom_client.errors import ChecksumError, ConnectionFailedError, UnexpectedResponseError
from cutroom_client.log_redaction import unlogged
from cutroom_client.retrying import retry_after_seconds
from cutroom_client.transfers import SavedFile, TransferProgress, matches_digests, sha256_of
from cutroom_client.urls import checked_url

CONNECTIONS = 4
MAX_REDIRECTS = 5
EXPIRED = frozenset({401, 403, 404, 410})
CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)")


@dataclass(frozen=True)
class ReceivedRange:
    """A range of a file, and what its response says about the whole."""

    content: bytes
    total: int
    etag: str | None
    headers: httpx.Headers


class FileDownload:
    """Downloads one file. `find_url` returns a signed URL, and a new one when the first has expired."""

    def __init__(
        self,
        transport: Transport,
        find_url: runtime.FindUrl,
        plan: DownloadPlan,
        progress: TransferProgress | None,
    ) -> None:
        self._transport = transport
        self._find_url = find_url
        self._plan = plan
        self._progress = progress
        self._url = ""
        self._renewed = False

    def run(self, *, connections: int = CONNECTIONS) -> SavedFile:
        plan = self._plan
        self._url = self._find_url()
        runtime.in_thread(plan.target.parent.mkdir, parents=True, exist_ok=True)
        first = self._range(0, plan.part_bytes)
        runtime.in_thread(plan.begin, first.total, first.etag)
        if 0 not in plan.done and plan.size:
            runtime.in_thread(plan.store, 0, 0, first.content)
        self._report()
        steps = [partial(self._fetch, number, start, end) for number, start, end in plan.missing()]
        runtime.run_all(steps, at_once=connections)
        if not runtime.in_thread(matches_digests, plan.part, first.headers):
            runtime.in_thread(plan.discard)
            raise ChecksumError(f"{plan.target} does not match its checksum; it was discarded")
        sha256 = runtime.in_thread(sha256_of, plan.part)
        runtime.in_thread(plan.finish)
        return SavedFile(plan.target, plan.size, sha256)

    def _fetch(self, number: int, start: int, end: int) -> None:
        received = self._range(start, end)
        if received.total != self._plan.size or received.etag != self._plan.etag:
            runtime.in_thread(self._plan.discard)
            raise ChecksumError(f"{self._plan.target} changed while it was downloaded")
        runtime.in_thread(self._plan.store, number, start, received.content)
        self._report()

    def _range(self, start: int, end: int) -> ReceivedRange:
        policy, failures = self._transport.settings.retry, 0
        while True:
            wait: float | None = None
            try:
                response = self._get(self._url, start, end)
                if response.status_code in {200, 206, 416}:
                    return received_range(response, start, end)
                if response.status_code in EXPIRED and not self._renewed:
                    self._renewed = True
                    self._url = self._find_url()
                    continue
                wait = retry_after_seconds(response.headers.get("retry-after"))
                if response.status_code < 500 and response.status_code != 429:
                    raise error_of(response)
                failure: Exception = error_of(response)
            except httpx.TransportError as error:
                failure = error
            if failures >= policy.retries:
                message = f"download of {self._plan.target.name}: {reason_of(failure)}"
                raise ConnectionFailedError(message) from failure
            runtime.sleep(policy.wait(failures, wait))
            failures += 1

    def _get(self, url: str, start: int, end: int) -> httpx.Response:
        """A range without the key; redirects are followed if their targets may be opened."""
        base = self._transport.settings.base_url
        target = checked_url(url, base_url=base)
        headers = {"Range": f"bytes={start}-{end - 1}", "Accept-Encoding": "identity"}
        for _ in range(MAX_REDIRECTS):
            with unlogged():
                response = self._transport.http.get(target, headers=headers, follow_redirects=False)
            if not response.is_redirect:
                return response
            target = checked_url(response.headers["location"], base_url=base, after=target)
        raise UnexpectedResponseError("too many redirects")

    def _report(self) -> None:
        if self._progress is not None:
            self._progress(self._plan.received(), self._plan.size)


def received_range(response: httpx.Response, start: int, end: int) -> ReceivedRange:
    """The range, checked against what was asked for; a server that ignores ranges sends the whole file."""
    etag = response.headers.get("etag")
    if response.status_code == 416:  # an empty file has no range
        return ReceivedRange(b"", 0, etag, response.headers)
    content = response.content
    if response.status_code == 200:
        return ReceivedRange(content[start:end], len(content), etag, response.headers)
    match = CONTENT_RANGE.fullmatch(response.headers.get("content-range", ""))
    if match is None:
        raise UnexpectedResponseError("a range without Content-Range")
    total = int(match[3])
    if int(match[1]) != start or int(match[2]) + 1 != min(end, total) or len(content) != min(end, total) - start:
        raise UnexpectedResponseError("another range than the one that was requested")
    return ReceivedRange(content, total, etag, response.headers)
