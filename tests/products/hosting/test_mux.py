"""Tests for the Mux adapter against a protocol-level fake server."""

from collections.abc import AsyncIterator

import pytest
from pydantic import SecretStr

from cutroom.platform.settings import Settings
from cutroom.products.hosting.mux import CHUNK_BYTES, HostingError, Mux, is_signed, send_file
from tests.support.servers.mux_server import TOKEN_ID, TOKEN_SECRET, WEBHOOK_SECRET, MuxServer, StoredUpload, mux_server

FILE = bytes(range(256)) * (2 * CHUNK_BYTES // 256 + 1000)


@pytest.fixture
async def server() -> AsyncIterator[MuxServer]:
    async with mux_server() as opened:
        yield opened


@pytest.fixture
def mux(settings: Settings, server: MuxServer) -> Mux:
    changes = {"mux_url": server.url, "mux_token_id": TOKEN_ID, "mux_token_secret": SecretStr(TOKEN_SECRET)}
    return Mux(settings.model_copy(update=changes))


async def read(start: int, end: int) -> AsyncIterator[bytes]:
    for offset in range(start, end, 1_000_000):
        yield FILE[offset : min(offset + 1_000_000, end)]


async def test_upload_becomes_an_asset(mux: Mux, server: MuxServer) -> None:
    upload = await mux.create_upload("mark")
    assert (upload.status, upload.asset_id) == ("waiting", None)
    assert upload.url is not None
    reported: list[int] = []
    await send_file(upload.url, size=len(FILE), read=read, on_progress=reported.append)
    assert bytes(server.uploads[upload.id].received) == FILE
    assert reported == [CHUNK_BYTES, 2 * CHUNK_BYTES, len(FILE)]
    stored = await mux.get_upload(upload.id)
    assert stored.asset_id is not None
    states = [(await mux.get_asset(stored.asset_id)).status for _ in range(2)]
    assert states == ["preparing", "ready"]
    assert (await mux.get_asset(stored.asset_id)).playback_id == f"play{upload.id}"


async def test_broken_upload_resumes_at_the_received_offset(mux: Mux, server: MuxServer) -> None:
    upload = await mux.create_upload("mark")
    assert upload.url is not None
    server.faults.break_upload = 1
    with pytest.raises(HostingError) as caught:
        await send_file(upload.url, size=len(FILE), read=read, on_progress=lambda _sent: None)
    assert caught.value.retry
    received = len(server.uploads[upload.id].received)
    assert 0 < received < len(FILE)
    spans: list[tuple[int, int]] = []

    def recording_read(start: int, end: int) -> AsyncIterator[bytes]:
        spans.append((start, end))
        return read(start, end)

    await send_file(upload.url, size=len(FILE), read=recording_read, on_progress=lambda _sent: None)
    assert spans[0][0] == received
    assert bytes(server.uploads[upload.id].received) == FILE


async def test_upload_is_found_after_a_lost_response(mux: Mux, server: MuxServer) -> None:
    server.faults.lose_response = 1
    with pytest.raises(HostingError):
        await mux.create_upload("mark")
    upload = await mux.find_upload("mark")
    assert upload is not None
    assert [upload.id] == list(server.uploads)
    assert await mux.find_upload("another") is None


@pytest.mark.parametrize(("fault", "retry"), [("busy", True), ("unavailable", True), ("refuse_credentials", False)])
async def test_only_transient_errors_are_retryable(mux: Mux, server: MuxServer, fault: str, retry: bool) -> None:  # noqa: FBT001
    setattr(server.faults, fault, 1)
    with pytest.raises(HostingError) as caught:
        await mux.create_upload("mark")
    assert caught.value.retry is retry


async def test_unreachable_provider_is_retryable(settings: Settings) -> None:
    changes = {"mux_url": "http://127.0.0.1:1", "mux_token_id": "t", "mux_token_secret": SecretStr("s")}
    with pytest.raises(HostingError) as unavailable:
        await Mux(settings.model_copy(update=changes)).create_upload("mark")
    assert unavailable.value.retry


def test_events_must_be_signed_and_recent(server: MuxServer) -> None:
    stored = StoredUpload("id", {"new_asset_settings": {"passthrough": "mark"}})
    body, headers = server.event(stored)
    signature = headers["Mux-Signature"]
    now = float(signature[2 : signature.index(",")])
    assert is_signed(signature, body, secret=WEBHOOK_SECRET, now=now)
    assert not is_signed(signature, body + b" ", secret=WEBHOOK_SECRET, now=now)
    assert not is_signed(signature, body, secret="another", now=now)
    assert not is_signed(signature, body, secret=WEBHOOK_SECRET, now=now + 1000)
    for garbage in ("", "t=,v1=", "v1=é", "t=1"):
        assert not is_signed(garbage, body, secret=WEBHOOK_SECRET, now=now)


async def test_asset_is_deleted_once(mux: Mux, server: MuxServer) -> None:
    upload = await mux.create_upload("passthrough")
    assert upload.url is not None
    await send_file(upload.url, size=len(FILE), read=read, on_progress=lambda _sent: None)
    asset_id = (await mux.get_upload(upload.id)).asset_id
    assert asset_id is not None
    for _ in range(2):
        await mux.delete_asset(asset_id)
    assert server.uploads == {}
    server.faults.unavailable = 1
    with pytest.raises(HostingError):
        await mux.delete_asset(asset_id)
