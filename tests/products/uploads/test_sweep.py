"""Expiry of sessions and cleanup of aborted ones."""

import os
from datetime import timedelta

import httpx
import pytest

from cutroom.platform.storage.multipart import Multipart
from cutroom.products.uploads.rules import CHUNK_BYTES, PART_BYTES
from cutroom.products.uploads.sweep import expire_sessions
from tests.conftest import MovableClock
from tests.products.uploads.conftest import Uploader

DATA = os.urandom(PART_BYTES + CHUNK_BYTES)


async def sweep(uploader: Uploader) -> None:
    while await expire_sessions(uploader.gateway):
        pass


async def test_expired_session_is_deleted(uploader: Uploader, clock: MovableClock) -> None:
    await uploader.start()
    await uploader.put(DATA, f"0-{len(DATA) - 1}/*")
    multipart_id = (await uploader.row())["multipart_id"]
    await sweep(uploader)
    assert (await uploader.row())["state"] == "open"
    clock.shift = timedelta(days=7, minutes=1)
    await sweep(uploader)
    assert await uploader.row() == {}
    assert await uploader.partial_part_count() == 0
    with pytest.raises(Exception, match="NoSuchUpload"):
        await uploader.gateway.multipart.put_part(
            uploader.reserved.storage_path, multipart_id, number=1, buffers=[b"x"]
        )


async def test_failed_cleanup_is_retried(uploader: Uploader, monkeypatch: pytest.MonkeyPatch) -> None:
    async def unavailable(*_: object, **__: object) -> None:
        raise httpx.ConnectError("unavailable")

    await uploader.start()
    await uploader.put(DATA, f"0-{len(DATA) - 1}/*")
    with monkeypatch.context() as patch:
        patch.setattr(Multipart, "abort", unavailable)
        assert (await uploader.client.delete(uploader.url)).status_code == 499
        await sweep(uploader)
    assert (await uploader.row())["multipart_id"] is not None
    await sweep(uploader)
    row = await uploader.row()
    assert (row["state"], row["multipart_id"], await uploader.partial_part_count()) == ("aborted", None, 0)


async def test_finished_session_is_deleted_and_object_kept(uploader: Uploader, clock: MovableClock) -> None:
    await uploader.start()
    await uploader.put(DATA)
    clock.shift = timedelta(days=8)
    await sweep(uploader)
    assert await uploader.row() == {}
    assert await uploader.stored() == DATA
