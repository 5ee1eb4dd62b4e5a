"""GET /events and GET /events/stream: pages, waits, cursors, limits and server-sent events."""

import asyncio
import json
from datetime import timedelta
from typing import Any

import httpx
import pytest
from temporalio.testing import ActivityEnvironment

from cutroom.accounts.scopes import Scope
from cutroom.events import streaming
from cutroom.events.activities import EventActivities
from cutroom.events.rules import RETENTION, encode_cursor
from cutroom.events.service import announce_progress
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Database
from cutroom.platform.ids import new_id
from dev.scratch import Accounts, Keyring, Person
from tests.events.conftest import Library, names_of


async def page(api: httpx.AsyncClient, **parameters: Any) -> dict[str, Any]:  # noqa: ANN401
    response = await api.get("/events", params=parameters)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def code(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


async def test_pages_follow_one_another(api: httpx.AsyncClient, library: Library) -> None:
    await library.publish("one", "two", "three")
    first = await page(api, limit=2)
    assert (names_of(first["events"]), first["hasMore"]) == (["one", "two"], True)
    second = await page(api, limit=2, after=first["cursor"])
    assert (names_of(second["events"]), second["hasMore"]) == (["three"], False)
    last = await page(api, after=second["cursor"])
    assert (last["events"], last["hasMore"], last["cursor"]) == ([], False, second["cursor"])


async def test_an_event_is_as_a_webhook_delivers_it(api: httpx.AsyncClient, library: Library) -> None:
    now = system_clock()
    await library.publish("one", now=now)
    [event] = (await page(api))["events"]
    [logged] = await library.log()
    timestamp = now.isoformat().replace("+00:00", "Z")
    assert event == {"id": logged.id, "type": "job.ready", "timestamp": timestamp, "data": {"id": "one"}}


async def test_an_empty_log_has_a_cursor(api: httpx.AsyncClient, library: Library) -> None:
    empty = await page(api)
    await library.publish("one")
    assert names_of((await page(api, after=empty["cursor"]))["events"]) == ["one"]


async def test_types_are_chosen(api: httpx.AsyncClient, library: Library) -> None:
    await library.publish("ready")
    await library.publish("failed", type_="job.failed")
    await library.publish("low", type_="credits.low")
    found = await page(api, types="job.failed,credits.low")
    assert names_of(found["events"]) == ["failed", "low"]
    everything = await page(api)
    assert found["cursor"] == everything["cursor"]
    none = await page(api, types="video.ready")
    assert (none["events"], none["cursor"]) == ([], everything["cursor"])


@pytest.mark.parametrize("types", ["", "job.started", "job.ready,", "job.progress", "job.ready, job.failed"])
async def test_unknown_types_are_refused(api: httpx.AsyncClient, types: str) -> None:
    assert code(await api.get("/events", params={"types": types})) == (400, "INVALID_ARGUMENT")


@pytest.mark.parametrize("parameters", [{"limit": 0}, {"limit": 101}, {"wait": 61}, {"wait": -1}, {"after": "x" * 101}])
async def test_parameters_out_of_range_are_refused(api: httpx.AsyncClient, parameters: dict[str, Any]) -> None:
    assert code(await api.get("/events", params=parameters)) == (400, "INVALID_ARGUMENT")


@pytest.mark.parametrize("path", ["/events", "/events/stream"])
async def test_wrong_cursors_are_refused(api: httpx.AsyncClient, library: Library, path: str) -> None:
    await library.publish("one")
    for cursor in ("nonsense", "", encode_cursor(new_id(), 1)):
        response = await api.get(path, params={"after": cursor})
        assert code(response) == (400, "INVALID_ARGUMENT")
        assert response.json()["error"]["details"]["fields"][0]["path"] == "after"
    ahead = await api.get(path, params={"after": encode_cursor(library.id, 2)})
    assert code(ahead) == (410, "GONE")


async def test_a_cursor_expires_when_events_after_it_are_deleted(
    api: httpx.AsyncClient, library: Library, accounts: Accounts, worker_database: Database
) -> None:
    old = system_clock() - RETENTION - timedelta(days=10)
    await accounts.connection.execute("SELECT create_event_partitions($1)", old)
    await library.publish("deleted one", "deleted two", now=old)
    await library.publish("kept")
    await ActivityEnvironment().run(EventActivities(worker_database, system_clock).purge_events)
    for position in (0, 1):
        gone = await api.get("/events", params={"after": encode_cursor(library.id, position), "wait": 1})
        assert code(gone) == (410, "GONE")
        named = {"Last-Event-ID": encode_cursor(library.id, position)}
        assert code(await api.get("/events/stream", headers=named)) == (410, "GONE")
    assert names_of((await page(api, after=encode_cursor(library.id, 2)))["events"]) == ["kept"]
    assert names_of((await page(api))["events"]) == ["kept"]


async def test_a_wait_ends_with_the_first_event(api: httpx.AsyncClient, library: Library) -> None:
    before = await page(api)
    waiting = asyncio.create_task(page(api, after=before["cursor"], wait=60, types="job.failed"))
    await library.publish("other")
    await library.publish("one", type_="job.failed")
    found = await waiting
    assert names_of(found["events"]) == ["one"]
    assert (await page(api, after=found["cursor"]))["events"] == []


async def test_a_wait_returns_at_once_if_there_are_events(api: httpx.AsyncClient, library: Library) -> None:
    await library.publish("one")
    assert names_of((await page(api, wait=60))["events"]) == ["one"]


async def test_a_wait_ends_without_events_when_the_time_is_up(api: httpx.AsyncClient, library: Library) -> None:
    await library.publish("other")
    before = await page(api)
    found = await page(api, after=before["cursor"], wait=1)
    assert (found["events"], found["cursor"], found["hasMore"]) == ([], before["cursor"], False)


async def test_a_head_request_does_not_wait(client: httpx.AsyncClient) -> None:
    for path in ("/events?wait=60", "/events/stream"):
        response = await client.head(path)
        assert (response.status_code, response.content) == (200, b"")


async def test_both_scopes_are_needed(anonymous: httpx.AsyncClient, accounts: Accounts, person: Person) -> None:
    for scopes in ((Scope.JOBS_READ,), (Scope.VIDEOS_READ,)):
        anonymous.headers.update((await accounts.key(person, scopes=scopes)).headers)
        for path in ("/events", "/events/stream"):
            assert code(await anonymous.get(path)) == (403, "INSUFFICIENT_SCOPE")
    anonymous.headers.update((await accounts.key(person, scopes=(Scope.JOBS_READ, Scope.VIDEOS_READ))).headers)
    assert (await anonymous.get("/events")).status_code == 200


class Stream:
    """Reads server-sent events."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._lines = response.aiter_lines()

    async def next(self) -> dict[str, str]:
        """The fields of the next block; of a comment, its text."""
        fields: dict[str, str] = {}
        async for line in self._lines:
            if not line:
                return fields
            name, _, value = line.partition(": ")
            fields[name or "comment"] = value
        raise EOFError

    async def events(self, count: int) -> list[dict[str, str]]:
        found: list[dict[str, str]] = []
        while len(found) < count:
            block = await self.next()
            if "event" in block:
                found.append(block)
        return found


async def test_a_stream_sends_what_happens(client: httpx.AsyncClient, library: Library) -> None:
    await library.publish("before")
    async with client.stream("GET", "/events/stream") as response:
        stream = Stream(response)
        assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert (await stream.next())["id"] == encode_cursor(library.id, 1)
        await library.publish("one", "two")
        found = await stream.events(2)
        assert [each["id"] for each in found] == [encode_cursor(library.id, position) for position in (2, 3)]
        assert names_of([json.loads(each["data"]) for each in found]) == ["one", "two"]
        assert {each["event"] for each in found} == {"job.ready"}


@pytest.mark.parametrize("way", ["header", "parameter"])
async def test_a_stream_continues_after_a_cursor(client: httpx.AsyncClient, library: Library, way: str) -> None:
    await library.publish(*(str(number) for number in range(250)))
    cursor = encode_cursor(library.id, 7)
    headers = {"Last-Event-ID": cursor} if way == "header" else {}
    parameters = {"after": cursor if way == "parameter" else encode_cursor(library.id, 1)}
    async with client.stream("GET", "/events/stream", params=parameters, headers=headers) as response:
        found = await Stream(response).events(243)
    assert names_of([json.loads(each["data"]) for each in found]) == [str(number) for number in range(7, 250)]


async def test_progress_is_streamed_without_an_id(client: httpx.AsyncClient, library: Library) -> None:
    async with (
        client.stream("GET", "/events/stream") as response,
        client.stream("GET", "/events/stream?types=job.progress") as progress_only,
        client.stream("GET", "/events/stream?types=job.ready") as events_only,
    ):
        streams = [Stream(each) for each in (response, progress_only, events_only)]
        for stream in streams:
            await stream.next()
        async with library.runtime.database.transaction(library.id):
            announce_progress(library.id, "job", {"id": "job", "progress": 7})
        for stream in streams[:2]:
            [event] = await stream.events(1)
            document = {"type": "job.progress", "data": {"id": "job", "progress": 7}}
            assert (event["event"], json.loads(event["data"]), "id" in event) == ("job.progress", document, False)
        await library.publish("one")
        assert [(await stream.events(1))[0]["event"] for stream in (streams[0], streams[2])] == ["job.ready"] * 2
        assert (await streams[1].next())["id"] == encode_cursor(library.id, 1)  # passed over


async def test_an_idle_stream_has_heartbeats(client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "HEARTBEAT_SECONDS", 0.01)
    async with client.stream("GET", "/events/stream") as response:
        stream = Stream(response)
        await stream.next()
        assert (await stream.next())["comment"] == "heartbeat"


async def test_a_stream_ends_after_some_time(client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "STREAM_SECONDS", 0.01)
    response = await client.get("/events/stream")
    assert response.text.startswith("retry: 1000\nid: ")


async def test_a_revoked_key_receives_nothing_more(
    client: httpx.AsyncClient, library: Library, accounts: Accounts, key: Keyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "AUTHORIZED_SECONDS", -1.0)
    async with client.stream("GET", "/events/stream") as response:
        stream = Stream(response)
        await stream.next()
        await library.publish("one")
        assert len(await stream.events(1)) == 1
        await accounts.connection.execute("UPDATE api_keys SET revoked_at = now() WHERE id = $1", key.id)
        await library.publish("two")
        with pytest.raises(EOFError):
            await stream.next()
