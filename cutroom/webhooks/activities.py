"""What a delivery does: one attempt at a time, recorded; and forgetting events that are past their time."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol

from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.platform.egress.client import UnreachableError
from cutroom.platform.secret_box import SecretBox
from cutroom.webhooks import service
from cutroom.webhooks.rules import EVENT_RETENTION, Outcome, asked_pause_seconds, outcome_of
from cutroom.webhooks.service import Attempted, AttemptRecord, Delivery, Parcel
from cutroom.webhooks.signing import signed_headers

FORGET_BATCH = 1_000
UNDER_WAY_PER_ENDPOINT = 20  # in one worker: a receiver that hangs must not hold every place
MAX_BUSY_PAUSE_SECONDS = 60


class Answer(Protocol):
    """What a receiver said."""

    @property
    def status(self) -> int: ...
    @property
    def headers(self) -> Mapping[str, str]: ...


class Sender(Protocol):
    """The way out: follows no redirect, ends within 15 s and reads at most 64 KiB, whatever the receiver does."""

    async def post(self, url: str, body: bytes, *, headers: Mapping[str, str]) -> Answer:
        """Raises UnreachableError when there is no answer."""
        ...


@dataclass(frozen=True, slots=True)
class DeliveryActivities:
    """Activities on events and their deliveries."""

    database: Database
    secrecy: SecretBox
    sender: Sender
    clock: Clock
    under_way: Counter[str] = field(default_factory=Counter)

    @activity.defn(name="attempt_delivery")
    async def attempt_delivery(self, delivery: Delivery, number: int) -> Attempted:
        """Send once and record how it went; after a crash the receiver may get the same message again."""
        with self._place(delivery.endpoint_id):
            async with self.database.transaction(delivery.library_id) as connection:
                recorded = await service.recorded_attempt(connection, delivery, number)
                if recorded is not None:
                    return recorded
                parcel = await service.parcel_for(connection, delivery, secrecy=self.secrecy)
            if parcel is None:
                return Attempted(Outcome.WITHDRAWN)
            made = await self._send(parcel, delivery, number)
        async with self.database.transaction(delivery.library_id) as connection:
            await service.record_attempt(connection, delivery, made)
        return Attempted(made.outcome, made.asked_pause_seconds)

    @contextmanager
    def _place(self, endpoint_id: str) -> Iterator[None]:
        if self.under_way[endpoint_id] >= UNDER_WAY_PER_ENDPOINT:
            pause = min(2 ** min(activity.info().attempt, 10), MAX_BUSY_PAUSE_SECONDS)
            raise ApplicationError(
                "the endpoint has enough deliveries under way",
                next_retry_delay=timedelta(seconds=pause),
                category=ApplicationErrorCategory.BENIGN,
            )
        self.under_way[endpoint_id] += 1
        try:
            yield
        finally:
            self.under_way[endpoint_id] -= 1
            if not self.under_way[endpoint_id]:
                del self.under_way[endpoint_id]

    async def _send(self, parcel: Parcel, delivery: Delivery, number: int) -> AttemptRecord:
        at, started = self.clock(), time.perf_counter()
        signed = signed_headers(parcel.secrets, parcel.body, message_id=delivery.event_id, at=at)
        status, outcome, asked = None, Outcome.UNREACHABLE, None
        try:
            answer = await self.sender.post(
                parcel.url, parcel.body, headers={"content-type": "application/json", **signed}
            )
        except UnreachableError:
            pass
        else:
            status, outcome = answer.status, outcome_of(answer.status)
            asked = asked_pause_seconds(status, answer.headers.get("retry-after"), now=self.clock())
        return AttemptRecord(
            number=number,
            at=at,
            status=status,
            outcome=outcome,
            milliseconds=round((time.perf_counter() - started) * 1000),
            asked_pause_seconds=asked,
        )

    @activity.defn(name="purge_events")
    async def purge_events(self) -> int:
        """Delete events past their retention, with their attempts, in small batches; how many went."""
        before, forgotten = self.clock() - EVENT_RETENTION, 0
        while True:
            async with self.database.connection() as connection:
                batch: int = await connection.fetchval("SELECT purge_events($1, $2)", before, FORGET_BATCH)
            forgotten += batch
            activity.heartbeat(forgotten)
            if batch < FORGET_BATCH:
                return forgotten
