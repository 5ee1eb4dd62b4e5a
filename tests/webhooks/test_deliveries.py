"""Announcing events and attempting to deliver them, on a real database."""

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
from cutroom.platform.clock import system_clock
from cutroom.platform.egress.client import PostAnswer, UnreachableError
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from cutroom.webhooks import service
from cutroom.webhooks.activities import UNDER_WAY_PER_ENDPOINT, DeliveryActivities
from cutroom.webhooks.rules import EVENT_RETENTION, Outcome
from cutroom.webhooks.schemas import CreatedWebhookEndpoint, NewWebhookEndpoint
from cutroom.webhooks.service import Attempted, Delivery
from dev.scratch import Accounts, Person

JOB = {"id": "import_01j", "type": "import", "status": "ready", "result": {"title": "Zürich 映画"}}
OK = PostAnswer(200, {}, body=b"")


@dataclass
class ScriptedSender:
    """Answers as it is told, and keeps what it was given."""

    answers: list[PostAnswer | Exception]
    sent: list[tuple[str, bytes, dict[str, str]]] = field(default_factory=list)
    gate: asyncio.Event | None = None
    all_places_held: asyncio.Event = field(default_factory=asyncio.Event)

    async def post(self, url: str, body: bytes, *, headers: Mapping[str, str]) -> PostAnswer:
        self.sent.append((url, body, dict(headers)))
        if len(self.sent) == UNDER_WAY_PER_ENDPOINT:
            self.all_places_held.set()
        if self.gate is not None:
            await self.gate.wait()
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


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
                secrecy=self.runtime.secrecy,
                now=system_clock(),
            )

    async def delete(self, endpoint_id: str) -> None:
        async with self.runtime.database.transaction(self.person.library_id) as connection:
            await service.delete_endpoint(connection, await self._principal(), endpoint_id, now=system_clock())

    async def _principal(self) -> Principal:
        key = await self.accounts.key(self.person)
        async with self.runtime.database.connection() as connection:
            return await self.runtime.doorkeeper.admit(connection, key.secret, now=system_clock(), speech=False)

    async def announce(self, event_type: str = "job.ready") -> str:
        async with self.runtime.database.transaction(self.person.library_id) as connection:
            return await service.announce(
                connection, self.person.library_id, type=event_type, data=JOB, now=system_clock()
            )

    def delivery(self, event_id: str, endpoint_id: str) -> Delivery:
        return Delivery(self.person.library_id, event_id, endpoint_id=endpoint_id)

    async def rows(self, table: str) -> list[asyncpg.Record]:
        sql = f"SELECT * FROM {table} WHERE library_id = $1"  # noqa: S608
        return await self.accounts.connection.fetch(sql, self.person.library_id)


@pytest.fixture
async def customer(runtime: Runtime, accounts: Accounts, person: Person) -> AsyncIterator[Customer]:
    made = Customer(runtime, accounts, person)
    yield made
    # Nobody relays here; what is left in the outbox would be taken by tests of the relay.
    await accounts.connection.execute("DELETE FROM outbox WHERE library_id = $1", person.library_id)


def activities(runtime: Runtime, sender: ScriptedSender) -> DeliveryActivities:
    return DeliveryActivities(database=runtime.database, secrecy=runtime.secrecy, sender=sender, clock=system_clock)


async def attempt(customer: Customer, sender: ScriptedSender, delivery: Delivery, number: int = 1) -> Attempted:
    acting = activities(customer.runtime, sender)
    return await ActivityEnvironment().run(acting.attempt_delivery, delivery, number)


async def test_announcing_records_the_event_and_one_start_for_each_live_endpoint(customer: Customer) -> None:
    first = await customer.endpoint("https://hooks.example.com/1")
    second = await customer.endpoint("https://hooks.example.com/2")
    gone = await customer.endpoint("https://hooks.example.com/3")
    await customer.delete(gone.id)
    event_id = await customer.announce()
    starts = await customer.rows("outbox")
    assert {row["workflow_id"] for row in starts} == {f"deliver_{event_id}_{each.id}" for each in (first, second)}
    assert {(row["workflow"], row["queue"], row["is_job"]) for row in starts} == {("deliver-webhook", "egress", False)}
    assert all(set(row["argument"]) == {"library_id", "event_id", "endpoint_id"} for row in starts)
    (event,) = await customer.rows("events")
    assert (event["id"], event["type"], event["payload"]) == (event_id, "job.ready", JOB)


async def test_a_transaction_that_fails_announces_nothing(customer: Customer) -> None:
    await customer.endpoint()
    library_id = customer.person.library_id
    async with customer.runtime.database.connection() as connection:
        transaction = connection.transaction()
        await transaction.start()
        await connection.execute("SELECT set_config('cutroom.library_id', $1, true)", library_id)
        await service.announce(connection, library_id, type="job.ready", data=JOB, now=system_clock())
        await transaction.rollback()
    assert await customer.rows("events") == await customer.rows("outbox") == []


async def test_an_event_that_no_endpoint_takes_starts_nothing(customer: Customer) -> None:
    await customer.endpoint()
    await customer.announce("job.invented")
    assert await customer.rows("outbox") == []
    assert len(await customer.rows("events")) == 1


async def test_a_delivery_is_signed_verifiable_and_recorded(customer: Customer) -> None:
    endpoint = await customer.endpoint()
    event_id = await customer.announce()
    sender = ScriptedSender([OK])
    assert await attempt(customer, sender, customer.delivery(event_id, endpoint.id)) == Attempted(Outcome.DELIVERED)
    ((url, body, headers),) = sender.sent
    assert (url, headers["webhook-id"], headers["content-type"]) == (endpoint.url, event_id, "application/json")
    event: dict[str, Any] = Webhook(endpoint.secret).verify(body, headers)
    assert list(event) == ["type", "timestamp", "data"]
    assert (event["type"], event["data"]) == ("job.ready", JOB)
    assert event["timestamp"].endswith("Z")
    (row,) = await customer.rows("delivery_attempts")
    assert (row["event_id"], row["endpoint_id"], row["number"]) == (event_id, endpoint.id, 1)
    assert (row["status"], row["outcome"]) == (200, "delivered")


async def test_a_host_name_with_its_last_dot_is_asked_without_it(customer: Customer) -> None:
    endpoint = await customer.endpoint("https://hooks.example.com.:8443/a.?b=c.")
    sender = ScriptedSender([OK])
    await attempt(customer, sender, customer.delivery(await customer.announce(), endpoint.id))
    assert sender.sent[0][0] == "https://hooks.example.com:8443/a.?b=c."


async def test_every_attempt_carries_the_same_id_and_the_same_bytes(customer: Customer) -> None:
    endpoint = await customer.endpoint()
    delivery = customer.delivery(await customer.announce(), endpoint.id)
    sender = ScriptedSender([PostAnswer(500, {}, body=b""), UnreachableError(), OK])
    outcomes = [(await attempt(customer, sender, delivery, number)).outcome for number in (1, 2, 3)]
    assert outcomes == [Outcome.REFUSED, Outcome.UNREACHABLE, Outcome.DELIVERED]
    assert len({(body, headers["webhook-id"]) for _, body, headers in sender.sent}) == 1
    rows = sorted(await customer.rows("delivery_attempts"), key=lambda row: int(row["number"]))
    assert [(row["status"], row["outcome"]) for row in rows] == [
        (500, "refused"),
        (None, "unreachable"),
        (200, "delivered"),
    ]


async def test_an_attempt_that_was_recorded_before_a_crash_is_not_made_again(customer: Customer) -> None:
    endpoint = await customer.endpoint()
    delivery = customer.delivery(await customer.announce(), endpoint.id)
    sender = ScriptedSender([PostAnswer(503, {"retry-after": "90"}, body=b"")])
    first = await attempt(customer, sender, delivery)
    assert first == await attempt(customer, sender, delivery) == Attempted(Outcome.REFUSED, 90)
    assert len(sender.sent) == len(await customer.rows("delivery_attempts")) == 1


async def test_410_disables_the_endpoint_for_every_event(customer: Customer) -> None:
    endpoint = await customer.endpoint()
    earlier, event_id = await customer.announce(), await customer.announce()
    sender = ScriptedSender([PostAnswer(410, {}, body=b"")])
    assert (await attempt(customer, sender, customer.delivery(event_id, endpoint.id))).outcome is Outcome.GONE
    (row,) = await customer.rows("webhook_endpoints")
    assert row["disabled_at"] is not None
    assert row["disabled_reason"] == "The receiver answered 410 Gone."
    waiting = customer.delivery(earlier, endpoint.id)
    assert (await attempt(customer, sender, waiting, 2)).outcome is Outcome.WITHDRAWN
    await customer.announce()
    assert len(await customer.rows("outbox")) == 2  # from before it was disabled
    assert len(sender.sent) == 1


async def test_nothing_is_sent_to_a_deleted_endpoint_or_of_a_forgotten_event(customer: Customer) -> None:
    endpoint, other = await customer.endpoint(), await customer.endpoint("https://hooks.example.com/other")
    event_id = await customer.announce()
    await customer.delete(endpoint.id)
    sender = ScriptedSender([])
    for delivery in (customer.delivery(event_id, endpoint.id), customer.delivery(new_id(), other.id)):
        assert (await attempt(customer, sender, delivery)).outcome is Outcome.WITHDRAWN
    assert sender.sent == []
    assert await customer.rows("delivery_attempts") == []


async def test_another_library_s_endpoint_is_not_reached_with_its_id(customer: Customer, accounts: Accounts) -> None:
    stranger = Customer(customer.runtime, accounts, await accounts.person())
    endpoint = await stranger.endpoint()
    event_id = await customer.announce()
    sender = ScriptedSender([])
    assert (await attempt(customer, sender, customer.delivery(event_id, endpoint.id))).outcome is Outcome.WITHDRAWN


async def test_a_receiver_that_hangs_holds_a_bounded_number_of_places(customer: Customer) -> None:
    endpoint = await customer.endpoint()
    event_id = await customer.announce()
    sender = ScriptedSender([OK] * (UNDER_WAY_PER_ENDPOINT + 1), gate=asyncio.Event())
    acting, delivery = activities(customer.runtime, sender), customer.delivery(event_id, endpoint.id)
    run = ActivityEnvironment().run
    hanging = [
        asyncio.create_task(run(acting.attempt_delivery, delivery, n)) for n in range(1, UNDER_WAY_PER_ENDPOINT + 1)
    ]
    await sender.all_places_held.wait()
    with pytest.raises(ApplicationError) as refused:
        await run(acting.attempt_delivery, delivery, 21)
    assert refused.value.next_retry_delay == timedelta(seconds=2)
    assert sender.gate is not None
    sender.gate.set()
    await asyncio.gather(*hanging)
    await run(acting.attempt_delivery, delivery, 21)
    assert acting.under_way == {}


async def test_events_past_their_retention_are_forgotten_with_their_attempts(customer: Customer) -> None:
    endpoint = await customer.endpoint()
    old, young = await customer.announce(), await customer.announce()
    sender = ScriptedSender([OK, OK])
    for event_id in (old, young):
        await attempt(customer, sender, customer.delivery(event_id, endpoint.id))
    await customer.accounts.connection.execute(
        "UPDATE events SET created_at = $2 WHERE id = $1", old, system_clock() - EVENT_RETENTION - timedelta(minutes=1)
    )
    acting = activities(customer.runtime, sender)
    assert await ActivityEnvironment().run(acting.purge_events) >= 1
    assert [row["id"] for row in await customer.rows("events")] == [young]
    assert [row["event_id"] for row in await customer.rows("delivery_attempts")] == [young]


@pytest.mark.parametrize("table", ["events", "delivery_attempts"])
@pytest.mark.parametrize("change", ["UPDATE {} SET library_id = library_id", "DELETE FROM {}"])
async def test_what_happened_is_not_rewritten(runtime: Runtime, table: str, change: str) -> None:
    async with runtime.database.connection() as connection:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(change.format(table))
