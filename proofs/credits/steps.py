"""Further credit operations: jobs start, finish and fail, time passes, and credits are granted."""

from collections.abc import Sequence
from datetime import timedelta

import asyncpg

from cutroom.credits import escrow
from cutroom.credits.rules import Charge
from cutroom.errors import Code, CutroomError
from cutroom.jobs import lifecycle
from cutroom.jobs.ids import workflow_id
from cutroom.jobs.lifecycle import Failure, JobRef
from cutroom.platform.db import Connection
from cutroom.platform.ids import new_id
from proofs.credits.ledger_model import HELD, Job, Model
from proofs.credits.requests import RECENT, CreditRequests, NothingToDoError
from proofs.stage.price_model import random_seconds

FAILURE = Failure("UNSUPPORTED_SOURCE", "It is not a video.")
REFUSED = {Code.INSUFFICIENT_CREDITS, Code.CONFLICT, Code.DURATION_UNKNOWN}


class Steps(CreditRequests):
    """One of the concurrent actors."""

    def _job(self, on: Model, *statuses: str) -> Job:
        known = [job for job in on.jobs[-RECENT:] if job.status in statuses and not job.is_waiting]
        if not known:
            raise NothingToDoError
        return self.rng.choice(known)

    async def begin(self, on: Model) -> None:
        job = self._job(on, "queued", "processing")
        ref = JobRef(on.library_id, job.key.id, job.attempt)
        async with self.transaction(on) as connection:
            plan = await lifecycle.start(connection, ref, prices=self.prices, now=on.clock)
            row = await connection.fetchrow(
                "SELECT status, attempt, charge, error_code FROM jobs WHERE library_id = $1 AND id = $2",
                on.library_id,
                job.key.id,
            )
            rows = await connection.fetch(HELD, on.library_id, workflow_id(job.key.id, ref.attempt))
        assert row is not None
        if plan is not None:
            on.expect({line["state"] for line in rows} == {"open"}, f"{job.key.id} started without a hold")
            on.hold(rows, Charge.from_json(row["charge"]).items)
            job.becomes("processing", attempt=ref.attempt)
            self.done["began"] += 1
        elif row["attempt"] == ref.attempt and row["error_code"] in REFUSED:
            job.becomes("failed", attempt=ref.attempt)
            if workflow_id(job.key.id, ref.attempt) not in on.settled:
                on.settle(workflow_id(job.key.id, ref.attempt), rows, state="released")
                self.done["could not be paid at start"] += 1

    async def finish(self, on: Model) -> None:
        await self._end(on, self._job(on, "processing"), ready=True)

    async def fail(self, on: Model) -> None:
        """Fail any unfinished job, possibly one that others depend on."""
        known = [job for job in on.jobs[-RECENT:] if job.status in {"queued", "processing"}]
        if not known:
            raise NothingToDoError
        required = [job for job in known if job.dependent is not None and job.dependent.is_waiting]
        await self._end(on, self.rng.choice(required if required and self.rng.random() < 0.5 else known), ready=False)

    async def double(self, on: Model) -> None:
        """Ending a finished job or an old attempt changes nothing."""
        job = self._job(on, "ready", "failed")
        on.expect(not await self._end(on, job, ready=self.rng.random() < 0.5), f"{job.key.id} ended twice")
        self.done["second end ignored"] += 1

    async def _end(self, on: Model, job: Job, *, ready: bool) -> bool:
        ref, now, dependent = JobRef(on.library_id, job.key.id, job.attempt), on.clock, job.dependent
        async with self.transaction(on) as connection:
            if ready:
                ended = await lifecycle.complete(connection, ref, result={"made": True}, now=now)
            else:
                ended = await lifecycle.fail(connection, ref, failure=FAILURE, now=now)
            rows = await connection.fetch(HELD, on.library_id, workflow_id(ref.job_id, ref.attempt))
            dependent_rows = await _failed_dependent(connection, on, job, dependent) if ended and not ready else None
        if not ended:
            return False
        on.expect(bool(rows) or not ready, f"{ref.job_id} is ready and cost nothing")
        on.settle(workflow_id(ref.job_id, ref.attempt), rows, state="captured" if ready else "released")
        job.becomes("ready" if ready else "failed", attempt=ref.attempt)
        self.done["finished" if ready else "failed"] += 1
        if dependent is not None and ready:
            dependent.is_waiting = False
        if dependent is not None and dependent_rows is not None and dependent.holder not in on.settled:
            on.settle(dependent.holder, dependent_rows, state="released")
            dependent.becomes("failed", attempt=dependent.attempt)
            self.done["failed with their dependency"] += 1
        return True

    async def expire(self, on: Model) -> None:
        one = self._reservation(on)[0] if self.rng.random() < 0.7 else None
        async with self.transaction(on) as connection:
            gone = await escrow.expire(connection, on.library_id, reservation_id=one, now=on.clock)
        on.expired += gone
        self.done["lines expired"] += gone

    async def grant(self, on: Model) -> None:
        amount, reference = self.rng.randint(1, 400_000), new_id()
        on.grants_begun += amount
        await self.stage.grant(on.tenant, amount, reference=reference)
        on.grants_done += amount
        if self.rng.random() < 0.3:
            try:
                await self.stage.grant(on.tenant, amount, reference=reference)
            except CutroomError as error:
                on.expect(error.code is Code.ALREADY_EXISTS, f"the second grant: {error.code}")
            else:
                on.expect(False, "one reference granted twice")  # noqa: FBT003

    async def learn_duration(self, on: Model) -> None:
        """Set the duration of a video, and add a new one with unknown duration."""
        for video_id in [video for video in on.coming if on.videos[video] is None][:1]:
            async with self.stage.owner.acquire() as connection:
                await connection.execute(
                    "UPDATE videos SET duration_seconds = $3 WHERE library_id = $1 AND id = $2",
                    on.library_id,
                    video_id,
                    on.coming[video_id],
                )
            on.videos[video_id] = on.coming[video_id]
        unknown = await self.stage.video(on.tenant, None)
        on.videos[unknown], on.coming[unknown] = None, random_seconds(self.rng)

    async def wait(self, on: Model) -> None:
        on.clock += timedelta(minutes=self.rng.randint(0, 30))


async def _failed_dependent(
    connection: Connection, on: Model, job: Job, dependent: Job | None
) -> Sequence[asyncpg.Record] | None:
    """Lines of the dependent job if it failed because of this one."""
    if dependent is None:
        return None
    failed = await connection.fetchval(
        """SELECT error_details ->> 'jobId' = $3 AND attempt = $4 FROM jobs WHERE library_id = $1 AND id = $2""",
        on.library_id,
        dependent.key.id,
        job.key.id,
        dependent.attempt,
    )
    return await connection.fetch(HELD, on.library_id, dependent.holder) if failed else None
