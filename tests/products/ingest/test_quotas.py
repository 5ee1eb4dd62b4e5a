"""Storage and minutes of a library: when a video is created, its file downloaded, and inspected."""

import asyncio
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from cutroom.accounts.service import set_quotas
from cutroom.errors import CutroomError
from cutroom.jobs.lifecycle import JobRef
from cutroom.library.quotas import load_state
from cutroom.library.rules import source_path
from cutroom.library.usage import Usage, add_usage
from cutroom.media.local_cache import LocalMediaCache
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.products.ingest import routes, service
from cutroom.products.ingest.activities import FileSink, IngestActivities
from cutroom.products.ingest.import_slots import ImportSlots
from cutroom.products.ingest.rules import SourceType
from cutroom.products.ingest.sources import ImportSource, SourceInfo
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.jobs.test_library_summary import media_of

UPLOAD = {"source": {"type": "upload"}}
QUOTA_BYTES = 1_000


@dataclass(frozen=True)
class FakeSource:
    """A source that sends a file of a given size."""

    size_bytes: int

    async def probe(self, url: str) -> SourceInfo:
        raise NotImplementedError(url)

    async def download(self, _url: str, to: FileSink, **_: object) -> SourceInfo:
        await to.write(bytes(self.size_bytes))
        return SourceInfo(content_type="video/mp4", title="A talk")


async def add(accounts: Accounts, person: Person, **added: int) -> None:
    await add_usage(accounts.connection, person.library_id, Usage(**added))


async def quotas_of(api: httpx.AsyncClient) -> dict[str, Any]:
    found: dict[str, Any] = (await api.get("/library")).json()["quotas"]
    return found


async def test_full_library_rejects_videos_before_their_source_is_contacted(
    api: httpx.AsyncClient, accounts: Accounts, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def contacted(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(routes, "run_preflight", contacted)
    await set_quotas(accounts.connection, person.library_id, quotas={"storage_bytes": QUOTA_BYTES})
    await add(accounts, person, source_bytes=QUOTA_BYTES)
    url = {"source": {"type": "https", "url": f"https://example.com/{new_id()}.mp4"}}
    for body in (UPLOAD, url):
        error = (await api.post("/videos", json=body)).json()["error"]
        assert (error["code"], error["details"]) == (
            "FAILED_PRECONDITION",
            {"reason": "quota", "quota": "storageBytes", "limit": QUOTA_BYTES, "used": QUOTA_BYTES},
        )
    assert (await quotas_of(api))["storageBytes"] == {"limit": QUOTA_BYTES, "used": QUOTA_BYTES}


async def test_minutes_are_counted_by_month(api: httpx.AsyncClient, accounts: Accounts, person: Person) -> None:
    await set_quotas(accounts.connection, person.library_id, quotas={"media_minutes": 10})
    await add(accounts, person, imported_milliseconds=600_000)
    refused = await api.post("/videos", json=UPLOAD)
    assert (refused.status_code, refused.json()["error"]["details"]["quota"]) == (409, "mediaMinutes")
    assert (await quotas_of(api))["mediaMinutes"] == {"limit": 10, "used": 10}
    await accounts.connection.execute(
        "UPDATE library_usage SET month = $2 WHERE library_id = $1", person.library_id, date(2020, 1, 1)
    )
    assert (await quotas_of(api))["mediaMinutes"] == {"limit": 10, "used": 0}
    assert (await api.post("/videos", json=UPLOAD)).status_code == 202
    await add(accounts, person, imported_milliseconds=61_000)
    assert (await quotas_of(api))["mediaMinutes"] == {"limit": 10, "used": 1}
    assert (await api.get("/library")).json()["usage"]["importedMinutes"] == 11.017


async def test_outputs_of_the_last_scan_count_as_storage(
    api: httpx.AsyncClient, accounts: Accounts, person: Person
) -> None:
    await set_quotas(accounts.connection, person.library_id, quotas={"storage_bytes": QUOTA_BYTES})
    await accounts.connection.execute(
        """INSERT INTO storage_scans (library_id, originals_bytes, intermediates_bytes, outputs_bytes, unknown_objects,
               measured_at) VALUES ($1, 0, 5000, 1000, 0, $2)""",
        person.library_id,
        system_clock(),
    )
    assert (await api.post("/videos", json=UPLOAD)).status_code == 409


async def test_concurrent_imports_cannot_pass_the_minutes_together(
    api: httpx.AsyncClient, runtime: Runtime, accounts: Accounts, person: Person
) -> None:
    await set_quotas(accounts.connection, person.library_id, quotas={"media_minutes": 10})
    videos = [(await api.post("/videos", json=UPLOAD)).json()["videoId"] for _ in range(5)]

    async def inspect(video_id: str) -> bool:
        """The transaction of `inspect_source`."""
        try:
            async with runtime.database.transaction(person.library_id) as connection:
                await service.record_media(
                    connection, person.library_id, video_id, info=media_of(240), size_bytes=1, sha256=b"hash"
                )
                (await load_state(connection, person.library_id, runtime.authenticator.plans)).require_within()
        except CutroomError:
            return False
        return True

    passed = await asyncio.gather(*(inspect(video_id) for video_id in videos))
    assert sum(passed) == 2
    assert (await quotas_of(api))["mediaMinutes"] == {"limit": 10, "used": 8}


async def test_downloads_that_exceed_the_storage_together_fail_and_are_deleted(
    api: httpx.AsyncClient, runtime: Runtime, accounts: Accounts, person: Person, tmp_path: Path
) -> None:
    await set_quotas(accounts.connection, person.library_id, quotas={"storage_bytes": QUOTA_BYTES})
    unused: Any = None
    activities = IngestActivities(
        database=runtime.database,
        storage=runtime.storage,
        media_cache=LocalMediaCache(runtime.storage, tmp_path, max_bytes=1024**3),
        sandbox=unused,
        sources={SourceType.HTTPS: cast("ImportSource", FakeSource(400))},
        youtube=unused,
        slots=ImportSlots(runtime.settings.redis_url, per_library=8, per_host=8),
        secret_box=runtime.secret_box,
        clock=system_clock,
        plans=runtime.authenticator.plans,
    )
    videos = []
    for _ in range(4):
        body = {"source": {"type": "https", "url": f"https://example.com/{new_id()}.mp4"}}
        videos.append((await api.post("/videos", json=body)).json()["videoId"])

    async def fetch(video_id: str) -> str:
        ref = JobRef(person.library_id, f"import_{video_id}", 1)
        try:
            await ActivityEnvironment().run(activities.fetch_source, ref, video_id)
        except ApplicationError as error:
            is_stored = await runtime.storage.size(source_path(person.library_id, video_id)) is not None
            return f"{error.type} {error.details[0]['reason']} {is_stored} {error.non_retryable}"
        return "stored"

    outcomes = await asyncio.gather(*(fetch(video_id) for video_id in videos))
    assert sorted(outcomes) == [*["FAILED_PRECONDITION quota False True"] * 2, "stored", "stored"]
    assert (await quotas_of(api))["storageBytes"] == {"limit": QUOTA_BYTES, "used": 800}
