"""The endpoint that google-cloud-storage uses."""

import json
import os
from typing import Any

import httpx
import pytest

from cutroom.products.uploads.grants import sign_grant
from cutroom.products.uploads.rules import MAX_RELATED_BYTES
from tests.products.uploads.conftest import Uploader, crc_of

DATA = b"\r\n--x\r\n" + os.urandom(100_000)
PATH = "/upload/storage/v1/b/cutroom/o"


async def post(
    uploader: Uploader, kind: str, body: bytes, *, path: str = PATH, content_type: str = "application/json"
) -> httpx.Response:
    note = sign_grant(uploader.gateway.secret_box, uploader.reserved.grant(uploader.gateway.clock()))
    headers = {"Authorization": f"Bearer {note}", "Content-Type": content_type}
    return await uploader.client.post(path, params={"uploadType": kind}, content=body, headers=headers)


def related(description: dict[str, Any], data: bytes) -> bytes:
    head = b"--bound\r\ncontent-type: application/json\r\n\r\n" + json.dumps(description).encode()
    return head + b"\r\n--bound\r\ncontent-type: video/mp4\r\n\r\n" + data + b"\r\n--bound--"


async def test_session_is_opened_for_the_named_object(uploader: Uploader) -> None:
    response = await post(uploader, "resumable", json.dumps({"name": uploader.reserved.storage_path}).encode())
    assert response.status_code == 200
    uploader.url = httpx.URL(response.headers["location"]).raw_path.decode()
    assert (await uploader.put(DATA)).status_code == 200
    assert await uploader.stored() == DATA


async def test_small_file_is_uploaded_with_metadata(uploader: Uploader) -> None:
    description = {"name": uploader.reserved.storage_path, "crc32c": crc_of(DATA)}
    kind = 'multipart/related; boundary="bound"'
    response = await post(uploader, "multipart", related(description, DATA), content_type=kind)
    assert (response.status_code, response.json()["crc32c"]) == (200, crc_of(DATA))
    assert await uploader.stored() == DATA


@pytest.mark.parametrize(
    ("kind", "path", "body", "status"),
    [
        ("media", PATH, b"", 400),
        ("resumable", PATH, b"[]", 400),
        ("resumable", PATH, b"{", 400),
        ("resumable", PATH, b'{"name": "elsewhere"}', 403),
        ("resumable", "/upload/storage/v1/b/other/o", b"{}", 403),
        ("multipart", PATH, b"", 400),
        ("multipart", PATH, b"x" * (MAX_RELATED_BYTES + 100_000), 413),
    ],
)
async def test_request_outside_the_grant_is_rejected(
    uploader: Uploader, kind: str, path: str, body: bytes, status: int
) -> None:
    response = await post(uploader, kind, body, path=path, content_type="multipart/related; boundary=bound")
    assert (response.status_code, response.json()["error"]["code"]) == (status, status)


@pytest.mark.parametrize(("headers", "status"), [({}, 401), ({"Authorization": "Bearer cr_x"}, 403)])
async def test_token_is_required(uploader: Uploader, headers: dict[str, str], status: int) -> None:
    response = await uploader.client.post(PATH, params={"uploadType": "resumable"}, headers=headers)
    assert response.status_code == status


async def test_wrong_checksum_of_small_file_is_rejected(uploader: Uploader) -> None:
    description = {"name": uploader.reserved.storage_path, "crc32c": "AAAAAA=="}
    body = related(description, DATA)
    response = await post(uploader, "multipart", body, content_type="multipart/related; boundary=bound")
    assert response.json()["error"]["errors"][0]["reason"] == "BadDigest"
