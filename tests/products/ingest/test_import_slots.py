"""Downloads per library and per host, and what becomes of the job of a slow source."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from pydantic import SecretStr
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from cutroom.credits import ledger
from cutroom.jobs import lifecycle
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.workflow import to_failure
from cutroom.media.local_cache import LocalMediaCache
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.platform.settings import Settings
from cutroom.platform.slots import SlotsFullError
from cutroom.products.ingest.activities import SLOT_RETRY, IngestActivities
from cutroom.products.ingest.import_slots import ImportSlots
from cutroom.products.ingest.rules import SourceType
from cutroom.products.ingest.sources import ImportSource, SourceInfo, too_slow
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from dev.server import free_port

HTTPS = SourceType.HTTPS


def url(host: str = "") -> str:
    return f"https://{host or new_id()}.example.com/{new_id()}.mp4"


async def is_full(slots: ImportSlots, library_id: str, kind: SourceType, address: str) -> bool:
    try:
        async with slots.hold(library_id, kind, address):
            return False
    except SlotsFullError:
        return True


async def test_downloads_are_bounded_per_library_and_host(settings: Settings) -> None:
    here, there = [ImportSlots(settings.redis_url, per_library=2, per_host=1) for _ in range(2)]  # two workers
    library, host = new_id(), new_id()
    async with here.hold(library, HTTPS, url(host)):
        assert await is_full(there, new_id(), HTTPS, url(host))
        assert not await is_full(there, new_id(), HTTPS, url())
        async with there.hold(library, HTTPS, url()):
            assert await is_full(here, library, HTTPS, url())
    assert not await is_full(there, library, HTTPS, url(host))


async def test_hosts_of_providers_are_not_bounded(settings: Settings) -> None:
    slots, address = ImportSlots(settings.redis_url, per_library=1, per_host=1), url()
    async with slots.hold(new_id(), SourceType.DROPBOX, address), slots.hold(new_id(), SourceType.DROPBOX, address):
        pass


async def test_without_redis_a_worker_bounds_its_own_downloads() -> None:
    slots, library = ImportSlots(SecretStr(f"redis://127.0.0.1:{free_port()}/0"), 1, 1), new_id()
    async with slots.hold(library, HTTPS, url()):
        assert await is_full(slots, library, HTTPS, url())


@dataclass
class FakeSource:
    """A source that is too slow."""

    downloads: list[str] = field(default_factory=list)

    async def probe(self, url: str) -> SourceInfo:
        raise NotImplementedError(url)

    async def download(self, url: str, *_: object, **__: object) -> SourceInfo:
        self.downloads.append(url)
        raise too_slow()


@dataclass(frozen=True)
class Import:
    """The import of a URL, as its workflow runs it."""

    activities: IngestActivities
    ref: JobRef
    video_id: str
    source: FakeSource

    async def fetch(self) -> ApplicationError:
        with pytest.raises(ApplicationError) as caught:
            await ActivityEnvironment().run(self.activities.fetch_source, self.ref, self.video_id)
        return caught.value


@pytest.fixture
async def started(
    api: httpx.AsyncClient, runtime: Runtime, accounts: Accounts, person: Person, tmp_path: Path
) -> Import:
    await ledger.grant(
        accounts.connection, person.library_id, millicredits=100_000, reference="test", now=system_clock()
    )
    response = await api.post("/videos", json={"source": {"type": "https", "url": url()}})
    assert response.status_code == 202, response.text
    video_id, source = response.json()["videoId"], FakeSource()
    unused: Any = None
    activities = IngestActivities(
        database=runtime.database,
        storage=runtime.storage,
        media_cache=LocalMediaCache(runtime.storage, tmp_path, max_bytes=1024**3),
        sandbox=unused,
        sources={HTTPS: cast("ImportSource", source)},
        youtube=unused,
        slots=ImportSlots(runtime.settings.redis_url, per_library=1, per_host=1),
        secret_box=runtime.secret_box,
        clock=system_clock,
        plans=runtime.authenticator.plans,
    )
    return Import(activities, JobRef(person.library_id, f"import_{video_id}", 1), video_id, source)


async def test_import_without_a_slot_is_tried_again_and_holds_nothing(started: Import) -> None:
    async with started.activities.slots.hold(started.ref.library_id, HTTPS, url()):
        error = await started.fetch()
    assert (error.non_retryable, error.next_retry_delay) == (False, SLOT_RETRY)
    assert started.source.downloads == []


async def test_slow_source_fails_the_job_and_returns_the_credits(
    api: httpx.AsyncClient, runtime: Runtime, accounts: Accounts, started: Import
) -> None:
    bundle = {"durationSeconds": 600, "shorts": {"kind": "shorts", "numClips": 3}}
    reserved = await api.post(f"/videos/{started.video_id}/reservations", json=bundle)
    body = {"kind": "shorts", "numClips": 3, "reservationId": reserved.json()["reservationId"]}
    assert (await api.post(f"/videos/{started.video_id}/shorts", json=body)).status_code == 202
    error = await started.fetch()
    assert error.non_retryable
    library_id = started.ref.library_id
    async with runtime.database.transaction(library_id) as connection:
        assert await lifecycle.fail(connection, started.ref, failure=to_failure(error), now=system_clock())
    job = (await api.get(f"/jobs/{started.ref.job_id}")).json()
    assert job["status"] == "failed"
    assert job["error"] == {
        "code": "UNSUPPORTED_SOURCE",
        "message": "The source sends its file too slowly to be imported.",
        "details": {"reason": "UNAVAILABLE"},
    }
    balance = await accounts.connection.fetchrow(
        "SELECT wallet, escrow FROM ledger_balances WHERE library_id = $1", library_id
    )
    assert balance is not None
    assert tuple(balance) == (100_000, 0)
