"""The router with the real directory; what cells answer is given, except where a real cell is named."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

import httpx
import pytest
from prometheus_client import CollectorRegistry
from pydantic import SecretStr

from cutroom.cells.directory import Directory
from cutroom.cells.router import proxy
from cutroom.cells.router.bodies import REPLAYABLE_BYTES
from cutroom.cells.router.cell_clients import CellClients
from cutroom.cells.router.locating import Locator
from cutroom.cells.router.metrics import RouterMetrics
from cutroom.cells.router.proxy import RouterApp
from cutroom.entrypoints.api import build_app
from cutroom.platform.ids import new_id
from cutroom.platform.moved import HEADERS
from cutroom.web.internal.cell_routes import PATH
from cutroom.web.runtime import open_runtime
from tests.cells.conftest import TestCells

TOKEN = "t" * 32
KEY = {"Authorization": "Bearer cr_somebody"}


@dataclass
class GivenCell:
    """A cell that answers as a test says."""

    libraries: dict[str, str] = field(default_factory=dict)  # by credential
    respond: Callable[[httpx.Request], httpx.Response] = lambda _: httpx.Response(200, json={})
    received: list[httpx.Request] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    is_down: bool = False

    async def handle(self, request: httpx.Request) -> httpx.Response:
        if self.is_down:
            raise httpx.ConnectError("down")
        if request.url.path == PATH:
            assert request.headers["authorization"] == f"Bearer {TOKEN}"
            asked = (await request.aread()).decode()
            found = [library for value, library in self.libraries.items() if f'"{value}"' in asked]
            return httpx.Response(200, json={"libraryId": found[0]}) if found else httpx.Response(404)
        self.received.append(request)
        self.bodies.append(await request.aread())
        given = self.respond(request)
        return httpx.Response(given.status_code, headers=given.headers, stream=httpx.ByteStream(given.content))


@dataclass
class Installation:
    """Two given cells behind the router."""

    red: GivenCell
    blue: GivenCell
    locator: Locator
    client: httpx.AsyncClient


@pytest.fixture
async def router(cells: TestCells) -> AsyncIterator[Installation]:
    red, blue = GivenCell(), GivenCell()
    by_url = {"http://red.test": red, "http://blue.test": blue}
    clients = CellClients(TOKEN, lambda url: httpx.MockTransport(by_url[url].handle))
    locator = Locator(cells.directory, clients)
    await locator.refresh()
    app = RouterApp(locator, clients, RouterMetrics(CollectorRegistry()))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://router.test") as client:
        yield Installation(red, blue, locator, client)
    await clients.close()


async def place(directory: Directory, library_id: str, *, source: str, target: str) -> None:
    move = await directory.start_move(library_id, source=source, target=target)
    await directory.flip(move)


async def test_request_goes_to_the_cell_that_knows_its_key(router: Installation) -> None:
    router.blue.libraries["cr_somebody"] = new_id()
    response = await router.client.post("/v1/folders?a=%2Fb", json={"name": "x"}, headers=KEY)
    assert response.status_code == 200
    assert router.red.received == []
    [request] = router.blue.received
    assert request.url.raw_path == b"/v1/folders?a=%2Fb"
    assert request.headers["authorization"] == "Bearer cr_somebody"
    assert router.blue.bodies == [b'{"name":"x"}']


async def test_unknown_key_is_answered_by_the_first_cell_and_bounded(
    router: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    router.red.respond = lambda _: httpx.Response(401, json={})
    monkeypatch.setattr("cutroom.cells.router.locating.UNKNOWN_PER_MINUTE", 3)
    statuses = [
        (await router.client.get("/v1/videos", headers={"Authorization": f"Bearer cr_{number}"})).status_code
        for number in range(5)
    ]
    assert statuses == [401, 401, 401, 429, 429]


async def test_lost_cell_is_reported_and_the_other_one_is_used(router: Installation) -> None:
    router.red.libraries["cr_red"], router.blue.libraries["cr_blue"] = new_id(), new_id()
    for key in ("cr_red", "cr_blue"):
        assert (await router.client.get("/v1/videos", headers={"x-api-key": key})).status_code == 200
    router.blue.is_down = True
    refused = await router.client.get("/v1/videos", headers={"x-api-key": "cr_blue"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (500, "INTERNAL")
    assert refused.headers["retry-after"] == "1"
    assert (await router.client.get("/v1/videos", headers={"x-api-key": "cr_red"})).status_code == 200
    assert (await router.client.get("/v1/videos", headers={"x-api-key": "cr_new"})).status_code == 500
    assert (await router.client.get("/docs")).status_code == 200


async def test_request_is_held_until_the_end_of_a_move_and_is_sent_once_more(
    router: Installation, cells: TestCells
) -> None:
    library_id = new_id()
    router.red.libraries["cr_somebody"] = library_id
    router.red.respond = lambda _: httpx.Response(500, headers=HEADERS)
    waiting = asyncio.create_task(router.client.post("/v1/folders", json={"name": "x"}, headers=KEY))
    while not router.red.received:
        await asyncio.sleep(0.01)
    assert not waiting.done()
    await place(cells.directory, library_id, source="red", target="blue")
    assert (await waiting).status_code == 200
    assert router.blue.bodies == [b'{"name":"x"}']
    assert "x-cutroom-moved" not in (await waiting).headers
    again = len(router.red.received)
    await router.client.get("/v1/videos", headers=KEY)  # the directory is known now
    assert len(router.red.received) == again


async def test_long_body_is_streamed_and_not_sent_again(router: Installation) -> None:
    router.red.libraries["cr_somebody"] = new_id()
    content = b"x" * (4 * REPLAYABLE_BYTES)
    assert (await router.client.post("/v1/videos", content=content, headers=KEY)).status_code == 200
    assert router.red.bodies == [content]
    router.red.respond = lambda _: httpx.Response(500, headers=HEADERS)
    refused = await router.client.post("/v1/videos", content=content, headers=KEY)
    assert (refused.status_code, refused.headers["retry-after"]) == (500, "1")
    assert len(router.red.received) == 2


async def test_move_that_does_not_end_is_reported(router: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy, "HOLD_SECONDS", 0.2)
    router.red.libraries["cr_somebody"] = new_id()
    router.red.respond = lambda _: httpx.Response(500, headers=HEADERS)
    refused = await router.client.get("/v1/videos", headers=KEY)
    assert (refused.status_code, refused.headers["retry-after"]) == (500, "1")


async def test_held_requests_are_bounded(router: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy, "MAX_HELD_PER_LIBRARY", 0)
    router.red.libraries["cr_somebody"] = new_id()
    router.red.respond = lambda _: httpx.Response(500, headers=HEADERS)
    assert (await router.client.get("/v1/videos", headers=KEY)).status_code == 500
    assert len(router.red.received) == 1


async def test_link_without_an_owner_is_tried_in_turn(router: Installation) -> None:
    router.red.respond = lambda _: httpx.Response(404)
    router.blue.respond = lambda _: httpx.Response(200, text="certificate")
    assert (await router.client.get("/erasures/ecert_x")).text == "certificate"
    assert (await router.client.get("/internal/locate")).status_code == 404
    assert len(router.red.received) == len(router.blue.received) == 1


async def test_new_account_goes_to_the_open_cell_and_a_known_address_to_its_own(
    router: Installation, cells: TestCells
) -> None:
    await router.client.post("/sign-up", data={"email": "new@example.com"})
    assert len(router.red.received) == 1
    router.blue.libraries["old@example.com"] = new_id()
    await router.client.post("/sign-up", data={"email": "old@example.com"})
    assert len(router.blue.received) == 1
    await cells.directory.open_for_new_accounts("blue")
    await router.locator.refresh()
    await router.client.post("/sign-up", data={"email": "other@example.com"})
    assert len(router.blue.received) == 2
    await cells.directory.open_for_new_accounts("red")


async def test_real_cell_answers_the_router_and_nobody_else(cells: TestCells) -> None:
    settings = cells.red.settings.model_copy(update={"cell_token": None})
    person = await cells.red.accounts.person()
    key = await cells.red.accounts.key(person)
    question = {"subject": "credential", "value": key.secret}
    for token, expected in ((None, 404), (TOKEN, 200), (TOKEN + "x", 401)):
        given = settings if token is None else settings.model_copy(update={"cell_token": SecretStr(TOKEN)})
        app = build_app(lambda given=given: open_runtime(given))  # type: ignore[misc]
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://red.test") as client,
        ):
            response = await client.post(PATH, json=question, headers={"Authorization": f"Bearer {token}"})
        assert response.status_code == expected
        if expected == 200:
            assert response.json() == {"libraryId": person.library_id}
