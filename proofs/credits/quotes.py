"""Random bundles over HTTP: what is quoted is what is charged, and what is captured, to the milli-credit."""

import asyncio
import random
from collections import Counter
from typing import Any

import httpx

from cutroom.accounts.plans import PlanName
from cutroom.credits import service
from cutroom.credits.pricing import Work, load_prices
from cutroom.credits.rules import Bill
from cutroom.credits.schemas import CreditBundle
from cutroom.jobs import lifecycle
from cutroom.jobs.ids import JobKey, JobType
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.service import NewJob, get_job, request_jobs
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from proofs.credits.stage import Stage, Tenant
from proofs.stage.ledger_audit import look
from proofs.stage.price_model import milli, priced_bundle, random_bundle
from proofs.stage.report import Report

PLENTY = 10_000_000_000
PLANS = (PlanName.FREE, PlanName.CREATOR, PlanName.PRO, PlanName.BUSINESS)
CALLERS = 8  # each in a library of its own, where nobody else moves the balance
VIDEOS = 10
CONSUMED = 0.2  # of the reservations
WALLET = "SELECT wallet FROM ledger_balances WHERE library_id = $1"


class Caller:
    """One library: quotes, reserves, looks at its balance, and has some of it used."""

    def __init__(self, stage: Stage, tenant: Tenant, client: httpx.AsyncClient, *, chance: random.Random) -> None:
        self.stage = stage
        self.tenant = tenant
        self.client = client
        self.chance = chance
        self.seen: Counter[str] = Counter()
        self.mismatches: list[str] = []

    async def run(self, reservations: int) -> None:
        self.videos = await self.stage.videos(self.tenant, self.chance, count=VIDEOS)
        while self.seen["reserved"] < reservations:
            video_id = self.chance.choice(list(self.videos))
            await self._bundle(video_id, random_bundle(self.chance))
        books = await look(self.stage.owner, self.tenant.library_id, is_subscriber=self.tenant.is_subscriber)
        self.mismatches += books.faults

    def _expect(self, found: object, wanted: object, what: str) -> None:
        if found != wanted:
            self.mismatches.append(f"{what}: {found}, not {wanted}")

    async def _bundle(self, video_id: str, bundle: dict[str, Any]) -> None:
        subscriber = self.tenant.is_subscriber
        wanted = priced_bundle(bundle, video_seconds=self.videos[video_id], is_subscriber=subscriber)
        quote = await self.client.post(f"/v1/videos/{video_id}/quote", json=bundle)
        before = await self._wallet()
        made = await self.client.post(f"/v1/videos/{video_id}/reservations", json=bundle)
        charged = before - await self._wallet()
        if not wanted:  # a duration that nobody knows, or nothing to pay for
            codes = (422, 422) if wanted is None else (200, 400)
            self._expect((quote.status_code, made.status_code), codes, f"answers to {bundle}")
            self._expect(charged, 0, f"charge for {bundle}")
            self.seen["not reserved"] += 1
            return
        self._expect((quote.status_code, made.status_code), (200, 201), f"answers to {bundle}")
        for name, lines, answer in (
            ("quote", quote.json()["breakdown"], quote.json()),
            ("reservation", made.json()["lineItems"], made.json()),
        ):
            found = [(line["actionKey"], line.get("targetLanguageCode"), milli(line["credits"])) for line in lines]
            self._expect(found, wanted, f"lines of the {name} of {bundle}")
            self._expect(milli(answer["total"]), charged, f"charge for the {name} of {bundle}")
        self.seen["reserved"] += 1
        if self.chance.random() < CONSUMED:
            await self._consume(video_id, bundle, made.json())

    async def _wallet(self) -> int:
        async with self.stage.owner.acquire() as connection:
            found: int = await connection.fetchval(WALLET, self.tenant.library_id)
        return found

    async def _consume(self, video_id: str, bundle: dict[str, Any], made: dict[str, Any]) -> None:
        """Use the whole reservation in one job, or one line in one; the receipt says what was quoted."""
        works, items = service.works_of(CreditBundle.model_validate(bundle)), made["lineItems"]
        if self.chance.random() < 0.5:
            bill, wanted = Bill(tuple(works), self.tenant.is_subscriber, made["reservationId"]), milli(made["total"])
        else:
            number = self.chance.randrange(len(items))
            one = (items[number]["lineItemId"],)
            bill = Bill((works[number],), self.tenant.is_subscriber, made["reservationId"], one)
            wanted = milli(items[number]["credits"])
        if self._is_too_long(video_id, made, bill.works):
            return
        job_id = JobKey(JobType.SHORTS, new_id())
        captured = await self._work(NewJob(job_id, video_id, bill=bill))
        self._expect(captured, wanted, f"capture of {bundle}")
        self.seen["captured"] += 1

    def _is_too_long(self, video_id: str, made: dict[str, Any], works: tuple[Work, ...]) -> bool:
        """Reserved for a shorter duration than the video has: no line that is paid by the minute can be used."""
        seconds = self.videos[video_id]
        by_the_minute = any(work.action in {"dub", "captions", "transcript"} for work in works)
        return seconds is not None and by_the_minute and made["durationSeconds"] < seconds

    async def _work(self, wanted: NewJob) -> int:
        library_id, prices, now = self.tenant.library_id, load_prices(), system_clock()
        ref = JobRef(library_id, wanted.key.id, 1)
        async with self.stage.database.transaction(library_id) as connection:
            await request_jobs(connection, self.tenant.principal, [wanted], prices=prices, now=now)
        async with self.stage.database.transaction(library_id) as connection:
            await lifecycle.begin(connection, ref, prices=prices, now=now)
        async with self.stage.database.transaction(library_id) as connection:
            await lifecycle.finish(connection, ref, result={}, now=now)
            job = await get_job(connection, library_id, wanted.key.id)
        assert job.result is not None
        return milli(job.result["receipt"]["captured"])


async def prove_quotes(report: Report, stage: Stage, urls: list[str], *, bundles: int, seed: int) -> None:
    callers = []
    for number in range(CALLERS):
        tenant = await stage.tenant(millicredits=PLENTY, plan=PLANS[number % len(PLANS)])
        client = httpx.AsyncClient(base_url=urls[number % len(urls)], headers=tenant.key.headers, timeout=60)
        callers.append(Caller(stage, tenant, client, chance=random.Random(f"{seed} {number}")))
    try:
        await asyncio.gather(*(caller.run(-(-bundles // CALLERS)) for caller in callers))
    finally:
        for caller in callers:
            await caller.client.aclose()
    seen = sum((caller.seen for caller in callers), Counter[str]())
    mismatches = [what for caller in callers for what in caller.mismatches]
    for what in mismatches[:10]:
        report.note(f"mismatch: {what}")
    report.claim(
        f"random bundles reserved over HTTP ({seen['not reserved']} more had no price)",
        wanted=f">= {bundles}",
        measured=seen["reserved"],
        holds=seen["reserved"] >= bundles,
    )
    report.claim(
        "... of which used by a job and captured", wanted="> 0", measured=seen["captured"], holds=bool(seen["captured"])
    )
    report.claim(
        "... in which quote, charge, capture and the list of prices differ",
        wanted="0",
        measured=len(mismatches),
        holds=not mismatches,
    )
    report.figures(quote_mismatches=len(mismatches), quoted_bundles=seen["reserved"], captured_bundles=seen["captured"])
