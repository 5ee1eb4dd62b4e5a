"""Activities that attempt webhook deliveries."""

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
from cutroom.webhooks import deliveries
from cutroom.webhooks.deliveries import AttemptRecord, AttemptResult, Delivery, OutgoingWebhook
from cutroom.webhooks.rules import DeliveryOutcome, outcome_of, parse_retry_after, response_excerpt
from cutroom.webhooks.signing import CONTENT_TYPE, signed_headers

MAX_IN_FLIGHT_PER_ENDPOINT = 20  # per worker, so that one hanging endpoint cannot occupy all slots
MAX_BUSY_DELAY_SECONDS = 60


class WebhookResponse(Protocol):
    """The response of an endpoint."""

    @property
    def status(self) -> int: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def body(self) -> bytes: ...


class WebhookSender(Protocol):
    """Sends requests: follows no redirects, times out after 15 s and reads at most 64 KiB."""

    async def post(self, url: str, body: bytes, *, headers: Mapping[str, str]) -> WebhookResponse:
        """Raise UnreachableError if there is no response."""
        ...


@dataclass(frozen=True, slots=True)
class DeliveryActivities:
    """Sends deliveries."""

    database: Database
    secret_box: SecretBox
    sender: WebhookSender
    clock: Clock
    in_flight: Counter[str] = field(default_factory=Counter)

    @activity.defn(name="attempt_delivery")
    async def attempt_delivery(self, delivery: Delivery, number: int) -> AttemptResult:
        """Send once and record the result; after a crash the endpoint may receive the same message again."""
        with self._slot(delivery.endpoint_id):
            async with self.database.transaction(delivery.library_id) as connection:
                recorded = await deliveries.recorded_attempt(connection, delivery, number)
                if recorded is not None:
                    return recorded
                webhook = await deliveries.load_webhook(connection, delivery, secret_box=self.secret_box)
                if webhook is None:
                    await deliveries.withdraw(connection, delivery, now=self.clock())
                    return AttemptResult(DeliveryOutcome.WITHDRAWN)
            attempt = await self._send(webhook, delivery, number)
        async with self.database.transaction(delivery.library_id) as connection:
            await deliveries.record_attempt(connection, delivery, attempt)
        return AttemptResult(attempt.outcome, attempt.retry_after_seconds)

    @contextmanager
    def _slot(self, endpoint_id: str) -> Iterator[None]:
        if self.in_flight[endpoint_id] >= MAX_IN_FLIGHT_PER_ENDPOINT:
            delay = min(2 ** min(activity.info().attempt, 10), MAX_BUSY_DELAY_SECONDS)
            raise ApplicationError(
                "too many deliveries in flight for this endpoint",
                next_retry_delay=timedelta(seconds=delay),
                category=ApplicationErrorCategory.BENIGN,
            )
        self.in_flight[endpoint_id] += 1
        try:
            yield
        finally:
            self.in_flight[endpoint_id] -= 1
            if not self.in_flight[endpoint_id]:
                del self.in_flight[endpoint_id]

    async def _send(self, webhook: OutgoingWebhook, delivery: Delivery, number: int) -> AttemptRecord:
        at, started = self.clock(), time.perf_counter()
        signed = signed_headers(webhook.secrets, webhook.body, message_id=delivery.event_id, at=at)
        status, outcome, retry_after, body = None, DeliveryOutcome.UNREACHABLE, None, None
        try:
            response = await self.sender.post(
                webhook.url, webhook.body, headers={"content-type": CONTENT_TYPE, **signed}
            )
        except UnreachableError:
            pass
        else:
            status, outcome, body = response.status, outcome_of(response.status), response_excerpt(response.body)
            retry_after = parse_retry_after(status, response.headers.get("retry-after"), now=self.clock())
        return AttemptRecord(
            number=number,
            at=at,
            status=status,
            outcome=outcome,
            milliseconds=round((time.perf_counter() - started) * 1000),
            retry_after_seconds=retry_after,
            url=webhook.url,
            response_body=body,
        )
