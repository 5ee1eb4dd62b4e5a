"""Measures the time from the commit of an event to its delivery."""

import asyncio
import statistics
import time

from temporalio.client import Client

from proofs.stage.report import Report
from proofs.webhooks.stage import WebhookStage, run_worker, until

PER_SECOND = 5
CUSTOMERS = 5
WAIT_SECONDS = 120  # for the last delivery, on a busy machine
MAX_P95_MS = 2_000


async def prove_latency(report: Report, stage: WebhookStage, client: Client, *, events: int) -> int:
    """Publish events at a steady rate; returns the number of lost events."""
    customers = [await stage.customer("takes") for _ in range(CUSTOMERS)]
    committed: dict[str, float] = {}
    async with run_worker(stage, client):
        await asyncio.sleep(1)  # for the worker's pollers to start
        for number in range(events):
            event_id = await stage.publish(customers[number % CUSTOMERS])
            committed[event_id] = time.monotonic()
            await asyncio.sleep(1 / PER_SECOND)
        await until(lambda: committed.keys() <= _first_deliveries(stage).keys(), seconds=WAIT_SECONDS)
    delivered = _first_deliveries(stage)
    lost = len(committed.keys() - delivered.keys())
    latencies = sorted((delivered[event_id] - at) * 1000 for event_id, at in committed.items() if event_id in delivered)
    p95 = round(statistics.quantiles(latencies, n=20)[-1])
    report.claim(f"of {events} events, delivered", expected=str(events), measured=events - lost, holds=lost == 0)
    report.claim_time(
        "commit to delivery, p95 (median), ms",
        expected=f"< {MAX_P95_MS}",
        measured=f"{p95} ({round(statistics.median(latencies))})",
        holds=p95 < MAX_P95_MS,
    )
    report.figures(p95_ms=p95)
    return lost


def _first_deliveries(stage: WebhookStage) -> dict[str, float]:
    """Time of the first verified delivery of each message."""
    first: dict[str, float] = {}
    for delivery in stage.receiver.deliveries:
        if delivery.verified:
            first.setdefault(delivery.message_id, delivery.at)
    return first
