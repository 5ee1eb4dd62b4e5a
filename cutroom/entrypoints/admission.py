"""HTTP/1.1 with admission control: decides on a request as soon as its head has arrived, before it costs anything."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from prometheus_client import CollectorRegistry
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from cutroom.entrypoints.http_protocol import EnvelopeProtocol
from cutroom.errors import Code, CutroomError
from cutroom.platform.ids import new_id
from cutroom.platform.settings import Settings
from cutroom.web.admission.admission import SLOT, Admission
from cutroom.web.admission.known_credentials import KnownCredentials
from cutroom.web.admission.metrics import AdmissionMetrics
from cutroom.web.admission.queues import Slot
from cutroom.web.error_responses import ERROR_CODE
from cutroom.web.limits import client_network
from cutroom.web.security_headers import default_headers

NEVER_SHED = frozenset({"/v1/health", "/ready"})
MAX_DISCARDED_BYTES = 64 * 1024  # of the body of a shed request; the connection of a larger one is closed
_CREDENTIALS = (b"authorization", b"x-api-key", b"xi-api-key", b"cookie")
_ERROR = CutroomError(Code.RATE_LIMITED, details={"limit": "capacity"})
_BODY = json.dumps(_ERROR.envelope(), separators=(",", ":")).encode()


class AdmittingProtocol(EnvelopeProtocol):
    """Starts requests when they are admitted, and answers those that are shed with a prepared response."""

    admission: Admission
    known: KnownCredentials
    shed_head: Mapping[bool, bytes]  # by whether the connection stays open

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:  # noqa: ANN401 (uvicorn's type)
        if cycle.scope["path"] in NEVER_SHED:
            super()._start_asgi_task(cycle, app)
            return
        credential = credential_in(cycle.scope["headers"])
        flow = self.known.library_of(credential) if credential else None
        if flow is None:
            flow = "" if cycle.scope["client"] is None else client_network(cycle.scope["client"][0])
        self.admission.submit(flow, _Arrival(self, cycle, app, credential=credential))

    def run(self, cycle: RequestResponseCycle, app: Any) -> None:  # noqa: ANN401 (as above)
        super()._start_asgi_task(cycle, app)

    def send_shed(self, cycle: RequestResponseCycle, retry_seconds: int) -> None:
        """Answer a request that was not run, and keep the connection if what follows is the next request."""
        if self.transport.is_closing():
            return
        keeps_open = cycle.keep_alive and not self.pipeline and not cycle.waiting_for_100_continue
        keeps_open = keeps_open and _body_bytes(cycle.scope["headers"]) <= MAX_DISCARDED_BYTES
        start = self.shed_head[keeps_open] + b"%d\r\nx-request-id: " % retry_seconds
        body = b"" if cycle.scope["method"] == "HEAD" else _BODY
        self.transport.write(start + new_id().encode() + b"\r\n\r\n" + body)
        cycle.response_started = cycle.response_complete = True
        if keeps_open:
            self.on_response_complete()
        else:
            self.pipeline.clear()
            self.transport.close()


class _Arrival:
    """One request between its arrival and its start."""

    __slots__ = ("_app", "_credential", "_cycle", "_protocol", "_slot")

    def __init__(
        self, protocol: AdmittingProtocol, cycle: RequestResponseCycle, app: ASGIApp, *, credential: bytes
    ) -> None:
        self._protocol, self._cycle, self._app, self._credential = protocol, cycle, app, credential
        self._slot: Slot | None = None

    @property
    def is_gone(self) -> bool:
        return self._cycle.disconnected

    def start(self, slot: Slot) -> None:
        self._slot = slot
        self._protocol.run(self._cycle, self._run)

    def shed(self, retry_seconds: int) -> None:
        self._protocol.send_shed(self._cycle, retry_seconds)

    async def _run(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope[SLOT] = self._slot
        try:
            await self._app(scope, receive, send)
        finally:
            assert self._slot is not None
            self._slot.release()
            self._learn(scope)

    def _learn(self, scope: Scope) -> None:
        """Remember whose credential it is, so that the next request with it waits in the queue of its library."""
        if not self._credential:
            return
        principal = scope.get("cutroom.principal")
        if principal is not None:
            self._protocol.known.learn(self._credential, principal.library_id)
        elif scope.get(ERROR_CODE) is Code.INVALID_API_KEY:  # revoked
            self._protocol.known.forget(self._credential)


def credential_in(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """The first header that identifies the caller; empty if there is none."""
    for name, value in headers:
        if name in _CREDENTIALS:
            return value
    return b""


def _body_bytes(headers: Iterable[tuple[bytes, bytes]]) -> int:
    """The declared length of the body; unlimited if it is not declared."""
    for name, value in headers:
        if name == b"content-length" and value.isdigit():
            return int(value)
        if name == b"transfer-encoding":
            return MAX_DISCARDED_BYTES + 1
    return 0


def _shed_head(settings: Settings, connection: bytes) -> bytes:
    """The response to shed requests up to the value of its `retry-after`, which is the last but one header."""
    lines = [
        b"HTTP/1.1 429 Too Many Requests",
        b"content-type: application/json",
        b"content-length: %d" % len(_BODY),
        b"connection: " + connection,
        *(name + b": " + value for name, value in default_headers(is_secure=settings.is_secure)),
        b"retry-after: ",
    ]
    return b"\r\n".join(lines)


def open_admission(settings: Settings, registry: CollectorRegistry) -> Admission | None:
    """The admission of one API process; None if it is off."""
    metrics = AdmissionMetrics(registry)
    if settings.admission == "off":
        return None
    return Admission(metrics, max_running=settings.database_pool_size, max_waiting=settings.waiting_requests)


def serving_protocol(settings: Settings, admission: Admission | None) -> type[EnvelopeProtocol]:
    """The protocol class of one API process; all its connections share the admission."""
    if admission is None:
        return EnvelopeProtocol
    shared = {
        "admission": admission,
        "known": KnownCredentials(),
        "shed_head": {True: _shed_head(settings, b"keep-alive"), False: _shed_head(settings, b"close")},
    }
    return type("ServingProtocol", (AdmittingProtocol,), shared)
