"""Fixtures: library rows, a video with paid jobs, and a worker's context."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cutroom.jobs.worker import WorkerContext
from cutroom.platform.db import Database
from cutroom.platform.egress.client import Egress
from cutroom.platform.settings import Settings
from cutroom.platform.temporal import connect
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.credits.job_harness import JobHarness, open_harness
from tests.jobs.conftest import JobContext, job_context
from tests.library.conftest import add

__all__ = ["add", "job_context"]


@pytest.fixture
async def harness(runtime: Runtime, accounts: Accounts, job_context: JobContext) -> AsyncIterator[JobHarness]:
    async with open_harness(runtime, accounts, job_context) as opened:
        await opened.set_duration(60)
        yield opened


@pytest.fixture
async def context(settings: Settings, worker_database: Database, tmp_path: Path) -> AsyncIterator[WorkerContext]:
    changed = settings.model_copy(update={"cache_dir": tmp_path / "cache"})
    opened = WorkerContext.of(changed, await connect(changed), worker_database, egress=Egress())
    yield opened
    await opened.multipart.close()
