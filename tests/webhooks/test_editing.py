"""Changing webhook endpoints, and what it means for deliveries."""

import httpx
import pytest

from cutroom.accounts.principals import Role
from cutroom.platform.clock import system_clock
from cutroom.web.runtime import Runtime
from cutroom.webhooks.deliveries import AttemptRecord, Delivery, load_webhook, record_attempt
from cutroom.webhooks.publishing import publish_event
from cutroom.webhooks.rules import DeliveryOutcome
from dev.scratch import Accounts, Person
from tests.webhooks.test_routes import EVENTS, PATH, URL, check_error, listed, register


async def receivers(accounts: Accounts, person: Person, event: str) -> list[str]:
    """The endpoints that a new event is sent to."""
    connection = accounts.connection
    event_id = await publish_event(connection, person.library_id, type=event, data={}, now=system_clock())
    sql = "SELECT argument FROM outbox WHERE library_id = $1 AND argument->>'event_id' = $2"
    rows = await connection.fetch(sql, person.library_id, event_id)
    return [row["argument"]["endpoint_id"] for row in rows]


async def test_endpoint_is_read_without_its_secret(api: httpx.AsyncClient) -> None:
    endpoint = await register(api)
    found = await api.get(f"{PATH}/{endpoint['id']}")
    assert found.json() == {"id": endpoint["id"], "url": URL, "events": EVENTS, "enabled": True}


async def test_only_selected_events_are_sent(api: httpx.AsyncClient, accounts: Accounts, person: Person) -> None:
    endpoint = await register(api)
    changed = await api.patch(f"{PATH}/{endpoint['id']}", json={"events": ["job.failed", "job.ready"]})
    assert (changed.status_code, changed.json()["events"]) == (200, ["job.failed", "job.ready"])
    assert await receivers(accounts, person, "job.ready") == [endpoint["id"]]
    assert await receivers(accounts, person, "video.ready") == []
    assert await listed(api) == [changed.json()]


async def test_disabled_endpoint_receives_nothing_until_it_is_enabled(
    api: httpx.AsyncClient, accounts: Accounts, person: Person
) -> None:
    endpoint = await register(api)
    url = f"{PATH}/{endpoint['id']}"
    disabled = (await api.patch(url, json={"enabled": False})).json()
    assert (disabled["enabled"], disabled["disabledReason"]) == (False, "Disabled by its owner.")
    assert await receivers(accounts, person, "job.ready") == []
    enabled = (await api.patch(url, json={"enabled": True})).json()
    assert enabled == {"id": endpoint["id"], "url": URL, "events": EVENTS, "enabled": True}
    assert await receivers(accounts, person, "job.ready") == [endpoint["id"]]


async def test_endpoint_disabled_by_a_410_can_be_enabled_again(
    api: httpx.AsyncClient, accounts: Accounts, person: Person
) -> None:
    endpoint = await register(api)
    url, before = f"{PATH}/{endpoint['id']}", (await api.get(f"{PATH}/{endpoint['id']}")).headers["etag"]
    connection, now = accounts.connection, system_clock()
    event_id = await publish_event(connection, person.library_id, type="job.ready", data={}, now=now)
    gone = AttemptRecord(number=1, at=now, status=410, outcome=DeliveryOutcome.GONE, milliseconds=1)
    await record_attempt(connection, Delivery(person.library_id, event_id, endpoint["id"]), gone)
    found = await api.get(url)
    assert (found.json()["enabled"], found.json()["disabledReason"]) == (False, "The endpoint returned 410 Gone.")
    check_error(await api.patch(url, json={"enabled": True}, headers={"If-Match": before}), 409, "CONFLICT")
    again = await api.patch(url, json={"enabled": False})  # keeps the reason
    assert (again.json(), again.headers["etag"]) == (found.json(), found.headers["etag"])
    assert (await api.patch(url, json={"enabled": True})).json()["enabled"] is True
    assert await receivers(accounts, person, "job.ready") == [endpoint["id"]]


async def test_waiting_deliveries_are_sent_to_the_new_url_with_the_same_secret(
    api: httpx.AsyncClient, accounts: Accounts, person: Person, runtime: Runtime
) -> None:
    endpoint = await register(api)
    event_id = await publish_event(
        accounts.connection, person.library_id, type="job.ready", data={}, now=system_clock()
    )
    await api.patch(f"{PATH}/{endpoint['id']}", json={"url": "https://new.example.com/"})
    delivery = Delivery(person.library_id, event_id, endpoint["id"])
    sent = await load_webhook(accounts.connection, delivery, secret_box=runtime.secret_box)
    assert sent is not None
    assert (sent.url, sent.secrets) == ("https://new.example.com/", (endpoint["secret"],))


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"url": "http://example.com/"}, "url"),
        ({"url": "https://localhost/"}, "url"),
        ({"url": "https://10.0.0.1/"}, "url"),
        ({"url": "https://user:pass@example.com/"}, "url"),
        ({"url": ""}, "url"),
        ({"events": []}, "events"),
        ({"events": ["job.ready", "job.ready"]}, "events"),
        ({"events": ["job.started"]}, "events.0"),
        ({"enabled": "false"}, "enabled"),
        ({"secret": "whsec_x"}, "secret"),
    ],
)
async def test_invalid_change_is_rejected_with_field(
    api: httpx.AsyncClient, body: dict[str, object], path: str
) -> None:
    endpoint = await register(api)
    refused = await api.patch(f"{PATH}/{endpoint['id']}", json=body)
    check_error(refused, 400, "INVALID_ARGUMENT")
    assert [each["path"] for each in refused.json()["error"]["details"]["fields"]] == [path]
    assert (await listed(api))[0]["url"] == URL


async def test_url_of_another_endpoint_conflicts(api: httpx.AsyncClient) -> None:
    first, second = await register(api), await register(api, f"{URL}/2")
    check_error(await api.patch(f"{PATH}/{second['id']}", json={"url": URL}), 409, "ALREADY_EXISTS")
    assert (await api.patch(f"{PATH}/{first['id']}", json={"url": URL})).status_code == 200
    await api.delete(f"{PATH}/{first['id']}")
    assert (await api.patch(f"{PATH}/{second['id']}", json={"url": URL})).status_code == 200


async def test_endpoint_of_another_member_can_be_read_but_not_changed(
    api: httpx.AsyncClient, accounts: Accounts, person: Person
) -> None:
    workspace_id, member = await accounts.workspace(person), await accounts.person()
    await accounts.member(workspace_id, member, role=Role.EDITOR)
    owner = await accounts.key(person, library_id=workspace_id)
    editor = await accounts.key(member, library_id=workspace_id)
    url = f"{PATH}/{(await register(api, headers=owner.headers))['id']}"
    assert (await api.get(url, headers=editor.headers)).status_code == 200
    for if_match in ({}, {"If-Match": '"9"'}):
        headers = {**editor.headers, **if_match}
        check_error(await api.patch(url, json={"enabled": False}, headers=headers), 403, "PERMISSION_DENIED")
        check_error(await api.delete(url, headers=headers), 403, "PERMISSION_DENIED")
    assert (await api.get(url, headers=owner.headers)).json()["enabled"] is True
