"""Hub downloads resume after interruptions and reject content that does not match the manifest."""

from collections.abc import Callable
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from cutroom.engines.models.download import ATTEMPTS
from cutroom.engines.models.files import ModelSourceError, part_path
from cutroom.engines.models.hub import HubSource, MissingHub
from tests.support.tiny_models import CONFIG, WEIGHTS, FakeHub, fake_hub, respond, served, small

Fault = Callable[[BaseHTTPRequestHandler, bytes], None]

MODEL = small()
WEIGHTS_FILE, CONFIG_FILE = MODEL.files


def status_fault(status: int, **headers: str) -> Fault:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda handler, body: respond(handler, status, body, headers=named)


def cut_after(count: int) -> Fault:
    return lambda handler, body: respond(handler, 200, body, send_bytes=count)


def other_body(body: bytes) -> Fault:
    return lambda handler, _body: respond(handler, 200, body)


async def fetch(hub: FakeHub, folder: Path) -> list[tuple[str, int]]:
    """Downloads both files and returns the reported progress."""
    progress: list[tuple[str, int]] = []
    source = HubSource(hub.address, report=lambda file, done: progress.append((file.name, done)), pause_seconds=0)
    await source.fetch(MODEL, MODEL.files, folder=folder)
    assert part_path(folder, WEIGHTS_FILE).read_bytes() == WEIGHTS
    assert part_path(folder, CONFIG_FILE).read_bytes() == CONFIG
    return progress


async def test_files_are_requested_by_repository_and_folder(tmp_path: Path) -> None:
    with fake_hub() as hub:
        progress = await fetch(hub, tmp_path)
    assert hub.requests == [
        ("/people/small/resolve/main/onnx/weights.bin", None),
        ("/people/small/resolve/main/onnx/config.json", None),
    ]
    assert progress[-1] == ("config.json", len(CONFIG))
    assert progress[-2] == ("weights.bin", len(WEIGHTS))
    assert [done for _, done in progress] == [*sorted(done for _, done in progress[:-1]), len(CONFIG)]


@pytest.mark.parametrize("count", [0, 1, 2_000_000, len(WEIGHTS) - 1])
async def test_interrupted_download_is_resumed(tmp_path: Path, count: int) -> None:
    with fake_hub() as hub:
        hub.faults.append(cut_after(count))
        await fetch(hub, tmp_path)
    assert hub.requests[1][1] == (f"bytes={count}-" if count else None)


async def test_partial_file_of_earlier_pull_is_resumed(tmp_path: Path) -> None:
    part_path(tmp_path, WEIGHTS_FILE).write_bytes(WEIGHTS[:1_000_000])
    part_path(tmp_path, CONFIG_FILE).write_bytes(CONFIG)
    with fake_hub() as hub:
        await fetch(hub, tmp_path)
    assert [requested_range for _, requested_range in hub.requests] == ["bytes=1000000-"]


@pytest.mark.parametrize("leftover", [b"\0" * 1_000_000, b"\0" * len(WEIGHTS), WEIGHTS + b"!"])
async def test_corrupt_partial_file_is_downloaded_again(tmp_path: Path, leftover: bytes) -> None:
    part_path(tmp_path, WEIGHTS_FILE).write_bytes(leftover)
    with fake_hub() as hub:
        await fetch(hub, tmp_path)


async def test_hub_without_ranges_restarts_the_download(tmp_path: Path) -> None:
    with fake_hub() as hub:
        hub.supports_ranges = False
        hub.faults.append(cut_after(2_000_000))
        await fetch(hub, tmp_path)
    assert len(hub.requests) == 3


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
async def test_busy_hub_is_retried(tmp_path: Path, status: int) -> None:
    with fake_hub() as hub:
        hub.faults += [status_fault(status)] * (ATTEMPTS - 1)
        await fetch(hub, tmp_path)


async def test_busy_hub_fails_after_all_attempts(tmp_path: Path) -> None:
    with fake_hub() as hub:
        hub.faults += [status_fault(503)] * ATTEMPTS
        with pytest.raises(ModelSourceError, match=r"weights.bin could not be downloaded from the hub: status 503"):
            await fetch(hub, tmp_path)
    assert len(hub.requests) == ATTEMPTS


async def test_unreachable_hub_fails(tmp_path: Path) -> None:
    with fake_hub() as hub:
        pass
    with pytest.raises(ModelSourceError, match=r"weights.bin could not be downloaded from the hub"):
        await fetch(hub, tmp_path)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (status_fault(401), "status 401"),
        (status_fault(404), "status 404"),
        (status_fault(206, Content_Range="bytes 5-10/3000000"), "different range"),
        (status_fault(200, Content_Encoding="gzip"), "compressed"),
        (other_body(WEIGHTS + b"!"), "more than 3000000 bytes"),
        (status_fault(302, Location="http://192.0.2.1/weights.bin"), "must use https://"),
        (status_fault(302, Location="file:///etc/passwd"), "must use https://"),
    ],
    ids=["401", "404", "another range", "compressed", "too long", "redirect to http", "redirect to a file"],
)
async def test_invalid_response_fails_without_retry(tmp_path: Path, fault: Fault, message: str) -> None:
    with fake_hub() as hub:
        hub.faults.append(fault)
        with pytest.raises(ModelSourceError, match=message):
            await fetch(hub, tmp_path)
    assert len(hub.requests) == 1


async def test_redirects_are_followed_and_keep_the_range(tmp_path: Path) -> None:
    part_path(tmp_path, WEIGHTS_FILE).write_bytes(WEIGHTS[:1_000_000])
    with fake_hub() as mirror, fake_hub() as hub:
        path = "/people/small/resolve/main/onnx/weights.bin"
        hub.faults.append(status_fault(302, Location=mirror.address + path))
        await fetch(hub, tmp_path)
    assert mirror.requests == [(path, "bytes=1000000-")]


async def test_redirect_loop_fails(tmp_path: Path) -> None:
    with served(lambda handler: respond(handler, 302, headers={"Location": handler.path})) as address:
        source = HubSource(address, report=lambda _file, _done: None, pause_seconds=0)
        with pytest.raises(ModelSourceError, match="too many redirects"):
            await source.fetch(MODEL, MODEL.files, folder=tmp_path)


@pytest.mark.parametrize(
    "address",
    [
        "http://hub.example",
        "hub.example",
        "ftp://hub.example",
        "https://",
        "https://hub.example:port",
        "",
        "http://10.0.0.1",
    ],
)
def test_hub_address_must_be_https_or_loopback(address: str) -> None:
    with pytest.raises(ModelSourceError):
        HubSource(address, report=lambda _file, _done: None)


@pytest.mark.parametrize("address", ["https://hub.example/mirror/", "http://127.0.0.1:8000", "http://localhost"])
def test_valid_hub_addresses_are_accepted(address: str) -> None:
    HubSource(address, report=lambda _file, _done: None)


async def test_model_without_hub_is_not_requested(tmp_path: Path) -> None:
    with fake_hub() as hub:
        source = HubSource(hub.address, report=lambda _file, _done: None)
        with pytest.raises(ModelSourceError, match="small is not available from a hub"):
            await source.fetch(replace(MODEL, hub=None), MODEL.files, folder=tmp_path)
    assert hub.requests == []


async def test_missing_hub_names_the_setting(tmp_path: Path) -> None:
    with pytest.raises(ModelSourceError, match="CUTROOM_MODEL_HUB"):
        await MissingHub().fetch(MODEL, MODEL.files, folder=tmp_path)
