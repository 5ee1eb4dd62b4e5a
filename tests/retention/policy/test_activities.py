"""Applies retention policies on a real object store, database and Temporal."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta

import httpx
import pytest
from temporalio.testing import ActivityEnvironment

from cutroom.library.rules import source_path, video_path
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Database, insert
from cutroom.platform.ids import new_id
from cutroom.platform.settings import Settings
from cutroom.platform.storage.multipart import Multipart
from cutroom.retention.policy import activities as policy_activities
from cutroom.retention.policy.activities import RetentionActivities, RetentionRun
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person

FILES = {
    "source": 100,
    "mix.mka": 50,
    "speech.flac": 20,
    "poster.jpg": 3,
    "transcript/words.json": 4,
    "dubs/pt-plus/0-track.m4a": 30,
    "dubs/shared/lines/key.pcm": 7,
    "dubs/shared/mixed/key.flac": 9,
    "downloads/request/bundle.zip": 40,
}
DAY = timedelta(days=1)


@pytest.fixture
async def retention(
    settings: Settings, runtime: Runtime, worker_database: Database
) -> AsyncIterator[RetentionActivities]:
    multipart = Multipart.connect(settings)
    yield RetentionActivities(worker_database, runtime.storage, multipart, system_clock)
    await multipart.close()


async def add_video(accounts: Accounts, runtime: Runtime, library_id: str, *, created_at: datetime) -> str:
    video_id = new_id()
    ready = {"status": "ready", "import_status": "ready", "media_type": "video", "duration_seconds": 60.0}
    row = {"library_id": library_id, "id": video_id, "created_at": created_at, **ready}
    await insert(accounts.connection, "videos", row)
    for name, size in FILES.items():
        await runtime.storage.put(video_path(library_id, video_id, name), b"x" * size)
    return video_id


async def apply(retention: RetentionActivities, library_id: str, run_at: datetime) -> int:
    """Runs the activities as the workflow does; returns the number of pages."""
    run, pages, after = RetentionRun(library_id, run_at), 0, None
    while True:
        after = await ActivityEnvironment().run(retention.apply_retention, run, after)
        pages += 1
        if after is None:
            break
    await ActivityEnvironment().run(retention.finish_retention, run)
    return pages


async def names(runtime: Runtime, library_id: str, video_id: str) -> set[str]:
    folder = video_path(library_id, video_id, "")
    return {path.removeprefix(folder) for path in await runtime.storage.names(folder)}


async def test_only_old_intermediates_go_by_default(
    runtime: Runtime, accounts: Accounts, person: Person, retention: RetentionActivities, api: httpx.AsyncClient
) -> None:
    now, library_id = system_clock(), person.library_id
    video_id = await add_video(accounts, runtime, library_id, created_at=now)
    await apply(retention, library_id, now)
    assert await names(runtime, library_id, video_id) == set(FILES)
    measured = (await api.get("/library")).json()["storage"]
    assert {name: measured[name] for name in measured if name != "measuredAt"} == {
        "originalsBytes": 100,
        "intermediatesBytes": 50 + 20 + 9 + 40,
        "outputsBytes": 3 + 4 + 30 + 7,
    }
    await apply(retention, library_id, now + 9 * DAY)
    assert set(FILES) - await names(runtime, library_id, video_id) == {"downloads/request/bundle.zip"}
    preview = (await api.get("/library/retention/preview")).json()
    assert preview["intermediates"] == {"objects": 0, "bytes": 0}
    await apply(retention, library_id, now + 31 * DAY)
    gone = {"mix.mka", "speech.flac", "dubs/shared/mixed/key.flac", "downloads/request/bundle.zip"}
    assert set(FILES) - await names(runtime, library_id, video_id) == gone
    report = (await api.get("/library/retention/report")).json()
    assert report["intermediates"] == {"objects": 3, "bytes": 79}
    assert report["originals"] == report["outputs"] == {"objects": 0, "bytes": 0}
    assert [each["videoId"] for each in report["videos"]] == [video_id]
    assert (await api.get("/library")).json()["storage"]["intermediatesBytes"] == 0
    assert "originalDeletedAt" not in (await api.get(f"/videos/{video_id}")).json()


async def test_originals_and_outputs_go_after_their_times_and_documents_stay(
    runtime: Runtime, accounts: Accounts, person: Person, retention: RetentionActivities, api: httpx.AsyncClient
) -> None:
    now, library_id = system_clock(), person.library_id
    video_id = await add_video(accounts, runtime, library_id, created_at=now - 100 * DAY)
    source = {"type": "upload", "is_active": True, "size_bytes": 100, "created_at": now}
    source["storage_path"] = source_path(library_id, video_id)
    await insert(accounts.connection, "sources", {"library_id": library_id, "video_id": video_id, **source})
    dub = {"completion": "complete", "segments": [], "speakers": [], "edits": {}, "sync": {}, "updated_at": now}
    where = {"library_id": library_id, "video_id": video_id, "language": "pt", "product": "plus"}
    await insert(accounts.connection, "dubs", {**where, **dub, "audio_path": "x"})
    job = {"id": f"dub_{video_id}_pt_plus", "type": "dub", "status": "ready", "attempt": 1, "plan": {}}
    job |= {"depends_on": [], "progress": 100, "created_at": now, "updated_at": now, "finished_at": now}
    await insert(accounts.connection, "jobs", {**where, **job, "result": {"quality": "draft"}})
    await api.patch("/library/retention", json={"originalsDays": 90, "intermediatesDays": None, "outputsDays": 90})
    await apply(retention, library_id, now)
    kept = set(FILES) - {"source"}
    assert await names(runtime, library_id, video_id) == kept
    assert "originalDeletedAt" in (await api.get(f"/videos/{video_id}")).json()
    assert (await api.get(f"/videos/{video_id}/dubs/pt")).status_code == 200
    size = await accounts.connection.fetchval("SELECT size_bytes FROM sources WHERE video_id = $1", video_id)
    assert size == 0
    await apply(retention, library_id, now + 91 * DAY)
    assert await names(runtime, library_id, video_id) == {
        "mix.mka",
        "speech.flac",
        "poster.jpg",
        "transcript/words.json",
        "dubs/shared/mixed/key.flac",
    }
    assert (await api.get(f"/videos/{video_id}/dubs/pt")).status_code == 404
    assert (await api.get(f"/videos/{video_id}/dubs")).json() == {"dubs": []}
    assert "outputDeletedAt" in (await api.get(f"/jobs/{job['id']}")).json()
    assert await accounts.connection.fetchval("SELECT count(*) FROM dubs WHERE video_id = $1", video_id) == 0


async def test_videos_with_unfinished_jobs_and_in_the_trash_are_left_alone(
    runtime: Runtime, accounts: Accounts, person: Person, retention: RetentionActivities
) -> None:
    now, library_id = system_clock(), person.library_id
    busy, edited, trashed = [
        await add_video(accounts, runtime, library_id, created_at=now - 100 * DAY) for _ in range(3)
    ]
    await accounts.connection.execute("UPDATE videos SET deleted_at = $2 WHERE id = $1", trashed, now)
    state = {"status": "queued", "attempt": 1, "depends_on": [], "progress": 0, "created_at": now, "updated_at": now}
    jobs = [
        {"id": f"captions_{busy}_pt", "type": "captions", "video_id": busy, "plan": {}},
        {"id": f"redub_{new_id()}", "type": "redub", "plan": {"dubbed_video_id": edited}},
    ]
    for job in jobs:
        await insert(accounts.connection, "jobs", {"library_id": library_id, **state, **job})
    await apply(retention, library_id, now + 31 * DAY)
    for video_id in (busy, edited, trashed):
        assert await names(runtime, library_id, video_id) == set(FILES)


async def test_large_libraries_are_scanned_in_pages(
    runtime: Runtime,
    accounts: Accounts,
    person: Person,
    retention: RetentionActivities,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, library_id = system_clock(), person.library_id
    videos = [await add_video(accounts, runtime, library_id, created_at=now) for _ in range(3)]
    monkeypatch.setattr(policy_activities, "PAGE_OBJECTS", len(FILES) + 1)  # two videos a page
    usage = "SELECT DISTINCT video_id FROM storage_usage WHERE library_id = $1 AND video_id <> '' ORDER BY 1"
    assert await apply(retention, library_id, now) == 2
    assert [row[0] for row in await accounts.connection.fetch(usage, library_id)] == sorted(videos)
    await runtime.storage.delete_under(video_path(library_id, videos[1], ""))
    await apply(retention, library_id, now)
    assert [row[0] for row in await accounts.connection.fetch(usage, library_id)] == sorted({videos[0], videos[2]})


async def test_undeclared_objects_are_counted_and_kept(
    runtime: Runtime, accounts: Accounts, person: Person, retention: RetentionActivities
) -> None:
    now, library_id = system_clock(), person.library_id
    paths = [f"libraries/{library_id}/unheard-of/file", video_path(library_id, new_id(), "unheard-of")]
    for path in paths:
        await runtime.storage.put(path, b"x")
    await apply(retention, library_id, now + 5_000 * DAY)
    assert [await runtime.storage.size(path) for path in paths] == [1, 1]
    unknown = "SELECT unknown_objects FROM storage_scans WHERE library_id = $1"
    assert await accounts.connection.fetchval(unknown, library_id) == 2


async def test_abandoned_uploads_are_swept(
    runtime: Runtime, accounts: Accounts, person: Person, retention: RetentionActivities
) -> None:
    now, library_id, session_id = system_clock(), person.library_id, new_id()
    abandoned, live = (f"libraries/{library_id}/uploads/{each}/part" for each in (new_id(), session_id))
    path = source_path(library_id, new_id())
    ids = [await retention.multipart.create(path, content_type="video/mp4", owner=each) for each in ("old", "live")]
    session = {
        "video_id": new_id(),
        "token_hash": b"hash",
        "state": "open",
        "storage_path": path,
        "content_type": "video/mp4",
        "multipart_id": ids[1],
        "part_bytes": 1,
        "part_count": 0,
        "received_bytes": 0,
        "crc32c": 0,
        "partial_parts": [],
        "created_at": now,
        "expires_at": now + 100 * DAY,
    }
    await insert(accounts.connection, "upload_sessions", {"library_id": library_id, "id": session_id, **session})
    for each in (abandoned, live):
        await runtime.storage.put(each, b"part")
    await apply(retention, library_id, now + 6 * DAY)
    assert await runtime.storage.size(abandoned) == 4
    assert len(await retention.multipart.list_uploads(f"libraries/{library_id}/")) == 2
    await apply(retention, library_id, now + 8 * DAY)
    assert (await runtime.storage.size(abandoned), await runtime.storage.size(live)) == (None, 4)
    remaining = await retention.multipart.list_uploads(f"libraries/{library_id}/")
    assert [each.upload_id for each in remaining] == [ids[1]]


async def test_a_retry_does_not_lower_the_report(
    runtime: Runtime,
    accounts: Accounts,
    person: Person,
    retention: RetentionActivities,
    monkeypatch: pytest.MonkeyPatch,
    api: httpx.AsyncClient,
) -> None:
    """The process dies after the first deletion; the retry deletes the rest."""
    now, library_id = system_clock(), person.library_id
    video_id = await add_video(accounts, runtime, library_id, created_at=now)
    deleted: list[str] = []

    async def delete(self: object, path: str) -> None:  # noqa: ARG001
        if deleted:
            raise OSError("killed")
        deleted.append(path)
        await original(runtime.storage, path)

    original = type(runtime.storage).delete
    with monkeypatch.context() as patch:
        patch.setattr(type(runtime.storage), "delete", delete)
        with pytest.raises(OSError, match="killed"):
            await apply(retention, library_id, now + 31 * DAY)
    await apply(retention, library_id, now + 31 * DAY)
    assert (await api.get("/library/retention/report")).json()["intermediates"] == {"objects": 4, "bytes": 119}
    assert "mix.mka" not in await names(runtime, library_id, video_id)
