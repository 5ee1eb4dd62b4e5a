"""The adapter against a server that speaks Mux's protocol: calls, errors, broken uploads, signed events."""

from collections.abc import AsyncIterator

import pytest
from pydantic import SecretStr

from cutroom.platform.settings import Settings
from cutroom.products.hosting.mux import CHUNK_BYTES, HostError, Mux, is_signed, send_file
from tests.support.mux_server import TOKEN_ID, TOKEN_SECRET, WEBHOOK_SECRET, Held, MuxServer, mux_server

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
    for at in range(start, end, 1_000_000):
        yield FILE[at : min(at + 1_000_000, end)]


async def test_a_file_goes_up_and_becomes_an_asset(mux: Mux, server: MuxServer) -> None:
    upload = await mux.create_upload("mark")
    assert (upload.status, upload.asset_id) == ("waiting", None)
    assert upload.url is not None
    told: list[int] = []
    await send_file(upload.url, size=len(FILE), read=read, tell=told.append)
    assert bytes(server.uploads[upload.id].received) == FILE
    assert told == [CHUNK_BYTES, 2 * CHUNK_BYTES, len(FILE)]
    there = await mux.get_upload(upload.id)
    assert there.asset_id is not None
    states = [(await mux.get_asset(there.asset_id)).status for _ in range(2)]
    assert states == ["preparing", "ready"]
    assert (await mux.get_asset(there.asset_id)).playback_id == f"play{upload.id}"


async def test_a_connection_that_breaks_is_taken_up_where_it_broke(mux: Mux, server: MuxServer) -> None:
    upload = await mux.create_upload("mark")
    assert upload.url is not None
    server.faults.break_sending = 1
    with pytest.raises(HostError) as broken:
        await send_file(upload.url, size=len(FILE), read=read, tell=lambda _sent: None)
    assert broken.value.retry
    received = len(server.uploads[upload.id].received)
    assert 0 < received < len(FILE)
    spans: list[tuple[int, int]] = []

    def reading(start: int, end: int) -> AsyncIterator[bytes]:
        spans.append((start, end))
        return read(start, end)

    await send_file(upload.url, size=len(FILE), read=reading, tell=lambda _sent: None)
    assert spans[0][0] == received
    assert bytes(server.uploads[upload.id].received) == FILE


async def test_an_upload_whose_answer_was_lost_is_found_again(mux: Mux, server: MuxServer) -> None:
    server.faults.lose_answer = 1
    with pytest.raises(HostError):
        await mux.create_upload("mark")
    found = await mux.find_upload("mark")
    assert found is not None
    assert [found.id] == list(server.uploads)
    assert await mux.find_upload("another") is None


@pytest.mark.parametrize(("fault", "retry"), [("busy", True), ("away", True), ("refuse_credentials", False)])
async def test_some_refusals_may_pass_and_some_do_not(mux: Mux, server: MuxServer, fault: str, retry: bool) -> None:  # noqa: FBT001
    setattr(server.faults, fault, 1)
    with pytest.raises(HostError) as refused:
        await mux.create_upload("mark")
    assert refused.value.retry is retry


async def test_a_host_that_is_not_there_may_come_back(settings: Settings) -> None:
    changes = {"mux_url": "http://127.0.0.1:1", "mux_token_id": "t", "mux_token_secret": SecretStr("s")}
    with pytest.raises(HostError) as away:
        await Mux(settings.model_copy(update=changes)).create_upload("mark")
    assert away.value.retry


def test_events_are_believed_when_signed_and_fresh(server: MuxServer) -> None:
    held = Held("id", {"new_asset_settings": {"passthrough": "mark"}})
    body, headers = server.event(held)
    signature = headers["Mux-Signature"]
    now = float(signature[2 : signature.index(",")])
    assert is_signed(signature, body, secret=WEBHOOK_SECRET, now=now)
    assert not is_signed(signature, body + b" ", secret=WEBHOOK_SECRET, now=now)
    assert not is_signed(signature, body, secret="another", now=now)
    assert not is_signed(signature, body, secret=WEBHOOK_SECRET, now=now + 1000)
    for garbage in ("", "t=,v1=", "v1=é", "t=1"):
        assert not is_signed(garbage, body, secret=WEBHOOK_SECRET, now=now)
