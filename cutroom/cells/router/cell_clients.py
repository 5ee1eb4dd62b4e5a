"""One HTTP client with its own bounded connections for each cell, so that a slow cell does not slow the others."""

from collections.abc import Callable, Mapping
from enum import Enum

import httpx

from cutroom.accounts.subjects import Subject
from cutroom.cells.directory import Cell
from cutroom.platform.moved import HEADER
from cutroom.web.internal.cell_routes import PATH

CONNECTIONS = 4_096  # of one router to one cell; each waiting request and stream has one
LOOKUP_CONNECTIONS = 16
CONNECT_SECONDS = 2.0
READ_SECONDS = 300.0  # without a byte; speech and long polls take time
POOL_SECONDS = 2.0
LOOKUP_SECONDS = 3.0
KEPT_SECONDS = 30.0  # less than the API keeps an idle connection
NOT_FOUND = 404
TransportOf = Callable[[str], httpx.AsyncBaseTransport]


class Absence(Enum):
    """Why a cell did not name a library."""

    UNKNOWN = "unknown"
    MOVING = "moving"
    UNAVAILABLE = "unavailable"


class CellClients:
    """The clients, by the URL of a cell's API."""

    def __init__(self, token: str, transport_of: TransportOf | None = None) -> None:
        self._token = token
        self._transport_of = transport_of  # for tests
        self._clients: dict[str, httpx.AsyncClient] = {}
        self._lookups: dict[str, httpx.AsyncClient] = {}

    async def send(self, cell: Cell, request: httpx.Request) -> httpx.Response:
        """The response's body is read by the caller, who closes it."""
        client = self._clients.get(cell.api_url)
        if client is None:
            timeout = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS, pool=POOL_SECONDS)
            client = self._clients[cell.api_url] = self._client(timeout, CONNECTIONS, cell)
        return await client.send(request, stream=True)

    async def locate(self, cell: Cell, subject: Subject, value: str) -> str | Absence:
        """The library that this cell has for a credential, session, address or id."""
        client = self._lookups.get(cell.api_url)
        if client is None:
            timeout = httpx.Timeout(LOOKUP_SECONDS, connect=CONNECT_SECONDS)
            client = self._lookups[cell.api_url] = self._client(timeout, LOOKUP_CONNECTIONS, cell)
        headers: Mapping[str, str] = {"Authorization": f"Bearer {self._token}"}
        body = {"subject": subject.value, "value": value}
        try:
            response = await client.post(f"{cell.api_url}{PATH}", json=body, headers=headers)
        except httpx.HTTPError:
            return Absence.UNAVAILABLE
        if response.is_success:
            return str(response.json()["libraryId"])
        if HEADER in response.headers:
            return Absence.MOVING
        return Absence.UNKNOWN if response.status_code in {400, NOT_FOUND} else Absence.UNAVAILABLE

    async def close(self) -> None:
        for client in (*self._clients.values(), *self._lookups.values()):
            await client.aclose()

    def _client(self, timeout: httpx.Timeout, connections: int, cell: Cell) -> httpx.AsyncClient:
        limits = httpx.Limits(
            max_connections=connections, max_keepalive_connections=connections, keepalive_expiry=KEPT_SECONDS
        )
        transport = self._transport_of(cell.api_url) if self._transport_of is not None else None
        return httpx.AsyncClient(timeout=timeout, limits=limits, transport=transport, trust_env=False)
