"""Webhook deliveries: prompt, signed, bounded for any receiver behavior, not lost in an outage, and sent again."""

import sys
from dataclasses import asdict

from cutroom.platform.temporal import connect
from proofs.stage.report import Report, prove
from proofs.stage.requirements import Needs
from proofs.webhooks.latency import prove_latency
from proofs.webhooks.outage import prove_outage
from proofs.webhooks.receiver_responses import prove_responses
from proofs.webhooks.resending import prove_resending
from proofs.webhooks.stage import open_stage


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    events = 30 if short else 200
    async with open_stage() as stage:
        client = await connect(stage.settings)
        lost = await prove_latency(report, stage, client, events=events)
        await prove_responses(report, stage, client)
        resent = await prove_resending(report, stage, client, events=events)
        lost_in_outage, recovery = await prove_outage(report, stage, events=events)
        deliveries = stage.receiver.deliveries
        verified = sum(delivery.verified for delivery in deliveries)
    report.claim(
        "deliveries verified by the official package",
        expected=f"all {len(deliveries)}",
        measured=verified,
        holds=verified == len(deliveries) > 0,
    )
    report.figures(
        events=2 * events,
        lost=lost + lost_in_outage,
        verified=verified,
        deliveries=len(deliveries),
        **asdict(resent),
        **asdict(recovery),
    )


if __name__ == "__main__":
    sys.exit(prove("Webhook deliveries", proof, needs=Needs(programs=("temporal-test-server",))))
