"""Fixtures: a principal with a video."""

from dataclasses import dataclass

import pytest

from cutroom.accounts.principals import Principal
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from dev.scratch import Keyring


@dataclass(frozen=True)
class JobContext:
    """The principal and video of a job."""

    principal: Principal
    video_id: str

    @property
    def library_id(self) -> str:
        return self.principal.library_id


@pytest.fixture
async def job_context(runtime: Runtime, key: Keyring) -> JobContext:
    async with runtime.database.connection() as connection:
        principal = await runtime.authenticator.authenticate(connection, key.secret, now=system_clock(), speech=False)
    video_id = new_id()
    async with runtime.database.transaction(principal.library_id) as connection:
        row = {
            "library_id": principal.library_id,
            "id": video_id,
            "status": "queued",
            "import_status": "queued",
            "created_at": system_clock(),
        }
        await insert(connection, "videos", row)
    return JobContext(principal, video_id)
