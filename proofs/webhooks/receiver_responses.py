"""Whatever a receiver does, an attempt ends in time, is recorded as it was, and is followed as the contract says."""

import asyncio
from dataclasses import dataclass
from itertools import pairwise

from temporalio.client import Client

from proofs.stage.report import Report
from proofs.stage.webhook_receiver import BUSY_SECONDS
from proofs.webhooks.stage import Customer, Stage, working

WATCH_SECONDS = 26  # enough for the slowest: 15 s of hanging, a pause of 5 s, and some patience
SECOND_PAUSE_SECONDS = 5
ATTEMPT_MILLISECONDS = (14_500, 17_000)  # of one that is cut off
MOST_FLOODED_BYTES = 32 * 1024 * 1024  # 64 KiB are read; the rest is what the machine's buffers swallowed


@dataclass(frozen=True, slots=True)
class Case:
    """What a receiver does, and what is made of it within the time watched."""

    behaviour: str
    does: str
    status: int | None
    outcome: str
    deliveries: int
    least_pause_seconds: float = 0
    cut_off: bool = False


CASES = (
    Case("takes", "answers 200", status=200, outcome="delivered", deliveries=1),
    Case("fails", "answers 500", status=500, outcome="refused", deliveries=2, least_pause_seconds=SECOND_PAUSE_SECONDS),
    Case("moves", "answers 302", status=302, outcome="refused", deliveries=2, least_pause_seconds=SECOND_PAUSE_SECONDS),
    Case("leaves", "answers 410", status=410, outcome="gone", deliveries=1),
    Case("busy", "answers 429, later", status=429, outcome="refused", deliveries=2, least_pause_seconds=BUSY_SECONDS),
    Case("hangs", "hangs", status=None, outcome="unreachable", deliveries=2, cut_off=True),
    Case(
        "resets", "resets", status=None, outcome="unreachable", deliveries=2, least_pause_seconds=SECOND_PAUSE_SECONDS
    ),
    Case("drips", "drips its body", status=None, outcome="unreachable", deliveries=2, cut_off=True),
    Case("drips-headers", "drips its headers", status=None, outcome="unreachable", deliveries=2, cut_off=True),
    Case("floods", "sends 10 GB", status=200, outcome="delivered", deliveries=1),
)


async def prove_answers(report: Report, stage: Stage, client: Client) -> None:
    customers = {case: await stage.customer(case.behaviour) for case in CASES}
    deleted = await stage.customer("fails")
    async with working(stage, client):
        for customer in customers.values():
            await stage.announce(customer)
        event_id = await stage.announce(deleted)
        handle = client.get_workflow_handle(deleted.delivery(event_id).workflow_id)
        await asyncio.sleep(2)  # the first attempt has failed, the second is three seconds away
        await stage.delete(deleted)
        await asyncio.sleep(WATCH_SECONDS - 2)
        await stage.announce(customers[_case("leaves")])
        await asyncio.sleep(2)
        ended = await asyncio.wait_for(handle.result(), timeout=10)
    for case, customer in customers.items():
        await _claim_case(report, stage, case, customer)
    _claim_limits(report, stage)
    await _claim_ends(report, stage, customers[_case("leaves")])
    sent = len(stage.receiver.at(deleted.path))
    report.claim(
        "an endpoint deleted between two attempts: sent, workflow ends",
        expected="1, withdrawn",
        measured=f"{sent}, {ended}",
        holds=sent == 1 and ended == "withdrawn",
    )


def _case(behaviour: str) -> Case:
    return next(case for case in CASES if case.behaviour == behaviour)


async def _claim_case(report: Report, stage: Stage, case: Case, customer: Customer) -> None:
    attempts, deliveries = await stage.attempts(customer), stage.receiver.at(customer.path)
    recorded = {(row["status"], row["outcome"]) for row in attempts}
    pauses = [after.at - before.at for before, after in pairwise(deliveries)]
    longest = max((row["milliseconds"] for row in attempts), default=0)
    shortest, most = ATTEMPT_MILLISECONDS
    holds = (
        recorded == {(case.status, case.outcome)}
        and len(deliveries) == case.deliveries
        # One that is being cut off when we look has arrived, and is recorded a moment later.
        and len(attempts) in ({case.deliveries, case.deliveries - 1} if case.cut_off else {case.deliveries})
        and all(pause >= case.least_pause_seconds - 0.05 for pause in pauses)
        and (shortest <= longest <= most if case.cut_off else longest < shortest)
        and len({delivery.message_id for delivery in deliveries}) == 1
    )
    said = ", ".join(f"{pause:.1f} s" for pause in pauses) or "none"
    report.claim(
        f"a receiver that {case.does}",
        expected=f"{case.deliveries} x {case.status or 'no status'} {case.outcome}",
        measured=f"{len(deliveries)} x {recorded}, longest {longest} ms, pauses {said}",
        holds=holds,
    )


def _claim_limits(report: Report, stage: Stage) -> None:
    flooded = stage.receiver.flooded_bytes
    report.claim(
        "of 10 GB the receiver got rid of, bytes",
        expected=f"< {MOST_FLOODED_BYTES}",
        measured=flooded,
        holds=0 < flooded < MOST_FLOODED_BYTES,
    )
    followed = len(stage.receiver.at("/takes/moved"))
    report.claim("redirects followed", expected="0", measured=followed, holds=followed == 0)


async def _claim_ends(report: Report, stage: Stage, gone: Customer) -> None:
    row = await stage.accounts.connection.fetchrow(
        "SELECT disabled_at, disabled_reason FROM webhook_endpoints WHERE id = $1", gone.endpoint_id
    )
    disabled = row is not None and row["disabled_at"] is not None and bool(row["disabled_reason"])
    deliveries = len(stage.receiver.at(gone.path))
    report.claim(
        "after 410: endpoint disabled with a reason, sent of the next event",
        expected="True, 0",
        measured=f"{disabled}, {deliveries - 1}",
        holds=disabled and deliveries == 1,
    )
