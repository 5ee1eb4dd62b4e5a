"""A local server that speaks Mux's documented protocol: direct uploads, assets, its storage, and faults on demand.

After its API reference: bodies are wrapped in `data`, uploads go from `waiting` to `asset_created`,
assets from `preparing` to `ready` or `errored`, and the upload's URL takes Google's resumable PUTs.
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
    """What goes wrong, and how often."""

    refuse_credentials: bool = False
    busy: int = 0  # answers of 429
    away: int = 0  # answers of 503
    lose_answer: int = 0  # uploads that are made, but answered with 503
    break_sending: int = 0  # chunks after half of which the connection is cut
    preparing: int = 1  # looks at an asset before it is ready
    asset_fails: bool = False
    upload_ends: str | None = None  # `timed_out`, `cancelled` or `errored`


@dataclass
class Held:
    """One upload and what became of it."""

    id: str
    request: dict[str, Any]
    received: bytearray = field(default_factory=bytearray)
    status: str = "waiting"
    asset_id: str | None = None
    looks: int = 0


class MuxServer:
    """One account at Mux."""

    def __init__(self) -> None:
        self.port = free_port()
        self.faults = Faults()
        self.uploads: dict[str, Held] = {}
        self.calls: list[str] = []
        self.url = f"http://127.0.0.1:{self.port}"
        self.app = Starlette(
            routes=[
                Route("/video/v1/uploads", self.create, methods=["POST"]),
                Route("/video/v1/uploads", self.list_uploads, methods=["GET"]),
                Route("/video/v1/uploads/{id}", self.get_upload, methods=["GET"]),
                Route("/video/v1/assets/{id}", self.get_asset, methods=["GET"]),
                Route("/storage/{id}", self.store, methods=["PUT"]),
            ]
        )

    @property
    def settings(self) -> dict[str, Any]:
        """What makes an installation use this account."""
        return {
            "mux_url": self.url,
            "mux_token_id": TOKEN_ID,
            "mux_token_secret": SecretStr(TOKEN_SECRET),
            "mux_webhook_secret": SecretStr(WEBHOOK_SECRET),
        }

    def _refusal(self, request: Request) -> Response | None:
        self.calls.append(f"{request.method} {request.url.path.rpartition('/')[0]}")
        wanted = base64.b64encode(f"{TOKEN_ID}:{TOKEN_SECRET}".encode()).decode()
        if self.faults.refuse_credentials or request.headers.get("authorization") != f"Basic {wanted}":
            return _error(401, "unauthorized")
        for name, status in (("busy", 429), ("away", 503)):
            left: int = getattr(self.faults, name)
            if left > 0:
                setattr(self.faults, name, left - 1)
                return _error(status, name)
        return None

    async def create(self, request: Request) -> Response:
        if (refusal := self._refusal(request)) is not None:
            return refusal
        held = Held(new_id(), await request.json())
        self.uploads[held.id] = held
        if self.faults.lose_answer > 0:
            self.faults.lose_answer -= 1
            return _error(503, "lost")
        return JSONResponse({"data": self._upload(held)}, status_code=201)

    async def list_uploads(self, request: Request) -> Response:
        refusal = self._refusal(request)
        return refusal or JSONResponse({"data": [self._upload(held) for held in self.uploads.values()]})

    async def get_upload(self, request: Request) -> Response:
        if (refusal := self._refusal(request)) is not None:
            return refusal
        held = self.uploads.get(request.path_params["id"])
        if held is None:
            return _error(404, "not_found")
        if self.faults.upload_ends is not None:
            held.status = self.faults.upload_ends
        return JSONResponse({"data": self._upload(held)})

    async def get_asset(self, request: Request) -> Response:
        if (refusal := self._refusal(request)) is not None:
            return refusal
        held = next((each for each in self.uploads.values() if each.asset_id == request.path_params["id"]), None)
        if held is None:
            return _error(404, "not_found")
        held.looks += 1
        data: dict[str, Any] = {
            "id": held.asset_id,
            "status": "preparing",
            "created_at": "1762000000",
            "upload_id": held.id,
            "passthrough": held.request["new_asset_settings"]["passthrough"],
            "playback_ids": [{"id": f"play{held.id}", "policy": "public"}],
            "video_quality": "basic",
        }
        if held.looks > self.faults.preparing:
            data["status"] = "errored" if self.faults.asset_fails else "ready"
        if data["status"] == "errored":
            data["errors"] = {"type": "invalid_input", "messages": ["The input file has no video."]}
        return JSONResponse({"data": data})

    async def store(self, request: Request) -> Response:
        """Google's resumable protocol, as the URL of an upload speaks it."""
        held = self.uploads[request.path_params["id"]]
        self.calls.append("PUT /storage")
        span, _, total = request.headers["content-range"].removeprefix("bytes ").partition("/")
        if span != "*":
            start, end = (int(each) for each in span.split("-"))
            if start != len(held.received):
                return Response(status_code=308, headers=_range(held))
            taken = bytearray()
            async for chunk in request.stream():
                taken += chunk
                if self.faults.break_sending > 0 and len(taken) > (end - start) // 2:
                    self.faults.break_sending -= 1
                    held.received += taken[: len(taken) // 262144 * 262144]
                    raise ConnectionResetError("on demand")
            held.received += taken
        if len(held.received) < int(total):
            return Response(status_code=308, headers=_range(held))
        if held.asset_id is None:
            held.status, held.asset_id = "asset_created", new_id()
        return Response(status_code=200)

    def _upload(self, held: Held) -> dict[str, Any]:
        data = {
            "id": held.id,
            "status": held.status,
            "timeout": held.request.get("timeout", 3600),
            "cors_origin": held.request.get("cors_origin"),
            "new_asset_settings": held.request["new_asset_settings"],
        }
        if held.status == "waiting":
            data["url"] = f"{self.url}/storage/{held.id}"
        if held.asset_id is not None:
            data["asset_id"] = held.asset_id
        return data

    def event(self, held: Held, kind: str = "video.asset.ready") -> tuple[bytes, dict[str, str]]:
        """An event as Mux delivers it, with its signature."""
        passthrough = held.request["new_asset_settings"]["passthrough"]
        data = {"id": held.asset_id, "upload_id": held.id, "passthrough": passthrough}
        body = json.dumps({"type": kind, "id": new_id(), "data": data}).encode()
        now = int(time.time())
        signature = hmac.new(WEBHOOK_SECRET.encode(), f"{now}.".encode() + body, hashlib.sha256).hexdigest()
        return body, {"Mux-Signature": f"t={now},v1={signature}", "Content-Type": "application/json"}

    async def deliver(self, api_url: str, held: Held, *, times: int) -> list[int]:
        async with httpx.AsyncClient(timeout=30) as client:
            body, headers = self.event(held)
            url = f"{api_url}/hosting/mux/events"
            return [(await client.post(url, content=body, headers=headers)).status_code for _ in range(times)]


def _range(held: Held) -> dict[str, str]:
    return {"Range": f"bytes=0-{len(held.received) - 1}"} if held.received else {}


def _error(status: int, kind: str) -> Response:
    return JSONResponse({"error": {"type": kind, "messages": [kind]}}, status_code=status)


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
