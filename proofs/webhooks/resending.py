"""Redelivers and recovers what a receiver has refused, and rotates a secret while deliveries arrive."""

import asyncio
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta

from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from cutroom.platform.clock import system_clock
from cutroom.webhooks import resending
from cutroom.webhooks.deliveries import Delivery
from cutroom.webhooks.rules import RETRY_DELAYS
from cutroom.webhooks.secret_rotation import rotate_own_secret
from proofs.stage.report import Report
from proofs.webhooks.stage import Customer, WebhookStage, relay_all, results_of, run_worker, until

WAIT_SECONDS = 180
ALL_ATTEMPTS = timedelta(days=4)
OVERLAP = timedelta(seconds=12)
PER_SECOND = 10
ROTATIONS = 4  # receivers that change their secret at the beginning, at the end, and between


@dataclass(frozen=True, slots=True)
class Resent:
    """What was sent again, and what was wrong with it."""

    redelivered_wrong: int
    rotation_rejected: int


@dataclass(frozen=True, slots=True)
class Recovery:
    """How many deliveries had failed, and how many of them have arrived after a recovery."""

    failed_before: int
    recovered: int


async def prove_resending(report: Report, stage: WebhookStage, client: Client, *, events: int) -> Resent:
    async with run_worker(stage, client):
        wrong = await _prove_redelivery(report, stage, events=events)
        rejected = await _prove_rotation(report, stage, events=events)
    return Resent(wrong, rejected)


async def _prove_redelivery(report: Report, stage: WebhookStage, *, events: int) -> int:
    """Each event arrives once, is redelivered while others arrive, and must be the same message to the byte."""
    customer = await stage.customer("takes")
    sent = [await stage.publish(customer) for _ in range(events)]
    await until(lambda: len(_received(stage, customer)) == events, seconds=WAIT_SECONDS)
    before = {each.message_id: each.body for each in stage.receiver.at(customer.path)}
    for event_id in sent:
        async with stage.database.transaction(customer.library_id) as connection:
            await resending.redeliver(
                connection, customer.principal, customer.endpoint_id, event_id, now=system_clock()
            )
    later = [await stage.publish(customer) for _ in range(events)]
    await until(lambda: set(_received(stage, customer)) >= set(later), seconds=WAIT_SECONDS)
    await until(lambda: all(_received(stage, customer)[each] >= 2 for each in sent), seconds=WAIT_SECONDS)
    arrived = stage.receiver.at(customer.path)
    counts = Counter(each.message_id for each in arrived)
    wrong = sum(counts[event_id] != 2 for event_id in sent) + sum(counts[event_id] != 1 for event_id in later)
    wrong += sum(each.message_id in before and each.body != before[each.message_id] for each in arrived)
    wrong += sum(not each.verified for each in arrived) + len(counts.keys() - {*sent, *later})
    report.claim(
        f"of {events} events redelivered: missing, repeated, or with another id, body or signature",
        expected="0",
        measured=wrong,
        holds=wrong == 0 < len(arrived),
    )
    return wrong


async def prove_recovery(
    report: Report, stage: WebhookStage, skipping: WorkflowEnvironment, *, events: int
) -> Recovery:
    """A receiver refuses everything for days and is repaired: what failed since a time is recovered, and no more."""
    customer, other = await stage.customer("fails"), await stage.customer("fails")
    early = [await stage.publish(customer) for _ in range(events // 3)]
    foreign = [await stage.publish(other) for _ in range(events // 3)]
    since = system_clock()
    late = [await stage.publish(customer) for _ in range(events)]
    await relay_all(stage, skipping.client)
    await skipping.sleep(ALL_ATTEMPTS)
    deliveries = [*(customer.delivery(each) for each in (*early, *late)), *(other.delivery(each) for each in foreign)]
    outcomes = await results_of(skipping.client, deliveries)
    failed_before: int = await stage.accounts.connection.fetchval(
        "SELECT count(*) FROM webhook_deliveries WHERE endpoint_id = $1 AND state = 'failed' AND event_at >= $2",
        customer.endpoint_id,
        since,
    )
    refused = len(stage.receiver.at(customer.path))
    stage.receiver.repaired |= {customer.path, other.path}
    async with stage.database.transaction(customer.library_id) as connection:
        started, has_more = await resending.recover(
            connection, customer.principal, customer.endpoint_id, since=since, now=system_clock()
        )
    starts = await stage.accounts.connection.fetch(
        "SELECT argument FROM outbox WHERE library_id = $1", customer.library_id
    )
    await relay_all(stage, skipping.client)
    outcomes += await results_of(skipping.client, [Delivery(**row["argument"]) for row in starts])
    arrived = Counter(each.message_id for each in stage.receiver.at(customer.path)[refused:] if each.verified)
    recovered = sum(arrived[event_id] == 1 for event_id in late)
    untouched = len(stage.receiver.at(other.path)) == (1 + len(RETRY_DELAYS)) * len(foreign)
    report.claim(
        f"of {failed_before} failed deliveries since a time, recovered once each (and others)",
        expected=f"{failed_before} (0)",
        measured=f"{recovered} ({len(arrived) - recovered})",
        holds=recovered == started == failed_before == len(late)
        and arrived.keys() == set(late)
        and untouched
        and not has_more
        and Counter(outcomes) == {"refused": len(deliveries), "delivered": len(late)},
    )
    return Recovery(failed_before, recovered)


async def _prove_rotation(report: Report, stage: WebhookStage, *, events: int) -> int:
    """Receivers change their secret anywhere in the overlap, while events arrive; none is rejected."""
    customers = [await stage.customer("takes") for _ in range(ROTATIONS)]
    old = {customer.path: stage.receiver.secrets[customer.path] for customer in customers}
    new: dict[str, str] = {}
    for customer in customers:
        async with stage.database.transaction(customer.library_id) as connection:
            rotated = await rotate_own_secret(
                connection,
                customer.principal,
                customer.endpoint_id,
                secret_box=stage.secret_box,
                overlap=OVERLAP,
                now=system_clock(),
            )
        new[customer.path] = rotated.secret
    started = asyncio.get_running_loop().time()
    # The last receiver changes shortly before the overlap ends: a delivery takes less than the rest.
    moments = {
        customer.path: OVERLAP.total_seconds() * 0.95 * number / (ROTATIONS - 1)
        for number, customer in enumerate(customers)
    }
    published = 0
    while published < events or asyncio.get_running_loop().time() - started < OVERLAP.total_seconds() + 2:
        elapsed = asyncio.get_running_loop().time() - started
        for path, moment in moments.items():
            if elapsed >= moment:
                stage.receiver.secrets[path] = new[path]
        await stage.publish(customers[published % ROTATIONS])
        published += 1
        await asyncio.sleep(1 / PER_SECOND)
    await until(lambda: sum(len(_received(stage, each)) for each in customers) == published, seconds=WAIT_SECONDS)
    arrived = [each for customer in customers for each in stage.receiver.at(customer.path)]
    rejected = sum(not each.verified for each in arrived)
    changed = sum(stage.receiver.secrets[path] != old[path] for path in old)
    report.claim(
        f"{changed} receivers change their secret in the overlap: deliveries, rejected",
        expected=f"{published}, 0",
        measured=f"{len(arrived)}, {rejected}",
        holds=changed == ROTATIONS and len(arrived) == published and rejected == 0,
    )
    return rejected


def _received(stage: WebhookStage, customer: Customer) -> Counter[str]:
    return Counter(each.message_id for each in stage.receiver.at(customer.path))
