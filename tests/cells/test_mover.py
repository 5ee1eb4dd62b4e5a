"""Moves between two real cells: rows, objects, people and workflows; interruption and rollback."""

from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from cutroom.accounts import moving as accounts
from cutroom.accounts.moving import EmailTakenError
from cutroom.cells.directory import Phase
from cutroom.cells.move import gate, mover, rows
from cutroom.cells.move.cell_access import load_cell_settings
from cutroom.cells.move.mover import Mover, NotMovableError
from cutroom.cells.move.tables import ADDED_LATER, library_tables
from cutroom.platform.ids import new_id
from cutroom.platform.payload_codec import payloads_of
from dev.scratch import Accounts, Person, environment_of
from tests.cells.conftest import TestCells
from tests.support.relations import fill_empty_tables

FOLDER = "INSERT INTO folders (library_id, id, name, depth, created_at) VALUES ($1, $2, $3, 1, now())"
SESSION = """INSERT INTO sessions (id, user_id, hash, chosen_library, created_at, seen_at, expires_at)
             VALUES ($1, $2, $3, $4, now(), now(), now() + interval '1 day')"""
UPLOAD = """INSERT INTO upload_sessions (library_id, id, video_id, token_hash, state, storage_path, content_type,
                multipart_id, part_bytes, part_count, received_bytes, crc32c, partial_parts, created_at, expires_at)
            VALUES ($1, $2, $2, '', 'open', 'x', 'video/mp4', 'm', 1, 0, 0, 0, '[]', now(), now() + interval '1 day')"""


@pytest.fixture(autouse=True)
def _no_waiting_for_writers(monkeypatch: pytest.MonkeyPatch) -> None:
    """No worker runs here, so none writes after a move."""
    monkeypatch.setattr(mover, "WRITERS_WAIT", timedelta(0))


@pytest.fixture
async def person(cells: TestCells) -> Person:
    return await cells.red.accounts.person()


async def start(cells: TestCells, library_id: str) -> Mover:
    return Mover(
        cells.directory,
        await cells.directory.start_move(library_id, source="red", target="blue"),
        cells.red.access,
        cells.blue.access,
    )


async def start_back(cells: TestCells, library_id: str) -> Mover:
    move = await cells.directory.start_move(library_id, source="blue", target="red")
    return Mover(cells.directory, move, cells.blue.access, cells.red.access)


async def checksums(of: Accounts, library_id: str) -> dict[str, tuple[object, ...]]:
    found = {}
    for table in await library_tables(of.connection):
        await of.connection.execute("SET timezone = 'UTC'")
        row = await of.connection.fetchrow(table.checksum, library_id)
        assert row is not None
        found[table.name] = tuple(row)[1:]
    return found


async def test_every_table_with_a_library_is_moved(cells: TestCells) -> None:
    listed = await cells.red.accounts.connection.fetch(
        """SELECT c.table_name FROM information_schema.columns c JOIN information_schema.tables t USING (table_name)
           WHERE c.table_schema = 'public' AND t.table_schema = 'public' AND c.column_name = 'library_id'
             AND t.table_type = 'BASE TABLE'
             AND NOT (SELECT p.relispartition FROM pg_class p WHERE p.oid = c.table_name::text::regclass)"""
    )
    moved = {table.name for table in await library_tables(cells.red.accounts.connection)}
    assert moved | ADDED_LATER == {row["table_name"] for row in listed} | {"libraries"}


async def test_library_moves_with_its_rows_objects_and_people(cells: TestCells, person: Person) -> None:
    library_id, red, blue = person.library_id, cells.red, cells.blue
    key = await red.accounts.key(person)
    for name in ("first", "second"):
        await red.access.pool.execute(FOLDER, library_id, new_id(), name)
        await red.access.storage.put(f"libraries/{library_id}/{name}", name.encode())
    await red.access.pool.execute(UPLOAD, library_id, new_id())
    await red.access.pool.execute(SESSION, new_id(), person.user_id, library_id.encode(), library_id)
    before = await checksums(red.accounts, library_id)
    result = await (await start(cells, library_id)).run()
    after = await checksums(blue.accounts, library_id)
    assert {name: after[name] for name in before if name not in {"upload_sessions", "data_keys"}} == {
        name: row for name, row in before.items() if name not in {"upload_sessions", "data_keys"}
    }
    assert before["folders"][0] == 2
    assert await blue.access.pool.fetchval("SELECT state FROM upload_sessions WHERE library_id = $1", library_id) == (
        "aborted"
    )
    assert sorted(await blue.access.storage.names(f"libraries/{library_id}/")) == [
        f"libraries/{library_id}/first",
        f"libraries/{library_id}/second",
    ]
    sessions = await blue.access.pool.fetch("SELECT chosen_library FROM sessions WHERE user_id = $1", person.user_id)
    assert [row["chosen_library"] for row in sessions] == [library_id]
    assert result.object_bytes == len("first") + len("second")
    assert all(count == 0 for count, _ in (await checksums(red.accounts, library_id)).values())
    assert await red.access.storage.names(f"libraries/{library_id}/") == []
    assert await red.access.pool.fetchval("SELECT count(*) FROM users WHERE id = $1", person.user_id) == 0
    placed = await cells.directory.placement(library_id)
    assert placed is not None
    assert placed.cell == "blue"
    async with blue.api.transaction(library_id):
        pass
    assert key.id  # its row has moved with the others
    assert await blue.access.pool.fetchval("SELECT 1 FROM api_keys WHERE id = $1", key.id) == 1


async def test_library_moves_back_and_keeps_its_revisions(cells: TestCells, person: Person) -> None:
    folder_id = new_id()
    await cells.red.access.pool.execute(FOLDER, person.library_id, folder_id, "first")
    await cells.red.access.pool.execute("UPDATE folders SET name = 'second' WHERE id = $1", folder_id)
    await (await start(cells, person.library_id)).run()
    await cells.blue.access.pool.execute("UPDATE folders SET name = 'third' WHERE id = $1", folder_id)
    await (await start_back(cells, person.library_id)).run()
    row = await cells.red.access.pool.fetchrow("SELECT name, revision FROM folders WHERE id = $1", folder_id)
    assert tuple(row or ()) == ("third", 3)


async def test_changes_after_the_snapshot_are_copied(cells: TestCells, person: Person) -> None:
    """Saved, changed and deleted rows, with the revision that they have; and objects."""
    pool, library_id = cells.red.access.pool, person.library_id
    kept, gone, new = new_id(), new_id(), new_id()
    for folder_id in (kept, gone):
        await pool.execute(FOLDER, library_id, folder_id, "before")
    moving = await start(cells, library_id)
    await moving._check()
    await moving._copy()
    await pool.execute("UPDATE folders SET name = 'after' WHERE id = $1", kept)
    await pool.execute("DELETE FROM folders WHERE id = $1", gone)
    await pool.execute(FOLDER, library_id, new, "after")
    await cells.red.access.storage.put(f"libraries/{library_id}/new", b"new")
    await moving._switch()
    found = await cells.blue.access.pool.fetch(
        "SELECT id, name, revision FROM folders WHERE library_id = $1 ORDER BY id", library_id
    )
    assert [tuple(row) for row in found] == sorted([(kept, "after", 2), (new, "after", 1)])
    assert await cells.blue.access.storage.names(f"libraries/{library_id}/") == [f"libraries/{library_id}/new"]
    again = await cells.directory.unfinished_move(library_id)
    assert again is not None
    assert again.phase is Phase.ERASING
    moving.move = again
    await moving.run()


async def test_row_of_every_table_is_copied_and_compared(cells: TestCells, person: Person) -> None:
    """Arbitrary rows, so that a new table or type is covered without a change here."""
    transaction = cells.red.accounts.connection.transaction()
    other = cells.blue.accounts.connection.transaction()
    await transaction.start()
    await other.start()
    try:
        source, target = cells.red.accounts.connection, cells.blue.accounts.connection
        await fill_empty_tables(source, person.library_id)
        await fill_empty_tables(target, (await cells.blue.accounts.person()).library_id)  # drops the same constraints
        await accounts.copy_users(source, target, person.library_id)
        tables = await library_tables(source)
        for table in tables:
            await rows.copy_table(source, target, table, person.library_id)
            assert await target.fetchval(table.count, person.library_id, column=1) == 1, table.name
        await rows.verify(source, target, tables, person.library_id)
        await target.execute("UPDATE folders SET name = 'changed' WHERE library_id = $1", person.library_id)
        with pytest.raises(rows.CopyMismatchError, match="folders"):
            await rows.verify(source, target, tables, person.library_id)
    finally:
        await transaction.rollback()
        await other.rollback()


async def test_running_workflow_starts_again_in_the_target(cells: TestCells, person: Person) -> None:
    library_id, workflow_id = person.library_id, f"canary_{new_id()}"
    with payloads_of(library_id):
        handle = await cells.red.access.temporal.start_workflow(
            "canary", {"library_id": library_id, "word": "hello"}, id=workflow_id, task_queue="nobody"
        )
    await cells.red.access.pool.execute(
        "INSERT INTO started_workflows (library_id, workflow_id) VALUES ($1, $2)", library_id, workflow_id
    )
    result = await (await start(cells, library_id)).run()
    assert result.restarted_workflows == 1
    row = await cells.blue.access.pool.fetchrow(
        """SELECT workflow, workflow_id, queue, argument ->> 'word' AS word, is_job FROM outbox
           WHERE library_id = $1""",
        library_id,
    )
    assert tuple(row or ()) == ("canary", workflow_id, "nobody", "hello", False)
    with pytest.raises(Exception, match="not found"):
        await handle.describe()  # terminated, and its history deleted, so that it may return under its id


async def test_failed_move_leaves_the_library_where_it_was(
    cells: TestCells, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def differ(*_arguments: object) -> None:
        raise rows.CopyMismatchError("folders")

    await cells.red.access.pool.execute(FOLDER, person.library_id, new_id(), "kept")
    monkeypatch.setattr(rows, "verify", differ)
    with pytest.raises(ExceptionGroup):
        await (await start(cells, person.library_id)).run()
    assert await cells.directory.unfinished_move(person.library_id) is None
    assert await cells.directory.placement(person.library_id) is None
    assert (await checksums(cells.blue.accounts, person.library_id))["folders"][0] == 0
    async with cells.red.api.transaction(person.library_id) as connection:
        assert await connection.fetchval("SELECT count(*) FROM folders") == 1


async def test_mover_that_died_after_the_flip_is_resumed(cells: TestCells, person: Person) -> None:
    moving = await start(cells, person.library_id)
    await moving._copy()
    await gate.freeze(cells.red.access.pool, person.library_id)
    await moving._copy_rest()
    await gate.leave(cells.red.access.pool, person.library_id)
    await cells.directory.flip(moving.move)
    [unfinished] = [each for each in await cells.directory.unfinished_moves() if each.library_id == person.library_id]
    resumed = Mover(cells.directory, unfinished, cells.red.access, cells.blue.access)
    with pytest.raises(NotMovableError):
        await resumed.roll_back()
    await resumed.run()
    async with cells.blue.api.transaction(person.library_id):
        pass
    assert await cells.red.access.pool.fetchval("SELECT 1 FROM libraries WHERE id = $1", person.library_id) is None


async def test_mover_that_died_while_frozen_starts_over(cells: TestCells, person: Person) -> None:
    moving = await start(cells, person.library_id)
    await moving._copy()
    await gate.freeze(cells.red.access.pool, person.library_id)
    await moving._copy_rest()
    await gate.leave(cells.red.access.pool, person.library_id)
    unfinished = await cells.directory.unfinished_move(person.library_id)
    assert unfinished is not None
    await Mover(cells.directory, unfinished, cells.red.access, cells.blue.access).run()
    placed = await cells.directory.placement(person.library_id)
    assert placed is not None
    assert placed.cell == "blue"


async def test_second_mover_is_refused(cells: TestCells, person: Person) -> None:
    async with cells.directory.exclusive(person.library_id):
        with pytest.raises(Exception, match="another process"):
            async with cells.directory.exclusive(person.library_id):
                pass


async def test_member_whose_address_is_taken_stops_the_move(cells: TestCells, person: Person) -> None:
    other = await cells.blue.accounts.person()
    await cells.blue.access.pool.execute("UPDATE users SET email = $2 WHERE id = $1", other.user_id, person.email)
    with pytest.raises(EmailTakenError):
        await (await start(cells, person.library_id)).run()
    async with cells.red.api.transaction(person.library_id):
        pass


async def test_people_of_a_workspace_keep_what_they_have_elsewhere(cells: TestCells, person: Person) -> None:
    workspace_id = await cells.red.accounts.workspace(person)
    await cells.red.access.pool.execute(SESSION, new_id(), person.user_id, workspace_id.encode(), workspace_id)
    personal = await cells.red.accounts.key(person)
    await (await start(cells, workspace_id)).run()
    session = await cells.red.access.pool.fetchval(
        "SELECT chosen_library FROM sessions WHERE user_id = $1", person.user_id
    )
    assert session == person.library_id
    assert await cells.red.access.pool.fetchval("SELECT 1 FROM api_keys WHERE id = $1", personal.id) == 1
    assert await cells.blue.access.pool.fetchval("SELECT 1 FROM users WHERE id = $1", person.user_id) == 1
    await (await start_back(cells, workspace_id)).run()
    assert await cells.blue.access.pool.fetchval("SELECT 1 FROM users WHERE id = $1", person.user_id) is None


async def test_settings_of_a_cell_are_read_from_its_file(cells: TestCells, tmp_path: Path) -> None:
    variables = environment_of(cells.blue.settings)
    own = {name: value for name, value in variables.items() if name.startswith("CUTROOM_")}
    (tmp_path / "blue.env").write_text("".join(f"{name}={value}\n" for name, value in own.items()))
    settings = load_cell_settings(tmp_path, "blue")
    assert settings.s3_bucket == cells.blue.settings.s3_bucket
    assert isinstance(settings.owner_database_url, SecretStr)
