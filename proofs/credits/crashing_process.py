"""Processes that reserve, capture and release credits until they are killed, and report every step.

The parent process imports everything once. For each line of its standard input, which names tenants and a seed, it
forks a child that works until it is killed. A child's connections pause and report after every statement inside a
transaction, which makes transactions long enough to be killed in the middle.
"""

import asyncio
import json
import os
import random
import sys
from datetime import datetime, timedelta
from typing import Any

import asyncpg

from cutroom.accounts.plans import load_plans
from cutroom.accounts.principals import Authenticator, Principal
from cutroom.credits import escrow, service
from cutroom.credits.pricing import Action, BillableItem, load_prices
from cutroom.credits.rules import Charge
from cutroom.credits.schemas import CreditBundle
from cutroom.errors import CutroomError
from cutroom.jobs import lifecycle
from cutroom.jobs.ids import JobKey, JobType
from cutroom.jobs.lifecycle import Failure, JobRef
from cutroom.jobs.service import NewJob, request_jobs
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection, Database, register_json_codec
from cutroom.platform.ids import new_id
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.settings import Settings
from dev.child_process import die_with_parent
from proofs.stage.price_model import random_bundle

APPLICATION = "credits-child"
ACTORS = 4
PAUSE_SECONDS = 0.004  # maximum, after each statement
RESERVATION_LIFETIME = timedelta(hours=1)
RANDOM_FREE_LINE = """SELECT * FROM escrow_lines WHERE library_id = $1 AND state = 'open' AND holder IS NULL
    ORDER BY md5(id || $2) LIMIT 1"""
RANDOM_JOB = """SELECT id, attempt, status FROM jobs WHERE library_id = $1 AND status = ANY ($3)
    ORDER BY md5(id || $2) LIMIT 1"""


def report(*words: object) -> None:
    """Write one line atomically: its reader may kill this process immediately."""
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


class PausingConnection(asyncpg.Connection):
    """Reports each statement inside a transaction, and pauses after it."""

    async def _after(self) -> None:
        if self.is_in_transaction():
            task = asyncio.current_task()
            report("inside", task.get_name() if task is not None else "none")
            await asyncio.sleep(random.random() * PAUSE_SECONDS)

    async def execute(self, *arguments: Any, **named: Any) -> str:  # noqa: ANN401 (as in the base class)
        response = await super().execute(*arguments, **named)
        await self._after()
        return response

    async def executemany(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401
        await super().executemany(*arguments, **named)
        await self._after()

    async def fetch(self, *arguments: Any, **named: Any) -> Any:  # noqa: ANN401
        response = await super().fetch(*arguments, **named)
        await self._after()
        return response

    async def fetchrow(self, *arguments: Any, **named: Any) -> Any:  # noqa: ANN401
        response = await super().fetchrow(*arguments, **named)
        await self._after()
        return response

    async def fetchval(self, *arguments: Any, **named: Any) -> Any:  # noqa: ANN401
        response = await super().fetchval(*arguments, **named)
        await self._after()
        return response


class Actor:
    """One task of a child: runs transactions in one library."""

    def __init__(self, database: Database, principal: Principal, video_id: str, *, rng: random.Random) -> None:
        self.database = database
        self.principal = principal
        self.library_id = principal.library_id
        self.video_id = video_id
        self.rng = rng
        self.prices = load_prices()

    async def run(self) -> None:
        steps = (self.reserve, self.reserve, self.consume, self.pay, self.begin, self.begin, self.end, self.expire)
        task = asyncio.current_task()
        assert task is not None
        while True:
            step, done = self.rng.choice(steps), ""
            try:
                async with self.database.transaction(self.library_id) as connection:
                    done = await step(connection, system_clock())
            except CutroomError:
                done = "refused"
            report("outside", task.get_name(), self.library_id, done)
            await asyncio.sleep(self.rng.random() * PAUSE_SECONDS)

    async def reserve(self, connection: Connection, now: datetime) -> str:
        bundle = {**random_bundle(self.rng), "transcriptOnly": True}
        created = await service.reserve(
            connection,
            self.principal,
            self.video_id,
            rated=service.RatedBundle(CreditBundle.model_validate(bundle)),
            prices=self.prices,
            lifetime=RESERVATION_LIFETIME,
            now=now,
        )
        return f"reserved {created.reservation_id} {created.total}"

    async def consume(self, connection: Connection, now: datetime) -> str:
        line = await connection.fetchrow(RANDOM_FREE_LINE, self.library_id, str(self.rng.random()))
        if line is None:
            return "nothing"
        work = BillableItem(Action(line["action"]), line["product"], line["language"], line["terms"])
        return await self._request(connection, Charge((work,), is_subscriber=True, line_ids=(line["id"],)), now)

    async def pay(self, connection: Connection, now: datetime) -> str:
        items = service.billable_items(CreditBundle.model_validate({**random_bundle(self.rng), "transcriptOnly": True}))
        return await self._request(connection, Charge(tuple(items), is_subscriber=True), now)

    async def _request(self, connection: Connection, charge: Charge, now: datetime) -> str:
        key = JobKey(JobType.SHORTS, new_id())
        new_job = NewJob(key, self.video_id, charge=charge)
        await request_jobs(connection, self.principal, [new_job], prices=self.prices, now=now)
        return f"held {key.id} {len(charge.items)}"

    async def begin(self, connection: Connection, now: datetime) -> str:
        ref, _ = await self._job(connection, "queued")
        if ref is None:
            return "nothing"
        await lifecycle.start(connection, ref, prices=self.prices, now=now)
        return "begun"

    async def end(self, connection: Connection, now: datetime) -> str:
        ref, status = await self._job(connection, "queued", "processing")
        if ref is None:
            return "nothing"
        if status == "processing" and self.rng.random() < 0.7:
            ended = await lifecycle.complete(connection, ref, result={}, now=now)
            return f"ended {ref.job_id} ready" if ended else "nothing"
        ended = await lifecycle.fail(connection, ref, failure=Failure("INTERNAL", "As planned."), now=now)
        return f"ended {ref.job_id} failed" if ended else "nothing"

    async def _job(self, connection: Connection, *statuses: str) -> tuple[JobRef | None, str]:
        row = await connection.fetchrow(RANDOM_JOB, self.library_id, str(self.rng.random()), list(statuses))
        if row is None:
            return None, ""
        return JobRef(self.library_id, row["id"], row["attempt"]), row["status"]

    async def expire(self, connection: Connection, now: datetime) -> str:
        line = await connection.fetchrow(RANDOM_FREE_LINE, self.library_id, str(self.rng.random()))
        if line is None:
            return "nothing"
        await escrow.expire(
            connection, self.library_id, reservation_id=line["reservation_id"], now=now + 2 * RESERVATION_LIFETIME
        )
        return f"expired {line['reservation_id']}"


async def work(settings: Settings, assignment: dict[str, Any]) -> None:
    pool = await asyncpg.create_pool(
        settings.database_url.get_secret_value(),
        min_size=1,
        max_size=ACTORS,
        init=register_json_codec,
        connection_class=PausingConnection,
        server_settings={"application_name": APPLICATION},
    )
    secret_box = SecretBox(settings.secret_key.get_secret_value())
    authenticator = Authenticator(secret_box=secret_box, plans=load_plans(settings.plans_file))
    tasks = []
    for number in range(ACTORS):
        who = assignment["tenants"][number % len(assignment["tenants"])]
        async with pool.acquire() as connection:
            principal = await authenticator.authenticate(connection, who["key"], now=system_clock(), speech=False)
        rng = random.Random(f"{assignment['seed']} {number}")
        actor = Actor(Database(pool), principal, who["video"], rng=rng)
        tasks.append(asyncio.create_task(actor.run(), name=str(number)))
    await asyncio.gather(*tasks)


def main() -> None:
    settings = Settings()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            die_with_parent()
            try:
                asyncio.run(work(settings, json.loads(line)))
            except BaseException as error:  # noqa: BLE001 (reported to the proof)
                report("error", repr(error))
            os._exit(1)
        report("pid", child)
        os.waitpid(child, 0)
        report("died")


if __name__ == "__main__":
    main()
