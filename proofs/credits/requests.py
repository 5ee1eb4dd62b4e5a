"""Asking for something that costs credits, rightly and wrongly; every answer is held against the model."""

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
from cutroom.credits.pricing import PriceList, Work
from cutroom.credits.rules import Bill
from cutroom.credits.schemas import CreditBundle
from cutroom.errors import Code, CutroomError
from cutroom.jobs.ids import DubProduct, JobKey, JobType
from cutroom.jobs.lifecycle import Failure
from cutroom.jobs.service import NewJob, request_jobs, workflow_id
from cutroom.platform.db import Connection
from cutroom.platform.ids import new_id
from proofs.credits.model import HELD, Job, Line, Model
from proofs.credits.stage import Stage
from proofs.stage.price_model import milli, priced_bundle, random_bundle

LASTS = timedelta(hours=1)
GIVEN_UP = 0.04  # of all transactions are rolled back at their end
NEWEST = 40  # jobs and reservations among which a step chooses
FAILURE = Failure("UNSUPPORTED_SOURCE", "It is not a video.")
REFUSED = {Code.INSUFFICIENT_CREDITS, Code.CONFLICT, Code.DURATION_UNKNOWN}


class GivenUpError(Exception):
    """The step was rolled back on purpose at its end."""


class IdleError(Exception):
    """There is nothing yet that this step could be done with."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What asking for a job did."""

    begun: bool
    attempt: int
    rows: Sequence[asyncpg.Record]


def key_for(work: Work) -> JobKey:
    """A new job that makes such work."""
    if work.action == "dub":
        return JobKey(JobType.DUB, new_id(), language=work.language, product=DubProduct(work.product))
    if work.action == "captions":
        return JobKey(JobType.CAPTIONS, new_id(), language=work.language)
    return JobKey(JobType.SHORTS, new_id())


class Asking:
    """Quotes, reservations, and jobs that are to be paid from one or from the wallet."""

    def __init__(self, stage: Stage, models: list[Model], chance: random.Random, *, prices: PriceList) -> None:
        self.stage = stage
        self.models = models
        self.chance = chance
        self.prices = prices
        self.done: Counter[str] = Counter()

    @asynccontextmanager
    async def transaction(self, on: Model) -> AsyncIterator[Connection]:
        async with self.stage.database.transaction(on.library_id) as connection:
            yield connection
            if self.chance.random() < GIVEN_UP:
                raise GivenUpError

    def _bundle(self, on: Model) -> tuple[str, dict[str, Any]]:
        return self.chance.choice(list(on.videos)), random_bundle(self.chance)

    def _wanted(self, on: Model, video_id: str, bundle: dict[str, Any]) -> list[list[int] | None]:
        """The prices that may come out; two, while the duration may become known any moment."""
        durations = (on.videos[video_id], on.coming.get(video_id, on.videos[video_id]))
        priced = [
            priced_bundle(bundle, video_seconds=each, is_subscriber=on.tenant.is_subscriber) for each in durations
        ]
        return [None if lines is None else [price for _, _, price in lines] for lines in priced]

    async def quote(self, on: Model) -> None:
        video_id, bundle = self._bundle(on)
        wanted = self._wanted(on, video_id, bundle)
        body = CreditBundle.model_validate(bundle)
        try:
            async with self.transaction(on) as connection:
                found = await service.quote(connection, on.tenant.principal, video_id, bundle=body, prices=self.prices)
        except CutroomError as error:
            on.expect(error.code is Code.DURATION_UNKNOWN and None in wanted, f"no quote: {error.code}")
            return
        on.expect([milli(line.credits) for line in found.breakdown] in wanted, f"quoted {found}, not {wanted}")
        on.expect(milli(found.total) == sum(milli(line.credits) for line in found.breakdown), f"no sum: {found}")
        missing = max(0, milli(found.total) - milli(found.balance))
        on.expect(found.usage_billing_active or milli(found.shortfall) == missing, f"wrong shortfall: {found}")

    async def reserve(self, on: Model) -> None:
        video_id, bundle = self._bundle(on)
        wanted = self._wanted(on, video_id, bundle)
        body, now = CreditBundle.model_validate(bundle), on.clock
        try:
            async with self.transaction(on) as connection:
                made = await service.reserve(
                    connection, on.tenant.principal, video_id, bundle=body, prices=self.prices, lasts=LASTS, now=now
                )
        except CutroomError as error:
            self._check_refusal(on, error, wanted)
            return
        prices = [milli(line.credits) for line in made.line_items]
        on.expect(prices in wanted, f"reserved for {prices}, not {wanted}")
        on.expect(milli(made.total) == sum(prices), f"no sum: {made}")
        lines = [
            Line(item.line_item_id, price, work, video_id, round(made.duration_seconds * 1000) or None)
            for item, price, work in zip(made.line_items, prices, service.works_of(body), strict=True)
        ]
        for line in lines:
            line.reservation_id, line.expires_at = made.reservation_id, now + LASTS
        on.reserve(made.reservation_id, lines)
        self.done["reserved"] += 1

    def _check_refusal(self, on: Model, error: CutroomError, wanted: list[list[int] | None]) -> None:
        if error.code is Code.INSUFFICIENT_CREDITS:
            required, available, shortfall = (milli(error.details[n]) for n in ("required", "available", "shortfall"))
            on.expect(shortfall == required - available > 0, f"refused with {error.details}")
            self.done["refused for want of credits"] += 1
        elif error.code is Code.INVALID_ARGUMENT:
            on.expect([] in wanted, "a bundle with a price was taken for empty")
        else:
            on.expect(error.code is Code.DURATION_UNKNOWN and None in wanted, f"refused: {error.code}")

    async def _ask(self, on: Model, wanted: Sequence[NewJob]) -> list[Answer]:
        """Ask for some jobs in one transaction, as a request for several languages does."""
        answers, now = [], on.clock
        async with self.transaction(on) as connection:
            asked = await request_jobs(connection, on.tenant.principal, wanted, prices=self.prices, now=now)
            for one, (_, begun) in zip(wanted, asked, strict=True):
                attempt = await connection.fetchval(
                    "SELECT attempt FROM jobs WHERE library_id = $1 AND id = $2", on.library_id, one.key.id
                )
                rows = await connection.fetch(HELD, on.library_id, workflow_id(one.key.id, attempt))
                answers.append(Answer(begun, attempt, rows))
        return answers

    async def consume(self, on: Model) -> None:
        """Have a job use lines of a reservation, named or not; also lines that somebody else is just taking."""
        reservation_id, lines = self._reservation(on)
        taken = self.chance.sample(lines, min(len(lines), self.chance.randint(1, 3)))
        naming = self.chance.choice(("both", "lines", "reservation"))
        bill = Bill(
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
            (answer,) = await self._ask(on, [NewJob(job.key, job.video_id, bill=bill)])
        except CutroomError as error:
            on.expect(error.code is Code.CONFLICT, f"consumption refused: {error.code}")
            self.done["consumption refused"] += 1
            return
        on.expect(not late and not spent, f"a spent line of {reservation_id} was used")
        on.expect({row["reservation_id"] for row in answer.rows} == {reservation_id}, "lines of another reservation")
        on.hold(answer.rows, bill.works)
        on.jobs.append(job)
        self.done["consumed"] += 1

    def _reservation(self, on: Model) -> tuple[str, list[Line]]:
        newest = list(on.reservations.items())[-NEWEST:]
        if not newest:
            raise IdleError
        return self.chance.choice(newest)

    def _works(self) -> tuple[Work, ...]:
        works: list[Work] = []
        while not works:
            works = service.works_of(CreditBundle.model_validate(random_bundle(self.chance)))
        return tuple(self.chance.sample(works, min(len(works), self.chance.randint(1, 3))))

    async def pay(self, on: Model) -> None:
        """Ask for new jobs that are paid from the wallet; of two, the second waits for the first."""
        jobs, wanted = [], []
        video_id = self.chance.choice(list(on.videos))
        for _ in range(self.chance.choice((1, 2, 2, 3))):
            works = self._works()
            job = Job(key_for(works[0]), video_id)
            jobs.append(job)
            wanted.append(NewJob(job.key, video_id, bill=Bill(works, on.tenant.is_subscriber)))
        if len(jobs) == 2:
            jobs[0].waiter, jobs[1].is_waiting = jobs[1], True
            wanted[1] = replace(wanted[1], depends_on=[jobs[0].key.id])
        try:
            answers = await self._ask(on, wanted)
        except CutroomError as error:
            self._check_refusal(on, error, [])
            return
        for job, one, answer in zip(jobs, wanted, answers, strict=True):
            self._asked(on, job, one, answer)

    def _asked(self, on: Model, job: Job, wanted: NewJob, answer: Answer) -> None:
        if not answer.begun:
            on.expect(any(job is known for known in on.jobs), f"{job.key.id} is new and was there")
            return
        if not any(job is known for known in on.jobs):
            on.jobs.append(job)
        job.becomes("queued", attempt=answer.attempt)
        assert wanted.bill is not None
        if answer.rows:  # else it is paid when it begins, and the duration is known
            on.hold(answer.rows, wanted.bill.works)
            self.done["paid from the wallet"] += 1

    async def twins(self, on: Model) -> None:
        """The same new job asked for twice at once is one job, paid once, from a reservation or from the wallet."""
        works, video_id = self._works(), self.chance.choice(list(on.videos))
        reservation_id: str | None = None
        if self.chance.random() < 0.5:
            reservation_id, lines = self._reservation(on)
            line = self.chance.choice(lines)
            works, video_id = (line.work,), line.video_id
        job = Job(key_for(works[0]), video_id)
        wanted = NewJob(job.key, video_id, bill=Bill(works, on.tenant.is_subscriber, reservation_id))
        both = await asyncio.gather(self._ask(on, [wanted]), self._ask(on, [wanted]), return_exceptions=True)
        answers = [each[0] for each in both if not isinstance(each, BaseException)]
        begun = [answer for answer in answers if answer.begun]
        on.expect(len(begun) <= 1, f"{job.key.id} began twice")
        for answer in begun:
            self._asked(on, job, wanted, answer)
        for each in both:
            if isinstance(each, BaseException) and not isinstance(each, CutroomError | GivenUpError):
                raise each

    async def again(self, on: Model) -> None:
        """Ask once more for a job that is known: a failed one runs again, any other is answered as it is."""
        known = [job for job in on.jobs[-NEWEST:] if self.chance.random() < 0.2 or job.status == "failed"]
        if not known:
            raise IdleError
        job = self.chance.choice(known)
        wanted = NewJob(job.key, job.video_id, bill=Bill(self._works(), on.tenant.is_subscriber))
        try:
            (answer,) = await self._ask(on, [wanted])
        except CutroomError as error:
            self._check_refusal(on, error, [])
            return
        job.is_waiting = job.is_waiting and not answer.begun
        self._asked(on, job, wanted, answer)
        self.done["tried again" if answer.begun else "asked again, in vain"] += 1

    async def misuse(self, on: Model) -> None:
        """A line that is of another library, video, language or product, or spent, or not there, pays nothing."""
        reservation_id, lines = self._reservation(on)
        line = self.chance.choice(lines)
        other = self.chance.choice([model for model in self.models if model is not on])
        stranger = self.chance.choice([video for video in on.videos if video != line.video_id])
        spent = [each for each in on.lines.values() if each.reservation_id is not None and each.is_spent(on.clock)]
        cases: list[tuple[Model, Line, str, Bill]] = [
            (on, line, stranger, self._named(line)),
            (on, line, line.video_id, self._named(line, work=replace(line.work, language="xx"))),
            (on, line, line.video_id, self._named(line, work=replace(line.work, product="other"))),
            (on, line, line.video_id, self._named(line, line_id=new_id())),
            (on, line, line.video_id, self._named(line, reservation_id=new_id())),
            (other, line, next(iter(other.videos)), self._named(line)),
            (
                other,
                line,
                next(iter(other.videos)),
                Bill((line.work,), is_subscriber=True, reservation_id=reservation_id),
            ),
            *((on, each, each.video_id, self._named(each)) for each in spent[-1:]),
        ]
        whose, about, video_id, bill = self.chance.choice(cases)
        try:
            await self._ask(whose, [NewJob(key_for(about.work), video_id, bill=bill)])
        except CutroomError as error:
            on.expect(error.code is Code.CONFLICT, f"misuse was answered with {error.code}")
            self.done["misuse refused"] += 1
        else:
            on.expect(False, f"misuse paid: {bill} on {video_id}")  # noqa: FBT003

    def _named(
        self, line: Line, *, work: Work | None = None, line_id: str | None = None, reservation_id: str | None = None
    ) -> Bill:
        return Bill(
            (work or line.work,), is_subscriber=True, reservation_id=reservation_id, line_ids=(line_id or line.id,)
        )
