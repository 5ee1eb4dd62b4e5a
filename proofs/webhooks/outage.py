"""Simulates receiver outages with time skipping: nothing is lost in 24 h, and a dead receiver is given up."""

from datetime import timedelta

from temporalio.testing import WorkflowEnvironment

from cutroom.webhooks.rules import RETRY_DELAYS
from dev.probe import program_beside_python
from proofs.stage.report import Report
from proofs.webhooks.resending import ALL_ATTEMPTS, Recovery, prove_recovery
from proofs.webhooks.stage import WebhookStage, relay_all, results_of

OUTAGE = timedelta(hours=24)
RECOVERY = timedelta(hours=9)  # the eighth attempt is 31 h 35 min after the first
CUSTOMERS = 5


async def prove_outage(report: Report, stage: WebhookStage, *, events: int) -> tuple[int, Recovery]:
    """Deliver through a time-skipping Temporal server; returns the number of lost events, and what was recovered."""
    server = str(program_beside_python("temporal-test-server"))
    async with (
        await WorkflowEnvironment.start_time_skipping(test_server_existing_path=server) as skipping,
        stage.worker(skipping.client),
    ):
        lost = await _prove_recovery(report, stage, skipping, events=events)
        await _prove_giving_up(report, stage, skipping)
        recovery = await prove_recovery(report, stage, skipping, events=events // 2)
    return lost, recovery


async def _prove_recovery(report: Report, stage: WebhookStage, skipping: WorkflowEnvironment, *, events: int) -> int:
    customers = [await stage.customer("takes") for _ in range(CUSTOMERS)]
    await stage.receiver.stop()
    published = {await stage.publish(customers[n % CUSTOMERS]): customers[n % CUSTOMERS] for n in range(events)}
    await relay_all(stage, skipping.client)
    started = await skipping.get_current_time()
    await skipping.sleep(OUTAGE)
    missed = [row for customer in customers for row in await stage.attempts(customer)]
    await stage.receiver.start()
    await skipping.sleep(RECOVERY)
    deliveries = [customer.delivery(event_id) for event_id, customer in published.items()]
    outcomes = await results_of(skipping.client, deliveries)
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
    await relay_all(stage, skipping.client)
    await skipping.sleep(ALL_ATTEMPTS)
    (outcome,) = await results_of(skipping.client, [customer.delivery(event_id)])
    attempts, deliveries = len(await stage.attempts(customer)), len(stage.receiver.at(customer.path))
    expected = 1 + len(RETRY_DELAYS)
    report.claim(
        "a receiver that returns 500 for four days: attempts, recorded attempts, outcome",
        expected=f"{expected}, {expected}, refused",
        measured=f"{deliveries}, {attempts}, {outcome}",
        holds=(deliveries, attempts, outcome) == (expected, expected, "refused"),
    )
