"""The form that google-cloud-storage uses, spoken by hand."""

import json
import os
from typing import Any

import httpx
import pytest

from cutroom.products.uploads.grants import sign_grant
from cutroom.products.uploads.rules import MAX_SMALL_BYTES
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


async def test_a_session_is_opened_for_the_named_object(uploader: Uploader) -> None:
    answer = await post(uploader, "resumable", json.dumps({"name": uploader.reserved.storage_path}).encode())
    assert answer.status_code == 200
    uploader.url = httpx.URL(answer.headers["location"]).raw_path.decode()
    assert (await uploader.put(DATA)).status_code == 200
    assert await uploader.stored() == DATA


async def test_a_small_file_comes_with_its_description(uploader: Uploader) -> None:
    description = {"name": uploader.reserved.storage_path, "crc32c": crc_of(DATA)}
    kind = 'multipart/related; boundary="bound"'
    answer = await post(uploader, "multipart", related(description, DATA), content_type=kind)
    assert (answer.status_code, answer.json()["crc32c"]) == (200, crc_of(DATA))
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
        ("multipart", PATH, b"x" * (MAX_SMALL_BYTES + 100_000), 413),
    ],
)
async def test_what_the_note_does_not_allow_is_refused(
    uploader: Uploader, kind: str, path: str, body: bytes, status: int
) -> None:
    answer = await post(uploader, kind, body, path=path, content_type="multipart/related; boundary=bound")
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, status)


@pytest.mark.parametrize(("headers", "status"), [({}, 401), ({"Authorization": "Bearer cr_x"}, 403)])
async def test_without_a_note_nothing_is_opened(uploader: Uploader, headers: dict[str, str], status: int) -> None:
    answer = await uploader.client.post(PATH, params={"uploadType": "resumable"}, headers=headers)
    assert answer.status_code == status


async def test_a_wrong_checksum_of_a_small_file_is_refused(uploader: Uploader) -> None:
    description = {"name": uploader.reserved.storage_path, "crc32c": "AAAAAA=="}
    body = related(description, DATA)
    answer = await post(uploader, "multipart", body, content_type="multipart/related; boundary=bound")
    assert answer.json()["error"]["errors"][0]["reason"] == "BadDigest"
