"""Processes that pay, use and give back credits until they are killed, and say all the while where they are.

The parent process imports everything once; for each line of its standard input, which holds who is to act and a seed,
it forks a child that works until it dies. A child's connections pause after every statement of a transaction and say
so, which makes a transaction long enough to be hit.
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
from cutroom.credits.pricing import Action, Work, load_prices
from cutroom.credits.rules import Bill
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
from proofs.stage.price_model import random_bundle

APPLICATION = "credits-child"
ACTORS = 4
PAUSE_SECONDS = 0.004  # at most, after each statement
LASTS = timedelta(hours=1)
A_FREE_LINE = """SELECT * FROM escrow_lines WHERE library_id = $1 AND state = 'open' AND holder IS NULL
    ORDER BY md5(id || $2) LIMIT 1"""
A_JOB = """SELECT id, attempt, status FROM jobs WHERE library_id = $1 AND status = ANY ($3)
    ORDER BY md5(id || $2) LIMIT 1"""


def say(*words: object) -> None:
    """One whole line, at once: whoever reads it may kill us on the spot."""
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


class PausingConnection(asyncpg.Connection):
    """Says after each statement of a transaction that it is inside, and stays there for a while."""

    async def _after(self) -> None:
        if self.is_in_transaction():
            task = asyncio.current_task()
            say("inside", task.get_name() if task is not None else "nobody")
            await asyncio.sleep(random.random() * PAUSE_SECONDS)

    async def execute(self, *arguments: Any, **named: Any) -> str:  # noqa: ANN401 (as the class above has it)
        answer = await super().execute(*arguments, **named)
        await self._after()
        return answer

    async def executemany(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401
        await super().executemany(*arguments, **named)
        await self._after()

    async def fetch(self, *arguments: Any, **named: Any) -> Any:  # noqa: ANN401
        answer = await super().fetch(*arguments, **named)
        await self._after()
        return answer

    async def fetchrow(self, *arguments: Any, **named: Any) -> Any:  # noqa: ANN401
        answer = await super().fetchrow(*arguments, **named)
        await self._after()
        return answer

    async def fetchval(self, *arguments: Any, **named: Any) -> Any:  # noqa: ANN401
        answer = await super().fetchval(*arguments, **named)
        await self._after()
        return answer


class Actor:
    """One task of a child: transaction after transaction in one library."""

    def __init__(self, database: Database, principal: Principal, video_id: str, *, chance: random.Random) -> None:
        self.database = database
        self.principal = principal
        self.library_id = principal.library_id
        self.video_id = video_id
        self.chance = chance
        self.prices = load_prices()

    async def run(self) -> None:
        steps = (self.reserve, self.reserve, self.consume, self.pay, self.begin, self.begin, self.end, self.expire)
        task = asyncio.current_task()
        assert task is not None
        while True:
            step, done = self.chance.choice(steps), ""
            try:
                async with self.database.transaction(self.library_id) as connection:
                    done = await step(connection, system_clock())
            except CutroomError:
                done = "refused"
            say("outside", task.get_name(), self.library_id, done)
            await asyncio.sleep(self.chance.random() * PAUSE_SECONDS)

    async def reserve(self, connection: Connection, now: datetime) -> str:
        bundle = {**random_bundle(self.chance), "transcriptOnly": True}
        made = await service.reserve(
            connection,
            self.principal,
            self.video_id,
            bundle=CreditBundle.model_validate(bundle),
            prices=self.prices,
            lasts=LASTS,
            now=now,
        )
        return f"reserved {made.reservation_id} {made.total}"

    async def consume(self, connection: Connection, now: datetime) -> str:
        line = await connection.fetchrow(A_FREE_LINE, self.library_id, str(self.chance.random()))
        if line is None:
            return "nothing"
        work = Work(Action(line["action"]), line["product"], line["language"], line["terms"])
        return await self._ask(connection, Bill((work,), is_subscriber=True, line_ids=(line["id"],)), now)

    async def pay(self, connection: Connection, now: datetime) -> str:
        works = service.works_of(CreditBundle.model_validate({**random_bundle(self.chance), "transcriptOnly": True}))
        return await self._ask(connection, Bill(tuple(works), is_subscriber=True), now)

    async def _ask(self, connection: Connection, bill: Bill, now: datetime) -> str:
        key = JobKey(JobType.SHORTS, new_id())
        wanted = NewJob(key, self.video_id, bill=bill)
        await request_jobs(connection, self.principal, [wanted], prices=self.prices, now=now)
        return f"held {key.id} {len(bill.works)}"

    async def begin(self, connection: Connection, now: datetime) -> str:
        ref, _ = await self._job(connection, "queued")
        if ref is None:
            return "nothing"
        await lifecycle.begin(connection, ref, prices=self.prices, now=now)
        return "begun"

    async def end(self, connection: Connection, now: datetime) -> str:
        ref, status = await self._job(connection, "queued", "processing")
        if ref is None:
            return "nothing"
        if status == "processing" and self.chance.random() < 0.7:
            ended = await lifecycle.finish(connection, ref, result={}, now=now)
            return f"ended {ref.job_id} ready" if ended else "nothing"
        ended = await lifecycle.fail(connection, ref, failure=Failure("INTERNAL", "As planned."), now=now)
        return f"ended {ref.job_id} failed" if ended else "nothing"

    async def _job(self, connection: Connection, *statuses: str) -> tuple[JobRef | None, str]:
        row = await connection.fetchrow(A_JOB, self.library_id, str(self.chance.random()), list(statuses))
        if row is None:
            return None, ""
        return JobRef(self.library_id, row["id"], row["attempt"]), row["status"]

    async def expire(self, connection: Connection, now: datetime) -> str:
        line = await connection.fetchrow(A_FREE_LINE, self.library_id, str(self.chance.random()))
        if line is None:
            return "nothing"
        await escrow.expire(connection, self.library_id, reservation_id=line["reservation_id"], now=now + 2 * LASTS)
        return f"expired {line['reservation_id']}"


async def work(settings: Settings, told: dict[str, Any]) -> None:
    pool = await asyncpg.create_pool(
        settings.database_url.get_secret_value(),
        min_size=1,
        max_size=ACTORS,
        init=register_json_codec,
        connection_class=PausingConnection,
        server_settings={"application_name": APPLICATION},
    )
    secrecy = SecretBox(settings.secret_key.get_secret_value())
    doorkeeper = Authenticator(secrecy=secrecy, plans=load_plans(settings.plans_file))
    tasks = []
    for number in range(ACTORS):
        who = told["tenants"][number % len(told["tenants"])]
        async with pool.acquire() as connection:
            principal = await doorkeeper.admit(connection, who["key"], now=system_clock(), speech=False)
        chance = random.Random(f"{told['seed']} {number}")
        actor = Actor(Database(pool), principal, who["video"], chance=chance)
        tasks.append(asyncio.create_task(actor.run(), name=str(number)))
    await asyncio.gather(*tasks)


def main() -> None:
    settings = Settings()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            try:
                asyncio.run(work(settings, json.loads(line)))
            except BaseException as error:  # noqa: BLE001 (whatever it was, the proof is to hear of it)
                say("error", repr(error))
            os._exit(1)
        say("pid", child)
        os.waitpid(child, 0)
        say("died")


if __name__ == "__main__":
    main()
