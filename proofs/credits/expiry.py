"""Unused reservations expire: with a worker and two-second reservations, also if the worker is killed."""

import asyncio
import time
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from cutroom.credits.pricing import Action, BillableItem, load_prices
from cutroom.credits.rules import Charge
from cutroom.jobs.ids import JobKey, JobType
from cutroom.jobs.service import NewJob, request_jobs
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.platform.task_queues import TaskQueue
from dev.scratch import environment_of
from dev.server import Server
from proofs.credits.stage import Stage, Tenant, open_stage
from proofs.stage.ledger_audit import LedgerAudit, audit_library
from proofs.stage.report import Report
from tests.support.stage import WorkerProcess

RESERVATION_SECONDS = 2
MILLICREDITS = 1_000_000
RESERVATIONS = 10
BUNDLE = {"transcriptOnly": True, "shorts": {"kind": "promo"}, "captionLanguageCodes": ["de", "fr"]}
WAIT_SECONDS = 90  # includes the worker's start
MAX_LATENESS_MS = 5_000
POLL_SECONDS = 0.05
MILLISECOND = timedelta(milliseconds=1)


class Reserver:
    """A tenant that reserves more than it uses."""

    def __init__(self, stage: Stage, url: str, tenant: Tenant, *, video_id: str) -> None:
        self.stage = stage
        self.url = url
        self.tenant = tenant
        self.video_id = video_id

    async def reserve(self, count: int) -> list[str]:
        """Create reservations; returns the ids of their transcript lines."""
        ids = []
        async with httpx.AsyncClient(base_url=self.url, headers=self.tenant.key.headers, timeout=30) as client:
            for _ in range(count):
                response = await client.post(f"/v1/videos/{self.video_id}/reservations", json=BUNDLE)
                response.raise_for_status()
                ids += [
                    item["lineItemId"] for item in response.json()["lineItems"] if item["actionKey"] == "transcript"
                ]
        return ids

    async def use(self, line_id: str) -> None:
        """Create a job that holds the line and depends on a job that never finishes, so that no worker runs it."""
        charge = Charge((BillableItem(Action.TRANSCRIPT, "transcript"),), is_subscriber=True, line_ids=(line_id,))
        new_job = NewJob(JobKey(JobType.SHORTS, new_id()), self.video_id, depends_on=["never"], charge=charge)
        async with self.stage.database.transaction(self.tenant.library_id) as connection:
            await request_jobs(connection, self.tenant.principal, [new_job], prices=load_prices(), now=system_clock())

    async def audit(self) -> LedgerAudit:
        return await audit_library(self.stage.owner, self.tenant.library_id)

    async def wait_for_expiry(self) -> tuple[LedgerAudit, float]:
        """Wait until no unused line is open or time is up; returns the audit and the time it took."""
        began = time.monotonic()
        while True:
            audit, seconds = await self.audit(), time.monotonic() - began
            idle = [line for line in audit.lines.values() if line["state"] == "open" and line["holder"] is None]
            if not idle or seconds > WAIT_SECONDS:
                return audit, seconds
            await asyncio.sleep(POLL_SECONDS)

    async def wait_for_timers(self) -> None:
        """Wait until Temporal has the timers of all reservations."""
        for _ in range(int(WAIT_SECONDS / POLL_SECONDS)):
            async with self.stage.owner.acquire() as connection:
                if not await connection.fetchval("SELECT count(*) FROM outbox"):
                    return
            await asyncio.sleep(POLL_SECONDS)


def _lateness_ms(audit: LedgerAudit, before: LedgerAudit) -> float:
    """Delay between expiry and release of the last line, of those that were open before."""
    gone = [
        line["ended_at"] - line["expires_at"]
        for line_id, line in audit.lines.items()
        if line["state"] == "released" and before.lines[line_id]["state"] == "open"
    ]
    return max(gone, default=timedelta(seconds=WAIT_SECONDS)) / MILLISECOND


async def prove_expiry(report: Report, *, with_kill: bool) -> None:
    with TemporaryDirectory() as folder:
        changes = {
            "reservation_seconds": RESERVATION_SECONDS,
            "worker_queues": [TaskQueue.CONTROL],
            "cache_dir": Path(folder),
        }
        async with open_stage("proof_credits_expiry", **changes) as stage:
            environment = environment_of(stage.settings)
            api, worker = Server(environment), WorkerProcess(environment)
            try:
                api.start()
                worker.start()
                await _prove_in_time(report, await _new_reserver(stage, api))
                if with_kill:
                    await _prove_after_kill(report, await _new_reserver(stage, api), worker)
            finally:
                worker.stop()
                api.stop()


async def _new_reserver(stage: Stage, api: Server) -> Reserver:
    tenant = await stage.tenant(millicredits=MILLICREDITS)
    return Reserver(stage, api.url, tenant, video_id=await stage.video(tenant, 60.0))


async def _prove_in_time(report: Report, reserver: Reserver) -> None:
    await reserver.reserve(1)
    await reserver.wait_for_expiry()  # the worker runs
    used = (await reserver.reserve(RESERVATIONS))[::2]
    for line_id in used:
        await reserver.use(line_id)
    before = await reserver.audit()
    audit, seconds = await reserver.wait_for_expiry()
    held = sum(before.lines[line_id]["millicredits"] for line_id in used)
    late = _lateness_ms(audit, before)
    kept = all(audit.lines[line_id]["state"] == "open" for line_id in used)
    is_complete = (
        audit.balances["wallet"] == MILLICREDITS - held and audit.balances["escrow"] == held and not audit.faults
    )
    report.claim(
        f"{RESERVATIONS} reservations expire after {RESERVATION_SECONDS} s: balance restored, except {len(used)} lines"
        " held by jobs",
        expected="restored",
        measured=f"{'restored' if is_complete and kept else audit.balances} after {seconds:.1f} s",
        holds=is_complete and kept,
    )
    report.claim_time(
        "... delay of the last release",
        expected=f"<= {MAX_LATENESS_MS} ms",
        measured=f"{late:.0f} ms",
        holds=late <= MAX_LATENESS_MS,
    )
    report.figures(expiry_ms_late=round(late), expiry_whole=is_complete and kept)


async def _prove_after_kill(report: Report, reserver: Reserver, worker: WorkerProcess) -> None:
    await reserver.reserve(RESERVATIONS)
    await reserver.wait_for_timers()
    worker.kill()
    await asyncio.sleep(RESERVATION_SECONDS + 1)
    missing = MILLICREDITS - (await reserver.audit()).balances["wallet"]
    worker.start()
    audit, seconds = await reserver.wait_for_expiry()
    is_complete = audit.balances["wallet"] == MILLICREDITS and not audit.faults
    report.claim(
        f"... with the worker killed before expiry ({missing / 1000:g} credits in escrow), and restarted",
        expected="restored",
        measured=f"{'restored' if is_complete else audit.balances} after {seconds:.1f} s",
        holds=is_complete,
    )
    report.figures(expiry_after_kill_s=round(seconds, 1))
