"""Webhook deliveries: prompt, signed, bounded whatever the receiver does, and never lost while it is away."""

import sys

from cutroom.platform.temporal import connect
from proofs.stage.report import Report, prove
from proofs.webhooks.latency import prove_promptness
from proofs.webhooks.outage import prove_outage
from proofs.webhooks.receiver_responses import prove_answers
from proofs.webhooks.stage import open_stage


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    events = 30 if short else 200
    async with open_stage() as stage:
        client = await connect(stage.settings)
        lost = await prove_promptness(report, stage, client, events=events)
        await prove_answers(report, stage, client)
        lost += await prove_outage(report, stage, events=events)
        deliveries = stage.receiver.deliveries
        verified = sum(delivery.verified for delivery in deliveries)
    report.claim(
        "deliveries that the official package verifies",
        expected=f"all {len(deliveries)}",
        measured=verified,
        holds=verified == len(deliveries) > 0,
    )
    report.figures(events=2 * events, lost=lost, verified=verified, deliveries=len(deliveries))


if __name__ == "__main__":
    sys.exit(prove("Webhook deliveries", proof))
