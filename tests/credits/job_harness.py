"""Test harness that creates, runs and finishes paid jobs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cutroom.credits.rules import Charge
from cutroom.jobs import lifecycle, service
from cutroom.jobs.ids import DubProduct, JobKey, JobType
from cutroom.jobs.lifecycle import Failure, JobRef
from cutroom.jobs.schemas import Job
from cutroom.jobs.service import NewJob
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.credits.conftest import PRICES, LibraryLedger
from tests.jobs.conftest import JobContext

FAILURE = Failure("INTERNAL", "It broke.")


@dataclass(frozen=True)
class JobHarness:
    """Runs the lifecycle of one video's jobs, each step in its own transaction."""

    context: JobContext
    library_ledger: LibraryLedger

    def key(self, language: str = "de") -> JobKey:
        return JobKey(JobType.DUB, self.context.video_id, language=language, product=DubProduct.PLUS)

    async def set_duration(self, seconds: float) -> None:
        await self.library_ledger.owner.execute(
            "UPDATE videos SET duration_seconds = $2 WHERE id = $1", self.context.video_id, seconds
        )

    async def request(self, charge: Charge | None, language: str = "de", **named: Any) -> tuple[Job, bool]:  # noqa: ANN401
        async with self.library_ledger.transaction() as connection:
            return await self.request_on(connection, charge, language, **named)

    async def request_on(
        self,
        connection: Connection,
        charge: Charge | None,
        language: str = "de",
        *,
        depends_on: tuple[str, ...] = (),
        now: datetime | None = None,
    ) -> tuple[Job, bool]:
        new_job = NewJob(self.key(language), self.context.video_id, depends_on=depends_on, charge=charge)
        (requested,) = await service.request_jobs(
            connection, self.context.principal, [new_job], prices=PRICES, now=now or system_clock()
        )
        return requested

    async def start(self, language: str = "de", attempt: int = 1) -> bool:
        """Return whether the job started."""
        async with self.library_ledger.transaction() as connection:
            plan = await lifecycle.start(connection, self._ref(language, attempt), prices=PRICES, now=system_clock())
        return plan is not None

    async def complete(self, language: str = "de", attempt: int = 1) -> bool:
        async with self.library_ledger.transaction() as connection:
            ref = self._ref(language, attempt)
            return await lifecycle.complete(connection, ref, result={"language": language}, now=system_clock())

    async def fail(self, language: str = "de", attempt: int = 1) -> bool:
        async with self.library_ledger.transaction() as connection:
            ref = self._ref(language, attempt)
            return await lifecycle.fail(connection, ref, failure=FAILURE, now=system_clock())

    def _ref(self, language: str, attempt: int) -> JobRef:
        return JobRef(self.context.library_id, self.key(language).id, attempt)

    async def job(self, language: str = "de") -> Job:
        async with self.library_ledger.transaction() as connection:
            return await service.get_job(connection, self.context.library_id, self.key(language).id)

    async def balances(self) -> tuple[int, int, int]:
        """Return wallet, escrow and revenue."""
        accounts = await self.library_ledger.accounts()
        return accounts.wallet, accounts.escrow, accounts.revenue


@asynccontextmanager
async def open_harness(runtime: Runtime, accounts: Accounts, job_context: JobContext) -> AsyncIterator[JobHarness]:
    """Ten credits and a video of unknown duration; the ledger must be consistent after the test."""
    library_ledger = LibraryLedger(runtime, accounts.connection, job_context.library_id)
    await library_ledger.grant(10_000)
    yield JobHarness(job_context, library_ledger)
    assert await library_ledger.faults() == []


def totals(job: Job) -> dict[str, float]:
    assert job.result is not None
    return {name: value for name, value in job.result["receipt"].items() if name != "lines"}
