"""Simulates receiver outages with time skipping: nothing is lost in 24 h, and a dead receiver is given up."""

import asyncio
from datetime import timedelta

from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from cutroom.webhooks.rules import RETRY_DELAYS
from dev.probe import program_beside_python
from proofs.stage.report import Report
from proofs.webhooks.stage import Customer, WebhookStage

OUTAGE = timedelta(hours=24)
RECOVERY = timedelta(hours=9)  # the eighth attempt is 31 h 35 min after the first
ALL_ATTEMPTS = timedelta(days=4)
CUSTOMERS = 5
RESULT_SECONDS = 180


async def prove_outage(report: Report, stage: WebhookStage, *, events: int) -> int:
    """Deliver through a time-skipping Temporal server; returns the number of lost events."""
    server = str(program_beside_python("temporal-test-server"))
    async with (
        await WorkflowEnvironment.start_time_skipping(test_server_existing_path=server) as skipping,
        stage.worker(skipping.client),
    ):
        lost = await _prove_recovery(report, stage, skipping, events=events)
        await _prove_giving_up(report, stage, skipping)
    return lost


async def _prove_recovery(report: Report, stage: WebhookStage, skipping: WorkflowEnvironment, *, events: int) -> int:
    customers = [await stage.customer("takes") for _ in range(CUSTOMERS)]
    await stage.receiver.stop()
    published = {await stage.publish(customers[n % CUSTOMERS]): customers[n % CUSTOMERS] for n in range(events)}
    await _relay_all(stage, skipping.client)
    started = await skipping.get_current_time()
    await skipping.sleep(OUTAGE)
    missed = [row for customer in customers for row in await stage.attempts(customer)]
    await stage.receiver.start()
    await skipping.sleep(RECOVERY)
    outcomes = await _results(skipping.client, published)
    elapsed = await skipping.get_current_time() - started
    arrived = {a.message_id for c in customers for a in stage.receiver.at(c.path) if a.verified}
    lost = len(published.keys() - arrived)
    report.claim(
        f"receiver down for 24 h ({elapsed.total_seconds() / 3600:.1f} h of skipped time): events lost",
        expected=f"0 of {events}",
        measured=f"{lost}, outcomes {sorted(set(outcomes))}",
        holds=lost == 0 and set(outcomes) == {"delivered"} and elapsed > OUTAGE,
    )
    missed_outcomes = {row["outcome"] for row in missed}
    report.claim(
        "... attempts recorded per event during the outage",
        expected="7, unreachable",
        measured=f"{len(missed) / events:g}, {', '.join(missed_outcomes)}",
        holds=len(missed) == 7 * events and missed_outcomes == {"unreachable"},
    )
    return lost


async def _prove_giving_up(report: Report, stage: WebhookStage, skipping: WorkflowEnvironment) -> None:
    customer = await stage.customer("fails")
    event_id = await stage.publish(customer)
    await _relay_all(stage, skipping.client)
    await skipping.sleep(ALL_ATTEMPTS)
    (outcome,) = await _results(skipping.client, {event_id: customer})
    attempts, deliveries = len(await stage.attempts(customer)), len(stage.receiver.at(customer.path))
    expected = 1 + len(RETRY_DELAYS)
    report.claim(
        "a receiver that returns 500 for four days: attempts, recorded attempts, outcome",
        expected=f"{expected}, {expected}, refused",
        measured=f"{deliveries}, {attempts}, {outcome}",
        holds=(deliveries, attempts, outcome) == (expected, expected, "refused"),
    )


async def _relay_all(stage: WebhookStage, client: Client) -> None:
    relay = stage.relay(client)
    while await relay.relay_once():
        pass


async def _results(client: Client, published: dict[str, Customer]) -> list[str]:
    """Outcome of each delivery; all must be complete, because waiting would skip time."""
    handles = [client.get_workflow_handle(c.delivery(event_id).workflow_id) for event_id, c in published.items()]
    return await asyncio.wait_for(asyncio.gather(*(handle.result() for handle in handles)), timeout=RESULT_SECONDS)
