"""Downloads from a hub go on after a break, and stop at what the manifest does not say."""

from collections.abc import Callable
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from cutroom.engines.models.files import ModelSourceError, part_path
from cutroom.engines.models.hub import ATTEMPTS, HubSource, UnsetHub
from tests.support.tiny_models import CONFIG, WEIGHTS, FakeHub, fake_hub, respond, served, small

Fault = Callable[[BaseHTTPRequestHandler, bytes], None]

MODEL = small()
WEIGHTS_FILE, CONFIG_FILE = MODEL.files


def answer(status: int, **headers: str) -> Fault:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda handler, body: respond(handler, status, body, headers=named)


def cut_after(count: int) -> Fault:
    return lambda handler, body: respond(handler, 200, body, send_bytes=count)


def other_body(body: bytes) -> Fault:
    return lambda handler, _body: respond(handler, 200, body)


async def bring(hub: FakeHub, folder: Path) -> list[tuple[str, int]]:
    """Bring both files; what was told on the way."""
    told: list[tuple[str, int]] = []
    source = HubSource(hub.address, tell=lambda file, done: told.append((file.name, done)), pause_seconds=0)
    await source.bring(MODEL, MODEL.files, folder=folder)
    assert part_path(folder, WEIGHTS_FILE).read_bytes() == WEIGHTS
    assert part_path(folder, CONFIG_FILE).read_bytes() == CONFIG
    return told


async def test_files_are_asked_for_by_repository_and_folder(tmp_path: Path) -> None:
    with fake_hub() as hub:
        told = await bring(hub, tmp_path)
    assert hub.requests == [
        ("/people/small/resolve/main/onnx/weights.bin", None),
        ("/people/small/resolve/main/onnx/config.json", None),
    ]
    assert told[-1] == ("config.json", len(CONFIG))
    assert told[-2] == ("weights.bin", len(WEIGHTS))
    assert [done for _, done in told] == [*sorted(done for _, done in told[:-1]), len(CONFIG)]


@pytest.mark.parametrize("count", [0, 1, 2_000_000, len(WEIGHTS) - 1])
async def test_a_break_is_gone_on_from(tmp_path: Path, count: int) -> None:
    with fake_hub() as hub:
        hub.faults.append(cut_after(count))
        await bring(hub, tmp_path)
    assert hub.requests[1][1] == (f"bytes={count}-" if count else None)


async def test_what_an_earlier_pull_left_is_gone_on_from(tmp_path: Path) -> None:
    part_path(tmp_path, WEIGHTS_FILE).write_bytes(WEIGHTS[:1_000_000])
    part_path(tmp_path, CONFIG_FILE).write_bytes(CONFIG)
    with fake_hub() as hub:
        await bring(hub, tmp_path)
    assert [wanted for _, wanted in hub.requests] == ["bytes=1000000-"]


@pytest.mark.parametrize("left", [b"\0" * 1_000_000, b"\0" * len(WEIGHTS), WEIGHTS + b"!"])
async def test_what_an_earlier_pull_left_spoiled_is_fetched_afresh(tmp_path: Path, left: bytes) -> None:
    part_path(tmp_path, WEIGHTS_FILE).write_bytes(left)
    with fake_hub() as hub:
        await bring(hub, tmp_path)


async def test_a_hub_without_ranges_sends_all_of_it_again(tmp_path: Path) -> None:
    with fake_hub() as hub:
        hub.takes_ranges = False
        hub.faults.append(cut_after(2_000_000))
        await bring(hub, tmp_path)
    assert len(hub.requests) == 3


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
async def test_a_busy_hub_is_asked_again(tmp_path: Path, status: int) -> None:
    with fake_hub() as hub:
        hub.faults += [answer(status)] * (ATTEMPTS - 1)
        await bring(hub, tmp_path)


async def test_a_hub_that_stays_busy_is_given_up(tmp_path: Path) -> None:
    with fake_hub() as hub:
        hub.faults += [answer(503)] * ATTEMPTS
        with pytest.raises(ModelSourceError, match=r"weights.bin could not be fetched from the hub: it answered 503"):
            await bring(hub, tmp_path)
    assert len(hub.requests) == ATTEMPTS


async def test_a_hub_that_cannot_be_reached_is_given_up(tmp_path: Path) -> None:
    with fake_hub() as hub:
        pass
    with pytest.raises(ModelSourceError, match=r"weights.bin could not be fetched from the hub"):
        await bring(hub, tmp_path)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (answer(401), "it answered 401"),
        (answer(404), "it answered 404"),
        (answer(206, Content_Range="bytes 5-10/3000000"), "another range"),
        (answer(200, Content_Encoding="gzip"), "compressed"),
        (other_body(WEIGHTS + b"!"), "more than 3000000 bytes"),
        (answer(302, Location="http://192.0.2.1/weights.bin"), "by https:// only"),
        (answer(302, Location="file:///etc/passwd"), "by https:// only"),
    ],
    ids=["401", "404", "another range", "compressed", "too long", "redirect to http", "redirect to a file"],
)
async def test_an_answer_that_cannot_be_right_ends_it_at_once(tmp_path: Path, fault: Fault, words: str) -> None:
    with fake_hub() as hub:
        hub.faults.append(fault)
        with pytest.raises(ModelSourceError, match=words):
            await bring(hub, tmp_path)
    assert len(hub.requests) == 1


async def test_redirects_are_followed_and_keep_the_range(tmp_path: Path) -> None:
    part_path(tmp_path, WEIGHTS_FILE).write_bytes(WEIGHTS[:1_000_000])
    with fake_hub() as elsewhere, fake_hub() as hub:
        path = "/people/small/resolve/main/onnx/weights.bin"
        hub.faults.append(answer(302, Location=elsewhere.address + path))
        await bring(hub, tmp_path)
    assert elsewhere.requests == [(path, "bytes=1000000-")]


async def test_redirects_in_a_circle_end(tmp_path: Path) -> None:
    with served(lambda handler: respond(handler, 302, headers={"Location": handler.path})) as address:
        source = HubSource(address, tell=lambda _file, _done: None, pause_seconds=0)
        with pytest.raises(ModelSourceError, match="too many redirects"):
            await source.bring(MODEL, MODEL.files, folder=tmp_path)


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
def test_a_hub_needs_an_https_address_unless_it_is_on_this_machine(address: str) -> None:
    with pytest.raises(ModelSourceError):
        HubSource(address, tell=lambda _file, _done: None)


@pytest.mark.parametrize("address", ["https://hub.example/mirror/", "http://127.0.0.1:8000", "http://localhost"])
def test_other_addresses_of_hubs_are_taken(address: str) -> None:
    HubSource(address, tell=lambda _file, _done: None)


async def test_a_model_that_is_on_no_hub_is_not_asked_for(tmp_path: Path) -> None:
    with fake_hub() as hub:
        source = HubSource(hub.address, tell=lambda _file, _done: None)
        with pytest.raises(ModelSourceError, match="No hub is known to have the model small"):
            await source.bring(replace(MODEL, hub=None), MODEL.files, folder=tmp_path)
    assert hub.requests == []


async def test_a_hub_that_is_not_set_says_how_to_set_it(tmp_path: Path) -> None:
    with pytest.raises(ModelSourceError, match="CUTROOM_MODEL_HUB"):
        await UnsetHub().bring(MODEL, MODEL.files, folder=tmp_path)
