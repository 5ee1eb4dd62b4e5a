"""Fixtures: erasure activities on real services, with the erasure log in a directory."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from temporalio.testing import ActivityEnvironment

from cutroom.platform.clock import system_clock
from cutroom.platform.db import Database
from cutroom.platform.settings import Settings
from cutroom.platform.storage.versions import ObjectVersions
from cutroom.platform.temporal import connect
from cutroom.retention.erasure.activities import ErasureActivities
from cutroom.retention.erasure.log import ErasureLog
from cutroom.retention.erasure.rules import ErasureRequest
from tests.jobs.conftest import job_context

__all__ = ["job_context"]


@dataclass(frozen=True)
class Eraser:
    """Runs the steps of the workflow without its waits."""

    activities: ErasureActivities
    log: ErasureLog

    async def run(self, activity: Any, *arguments: Any) -> Any:  # noqa: ANN401 (any activity)
        return await ActivityEnvironment().run(activity, *arguments)

    async def erase(self, request: ErasureRequest) -> dict[str, Any]:
        """Erase a library and return its signed certificate."""
        steps = self.activities
        await self.run(steps.append_to_erasure_log, request)
        await self.run(steps.stop_library_work, request)
        survey = await self.run(steps.survey_library, request)
        await self.run(steps.delete_library_histories, request)
        await self.run(steps.delete_library_objects, request)
        await self.run(steps.forget_library_limits, request)
        await self.run(steps.erase_library_rows, request)
        await self.run(steps.issue_certificate, request, survey)
        signed = await self.log.read_certificate(request.erasure_id)
        assert signed is not None
        return signed


@pytest.fixture
async def eraser(settings: Settings, worker_database: Database, tmp_path: Path) -> AsyncIterator[Eraser]:
    own = settings.model_copy(update={"erasure_log": str(tmp_path / "erasures")})
    versions = ObjectVersions.connect(own)
    yield Eraser(
        ErasureActivities(
            settings=own,
            database=worker_database,
            client=await connect(own),
            versions=versions,
            clock=system_clock,
        ),
        ErasureLog.of(own),
    )
    await versions.close()


def request_of(response: dict[str, Any], *, user_ids: list[str]) -> ErasureRequest:
    """The workflow's argument for a requested erasure."""
    return ErasureRequest(response["erasureId"], response["libraryId"], user_ids, response["requestedAt"])
