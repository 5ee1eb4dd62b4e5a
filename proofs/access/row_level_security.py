"""The second wall: what the application's database role can see and change when no code confines it."""

import json
from dataclasses import dataclass
from typing import Any

import asyncpg

from cutroom.accounts.plans import load_plans
from cutroom.accounts.principals import Authenticator
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection, Database
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.settings import Settings
from proofs.access.responses import Tally
from proofs.access.tables import Relation, read_relations
from proofs.stage.access_fixtures import Holding

# Tables without a library_id: which of their rows belong to library $1.
OWN_ROWS = {
    "libraries": "id = $1",
    "users": "id IN (SELECT user_id FROM members WHERE library_id = $1)",
}
# The same for every library, and of nobody.
SHARED = frozenset({"alembic_version", "service_voices", "translation_routes"})
APPEND_ONLY = ("ledger_transactions", "ledger_entries")


@dataclass(frozen=True, slots=True)
class Wall:
    """The owner of the schema looks over it; the application stands before it."""

    tally: Tally
    schema_owner: Connection
    application: Connection
    owner: Holding
    other: Holding

    async def prove(self) -> int:
        """Check everything; the number of foreign rows that could be seen."""
        relations = await read_relations(self.schema_owner)
        await self._check_role()
        foreign_rows = 0
        for relation in relations:
            self.tally.check(relation.name, relation.fault)
            foreign_rows += await self._check_sight(relation)
            if relation.is_table and relation.has_library:
                await self._check_changes(relation)
        for table in APPEND_ONLY:
            await self._check_append_only(table)
        return foreign_rows

    async def _enter(self, library_id: str) -> None:
        await self.application.execute("SELECT set_config('cutroom.library_id', $1, false)", library_id)

    async def _check_role(self) -> None:
        role = await self.application.fetchrow(
            "SELECT rolsuper OR rolbypassrls OR rolcreaterole AS mighty FROM pg_roles WHERE rolname = current_user"
        )
        mighty = role is None or role["mighty"]
        self.tally.check("the application's role", "it can step around row security" if mighty else None)
        open_doors = await self.schema_owner.fetch(
            """SELECT p.oid::regprocedure::text AS door FROM pg_proc p
               WHERE p.pronamespace = 'public'::regnamespace AND p.prosecdef
                 AND (has_function_privilege('public', p.oid, 'EXECUTE')
                      OR NOT coalesce(array_to_string(p.proconfig, ' ') LIKE '%search_path=%', false))"""
        )
        doors = ", ".join(row["door"] for row in open_doors)
        self.tally.check("the doors through the wall", f"not shut to strangers: {doors}" if doors else None)

    async def _check_sight(self, relation: Relation) -> int:
        """Count without any filter: outside any library, and inside another one."""
        total = 0
        for library_id in ("", self.other.library_id):
            await self._enter(library_id)
            try:
                seen = int(await self.application.fetchval(f"SELECT count(*) FROM {relation.name}"))  # noqa: S608
            except asyncpg.InsufficientPrivilegeError:
                seen = 0
            foreign = seen - await self._own_rows(relation, library_id, seen=seen)
            place = "inside another library" if library_id else "outside any library"
            self.tally.check(f"SELECT {relation.name} {place}", f"{foreign} foreign rows are seen" if foreign else None)
            total += abs(foreign)
        return total

    async def _own_rows(self, relation: Relation, library_id: str, *, seen: int) -> int:
        if relation.name in SHARED:
            return seen
        condition = "library_id = $1" if relation.has_library else OWN_ROWS.get(relation.name, "$1::text IS NULL")
        sql = f"SELECT count(*) FROM {relation.name} WHERE {condition}"  # noqa: S608 (names from the catalogue)
        own = int(await self.schema_owner.fetchval(sql, library_id))
        return own if relation.readable else 0

    async def _check_changes(self, relation: Relation) -> None:
        """Change, remove, add and give away rows across the border; nothing may come of it."""
        table, foreign = relation.name, self.owner.library_id
        row = await self.schema_owner.fetchval(
            f"SELECT to_jsonb(t)::text FROM {table} t WHERE library_id = $1 LIMIT 1",  # noqa: S608
            foreign,
        )
        self.tally.check(table, None if row else "the owner has no row in it, so nothing was proved")
        columns = ", ".join(relation.columns)
        attempts: list[tuple[str, list[Any]]] = [
            (f"UPDATE {table} SET library_id = library_id WHERE library_id = $1", [foreign]),  # noqa: S608
            (f"DELETE FROM {table} WHERE library_id = $1", [foreign]),  # noqa: S608
            (
                f"INSERT INTO {table} ({columns}) OVERRIDING SYSTEM VALUE "  # noqa: S608
                f"SELECT {columns} FROM json_populate_record(NULL::{table}, $1::text::json)",
                [row or "{}"],
            ),
            (f"UPDATE {table} SET library_id = $1", [foreign]),  # noqa: S608
        ]
        for library_id in ("", self.other.library_id):
            await self._enter(library_id)
            for sql, arguments in attempts:
                self.tally.check(f"in library '{library_id}': {sql}", await self._attempt(sql, arguments))

    async def _attempt(self, sql: str, arguments: list[Any]) -> str | None:
        """Try a change and undo it; the fault when it was not the wall that stopped it."""
        transaction = self.application.transaction()
        await transaction.start()
        try:
            done = await self.application.execute(sql, *arguments)
        except asyncpg.InsufficientPrivilegeError:
            return None
        except asyncpg.PostgresError as error:
            return f"something else than the wall refused it: {error}"
        finally:
            await transaction.rollback()
        return None if done.endswith(" 0") else f"it was done: {done}"

    async def _check_append_only(self, table: str) -> None:
        """Even inside the owner's library the ledger is only added to."""
        await self._enter(self.owner.library_id)
        seen = await self.application.fetchval(f"SELECT count(*) FROM {table}")  # noqa: S608
        self.tally.check(table, None if seen else "the owner has no row in it, so nothing was proved")
        for sql in (f"UPDATE {table} SET library_id = library_id", f"DELETE FROM {table}", f"TRUNCATE {table}"):  # noqa: S608
            done: str | None = f"{sql} was not refused"
            try:
                async with self.application.transaction():
                    await self.application.execute(sql)
            except asyncpg.InsufficientPrivilegeError:
                done = None
            self.tally.check(f"in the owner's library: {sql}", done)


async def prove_pool_forgets(tally: Tally, settings: Settings, holding: Holding) -> None:
    """A connection that has been in a library comes back to the pool, and out of it again, in none."""
    database = await Database.connect(settings.database_url.get_secret_value(), 1, application="cutroom-proof")
    secrecy = SecretBox(settings.secret_key.get_secret_value())
    doorkeeper = Authenticator(secrecy=secrecy, plans=load_plans(settings.plans_file))
    try:
        async with database.connection() as connection:
            await doorkeeper.admit(connection, holding.key.secret, now=system_clock(), speech=False)
            first = await _pid_and_videos(connection)
        async with database.connection() as connection:
            second = await _pid_and_videos(connection)
        async with database.transaction(holding.library_id) as connection:
            third = await _pid_and_videos(connection)
        async with database.connection() as connection:
            fourth = await _pid_and_videos(connection)
    finally:
        await database.close()
    pids = {pid for pid, _ in (first, second, third, fourth)}
    seen = [videos > 0 for _, videos in (first, second, third, fourth)]
    fault = f"seen with, after, with and after a library: {seen}, on {len(pids)} connections"
    tally.check("the pool forgets", None if seen == [True, False, True, False] and len(pids) == 1 else fault)


async def _pid_and_videos(connection: Connection) -> tuple[int, int]:
    row = await connection.fetchrow("SELECT pg_backend_pid(), (SELECT count(*) FROM videos)")
    assert row is not None
    return row[0], row[1]


async def fingerprint(connection: Connection, library_ids: list[str]) -> dict[str, str]:
    """Every row of these libraries, table by table, but for when keys were last used."""
    prints = {}
    for relation in await read_relations(connection):
        if relation.is_table and relation.has_library:
            rows = await connection.fetch(
                f"SELECT to_jsonb(t) - 'last_used_at' AS row FROM {relation.name} t WHERE library_id = ANY($1)",  # noqa: S608
                library_ids,
            )
            prints[relation.name] = json.dumps(sorted(str(row["row"]) for row in rows))
    return prints
