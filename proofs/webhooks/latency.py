"""A receiver hears of an event soon after the transaction that announces it."""

import asyncio
import statistics
import time

from temporalio.client import Client

from proofs.stage.report import Report
from proofs.webhooks.stage import Stage, until, working

PER_SECOND = 5
CUSTOMERS = 5
WAIT_SECONDS = 30
MOST_P95_MS = 2_000


async def prove_promptness(report: Report, stage: Stage, client: Client, *, events: int) -> int:
    """Announce steadily; how many events were lost."""
    customers = [await stage.customer("takes") for _ in range(CUSTOMERS)]
    committed: dict[str, float] = {}
    async with working(stage, client):
        await asyncio.sleep(1)  # the worker's pollers are there
        for number in range(events):
            event_id = await stage.announce(customers[number % CUSTOMERS])
            committed[event_id] = time.monotonic()
            await asyncio.sleep(1 / PER_SECOND)
        await until(lambda: committed.keys() <= _heard(stage).keys(), seconds=WAIT_SECONDS)
    heard = _heard(stage)
    lost = len(committed.keys() - heard.keys())
    waits = sorted((heard[event_id] - at) * 1000 for event_id, at in committed.items() if event_id in heard)
    p95 = round(statistics.quantiles(waits, n=20)[-1])
    report.claim(f"of {events} events, heard", expected=str(events), measured=events - lost, holds=lost == 0)
    report.claim(
        "from commit to arrival, p95 (median) ms",
        expected=f"< {MOST_P95_MS}",
        measured=f"{p95} ({round(statistics.median(waits))})",
        holds=p95 < MOST_P95_MS,
    )
    report.figures(p95_ms=p95)
    return lost


def _heard(stage: Stage) -> dict[str, float]:
    """When each message first arrived and was verified."""
    first: dict[str, float] = {}
    for delivery in stage.receiver.deliveries:
        if delivery.verified:
            first.setdefault(delivery.message_id, delivery.at)
    return first
