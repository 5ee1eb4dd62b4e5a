"""Publishing events and delivery attempts on PostgreSQL."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import asyncpg
import pytest
from standardwebhooks import Webhook
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from cutroom.accounts.principals import Principal
from cutroom.events.activities import EventActivities
from cutroom.events.rules import RETENTION
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Database
from cutroom.platform.egress.client import PostResponse, UnreachableError
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from cutroom.webhooks import service
from cutroom.webhooks.activities import MAX_IN_FLIGHT_PER_ENDPOINT, DeliveryActivities
from cutroom.webhooks.deliveries import AttemptResult, Delivery
from cutroom.webhooks.publishing import publish_event
from cutroom.webhooks.rules import DeliveryOutcome
from cutroom.webhooks.schemas import CreatedWebhookEndpoint, NewWebhookEndpoint
from dev.scratch import Accounts, Person

JOB = {"id": "import_01j", "type": "import", "status": "ready", "result": {"title": "Zürich 映画"}}
OK = PostResponse(200, {}, body=b"")


@dataclass
class ScriptedSender:
    """Returns scripted responses and records requests."""

    responses: list[PostResponse | Exception]
    sent: list[tuple[str, bytes, dict[str, str]]] = field(default_factory=list)
    gate: asyncio.Event | None = None
    all_places_held: asyncio.Event = field(default_factory=asyncio.Event)

    async def post(self, url: str, body: bytes, *, headers: Mapping[str, str]) -> PostResponse:
        self.sent.append((url, body, dict(headers)))
        if len(self.sent) == MAX_IN_FLIGHT_PER_ENDPOINT:
            self.all_places_held.set()
        if self.gate is not None:
            await self.gate.wait()
        response = self.responses.pop(0)
        if isinstance(response, Exception):
            raise response
        return response


@dataclass
class Customer:
    """A library with endpoints."""

    runtime: Runtime
    accounts: Accounts
    person: Person

    async def endpoint(self, url: str = "https://hooks.example.com/one") -> CreatedWebhookEndpoint:
        async with self.runtime.database.transaction(self.person.library_id) as connection:
            return await service.create_endpoint(
                connection,
                await self._principal(),
                NewWebhookEndpoint(url=url),
                secret_box=self.runtime.secret_box,
                now=system_clock(),
            )

    async def delete(self, endpoint_id: str) -> None:
        async with self.runtime.database.transaction(self.person.library_id) as connection:
            await service.delete_endpoint(connection, await self._principal(), endpoint_id, now=system_clock())

    async def _principal(self) -> Principal:
        key = await self.accounts.key(self.person)
        async with self.runtime.database.connection() as connection:
            return await self.runtime.authenticator.authenticate(
                connection, key.secret, now=system_clock(), speech=False
            )

    async def publish(self, event_type: str = "job.ready", *, age: timedelta = timedelta()) -> str:
        async with self.runtime.database.transaction(self.person.library_id) as connection:
            return await publish_event(
                connection, self.person.library_id, type=event_type, data=JOB, now=system_clock() - age
            )

    def delivery(self, event_id: str, endpoint_id: str) -> Delivery:
        return Delivery(self.person.library_id, event_id, endpoint_id=endpoint_id)

    async def rows(self, table: str) -> list[asyncpg.Record]:
        sql = f"SELECT * FROM {table} WHERE library_id = $1"  # noqa: S608
        return await self.accounts.connection.fetch(sql, self.person.library_id)


@pytest.fixture
async def customer(runtime: Runtime, accounts: Accounts, person: Person) -> AsyncIterator[Customer]:
    created = Customer(runtime, accounts, person)
    yield created
    # No relay runs here; leftover outbox rows would affect the relay tests.
    await accounts.connection.execute("DELETE FROM outbox WHERE library_id = $1", person.library_id)


def activities(runtime: Runtime, sender: ScriptedSender) -> DeliveryActivities:
    return DeliveryActivities(
        database=runtime.database, secret_box=runtime.secret_box, sender=sender, clock=system_clock
    )


async def attempt(customer: Customer, sender: ScriptedSender, delivery: Delivery, number: int = 1) -> AttemptResult:
    acting = activities(customer.runtime, sender)
    return await ActivityEnvironment().run(acting.attempt_delivery, delivery, number)


async def test_publish_starts_delivery_for_each_active_endpoint(customer: Customer) -> None:
    first = await customer.endpoint("https://hooks.example.com/1")
    second = await customer.endpoint("https://hooks.example.com/2")
    gone = await customer.endpoint("https://hooks.example.com/3")
    await customer.delete(gone.id)
    event_id = await customer.publish()
    starts = await customer.rows("outbox")
    assert {row["workflow_id"] for row in starts} == {f"deliver_{event_id}_{each.id}" for each in (first, second)}
    assert {(row["workflow"], row["queue"], row["is_job"]) for row in starts} == {("deliver-webhook", "egress", False)}
    assert all(set(row["argument"]) == {"library_id", "event_id", "endpoint_id"} for row in starts)
    (event,) = await customer.rows("events")
    assert (event["id"], event["type"], event["payload"]) == (event_id, "job.ready", JOB)


async def test_rolled_back_transaction_publishes_nothing(customer: Customer) -> None:
    await customer.endpoint()
    library_id = customer.person.library_id
    async with customer.runtime.database.connection() as connection:
        transaction = connection.transaction()
        await transaction.start()
        await connection.execute("SELECT set_config('cutroom.library_id', $1, true)", library_id)
        await publish_event(connection, library_id, type="job.ready", data=JOB, now=system_clock())
        await transaction.rollback()
    assert await customer.rows("events") == await customer.rows("outbox") == []


async def test_event_without_subscribers_starts_no_delivery(customer: Customer) -> None:
    await customer.endpoint()
    await customer.publish("job.invented")
    assert await customer.rows("outbox") == []
    assert len(await customer.rows("events")) == 1


async def test_delivery_is_signed_and_recorded(customer: Customer) -> None:
    endpoint = await customer.endpoint()
    event_id = await customer.publish()
    sender = ScriptedSender([OK])
    assert await attempt(customer, sender, customer.delivery(event_id, endpoint.id)) == AttemptResult(
        DeliveryOutcome.DELIVERED
    )
    ((url, body, headers),) = sender.sent
    assert (url, headers["webhook-id"], headers["content-type"]) == (endpoint.url, event_id, "application/json")
    event: dict[str, Any] = Webhook(endpoint.secret).verify(body, headers)
    assert list(event) == ["type", "timestamp", "data"]
    assert (event["type"], event["data"]) == ("job.ready", JOB)
    assert event["timestamp"].endswith("Z")
    (row,) = await customer.rows("delivery_attempts")
    assert (row["event_id"], row["endpoint_id"], row["number"]) == (event_id, endpoint.id, 1)
    assert (row["status"], row["outcome"]) == (200, "delivered")


async def test_trailing_host_dot_is_removed(customer: Customer) -> None:
    endpoint = await customer.endpoint("https://hooks.example.com.:8443/a.?b=c.")
    sender = ScriptedSender([OK])
    await attempt(customer, sender, customer.delivery(await customer.publish(), endpoint.id))
    assert sender.sent[0][0] == "https://hooks.example.com:8443/a.?b=c."


async def test_attempts_send_identical_id_and_body(customer: Customer) -> None:
    endpoint = await customer.endpoint()
    delivery = customer.delivery(await customer.publish(), endpoint.id)
    sender = ScriptedSender([PostResponse(500, {}, body=b""), UnreachableError(), OK])
    outcomes = [(await attempt(customer, sender, delivery, number)).outcome for number in (1, 2, 3)]
    assert outcomes == [DeliveryOutcome.REFUSED, DeliveryOutcome.UNREACHABLE, DeliveryOutcome.DELIVERED]
    assert len({(body, headers["webhook-id"]) for _, body, headers in sender.sent}) == 1
    rows = sorted(await customer.rows("delivery_attempts"), key=lambda row: int(row["number"]))
    assert [(row["status"], row["outcome"]) for row in rows] == [
        (500, "refused"),
        (None, "unreachable"),
        (200, "delivered"),
    ]


async def test_recorded_attempt_is_not_repeated(customer: Customer) -> None:
    endpoint = await customer.endpoint()
    delivery = customer.delivery(await customer.publish(), endpoint.id)
    sender = ScriptedSender([PostResponse(503, {"retry-after": "90"}, body=b"")])
    first = await attempt(customer, sender, delivery)
    assert first == await attempt(customer, sender, delivery) == AttemptResult(DeliveryOutcome.REFUSED, 90)
    assert len(sender.sent) == len(await customer.rows("delivery_attempts")) == 1


async def test_410_disables_the_endpoint_for_every_event(customer: Customer) -> None:
    endpoint = await customer.endpoint()
    earlier, event_id = await customer.publish(), await customer.publish()
    sender = ScriptedSender([PostResponse(410, {}, body=b"")])
    assert (await attempt(customer, sender, customer.delivery(event_id, endpoint.id))).outcome is DeliveryOutcome.GONE
    (row,) = await customer.rows("webhook_endpoints")
    assert row["disabled_at"] is not None
    assert row["disabled_reason"] == "The endpoint returned 410 Gone."
    waiting = customer.delivery(earlier, endpoint.id)
    assert (await attempt(customer, sender, waiting, 2)).outcome is DeliveryOutcome.WITHDRAWN
    await customer.publish()
    starts = [row["workflow"] for row in await customer.rows("outbox")]
    assert starts.count("deliver-webhook") == 2  # enqueued before it was disabled
    assert starts.count("send-notification") == 1
    (notice,) = await customer.rows("notifications")
    expected = {"endpointId": endpoint.id, "url": "hooks.example.com", "reason": "The endpoint returned 410 Gone."}
    assert notice["subject"] == expected
    assert len(sender.sent) == 1


async def test_deleted_endpoint_or_purged_event_is_not_sent(customer: Customer) -> None:
    endpoint, other = await customer.endpoint(), await customer.endpoint("https://hooks.example.com/other")
    event_id = await customer.publish()
    await customer.delete(endpoint.id)
    sender = ScriptedSender([])
    for delivery in (customer.delivery(event_id, endpoint.id), customer.delivery(new_id(), other.id)):
        assert (await attempt(customer, sender, delivery)).outcome is DeliveryOutcome.WITHDRAWN
    assert sender.sent == []
    assert await customer.rows("delivery_attempts") == []


async def test_endpoint_of_other_library_is_not_reachable(customer: Customer, accounts: Accounts) -> None:
    other_customer = Customer(customer.runtime, accounts, await accounts.person())
    endpoint = await other_customer.endpoint()
    event_id = await customer.publish()
    sender = ScriptedSender([])
    assert (
        await attempt(customer, sender, customer.delivery(event_id, endpoint.id))
    ).outcome is DeliveryOutcome.WITHDRAWN


async def test_in_flight_deliveries_per_endpoint_are_limited(customer: Customer) -> None:
    endpoint = await customer.endpoint()
    event_id = await customer.publish()
    sender = ScriptedSender([OK] * (MAX_IN_FLIGHT_PER_ENDPOINT + 1), gate=asyncio.Event())
    acting, delivery = activities(customer.runtime, sender), customer.delivery(event_id, endpoint.id)
    run = ActivityEnvironment().run
    hanging = [
        asyncio.create_task(run(acting.attempt_delivery, delivery, n)) for n in range(1, MAX_IN_FLIGHT_PER_ENDPOINT + 1)
    ]
    await sender.all_places_held.wait()
    with pytest.raises(ApplicationError) as refused:
        await run(acting.attempt_delivery, delivery, 21)
    assert refused.value.next_retry_delay == timedelta(seconds=2)
    assert sender.gate is not None
    sender.gate.set()
    await asyncio.gather(*hanging)
    await run(acting.attempt_delivery, delivery, 21)
    assert acting.in_flight == {}


async def test_expired_events_are_purged_with_deliveries(customer: Customer) -> None:
    """More than a week after they expire: a partition, which holds a week, is dropped as a whole."""
    endpoint = await customer.endpoint()
    old, young = await customer.publish(age=RETENTION + timedelta(days=8)), await customer.publish()
    sender = ScriptedSender([OK, OK])
    for event_id in (old, young):
        await attempt(customer, sender, customer.delivery(event_id, endpoint.id))
    maintenance = EventActivities(customer.runtime.database, system_clock)
    await ActivityEnvironment().run(maintenance.purge_events)
    assert [row["id"] for row in await customer.rows("events")] == [young]
    for table in ("delivery_attempts", "webhook_deliveries"):
        assert [row["event_id"] for row in await customer.rows(table)] == [young]


async def test_state_of_a_delivery_follows_its_attempts(customer: Customer) -> None:
    endpoint = await customer.endpoint()
    delivery = customer.delivery(await customer.publish(), endpoint.id)
    sender = ScriptedSender([PostResponse(500, {}, body=b""), PostResponse(503, {"retry-after": "600"}, body=b""), OK])
    states = []
    for number in (1, 2, 3):
        await attempt(customer, sender, delivery, number)
        (row,) = await customer.rows("webhook_deliveries")
        delay = row["next_attempt_at"] - row["updated_at"] if row["next_attempt_at"] else None
        states.append((row["state"], delay))
    assert states == [("pending", timedelta(seconds=5)), ("pending", timedelta(seconds=600)), ("delivered", None)]


async def test_last_attempt_and_disabled_endpoint_end_in_failure(customer: Customer) -> None:
    endpoint = await customer.endpoint()
    exhausted, waiting = await customer.publish(), await customer.publish()
    sender = ScriptedSender([UnreachableError(), PostResponse(410, {}, body=b"")])
    await attempt(customer, sender, customer.delivery(exhausted, endpoint.id), 10)
    states = {row["event_id"]: row["state"] for row in await customer.rows("webhook_deliveries")}
    assert states == {exhausted: "failed", waiting: "pending"}
    gone = await customer.publish()
    await attempt(customer, sender, customer.delivery(gone, endpoint.id))
    await attempt(customer, sender, customer.delivery(waiting, endpoint.id), 2)
    assert {row["state"] for row in await customer.rows("webhook_deliveries")} == {"failed"}


async def test_event_published_without_a_delivery_row_is_logged(customer: Customer) -> None:
    """As by a process of the previous release."""
    endpoint = await customer.endpoint()
    event_id = await customer.publish()
    await customer.accounts.connection.execute("DELETE FROM webhook_deliveries WHERE event_id = $1", event_id)
    await attempt(customer, ScriptedSender([OK]), customer.delivery(event_id, endpoint.id))
    (row,) = await customer.rows("webhook_deliveries")
    assert (row["event_id"], row["event_type"], row["state"]) == (event_id, "job.ready", "delivered")


@pytest.mark.parametrize(("days", "is_disabled"), [(6, True), (4, False)])
async def test_endpoint_that_fails_for_days_is_disabled(customer: Customer, *, days: int, is_disabled: bool) -> None:
    endpoint = await customer.endpoint()
    delivery = customer.delivery(await customer.publish(), endpoint.id)
    sender = ScriptedSender([PostResponse(500, {}, body=b"")] * 2)
    await attempt(customer, sender, delivery, 1)
    since = system_clock() - timedelta(days=days)
    await customer.accounts.connection.execute("UPDATE webhook_endpoints SET failing_since = $1", since)
    await attempt(customer, sender, delivery, 10)
    (row,) = await customer.rows("webhook_endpoints")
    reason = "Every delivery has failed for five days." if is_disabled else None
    assert (row["disabled_at"] is not None, row["disabled_reason"]) == (is_disabled, reason)
    notices = [(each["kind"], each["user_id"], each["channel"]) for each in await customer.rows("notifications")]
    assert notices == ([("webhook_disabled", customer.person.user_id, "mail")] if is_disabled else [])


async def test_success_and_enabling_end_a_series_of_failures(customer: Customer) -> None:
    endpoint = await customer.endpoint()
    delivery = customer.delivery(await customer.publish(), endpoint.id)
    sender = ScriptedSender([PostResponse(500, {}, body=b""), OK, PostResponse(410, {}, body=b"")])
    failing = []
    for number in (1, 2):
        await attempt(customer, sender, delivery, number)
        failing += [row["failing_since"] is not None for row in await customer.rows("webhook_endpoints")]
    assert failing == [True, False]


async def test_response_is_kept_up_to_a_limit(customer: Customer) -> None:
    endpoint = await customer.endpoint()
    first, second = await customer.publish(), await customer.publish()
    sender = ScriptedSender([PostResponse(200, {}, body=b"x" * 5_000), PostResponse(200, {}, body=b"\xff\x00ok")])
    for event_id in (first, second):
        await attempt(customer, sender, customer.delivery(event_id, endpoint.id))
    kept = {row["event_id"]: row["response_body"] for row in await customer.rows("delivery_attempts")}
    assert kept == {first: "x" * 1_024, second: "\ufffd\ufffdok"}


@pytest.mark.parametrize("table", ["events", "delivery_attempts"])
@pytest.mark.parametrize("change", ["UPDATE {} SET library_id = library_id", "DELETE FROM {}"])
async def test_attempts_are_immutable(api_database: Database, table: str, change: str) -> None:
    async with api_database.connection() as connection:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(change.format(table))
