"""A receiver is away for a day of skipped time, and nothing is lost; another never comes back, and is given up."""

import asyncio
from datetime import timedelta

from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from cutroom.webhooks.rules import RETRY_DELAYS
from dev.probe import program_beside_python
from proofs.stage.report import Report
from proofs.webhooks.stage import Customer, Stage

OUTAGE = timedelta(hours=24)
AFTERWARDS = timedelta(hours=9)  # the eighth attempt comes 31 h 35 min after the first
ALL_ATTEMPTS = timedelta(days=4)
CUSTOMERS = 5
RESULT_SECONDS = 180


async def prove_outage(report: Report, stage: Stage, *, events: int) -> int:
    """The whole chain, on a Temporal whose time can be skipped; how many events were lost."""
    server = str(program_beside_python("temporal-test-server"))
    async with (
        await WorkflowEnvironment.start_time_skipping(test_server_existing_path=server) as skipping,
        stage.worker(skipping.client),
    ):
        lost = await _receiver_away(report, stage, skipping, events=events)
        await _receiver_never_takes(report, stage, skipping)
    return lost


async def _receiver_away(report: Report, stage: Stage, skipping: WorkflowEnvironment, *, events: int) -> int:
    customers = [await stage.customer("takes") for _ in range(CUSTOMERS)]
    await stage.receiver.stop()
    announced = {await stage.announce(customers[n % CUSTOMERS]): customers[n % CUSTOMERS] for n in range(events)}
    await _relay_all(stage, skipping.client)
    began = await skipping.get_current_time()
    await skipping.sleep(OUTAGE)
    missed = [row for customer in customers for row in await stage.attempts(customer)]
    await stage.receiver.start()
    await skipping.sleep(AFTERWARDS)
    outcomes = await _results(skipping.client, announced)
    lasted = await skipping.get_current_time() - began
    arrived = {a.message_id for c in customers for a in stage.receiver.at(c.path) if a.verified}
    lost = len(announced.keys() - arrived)
    report.claim(
        f"receiver away for 24 h ({lasted.total_seconds() / 3600:.1f} h of skipped time): events lost",
        expected=f"0 of {events}",
        measured=f"{lost}, ended {sorted(set(outcomes))}",
        holds=lost == 0 and set(outcomes) == {"delivered"} and lasted > OUTAGE,
    )
    refused = {row["outcome"] for row in missed}
    report.claim(
        "... attempts recorded during the outage, for each event",
        expected="7, unreachable",
        measured=f"{len(missed) / events:g}, {', '.join(refused)}",
        holds=len(missed) == 7 * events and refused == {"unreachable"},
    )
    return lost


async def _receiver_never_takes(report: Report, stage: Stage, skipping: WorkflowEnvironment) -> None:
    customer = await stage.customer("fails")
    event_id = await stage.announce(customer)
    await _relay_all(stage, skipping.client)
    await skipping.sleep(ALL_ATTEMPTS)
    (outcome,) = await _results(skipping.client, {event_id: customer})
    attempts, deliveries = len(await stage.attempts(customer)), len(stage.receiver.at(customer.path))
    expected = 1 + len(RETRY_DELAYS)
    report.claim(
        "a receiver that answers 500 for four days: attempts, recorded, end",
        expected=f"{expected}, {expected}, refused",
        measured=f"{deliveries}, {attempts}, {outcome}",
        holds=(deliveries, attempts, outcome) == (expected, expected, "refused"),
    )


async def _relay_all(stage: Stage, client: Client) -> None:
    relay = stage.relay(client)
    while await relay.relay_once():
        pass


async def _results(client: Client, announced: dict[str, Customer]) -> list[str]:
    """How each delivery ended; all have, for waiting here would let time run on."""
    handles = [client.get_workflow_handle(c.delivery(event_id).workflow_id) for event_id, c in announced.items()]
    return await asyncio.wait_for(asyncio.gather(*(handle.result() for handle in handles)), timeout=RESULT_SECONDS)
