"""Requests that cost credits, valid and invalid; every result is compared with the model."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import asyncpg

from cutroom.credits import service
from cutroom.credits.pricing import BillableItem, PriceList
from cutroom.credits.rules import Charge
from cutroom.credits.schemas import CreditBundle
from cutroom.errors import Code, CutroomError
from cutroom.jobs.ids import DubProduct, JobKey, JobType, workflow_id
from cutroom.jobs.lifecycle import Failure
from cutroom.jobs.service import NewJob, request_jobs
from cutroom.platform.db import Connection
from cutroom.platform.ids import new_id
from proofs.credits.ledger_model import HELD, Job, Line, Model
from proofs.credits.stage import Stage
from proofs.stage.price_model import milli, priced_bundle, random_bundle

RESERVATION_LIFETIME = timedelta(hours=1)
ROLLBACK_SHARE = 0.04  # of transactions are rolled back at the end
RECENT = 40  # jobs and reservations to choose from
FAILURE = Failure("UNSUPPORTED_SOURCE", "It is not a video.")
REFUSED = {Code.INSUFFICIENT_CREDITS, Code.CONFLICT, Code.DURATION_UNKNOWN}


class RolledBackError(Exception):
    """The transaction was rolled back on purpose."""


class NothingToDoError(Exception):
    """The step has nothing to act on yet."""


@dataclass(frozen=True, slots=True)
class RequestResult:
    """The effect of requesting a job."""

    begun: bool
    attempt: int
    rows: Sequence[asyncpg.Record]


def key_for(work: BillableItem) -> JobKey:
    """A new job key for a kind of work."""
    if work.action == "dub":
        return JobKey(JobType.DUB, new_id(), language=work.language, product=DubProduct(work.product))
    if work.action == "captions":
        return JobKey(JobType.CAPTIONS, new_id(), language=work.language)
    return JobKey(JobType.SHORTS, new_id())


class CreditRequests:
    """Quotes, reservations, and jobs paid from a reservation or from the wallet."""

    def __init__(self, stage: Stage, models: list[Model], rng: random.Random, *, prices: PriceList) -> None:
        self.stage = stage
        self.models = models
        self.rng = rng
        self.prices = prices
        self.done: Counter[str] = Counter()

    @asynccontextmanager
    async def transaction(self, on: Model) -> AsyncIterator[Connection]:
        async with self.stage.database.transaction(on.library_id) as connection:
            yield connection
            if self.rng.random() < ROLLBACK_SHARE:
                raise RolledBackError

    def _random_bundle(self, on: Model) -> tuple[str, dict[str, Any]]:
        return self.rng.choice(list(on.videos)), random_bundle(self.rng)

    def _possible_prices(self, on: Model, video_id: str, bundle: dict[str, Any]) -> list[list[int] | None]:
        """Possible prices; two if the duration may become known concurrently."""
        durations = (on.videos[video_id], on.coming.get(video_id, on.videos[video_id]))
        priced = [
            priced_bundle(bundle, video_seconds=each, is_subscriber=on.tenant.is_subscriber) for each in durations
        ]
        return [None if lines is None else [price for _, _, price in lines] for lines in priced]

    async def quote(self, on: Model) -> None:
        video_id, bundle = self._random_bundle(on)
        expected = self._possible_prices(on, video_id, bundle)
        body = CreditBundle.model_validate(bundle)
        try:
            async with self.transaction(on) as connection:
                found = await service.quote(
                    connection, on.tenant.principal, video_id, rated=service.RatedBundle(body), prices=self.prices
                )
        except CutroomError as error:
            on.expect(error.code is Code.DURATION_UNKNOWN and None in expected, f"no quote: {error.code}")
            return
        on.expect([milli(line.credits) for line in found.breakdown] in expected, f"quoted {found}, not {expected}")
        on.expect(milli(found.total) == sum(milli(line.credits) for line in found.breakdown), f"no sum: {found}")
        missing = max(0, milli(found.total) - milli(found.balance) - on.tenant.overdraft)
        on.expect(milli(found.shortfall) == missing, f"wrong shortfall: {found}")
        on.expect(found.usage_billing_active == (on.tenant.overdraft > 0 and not missing), f"wrong billing: {found}")

    async def reserve(self, on: Model) -> None:
        video_id, bundle = self._random_bundle(on)
        expected = self._possible_prices(on, video_id, bundle)
        body, now = CreditBundle.model_validate(bundle), on.clock
        try:
            async with self.transaction(on) as connection:
                created = await service.reserve(
                    connection,
                    on.tenant.principal,
                    video_id,
                    rated=service.RatedBundle(body),
                    prices=self.prices,
                    lifetime=RESERVATION_LIFETIME,
                    now=now,
                )
        except CutroomError as error:
            self._check_refusal(on, error, expected)
            return
        prices = [milli(line.credits) for line in created.line_items]
        on.expect(prices in expected, f"reserved for {prices}, not {expected}")
        on.expect(milli(created.total) == sum(prices), f"no sum: {created}")
        lines = [
            Line(item.line_item_id, price, work, video_id, round(created.duration_seconds * 1000) or None)
            for item, price, work in zip(created.line_items, prices, service.billable_items(body), strict=True)
        ]
        for line in lines:
            line.reservation_id, line.expires_at = created.reservation_id, now + RESERVATION_LIFETIME
        on.reserve(created.reservation_id, lines)
        self.done["reserved"] += 1

    def _check_refusal(self, on: Model, error: CutroomError, expected: list[list[int] | None]) -> None:
        if error.code is Code.INSUFFICIENT_CREDITS:
            required, available, shortfall = (milli(error.details[n]) for n in ("required", "available", "shortfall"))
            on.expect(shortfall == required - available > 0, f"refused with {error.details}")
            self.done["refused for insufficient credits"] += 1
        elif error.code is Code.INVALID_ARGUMENT:
            on.expect([] in expected, "a bundle with a price was treated as empty")
        else:
            on.expect(error.code is Code.DURATION_UNKNOWN and None in expected, f"refused: {error.code}")

    async def _request(self, on: Model, new_jobs: Sequence[NewJob]) -> list[RequestResult]:
        """Request several jobs in one transaction, as for several languages."""
        results, now = [], on.clock
        async with self.transaction(on) as connection:
            try:
                requested = await request_jobs(connection, on.tenant.principal, new_jobs, prices=self.prices, now=now)
            except CutroomError as error:
                if error.details.get("limit") == "concurrency":  # others held the quotas for too long
                    raise TimeoutError from error
                raise
            for one, (_, begun) in zip(new_jobs, requested, strict=True):
                attempt = await connection.fetchval(
                    "SELECT attempt FROM jobs WHERE library_id = $1 AND id = $2", on.library_id, one.key.id
                )
                rows = await connection.fetch(HELD, on.library_id, workflow_id(one.key.id, attempt))
                results.append(RequestResult(begun, attempt, rows))
        return results

    async def consume(self, on: Model) -> None:
        """Create a job that uses lines of a reservation, by id or not, possibly contended by another actor."""
        reservation_id, lines = self._reservation(on)
        taken = self.rng.sample(lines, min(len(lines), self.rng.randint(1, 3)))
        naming = self.rng.choice(("both", "lines", "reservation"))
        charge = Charge(
            tuple(line.work for line in taken),
            on.tenant.is_subscriber,
            None if naming == "lines" else reservation_id,
            () if naming == "reservation" else tuple(line.id for line in taken),
        )
        now = on.clock
        late = any(line.expires_at is not None and line.expires_at <= now for line in taken)
        spent = naming != "reservation" and any(line.is_spent(now) for line in taken)
        job = Job(key_for(taken[0].work), taken[0].video_id)
        try:
            (result,) = await self._request(on, [NewJob(job.key, job.video_id, charge=charge)])
        except CutroomError as error:
            on.expect(error.code is Code.CONFLICT, f"consumption refused: {error.code}")
            self.done["consumption refused"] += 1
            return
        on.expect(not late and not spent, f"a spent line of {reservation_id} was used")
        on.expect({row["reservation_id"] for row in result.rows} == {reservation_id}, "lines of another reservation")
        on.hold(result.rows, charge.items)
        on.jobs.append(job)
        self.done["consumed"] += 1

    def _reservation(self, on: Model) -> tuple[str, list[Line]]:
        newest = list(on.reservations.items())[-RECENT:]
        if not newest:
            raise NothingToDoError
        return self.rng.choice(newest)

    def _random_items(self) -> tuple[BillableItem, ...]:
        items: list[BillableItem] = []
        while not items:
            items = service.billable_items(CreditBundle.model_validate(random_bundle(self.rng)))
        return tuple(self.rng.sample(items, min(len(items), self.rng.randint(1, 3))))

    async def pay(self, on: Model) -> None:
        """Request new jobs paid from the wallet; of two, the second depends on the first."""
        jobs, new_jobs = [], []
        video_id = self.rng.choice(list(on.videos))
        for _ in range(self.rng.choice((1, 2, 2, 3))):
            items = self._random_items()
            job = Job(key_for(items[0]), video_id)
            jobs.append(job)
            new_jobs.append(NewJob(job.key, video_id, charge=Charge(items, on.tenant.is_subscriber)))
        if len(jobs) == 2:
            jobs[0].dependent, jobs[1].is_waiting = jobs[1], True
            new_jobs[1] = replace(new_jobs[1], depends_on=[jobs[0].key.id])
        try:
            results = await self._request(on, new_jobs)
        except CutroomError as error:
            self._check_refusal(on, error, [])
            return
        for job, new_job, result in zip(jobs, new_jobs, results, strict=True):
            self._record_request(on, job, new_job, result)

    def _record_request(self, on: Model, job: Job, new_job: NewJob, result: RequestResult) -> None:
        if not result.begun:
            on.expect(any(job is known for known in on.jobs), f"{job.key.id} is new but existed")
            return
        if not any(job is known for known in on.jobs):
            on.jobs.append(job)
        job.becomes("queued", attempt=result.attempt)
        assert new_job.charge is not None
        if result.rows:  # otherwise it is paid at start, once the duration is known
            on.hold(result.rows, new_job.charge.items)
            self.done["paid from the wallet"] += 1

    async def concurrent_duplicates(self, on: Model) -> None:
        """Two concurrent requests for the same new job create one job that is paid once."""
        items, video_id = self._random_items(), self.rng.choice(list(on.videos))
        reservation_id: str | None = None
        if self.rng.random() < 0.5:
            reservation_id, lines = self._reservation(on)
            line = self.rng.choice(lines)
            items, video_id = (line.work,), line.video_id
        job = Job(key_for(items[0]), video_id)
        new_job = NewJob(job.key, video_id, charge=Charge(items, on.tenant.is_subscriber, reservation_id))
        both = await asyncio.gather(self._request(on, [new_job]), self._request(on, [new_job]), return_exceptions=True)
        results = [each[0] for each in both if not isinstance(each, BaseException)]
        begun = [result for result in results if result.begun]
        on.expect(len(begun) <= 1, f"{job.key.id} began twice")
        for result in begun:
            self._record_request(on, job, new_job, result)
        for each in both:
            if isinstance(each, BaseException) and not isinstance(each, CutroomError | RolledBackError):
                raise each

    async def repeat(self, on: Model) -> None:
        """Request an existing job again: a failed one is retried, any other is returned unchanged."""
        known = [job for job in on.jobs[-RECENT:] if self.rng.random() < 0.2 or job.status == "failed"]
        if not known:
            raise NothingToDoError
        job = self.rng.choice(known)
        new_job = NewJob(job.key, job.video_id, charge=Charge(self._random_items(), on.tenant.is_subscriber))
        try:
            (result,) = await self._request(on, [new_job])
        except CutroomError as error:
            self._check_refusal(on, error, [])
            return
        job.is_waiting = job.is_waiting and not result.begun
        self._record_request(on, job, new_job, result)
        self.done["retried" if result.begun else "repeated without effect"] += 1

    async def misuse(self, on: Model) -> None:
        """Lines of another library, video, language or product, and used or unknown lines, pay for nothing."""
        reservation_id, lines = self._reservation(on)
        line = self.rng.choice(lines)
        other = self.rng.choice([model for model in self.models if model is not on])
        other_video = self.rng.choice([video for video in on.videos if video != line.video_id])
        spent = [each for each in on.lines.values() if each.reservation_id is not None and each.is_spent(on.clock)]
        cases: list[tuple[Model, Line, str, Charge]] = [
            (on, line, other_video, self._named(line)),
            (on, line, line.video_id, self._named(line, work=replace(line.work, language="xx"))),
            (on, line, line.video_id, self._named(line, work=replace(line.work, product="other"))),
            (on, line, line.video_id, self._named(line, line_id=new_id())),
            (on, line, line.video_id, self._named(line, reservation_id=new_id())),
            (other, line, next(iter(other.videos)), self._named(line)),
            (
                other,
                line,
                next(iter(other.videos)),
                Charge((line.work,), is_subscriber=True, reservation_id=reservation_id),
            ),
            *((on, each, each.video_id, self._named(each)) for each in spent[-1:]),
        ]
        whose, about, video_id, charge = self.rng.choice(cases)
        try:
            await self._request(whose, [NewJob(key_for(about.work), video_id, charge=charge)])
        except CutroomError as error:
            on.expect(error.code is Code.CONFLICT, f"misuse was rejected with {error.code}")
            self.done["misuse refused"] += 1
        else:
            on.expect(False, f"misuse was paid: {charge} on {video_id}")  # noqa: FBT003

    def _named(
        self,
        line: Line,
        *,
        work: BillableItem | None = None,
        line_id: str | None = None,
        reservation_id: str | None = None,
    ) -> Charge:
        return Charge(
            (work or line.work,), is_subscriber=True, reservation_id=reservation_id, line_ids=(line_id or line.id,)
        )
