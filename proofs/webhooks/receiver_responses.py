"""Proves that attempts are bounded in time, recorded and retried correctly for every receiver behavior."""

import asyncio
import time
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from temporalio.client import Client

from proofs.stage.report import Report
from proofs.stage.webhook_receiver import BUSY_SECONDS
from proofs.webhooks.stage import POLL_SECONDS, Customer, WebhookStage, run_worker, until

WAIT_SECONDS = 120  # for attempts that are due after 20 s: a timeout of 15 s and a delay of 5 s
FIRST_DELAY_SECONDS = 5
TIMEOUT_MILLISECONDS = (14_500, 17_000)  # duration of an attempt that times out
MAX_FLOODED_BYTES = 32 * 1024 * 1024  # 64 KiB are read; the rest is in socket buffers


@dataclass(frozen=True, slots=True)
class ReceiverCase:
    """A receiver behavior, and the expected attempts within the watched time."""

    behavior: str
    description: str
    status: int | None
    outcome: str
    deliveries: int
    min_delay_seconds: float = 0
    times_out: bool = False


CASES = (
    ReceiverCase("takes", "returns 200", status=200, outcome="delivered", deliveries=1),
    ReceiverCase(
        "fails", "returns 500", status=500, outcome="refused", deliveries=2, min_delay_seconds=FIRST_DELAY_SECONDS
    ),
    ReceiverCase(
        "moves", "returns 302", status=302, outcome="refused", deliveries=2, min_delay_seconds=FIRST_DELAY_SECONDS
    ),
    ReceiverCase("leaves", "returns 410", status=410, outcome="gone", deliveries=1),
    ReceiverCase(
        "busy",
        "returns 429 with Retry-After",
        status=429,
        outcome="refused",
        deliveries=2,
        min_delay_seconds=BUSY_SECONDS,
    ),
    ReceiverCase("hangs", "never responds", status=None, outcome="unreachable", deliveries=2, times_out=True),
    ReceiverCase(
        "resets",
        "resets the connection",
        status=None,
        outcome="unreachable",
        deliveries=2,
        min_delay_seconds=FIRST_DELAY_SECONDS,
    ),
    ReceiverCase("drips", "sends its body slowly", status=None, outcome="unreachable", deliveries=2, times_out=True),
    ReceiverCase(
        "drips-headers", "sends its headers slowly", status=None, outcome="unreachable", deliveries=2, times_out=True
    ),
    ReceiverCase("floods", "sends 10 GB", status=200, outcome="delivered", deliveries=1),
)


async def prove_responses(report: Report, stage: WebhookStage, client: Client) -> None:
    customers = {case: await stage.customer(case.behavior) for case in CASES}
    deleted = await stage.customer("fails")
    async with run_worker(stage, client):
        for customer in customers.values():
            await stage.publish(customer)
        event_id = await stage.publish(deleted)
        handle = client.get_workflow_handle(deleted.delivery(event_id).workflow_id)
        await _recorded(stage, deleted, 1)  # the first attempt has failed, the second is due in five seconds
        await stage.delete(deleted)
        outcome = await asyncio.wait_for(handle.result(), timeout=WAIT_SECONDS)
        for case, customer in customers.items():
            await _recorded(stage, customer, case.deliveries - case.times_out)
            await until(partial(_received, stage, case, customer), seconds=WAIT_SECONDS)
        await stage.publish(customers[_case("leaves")])
        await asyncio.sleep(2)
    for case, customer in customers.items():
        await _claim_case(report, stage, case, customer)
    _claim_limits(report, stage)
    await _claim_disabled(report, stage, customers[_case("leaves")])
    sent = len(stage.receiver.at(deleted.path))
    report.claim(
        "an endpoint deleted between two attempts: attempts, workflow result",
        expected="1, withdrawn",
        measured=f"{sent}, {outcome}",
        holds=sent == 1 and outcome == "withdrawn",
    )


async def _recorded(stage: WebhookStage, customer: Customer, attempts: int) -> None:
    """Wait until so many attempts are recorded; a claim fails afterwards if they never are."""
    deadline = time.monotonic() + WAIT_SECONDS
    while len(await stage.attempts(customer)) < attempts and time.monotonic() < deadline:
        await asyncio.sleep(POLL_SECONDS)


def _received(stage: WebhookStage, case: ReceiverCase, customer: Customer) -> bool:
    return len(stage.receiver.at(customer.path)) >= case.deliveries


def _case(behavior: str) -> ReceiverCase:
    return next(case for case in CASES if case.behavior == behavior)


async def _claim_case(report: Report, stage: WebhookStage, case: ReceiverCase, customer: Customer) -> None:
    attempts, deliveries = await stage.attempts(customer), stage.receiver.at(customer.path)
    recorded = {(row["status"], row["outcome"]) for row in attempts}
    delays = [after.at - before.at for before, after in pairwise(deliveries)]
    longest = max((row["milliseconds"] for row in attempts), default=0)
    shortest, timeout = TIMEOUT_MILLISECONDS
    holds = (
        recorded == {(case.status, case.outcome)}
        and len(deliveries) == case.deliveries
        # An attempt that is about to time out has been received but not yet recorded.
        and len(attempts) in ({case.deliveries, case.deliveries - 1} if case.times_out else {case.deliveries})
        and all(delay >= case.min_delay_seconds - 0.05 for delay in delays)
        and (shortest <= longest <= timeout if case.times_out else longest < shortest)
        and len({delivery.message_id for delivery in deliveries}) == 1
    )
    shown_delays = ", ".join(f"{delay:.1f} s" for delay in delays) or "none"
    report.claim(
        f"a receiver that {case.description}",
        expected=f"{case.deliveries} x {case.status or 'no status'} {case.outcome}",
        measured=f"{len(deliveries)} x {recorded}, longest {longest} ms, delays {shown_delays}",
        holds=holds,
    )


def _claim_limits(report: Report, stage: WebhookStage) -> None:
    flooded = stage.receiver.flooded_bytes
    report.claim(
        "bytes accepted of a 10 GB response",
        expected=f"< {MAX_FLOODED_BYTES}",
        measured=flooded,
        holds=0 < flooded < MAX_FLOODED_BYTES,
    )
    followed = len(stage.receiver.at("/takes/moved"))
    report.claim("redirects followed", expected="0", measured=followed, holds=followed == 0)


async def _claim_disabled(report: Report, stage: WebhookStage, gone: Customer) -> None:
    row = await stage.accounts.connection.fetchrow(
        "SELECT disabled_at, disabled_reason FROM webhook_endpoints WHERE id = $1", gone.endpoint_id
    )
    disabled = row is not None and row["disabled_at"] is not None and bool(row["disabled_reason"])
    deliveries = len(stage.receiver.at(gone.path))
    report.claim(
        "after 410: endpoint disabled with a reason, attempts for the next event",
        expected="True, 0",
        measured=f"{disabled}, {deliveries - 1}",
        holds=disabled and deliveries == 1,
    )
