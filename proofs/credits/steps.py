"""Everything else that can be done with credits: jobs begin, end and fail, time passes, and money comes in."""

from collections.abc import Sequence
from datetime import timedelta

import asyncpg

from cutroom.credits import escrow
from cutroom.credits.rules import Bill
from cutroom.errors import Code, CutroomError
from cutroom.jobs import lifecycle
from cutroom.jobs.lifecycle import Failure, JobRef
from cutroom.jobs.service import workflow_id
from cutroom.platform.db import Connection
from cutroom.platform.ids import new_id
from proofs.credits.model import HELD, Job, Model
from proofs.credits.requests import NEWEST, Asking, IdleError
from proofs.stage.price_model import random_seconds

FAILURE = Failure("UNSUPPORTED_SOURCE", "It is not a video.")
REFUSED = {Code.INSUFFICIENT_CREDITS, Code.CONFLICT, Code.DURATION_UNKNOWN}


class Steps(Asking):
    """One of the many that act at once."""

    def _job(self, on: Model, *statuses: str) -> Job:
        known = [job for job in on.jobs[-NEWEST:] if job.status in statuses and not job.is_waiting]
        if not known:
            raise IdleError
        return self.chance.choice(known)

    async def begin(self, on: Model) -> None:
        job = self._job(on, "queued", "processing")
        ref = JobRef(on.library_id, job.key.id, job.attempt)
        async with self.transaction(on) as connection:
            plan = await lifecycle.begin(connection, ref, prices=self.prices, now=on.clock)
            row = await connection.fetchrow(
                "SELECT status, attempt, bill, error_code FROM jobs WHERE library_id = $1 AND id = $2",
                on.library_id,
                job.key.id,
            )
            rows = await connection.fetch(HELD, on.library_id, workflow_id(job.key.id, ref.attempt))
        assert row is not None
        if plan is not None:
            on.expect({line["state"] for line in rows} == {"open"}, f"{job.key.id} began without its price")
            on.hold(rows, Bill.from_json(row["bill"]).works)
            job.becomes("processing", attempt=ref.attempt)
            self.done["began"] += 1
        elif row["attempt"] == ref.attempt and row["error_code"] in REFUSED:
            job.becomes("failed", attempt=ref.attempt)
            if workflow_id(job.key.id, ref.attempt) not in on.settled:
                on.settle(workflow_id(job.key.id, ref.attempt), rows, state="released")
                self.done["could not be paid when it began"] += 1

    async def finish(self, on: Model) -> None:
        await self._end(on, self._job(on, "processing"), ready=True)

    async def fail(self, on: Model) -> None:
        """Any unfinished job, also one that waits for another."""
        known = [job for job in on.jobs[-NEWEST:] if job.status in {"queued", "processing"}]
        if not known:
            raise IdleError
        awaited = [job for job in known if job.waiter is not None and job.waiter.is_waiting]
        await self._end(
            on, self.chance.choice(awaited if awaited and self.chance.random() < 0.5 else known), ready=False
        )

    async def double(self, on: Model) -> None:
        """The end of what has ended, or of an attempt that is over, changes nothing."""
        job = self._job(on, "ready", "failed")
        on.expect(not await self._end(on, job, ready=self.chance.random() < 0.5), f"{job.key.id} ended twice")
        self.done["ended twice, in vain"] += 1

    async def _end(self, on: Model, job: Job, *, ready: bool) -> bool:
        ref, now, waiter = JobRef(on.library_id, job.key.id, job.attempt), on.clock, job.waiter
        async with self.transaction(on) as connection:
            if ready:
                ended = await lifecycle.finish(connection, ref, result={"made": True}, now=now)
            else:
                ended = await lifecycle.fail(connection, ref, failure=FAILURE, now=now)
            rows = await connection.fetch(HELD, on.library_id, workflow_id(ref.job_id, ref.attempt))
            dragged = await _dragged_along(connection, on, job, waiter) if ended and not ready else None
        if not ended:
            return False
        on.expect(bool(rows) or not ready, f"{ref.job_id} is ready and cost nothing")
        on.settle(workflow_id(ref.job_id, ref.attempt), rows, state="captured" if ready else "released")
        job.becomes("ready" if ready else "failed", attempt=ref.attempt)
        self.done["finished" if ready else "failed"] += 1
        if waiter is not None and ready:
            waiter.is_waiting = False
        if waiter is not None and dragged is not None and waiter.holder not in on.settled:
            on.settle(waiter.holder, dragged, state="released")
            waiter.becomes("failed", attempt=waiter.attempt)
            self.done["failed with what they waited for"] += 1
        return True

    async def expire(self, on: Model) -> None:
        one = self._reservation(on)[0] if self.chance.random() < 0.7 else None
        async with self.transaction(on) as connection:
            gone = await escrow.expire(connection, on.library_id, reservation_id=one, now=on.clock)
        on.expired += gone
        self.done["lines expired"] += gone

    async def grant(self, on: Model) -> None:
        amount, reference = self.chance.randint(1, 400_000), new_id()
        on.grants_begun += amount
        await self.stage.grant(on.tenant, amount, reference=reference)
        on.grants_done += amount
        if self.chance.random() < 0.3:
            try:
                await self.stage.grant(on.tenant, amount, reference=reference)
            except CutroomError as error:
                on.expect(error.code is Code.ALREADY_EXISTS, f"the second grant: {error.code}")
            else:
                on.expect(False, "one reference granted twice")  # noqa: FBT003

    async def learn(self, on: Model) -> None:
        """The duration of a video becomes known, and there is a new one of which it is not."""
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
        on.videos[unknown], on.coming[unknown] = None, random_seconds(self.chance)

    async def wait(self, on: Model) -> None:
        on.clock += timedelta(minutes=self.chance.randint(0, 30))


async def _dragged_along(
    connection: Connection, on: Model, job: Job, waiter: Job | None
) -> Sequence[asyncpg.Record] | None:
    """What the job held that failed because this one did."""
    if waiter is None:
        return None
    failed = await connection.fetchval(
        """SELECT error_details ->> 'jobId' = $3 AND attempt = $4 FROM jobs WHERE library_id = $1 AND id = $2""",
        on.library_id,
        waiter.key.id,
        job.key.id,
        waiter.attempt,
    )
    return await connection.fetch(HELD, on.library_id, waiter.holder) if failed else None
