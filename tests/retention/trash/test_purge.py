"""The purge: every row and object of a video goes, everything else stays."""

from datetime import timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import Boolean, Column, Date, DateTime, Float, Integer, LargeBinary
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from temporalio.testing import ActivityEnvironment

from cutroom.entrypoints.schema import METADATA
from cutroom.jobs.worker import WorkerContext
from cutroom.library.rules import video_path
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.retention.trash import activities
from cutroom.retention.trash.activities import TrashActivities, VideoRef
from cutroom.retention.trash.purge import list_video_tables
from dev.scratch import Accounts, Person
from tests.credits.conftest import charge_for
from tests.credits.job_harness import JobHarness
from tests.library.conftest import AddRow
from tests.retention.trash.test_routes import DE

# The ledger refers to them; they have no content of the video once it is purged.
KEPT_TABLES = {"jobs", "escrow_lines"}
CASCADED = {"cast_appearances", "cast_exclusions"}  # deleted with the transcript that they refer to
# Values that check constraints ask for.
CHECKED = {
    "output_copies.status": "pending",
    "cast_appearances.source": "confirmed",
    "cast_appearances.embedding_status": "none",
    "review_comments.author_kind": "guest",
    "review_links.role": "view",
    "sources.type": "https",
    "upload_sessions.state": "complete",
    "playbacks.state": "ready",
    "captions.quality": "draft",
    "dubs.completion": "complete",
    "playback_tracks.kind": "video",
    "storage_usage.kind": "output",
    "transcript_revisions.kind": "edit",
}


VALUES: tuple[tuple[type[Any], Any], ...] = (
    (Boolean, False),
    (Date, system_clock().date()),
    (DateTime, system_clock()),
    (Integer, 1),
    (Float, 1.0),
    (JSONB, []),
    (ARRAY, []),
)


def value_of(column: "Column[Any]") -> Any:  # noqa: ANN401 (a column's value)
    """Any valid value of a column."""
    if checked := CHECKED.get(f"{column.table.name}.{column.name}"):
        return checked
    if isinstance(column.type, LargeBinary):
        return new_id().encode()  # hashes are unique
    found = [value for kind, value in VALUES if isinstance(column.type, kind)]
    return found[0] if found else f"{column.name}-{new_id()}"


async def fill(accounts: Accounts, library_id: str, video_id: str) -> None:
    """Insert a row of the video into every table of the schema that has a column for one."""
    member = {"library_id": library_id, "id": new_id(), "name": "Ana", "created_at": system_clock()}
    await insert(accounts.connection, "cast_members", member)
    for table in METADATA.sorted_tables:
        if "video_id" not in table.columns or table.name in KEPT_TABLES:
            continue
        row = {
            column.name: value_of(column)
            for column in table.columns
            if not (column.nullable or column.server_default is not None or column.identity is not None)
            or column.name == "completed_at"
        }
        if "member_id" in row:
            row["member_id"] = member["id"]
        await insert(accounts.connection, table.name, row | {"library_id": library_id, "video_id": video_id})


async def tables_with(accounts: Accounts, video_id: str) -> set[str]:
    """Tables of the database, whatever the code declares, with a row of the video."""
    names = await accounts.connection.fetch(
        """SELECT c.table_name FROM information_schema.columns c JOIN information_schema.tables t USING (table_name)
           WHERE c.column_name = 'video_id' AND c.table_schema = 'public' AND t.table_type = 'BASE TABLE'"""
    )
    found = set()
    for (name,) in names:
        if await accounts.connection.fetchval(f"SELECT true FROM {name} WHERE video_id = $1 LIMIT 1", video_id):  # noqa: S608
            found.add(name)
    return found


async def purge(context: WorkerContext, library_id: str, video_id: str) -> None:
    trash, video = TrashActivities(context), VideoRef(library_id, video_id)
    environment = ActivityEnvironment()
    for step in (trash.release_external_copies, trash.delete_video_objects, trash.delete_video_rows):
        await environment.run(step, video)
        await environment.run(step, video)  # as after a crash


async def test_purge_leaves_nothing_of_the_video_and_all_of_others(
    context: WorkerContext, api: httpx.AsyncClient, accounts: Accounts, person: Person, add: AddRow
) -> None:
    library_id = person.library_id
    gone, stays = [await add("videos", status="ready", title="x") for _ in range(2)]
    for each in (gone, stays):
        await fill(accounts, library_id, each)
        event = {"library_id": library_id, "id": new_id(), "type": "video.ready", "created_at": system_clock()}
        await insert(accounts.connection, "events", event | {"payload": {"id": each, "title": "x"}})
        await context.storage.put(video_path(library_id, each, "dubs/de/line.wav"), b"sound")
    declared = set(await list_video_tables(accounts.connection)) | CASCADED
    assert await tables_with(accounts, gone) == declared
    assert (await api.delete(f"/videos/{gone}", params={"permanently": "true"})).status_code == 204
    await purge(context, library_id, gone)
    assert await tables_with(accounts, gone) == set()
    assert await tables_with(accounts, stays) == declared
    assert await context.storage.names(video_path(library_id, gone, "")) == []
    assert len(await context.storage.names(video_path(library_id, stays, ""))) == 1
    remaining = await accounts.connection.fetch("SELECT id FROM videos WHERE library_id = $1", library_id)
    assert [row["id"] for row in remaining] == [stays]
    events = await accounts.connection.fetch("SELECT payload FROM events WHERE library_id = $1", library_id)
    assert [row["payload"]["id"] for row in events] == [stays]


async def test_jobs_of_a_purged_video_keep_their_charge_and_nothing_else(
    harness: JobHarness, context: WorkerContext, api: httpx.AsyncClient, accounts: Accounts
) -> None:
    library_id, video_id = harness.context.library_id, harness.context.video_id
    await harness.request(charge_for(DE))
    await harness.start()
    await harness.complete()
    balances = await harness.balances()
    await api.delete(f"/videos/{video_id}", params={"permanently": "true"})
    await purge(context, library_id, video_id)
    row = await accounts.connection.fetchrow("SELECT plan, result, charge FROM jobs WHERE library_id = $1", library_id)
    assert row is not None
    assert row["plan"] == {}
    assert row["result"].keys() == {"receipt"}
    assert row["charge"] is not None
    assert await harness.balances() == balances  # the fixture checks the whole ledger
    assert (await api.get(f"/jobs/{harness.key().id}")).status_code == 200


async def test_storage_total_shrinks_with_the_purge(
    context: WorkerContext, api: httpx.AsyncClient, accounts: Accounts, person: Person, add: AddRow
) -> None:
    video = await add("videos", status="ready")
    await fill(accounts, person.library_id, video)
    await accounts.connection.execute("UPDATE sources SET size_bytes = 700 WHERE video_id = $1", video)
    usage = {"library_id": person.library_id, "source_bytes": 1_000}
    await insert(accounts.connection, "library_usage", usage)
    await api.delete(f"/videos/{video}", params={"permanently": "true"})
    await purge(context, person.library_id, video)
    assert (await api.get("/library")).json()["usage"]["storageBytes"] == 300


@pytest.mark.parametrize(("days", "is_due"), [(29.99, False), (30.01, True)])
async def test_trash_is_emptied_after_thirty_days(  # noqa: PLR0917
    context: WorkerContext,
    api: httpx.AsyncClient,
    accounts: Accounts,
    person: Person,
    add: AddRow,
    monkeypatch: pytest.MonkeyPatch,
    days: float,
    is_due: bool,  # noqa: FBT001 (a case)
) -> None:
    monkeypatch.setattr(activities, "BATCH", 1)
    videos = [await add("videos", status="ready") for _ in range(2)]
    for each in videos:
        await api.delete(f"/videos/{each}")
    await accounts.connection.execute(
        "UPDATE videos SET deleted_at = $2 WHERE library_id = $1",
        person.library_id,
        system_clock() - timedelta(days=days),
    )
    await ActivityEnvironment().run(TrashActivities(context).start_purges)
    rows = await accounts.connection.fetch("SELECT workflow_id FROM outbox WHERE library_id = $1", person.library_id)
    assert {row["workflow_id"] for row in rows} == ({f"purge_{each}" for each in videos} if is_due else set())
    assert len((await api.get("/trash")).json()["videos"]) == (0 if is_due else 2)
