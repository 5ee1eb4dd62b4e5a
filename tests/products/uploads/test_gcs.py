"""Direct uploads to GCS, against a local server that imitates Google."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import parse_qs

import httpx
import obstore
import pytest
import uvicorn
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from cutroom.entrypoints.api import build_app
from cutroom.platform.settings import Settings
from cutroom.platform.storage.gcs import Gcs, GcsError
from cutroom.products.uploads.service import Gateway
from cutroom.products.uploads.targets import release_if_stored
from cutroom.web.runtime import open_runtime
from dev.scratch import Accounts
from dev.server import free_port
from tests.products.uploads.conftest import Reserved, Uploader

KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)


class Google:
    """The two endpoints that open a session."""

    def __init__(self) -> None:
        self.tokens = 0
        self.starts: list[Request] = []
        self.fails = False

    async def token(self, request: Request) -> Response:
        form = parse_qs((await request.body()).decode())
        head, claims, signature = form["assertion"][0].split(".")
        KEY.public_key().verify(_decode(signature), f"{head}.{claims}".encode(), padding.PKCS1v15(), SHA256())
        assert json.loads(_decode(claims))["iss"] == "uploads@example.com"
        self.tokens += 1
        return JSONResponse({"access_token": f"token-{self.tokens}", "expires_in": 3600})

    async def start(self, request: Request) -> Response:
        await request.body()
        self.starts.append(request)
        if self.fails:
            return Response(status_code=429)
        return Response(status_code=200, headers={"Location": "https://storage.example/session/1"})


@pytest.fixture
async def google() -> AsyncIterator[tuple[Google, int]]:
    spoken = Google()
    routes = [
        Route("/token", spoken.token, methods=["POST"]),
        Route("/upload/storage/v1/b/{bucket}/o", spoken.start, methods=["POST"]),
    ]
    port = free_port()
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), port=port, log_config=None, ws="none"))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    yield spoken, port
    server.should_exit = True
    await serving


@pytest.fixture
def account_file(google: tuple[Google, int], tmp_path: Path) -> Path:
    pem = KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    token_url = f"http://127.0.0.1:{google[1]}/token"
    account = {
        "type": "service_account",
        "client_email": "uploads@example.com",
        "private_key": pem,
        "token_uri": token_url,
    }
    path = tmp_path / "account.json"
    path.write_text(json.dumps(account))
    return path


@pytest.fixture
async def gcs(google: tuple[Google, int], account_file: Path) -> AsyncIterator[Gcs]:
    endpoint = f"http://127.0.0.1:{google[1]}"
    opened = Gcs(account_file, bucket="theirs", endpoint=endpoint)
    yield opened
    await opened.close()


async def test_start_returns_a_gcs_session(
    account_file: Path, google: tuple[Google, int], settings: Settings, uploader: Uploader, reserved: Reserved
) -> None:
    changed = {"gcs_account_file": account_file, "gcs_endpoint": f"http://127.0.0.1:{google[1]}"}
    app = build_app(lambda: open_runtime(settings.model_copy(update=changed), uploader.gateway.clock))
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://cutroom.test") as client:
            headers = {"x-goog-resumable": "start", "Origin": "https://app.example", "X-Upload-Content-Length": "9"}
            response = await client.post(uploader.start_url(), headers=headers)
    assert (response.status_code, response.headers["location"]) == (201, "https://storage.example/session/1")
    asked = google[0].starts[0]
    assert asked.path_params["bucket"] == settings.s3_bucket
    assert asked.query_params["name"] == reserved.storage_path
    assert asked.headers["authorization"] == "Bearer token-1"
    assert asked.headers["x-upload-content-type"] == "video/mp4"
    assert (asked.headers["x-upload-content-length"], asked.headers["origin"]) == ("9", "https://app.example")


async def test_access_token_is_cached_until_it_expires(gcs: Gcs, google: tuple[Google, int]) -> None:
    for _ in range(3):
        await gcs.open_session("a", content_type="video/mp4")
    assert google[0].tokens == 1


async def test_gcs_refusal_raises(gcs: Gcs, google: tuple[Google, int]) -> None:
    google[0].fails = True
    with pytest.raises(GcsError, match="429"):
        await gcs.open_session("a", content_type="video/mp4")


async def test_file_uploaded_directly_to_gcs_is_detected(
    gateway: Gateway, accounts: Accounts, reserved: Reserved
) -> None:
    async def detect() -> bool:
        return await release_if_stored(
            gateway.database,
            gateway.storage,
            library_id=reserved.library_id,
            video_id=reserved.video_id,
            now=gateway.clock(),
        )

    assert not await detect()
    await obstore.put_async(gateway.storage.store, reserved.storage_path, b"bytes")
    assert await detect()
    assert await detect()
    await gateway.storage.delete(reserved.storage_path)
    row = await accounts.connection.fetchrow(
        """SELECT s.size_bytes, j.depends_on, (SELECT count(*) FROM outbox o WHERE o.workflow_id = j.id) AS starts
           FROM sources s JOIN jobs j ON j.video_id = s.video_id WHERE s.video_id = $1""",
        reserved.video_id,
    )
    assert row is not None
    assert tuple(row) == (5, [], 1)


def _decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
