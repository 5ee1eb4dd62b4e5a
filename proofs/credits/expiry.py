"""What nobody used comes back by itself: a real worker, reservations that last two seconds, and a worker killed."""

import asyncio
import time
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from cutroom.credits.pricing import Action, Work, load_prices
from cutroom.credits.rules import Bill
from cutroom.jobs.ids import JobKey, JobType
from cutroom.jobs.service import NewJob, request_jobs
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from dev.scratch import environment_of
from dev.server import Server
from proofs.credits.stage import Stage, Tenant, open_stage
from proofs.stage.ledger_audit import Books, look
from proofs.stage.report import Report
from tests.support.stage import WorkerProcess

LASTS_SECONDS = 2
MILLICREDITS = 1_000_000
RESERVATIONS = 10
BUNDLE = {"transcriptOnly": True, "shorts": {"kind": "promo"}, "captionLanguageCodes": ["de", "fr"]}
WAIT_SECONDS = 90  # in which a worker starts, and does what it is for
LATE_AT_MOST_MS = 5_000
POLL_SECONDS = 0.05
MILLISECOND = timedelta(milliseconds=1)


class Patron:
    """Somebody who reserves more than they use."""

    def __init__(self, stage: Stage, url: str, tenant: Tenant, *, video_id: str) -> None:
        self.stage = stage
        self.url = url
        self.tenant = tenant
        self.video_id = video_id

    async def reserve(self, count: int) -> list[str]:
        """Reservations; the ids of their transcripts' lines."""
        ids = []
        async with httpx.AsyncClient(base_url=self.url, headers=self.tenant.key.headers, timeout=30) as client:
            for _ in range(count):
                answer = await client.post(f"/v1/videos/{self.video_id}/reservations", json=BUNDLE)
                answer.raise_for_status()
                ids += [item["lineItemId"] for item in answer.json()["lineItems"] if item["actionKey"] == "transcript"]
        return ids

    async def use(self, line_id: str) -> None:
        """A job takes the line; it waits for something that never comes, so that no worker runs it."""
        bill = Bill((Work(Action.TRANSCRIPT, "transcript"),), is_subscriber=True, line_ids=(line_id,))
        wanted = NewJob(JobKey(JobType.SHORTS, new_id()), self.video_id, depends_on=["never"], bill=bill)
        async with self.stage.database.transaction(self.tenant.library_id) as connection:
            await request_jobs(connection, self.tenant.principal, [wanted], prices=load_prices(), now=system_clock())

    async def books(self) -> Books:
        return await look(self.stage.owner, self.tenant.library_id)

    async def until_back(self) -> tuple[Books, float]:
        """The books when nothing is left that nobody uses, or when patience ends, and how long that took."""
        began = time.monotonic()
        while True:
            books, seconds = await self.books(), time.monotonic() - began
            idle = [line for line in books.lines.values() if line["state"] == "open" and line["holder"] is None]
            if not idle or seconds > WAIT_SECONDS:
                return books, seconds
            await asyncio.sleep(POLL_SECONDS)

    async def until_told(self) -> None:
        """Temporal has the timers of all reservations."""
        for _ in range(int(WAIT_SECONDS / POLL_SECONDS)):
            async with self.stage.owner.acquire() as connection:
                if not await connection.fetchval("SELECT count(*) FROM outbox"):
                    return
            await asyncio.sleep(POLL_SECONDS)


def _lateness_ms(books: Books, before: Books) -> float:
    """How long after its end the last line was given back, of those that were open before."""
    gone = [
        line["ended_at"] - line["expires_at"]
        for line_id, line in books.lines.items()
        if line["state"] == "released" and before.lines[line_id]["state"] == "open"
    ]
    return max(gone, default=timedelta(seconds=WAIT_SECONDS)) / MILLISECOND


async def prove_expiry(report: Report, *, with_a_dead_worker: bool) -> None:
    with TemporaryDirectory() as folder:
        changes = {
            "reservation_seconds": LASTS_SECONDS,
            "worker_queues": "control",
            "cache_dir": Path(folder),
        }
        async with open_stage("proof_credits_expiry", **changes) as stage:
            environment = environment_of(stage.settings)
            api, worker = Server(environment), WorkerProcess(environment)
            try:
                api.start()
                worker.start()
                await _prove_in_time(report, await _patron(stage, api))
                if with_a_dead_worker:
                    await _prove_after_a_kill(report, await _patron(stage, api), worker)
            finally:
                worker.stop()
                api.stop()


async def _patron(stage: Stage, api: Server) -> Patron:
    tenant = await stage.tenant(millicredits=MILLICREDITS)
    return Patron(stage, api.url, tenant, video_id=await stage.video(tenant, 60.0))


async def _prove_in_time(report: Report, patron: Patron) -> None:
    await patron.reserve(1)
    await patron.until_back()  # the worker runs
    used = (await patron.reserve(RESERVATIONS))[::2]
    for line_id in used:
        await patron.use(line_id)
    before = await patron.books()
    books, seconds = await patron.until_back()
    held = sum(before.lines[line_id]["millicredits"] for line_id in used)
    late = _lateness_ms(books, before)
    kept = all(books.lines[line_id]["state"] == "open" for line_id in used)
    whole = books.balances["wallet"] == MILLICREDITS - held and books.balances["escrow"] == held and not books.faults
    report.claim(
        f"{RESERVATIONS} reservations that nobody used up in {LASTS_SECONDS} s: the balance is whole again, but for"
        f" the {len(used)} lines that jobs hold",
        wanted="whole",
        measured=f"{'whole' if whole and kept else books.balances} after {seconds:.1f} s",
        holds=whole and kept,
    )
    report.claim(
        "... how late the last line came back",
        wanted=f"<= {LATE_AT_MOST_MS} ms",
        measured=f"{late:.0f} ms",
        holds=late <= LATE_AT_MOST_MS,
    )
    report.figures(expiry_ms_late=round(late), expiry_whole=whole and kept)


async def _prove_after_a_kill(report: Report, patron: Patron, worker: WorkerProcess) -> None:
    await patron.reserve(RESERVATIONS)
    await patron.until_told()
    worker.kill()
    await asyncio.sleep(LASTS_SECONDS + 1)
    missing = MILLICREDITS - (await patron.books()).balances["wallet"]
    worker.start()
    books, seconds = await patron.until_back()
    whole = books.balances["wallet"] == MILLICREDITS and not books.faults
    report.claim(
        f"... with the worker killed before the end ({missing / 1000:g} credits in escrow then), and started again",
        wanted="whole",
        measured=f"{'whole' if whole else books.balances} after {seconds:.1f} s",
        holds=whole,
    )
    report.figures(expiry_after_kill_s=round(seconds, 1))
