"""Random bundles over HTTP: quote, charge and capture are equal to the milli-credit."""

import asyncio
import random
from collections import Counter
from typing import Any

import httpx

from cutroom.accounts.plans import PlanName
from cutroom.credits import service
from cutroom.credits.pricing import BillableItem, load_prices
from cutroom.credits.rules import Charge
from cutroom.credits.schemas import CreditBundle
from cutroom.jobs import lifecycle
from cutroom.jobs.ids import JobKey, JobType
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.service import NewJob, get_job, request_jobs
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from proofs.credits.stage import Stage, Tenant
from proofs.stage.ledger_audit import audit_library
from proofs.stage.price_model import (
    DRAFT_LANGUAGES,
    milli,
    priced_bundle,
    random_bundle,
    random_seconds,
    refused_status,
)
from proofs.stage.report import Report

MANY_MILLICREDITS = 10_000_000_000
PLANS = (PlanName.FREE, PlanName.CREATOR, PlanName.PRO, PlanName.BUSINESS)
CALLERS = 8  # each in its own library, so that nothing else changes the balance
VIDEOS = 10
CONSUMED_SHARE = 0.2  # of the reservations
WALLET = "SELECT wallet FROM ledger_balances WHERE library_id = $1"


class Caller:
    """Quotes, reserves and consumes in one library, and compares amounts."""

    def __init__(self, stage: Stage, tenant: Tenant, client: httpx.AsyncClient, *, rng: random.Random) -> None:
        self.stage = stage
        self.tenant = tenant
        self.client = client
        self.rng = rng
        self.counts: Counter[str] = Counter()
        self.mismatches: list[str] = []

    async def run(self, reservations: int) -> None:
        self.videos = await self.stage.videos(self.tenant, self.rng, count=VIDEOS)
        # The class of a translation is known only for this video. Nothing consumes its reservations, because a
        # ready transcript would claim its line.
        self.transcribed = await self.stage.video(self.tenant, seconds := random_seconds(self.rng), transcript="ready")
        self.videos[self.transcribed] = seconds
        while self.counts["reserved"] < reservations:
            video_id = self.rng.choice(list(self.videos))
            await self._random_bundle(video_id, random_bundle(self.rng))
        audit = await audit_library(self.stage.owner, self.tenant.library_id, is_subscriber=self.tenant.is_subscriber)
        self.mismatches += audit.faults

    def _expect(self, found: object, expected: object, what: str) -> None:
        if found != expected:
            self.mismatches.append(f"{what}: {found}, not {expected}")

    async def _random_bundle(self, video_id: str, bundle: dict[str, Any]) -> None:
        subscriber, seconds = self.tenant.is_subscriber, self.videos[video_id]
        drafts = DRAFT_LANGUAGES if video_id == self.transcribed else frozenset[str]()
        expected = priced_bundle(bundle, video_seconds=seconds, is_subscriber=subscriber, drafts=drafts)
        quote = await self.client.post(f"/v1/videos/{video_id}/quote", json=bundle)
        before = await self._wallet_balance()
        created = await self.client.post(f"/v1/videos/{video_id}/reservations", json=bundle)
        charged = before - await self._wallet_balance()
        refusal = refused_status(bundle, video_seconds=seconds)
        if refusal is not None or not expected:  # impossible, of unknown duration, or empty
            without_price = (422, 422) if expected is None else (200, 400)
            codes = without_price if refusal is None else (refusal, refusal)
            self._expect((quote.status_code, created.status_code), codes, f"responses to {bundle}")
            self._expect(charged, 0, f"charge for {bundle}")
            self.counts["not reserved"] += 1
            return
        self._expect((quote.status_code, created.status_code), (200, 201), f"responses to {bundle}")
        for name, lines, response in (
            ("quote", quote.json()["breakdown"], quote.json()),
            ("reservation", created.json()["lineItems"], created.json()),
        ):
            found = [(line["actionKey"], line.get("targetLanguageCode"), milli(line["credits"])) for line in lines]
            self._expect(found, expected, f"lines of the {name} of {bundle}")
            self._expect(milli(response["total"]), charged, f"charge for the {name} of {bundle}")
        self.counts["reserved"] += 1
        self.counts["drafts"] += any(line[1] in drafts for line in expected)
        if video_id != self.transcribed and self.rng.random() < CONSUMED_SHARE:
            await self._consume(video_id, bundle, created.json())

    async def _wallet_balance(self) -> int:
        async with self.stage.owner.acquire() as connection:
            found: int = await connection.fetchval(WALLET, self.tenant.library_id)
        return found

    async def _consume(self, video_id: str, bundle: dict[str, Any], created: dict[str, Any]) -> None:
        """Consume a reservation or one of its lines with a job; the receipt must equal the quote."""
        items, line_items = service.billable_items(CreditBundle.model_validate(bundle)), created["lineItems"]
        if self.rng.random() < 0.5:
            charge, expected = (
                Charge(tuple(items), self.tenant.is_subscriber, created["reservationId"]),
                milli(created["total"]),
            )
        else:
            number = self.rng.randrange(len(line_items))
            one = (line_items[number]["lineItemId"],)
            charge = Charge((items[number],), self.tenant.is_subscriber, created["reservationId"], one)
            expected = milli(line_items[number]["credits"])
        if self._is_too_long(video_id, created, charge.items):
            return
        job_id = JobKey(JobType.SHORTS, new_id())
        captured = await self._work(NewJob(job_id, video_id, charge=charge))
        self._expect(captured, expected, f"capture of {bundle}")
        self.counts["captured"] += 1

    def _is_too_long(self, video_id: str, created: dict[str, Any], items: tuple[BillableItem, ...]) -> bool:
        """Whether the reservation's duration is shorter than the video's, so per-minute lines cannot be used."""
        seconds = self.videos[video_id]
        by_the_minute = any(work.action in {"dub", "captions", "transcript"} for work in items)
        return seconds is not None and by_the_minute and created["durationSeconds"] < seconds

    async def _work(self, new_job: NewJob) -> int:
        library_id, prices, now = self.tenant.library_id, load_prices(), system_clock()
        ref = JobRef(library_id, new_job.key.id, 1)
        async with self.stage.database.transaction(library_id) as connection:
            await request_jobs(connection, self.tenant.principal, [new_job], prices=prices, now=now)
        async with self.stage.database.transaction(library_id) as connection:
            await lifecycle.start(connection, ref, prices=prices, now=now)
        async with self.stage.database.transaction(library_id) as connection:
            await lifecycle.complete(connection, ref, result={}, now=now)
            job = await get_job(connection, library_id, new_job.key.id)
        assert job.result is not None
        return milli(job.result["receipt"]["captured"])


async def prove_quotes(report: Report, stage: Stage, urls: list[str], *, bundles: int, seed: int) -> None:
    callers = []
    for number in range(CALLERS):
        tenant = await stage.tenant(millicredits=MANY_MILLICREDITS, plan=PLANS[number % len(PLANS)])
        client = httpx.AsyncClient(base_url=urls[number % len(urls)], headers=tenant.key.headers, timeout=60)
        callers.append(Caller(stage, tenant, client, rng=random.Random(f"{seed} {number}")))
    try:
        await asyncio.gather(*(caller.run(-(-bundles // CALLERS)) for caller in callers))
    finally:
        for caller in callers:
            await caller.client.aclose()
    counts = sum((caller.counts for caller in callers), Counter[str]())
    mismatches = [what for caller in callers for what in caller.mismatches]
    for what in mismatches[:10]:
        report.note(f"mismatch: {what}")
    report.claim(
        f"random bundles reserved over HTTP ({counts['not reserved']} others had no price)",
        expected=f">= {bundles}",
        measured=counts["reserved"],
        holds=counts["reserved"] >= bundles,
    )
    report.claim("... captured by a job", expected="> 0", measured=counts["captured"], holds=bool(counts["captured"]))
    report.claim(
        "... with different quote, charge, capture or list price",
        expected="0",
        measured=len(mismatches),
        holds=not mismatches,
    )
    report.figures(
        quote_mismatches=len(mismatches), quoted_bundles=counts["reserved"], captured_bundles=counts["captured"]
    )
