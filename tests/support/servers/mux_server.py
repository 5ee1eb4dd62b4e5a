"""A fake Mux server: direct uploads, assets, resumable storage, and fault injection.

Follows the API reference: bodies are wrapped in `data`, uploads go from `waiting` to `asset_created`, assets from
`preparing` to `ready` or `errored`, and upload URLs accept Google's resumable PUTs.
"""

import asyncio
import base64
import hashlib
import hmac
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import uvicorn
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from cutroom.platform.ids import new_id
from dev.server import free_port

TOKEN_ID, TOKEN_SECRET, WEBHOOK_SECRET = "token", "secret", "shh"


@dataclass
class Faults:
    """Faults to inject, and how often."""

    refuse_credentials: bool = False
    busy: int = 0  # responses with 429
    unavailable: int = 0  # responses with 503
    lose_response: int = 0  # uploads that are created, but answered with 503
    break_upload: int = 0  # chunks during which the connection is reset
    preparing: int = 1  # polls of an asset before it is ready
    asset_error: bool = False
    upload_status: str | None = None  # `timed_out`, `cancelled` or `errored`


@dataclass
class StoredUpload:
    """An upload and its asset."""

    id: str
    request: dict[str, Any]
    received: bytearray = field(default_factory=bytearray)
    status: str = "waiting"
    asset_id: str | None = None
    polls: int = 0


class MuxServer:
    """One Mux account."""

    def __init__(self) -> None:
        self.port = free_port()
        self.faults = Faults()
        self.uploads: dict[str, StoredUpload] = {}
        self.calls: list[str] = []
        self.url = f"http://127.0.0.1:{self.port}"
        self.app = Starlette(
            routes=[
                Route("/video/v1/uploads", self.create, methods=["POST"]),
                Route("/video/v1/uploads", self.list_uploads, methods=["GET"]),
                Route("/video/v1/uploads/{id}", self.get_upload, methods=["GET"]),
                Route("/video/v1/assets/{id}", self.get_asset, methods=["GET"]),
                Route("/video/v1/assets/{id}", self.delete_asset, methods=["DELETE"]),
                Route("/storage/{id}", self.store, methods=["PUT"]),
            ]
        )

    @property
    def settings(self) -> dict[str, Any]:
        """Settings that make an installation use this account."""
        return {
            "mux_url": self.url,
            "mux_token_id": TOKEN_ID,
            "mux_token_secret": SecretStr(TOKEN_SECRET),
            "mux_webhook_secret": SecretStr(WEBHOOK_SECRET),
        }

    def _reject(self, request: Request) -> Response | None:
        self.calls.append(f"{request.method} {request.url.path.rpartition('/')[0]}")
        expected = base64.b64encode(f"{TOKEN_ID}:{TOKEN_SECRET}".encode()).decode()
        if self.faults.refuse_credentials or request.headers.get("authorization") != f"Basic {expected}":
            return _error(401, "unauthorized")
        for name, status in (("busy", 429), ("unavailable", 503)):
            remaining: int = getattr(self.faults, name)
            if remaining > 0:
                setattr(self.faults, name, remaining - 1)
                return _error(status, name)
        return None

    async def create(self, request: Request) -> Response:
        if (rejection := self._reject(request)) is not None:
            return rejection
        stored = StoredUpload(new_id(), await request.json())
        self.uploads[stored.id] = stored
        if self.faults.lose_response > 0:
            self.faults.lose_response -= 1
            return _error(503, "lost")
        return JSONResponse({"data": self._upload(stored)}, status_code=201)

    async def list_uploads(self, request: Request) -> Response:
        rejection = self._reject(request)
        return rejection or JSONResponse({"data": [self._upload(stored) for stored in self.uploads.values()]})

    async def get_upload(self, request: Request) -> Response:
        if (rejection := self._reject(request)) is not None:
            return rejection
        stored = self.uploads.get(request.path_params["id"])
        if stored is None:
            return _error(404, "not_found")
        if self.faults.upload_status is not None:
            stored.status = self.faults.upload_status
        return JSONResponse({"data": self._upload(stored)})

    async def get_asset(self, request: Request) -> Response:
        if (rejection := self._reject(request)) is not None:
            return rejection
        stored = next((each for each in self.uploads.values() if each.asset_id == request.path_params["id"]), None)
        if stored is None:
            return _error(404, "not_found")
        stored.polls += 1
        data: dict[str, Any] = {
            "id": stored.asset_id,
            "status": "preparing",
            "created_at": "1762000000",
            "upload_id": stored.id,
            "passthrough": stored.request["new_asset_settings"]["passthrough"],
            "playback_ids": [{"id": f"play{stored.id}", "policy": "public"}],
            "video_quality": "basic",
        }
        if stored.polls > self.faults.preparing:
            data["status"] = "errored" if self.faults.asset_error else "ready"
        if data["status"] == "errored":
            data["errors"] = {"type": "invalid_input", "messages": ["The input file has no video."]}
        return JSONResponse({"data": data})

    async def delete_asset(self, request: Request) -> Response:
        if (rejection := self._reject(request)) is not None:
            return rejection
        found = [key for key, each in self.uploads.items() if each.asset_id == request.path_params["id"]]
        for key in found:
            del self.uploads[key]
        return Response(status_code=204) if found else _error(404, "not_found")

    async def store(self, request: Request) -> Response:
        """Google's resumable upload protocol."""
        stored = self.uploads[request.path_params["id"]]
        self.calls.append("PUT /storage")
        span, _, total = request.headers["content-range"].removeprefix("bytes ").partition("/")
        if span != "*":
            start, end = (int(each) for each in span.split("-"))
            if start != len(stored.received):
                return Response(status_code=308, headers=_range(stored))
            received = bytearray()
            async for chunk in request.stream():
                received += chunk
                if self.faults.break_upload > 0 and len(received) > (end - start) // 2:
                    self.faults.break_upload -= 1
                    stored.received += received[: len(received) // 262144 * 262144]
                    raise ConnectionResetError("on demand")
            stored.received += received
        if len(stored.received) < int(total):
            return Response(status_code=308, headers=_range(stored))
        if stored.asset_id is None:
            stored.status, stored.asset_id = "asset_created", new_id()
        return Response(status_code=200)

    def _upload(self, stored: StoredUpload) -> dict[str, Any]:
        data = {
            "id": stored.id,
            "status": stored.status,
            "timeout": stored.request.get("timeout", 3600),
            "cors_origin": stored.request.get("cors_origin"),
            "new_asset_settings": stored.request["new_asset_settings"],
        }
        if stored.status == "waiting":
            data["url"] = f"{self.url}/storage/{stored.id}"
        if stored.asset_id is not None:
            data["asset_id"] = stored.asset_id
        return data

    def event(self, stored: StoredUpload, event_type: str = "video.asset.ready") -> tuple[bytes, dict[str, str]]:
        """A signed webhook event."""
        passthrough = stored.request["new_asset_settings"]["passthrough"]
        data = {"id": stored.asset_id, "upload_id": stored.id, "passthrough": passthrough}
        body = json.dumps({"type": event_type, "id": new_id(), "data": data}).encode()
        now = int(time.time())
        signature = hmac.new(WEBHOOK_SECRET.encode(), f"{now}.".encode() + body, hashlib.sha256).hexdigest()
        return body, {"Mux-Signature": f"t={now},v1={signature}", "Content-Type": "application/json"}

    async def deliver(self, api_url: str, stored: StoredUpload, *, times: int) -> list[int]:
        async with httpx.AsyncClient(timeout=30) as client:
            body, headers = self.event(stored)
            url = f"{api_url}/hosting/mux/events"
            return [(await client.post(url, content=body, headers=headers)).status_code for _ in range(times)]


def _range(stored: StoredUpload) -> dict[str, str]:
    return {"Range": f"bytes=0-{len(stored.received) - 1}"} if stored.received else {}


def _error(status: int, event_type: str) -> Response:
    return JSONResponse({"error": {"type": event_type, "messages": [event_type]}}, status_code=status)


@asynccontextmanager
async def mux_server() -> AsyncIterator[MuxServer]:
    mux = MuxServer()
    config = uvicorn.Config(mux.app, port=mux.port, log_level="critical", access_log=False, lifespan="off")
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.02)
    try:
        yield mux
    finally:
        server.should_exit = True
        await serving
