"""Publishes events in transactions of their own, as a worker does: `python -m proofs.events.publisher PLAN OUTPUT`.

Transactions stay open for a while after the event was inserted, so that they commit in another order, and some are
rolled back. Each line of the output is an event whose commit was confirmed, and when that was requested.
"""

import asyncio
import json
import random
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import asyncpg

from cutroom.events.service import publish_event
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Database
from cutroom.platform.messages.broadcast import Broadcaster
from cutroom.platform.settings import Settings

TASKS = 8
CONNECTIONS = 10
OPEN_SECONDS = 0.04  # at most, between the insertion and the commit
ROLLED_BACK = 0.05  # of the transactions
RETRY_SECONDS = 0.2
FAILURES = (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)


@dataclass(frozen=True, slots=True)
class PublishingPlan:
    """What one process publishes."""

    libraries: list[str]
    events: int
    per_second: float
    payload_bytes: int = 200
    seed: int = 0


class RolledBackError(Exception):
    """This transaction was to be rolled back."""


@dataclass(slots=True)
class Publisher:
    """Counts down the events that are left, and paces them."""

    plan: PublishingPlan
    database: Database
    output: Path
    random: random.Random
    published: int = 0

    async def run(self) -> None:
        started = time.monotonic()
        with self.output.open("w") as lines:

            async def work() -> None:
                while self.published < self.plan.events:
                    number, self.published = self.published, self.published + 1
                    ahead = number / self.plan.per_second - (time.monotonic() - started)
                    if ahead > 0:
                        await asyncio.sleep(ahead)  # the rate of the load
                    lines.write(json.dumps(await self._publish_one(number)) + "\n")

            async with asyncio.TaskGroup() as group:
                for _ in range(TASKS):
                    group.create_task(work())

    async def _publish_one(self, number: int) -> list[object]:
        """Until a commit is confirmed; one whose outcome is unknown is published again, as another event."""
        library_id = self.random.choice(self.plan.libraries)
        data = {"id": f"job_{number}", "padding": "x" * self.plan.payload_bytes}
        while True:
            try:
                return await self._commit_one(library_id, data)
            except RolledBackError:
                continue
            except FAILURES:
                await asyncio.sleep(RETRY_SECONDS)  # until the database is back

    async def _commit_one(self, library_id: str, data: dict[str, str]) -> list[object]:
        async with self.database.transaction(library_id) as connection:
            event_id = await publish_event(connection, library_id, type="job.ready", data=data, now=system_clock())
            await asyncio.sleep(self.random.uniform(0, OPEN_SECONDS))  # the rest of the transaction
            if self.random.random() < ROLLED_BACK:
                raise RolledBackError
            committing_at = time.monotonic()
        return [event_id, committing_at]


async def main(plan: PublishingPlan, output: Path) -> None:
    settings = Settings()
    broadcaster = Broadcaster(settings.redis_url.get_secret_value())
    database = await Database.connect(settings.worker_database, CONNECTIONS, application="cutroom-proof")
    database.announcer = broadcaster.send_all
    output.with_suffix(".started").touch()
    try:
        await Publisher(plan, database, output, random.Random(plan.seed)).run()
    finally:
        await broadcaster.close()
        await database.close()


if __name__ == "__main__":
    asyncio.run(main(PublishingPlan(**json.loads(sys.argv[1])), Path(sys.argv[2])))
