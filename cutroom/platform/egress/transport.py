"""Sends the requests of an httpx client through the egress client, so that they reach public addresses only."""

import httpx

from cutroom.platform.egress.client import USER_AGENT, Egress

MAX_RESPONSE_BYTES = 4 * 2**20


class EgressTransport(httpx.AsyncBaseTransport):
    """Holds each request and response in memory; raises UnreachableError if there is no response."""

    def __init__(self, egress: Egress, *, timeout_seconds: float) -> None:
        self._egress = egress
        self._timeout_seconds = timeout_seconds

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        body = await request.aread() if request.method in {"POST", "PUT"} else None
        async with self._egress.stream(
            request.method,
            str(request.url),
            headers={**request.headers, "user-agent": USER_AGENT},
            content=body,
            max_bytes=MAX_RESPONSE_BYTES,
            timeout_seconds=self._timeout_seconds,
            header_seconds=self._timeout_seconds,
        ) as response:
            content = b"" if request.method == "HEAD" else b"".join([chunk async for chunk in response])
            return httpx.Response(response.status, headers=dict(response.headers), content=content)
