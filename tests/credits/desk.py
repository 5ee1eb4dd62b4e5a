"""Where jobs are asked for and paid for, step by step."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cutroom.credits.rules import Bill
from cutroom.jobs import lifecycle, service
from cutroom.jobs.ids import DubProduct, JobKey, JobType
from cutroom.jobs.lifecycle import Failure, JobRef
from cutroom.jobs.schemas import Job
from cutroom.jobs.service import NewJob
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.credits.conftest import PRICES, Books
from tests.jobs.conftest import Stage

FAILURE = Failure("INTERNAL", "It broke.")


@dataclass(frozen=True)
class Desk:
    """Where jobs of one video are asked for and lived, each step a transaction of its own."""

    stage: Stage
    books: Books

    def key(self, language: str = "de") -> JobKey:
        return JobKey(JobType.DUB, self.stage.video_id, language=language, product=DubProduct.PLUS)

    async def set_duration(self, seconds: float) -> None:
        await self.books.owner.execute(
            "UPDATE videos SET duration_seconds = $2 WHERE id = $1", self.stage.video_id, seconds
        )

    async def ask(self, bill: Bill | None, language: str = "de", **named: Any) -> tuple[Job, bool]:  # noqa: ANN401
        async with self.books.transaction() as connection:
            return await self.ask_on(connection, bill, language, **named)

    async def ask_on(
        self,
        connection: Connection,
        bill: Bill | None,
        language: str = "de",
        *,
        depends_on: tuple[str, ...] = (),
        now: datetime | None = None,
    ) -> tuple[Job, bool]:
        wanted = NewJob(self.key(language), self.stage.video_id, depends_on=depends_on, bill=bill)
        (asked,) = await service.request_jobs(
            connection, self.stage.principal, [wanted], prices=PRICES, now=now or system_clock()
        )
        return asked

    async def begin(self, language: str = "de", attempt: int = 1) -> bool:
        """Whether the work may be done."""
        async with self.books.transaction() as connection:
            plan = await lifecycle.begin(connection, self._ref(language, attempt), prices=PRICES, now=system_clock())
        return plan is not None

    async def finish(self, language: str = "de", attempt: int = 1) -> bool:
        async with self.books.transaction() as connection:
            ref = self._ref(language, attempt)
            return await lifecycle.finish(connection, ref, result={"made": language}, now=system_clock())

    async def fail(self, language: str = "de", attempt: int = 1) -> bool:
        async with self.books.transaction() as connection:
            ref = self._ref(language, attempt)
            return await lifecycle.fail(connection, ref, failure=FAILURE, now=system_clock())

    def _ref(self, language: str, attempt: int) -> JobRef:
        return JobRef(self.stage.library_id, self.key(language).id, attempt)

    async def job(self, language: str = "de") -> Job:
        async with self.books.transaction() as connection:
            return await service.get_job(connection, self.stage.library_id, self.key(language).id)

    async def money(self) -> tuple[int, int, int]:
        """In the wallet, in escrow, and spent."""
        found = await self.books.accounts()
        return found.wallet, found.escrow, found.revenue


@asynccontextmanager
async def open_desk(runtime: Runtime, accounts: Accounts, stage: Stage) -> AsyncIterator[Desk]:
    """Ten credits, a video whose duration is not known yet; the books are right at the end."""
    books = Books(runtime, accounts.connection, stage.library_id)
    await books.grant(10_000)
    yield Desk(stage, books)
    assert await books.faults() == []


def totals(job: Job) -> dict[str, float]:
    assert job.result is not None
    return {name: value for name, value in job.result["receipt"].items() if name != "lines"}
