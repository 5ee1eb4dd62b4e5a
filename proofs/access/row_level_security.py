"""Row-level security: what each database role can read and change with unfiltered SQL."""

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
from proofs.stage.access_fixtures import LibraryFixture
from tests.support.relations import Relation, read_relations

# Tables without library_id: the condition for rows of library $1.
OWN_ROWS = {
    "libraries": "id = $1",
    "users": "id IN (SELECT user_id FROM members WHERE library_id = $1)",
}
# Shared by all libraries.
SHARED = frozenset({"alembic_version", "stock_voices", "translation_routes"})
APPEND_ONLY = ("ledger_transactions", "ledger_entries", "audit_entries")


@dataclass(frozen=True, slots=True)
class RowLevelSecurity:
    """Compares what a role sees with what the schema owner sees."""

    tally: Tally
    schema_owner: Connection
    application: Connection
    owner: LibraryFixture
    other: LibraryFixture

    async def prove(self) -> int:
        """Run every check; returns the number of visible rows of other libraries."""
        role = await self.application.fetchval("SELECT current_user")
        relations = await read_relations(self.schema_owner, role=role)
        await self._check_role(role)
        foreign_rows = 0
        for relation in relations:
            self.tally.check(relation.name, relation.fault)
            foreign_rows += await self._check_visibility(relation)
            if relation.is_table and relation.has_library and not relation.is_partition:
                await self._check_changes(relation)  # no role may use a partition by its name
        readable = {relation.name for relation in relations if relation.readable}
        for table in APPEND_ONLY:
            await self._check_append_only(table, is_readable=table in readable)
        return foreign_rows

    async def _set_library(self, library_id: str) -> None:
        await self.application.execute("SELECT set_config('cutroom.library_id', $1, false)", library_id)

    async def _check_role(self, name: str) -> None:
        role = await self.application.fetchrow(
            "SELECT rolsuper OR rolbypassrls OR rolcreaterole AS bypasses FROM pg_roles WHERE rolname = current_user"
        )
        bypasses = role is None or role["bypasses"]
        self.tally.check(name, "it can bypass row-level security" if bypasses else None)
        unsafe = await self.schema_owner.fetch(
            """SELECT p.oid::regprocedure::text AS signature FROM pg_proc p
               WHERE p.pronamespace = 'public'::regnamespace AND p.prosecdef
                 AND (has_function_privilege('public', p.oid, 'EXECUTE')
                      OR NOT coalesce(array_to_string(p.proconfig, ' ') LIKE '%search_path=%', false))"""
        )
        functions = ", ".join(row["signature"] for row in unsafe)
        self.tally.check(
            "SECURITY DEFINER functions", f"public or without search_path: {functions}" if functions else None
        )

    async def _check_visibility(self, relation: Relation) -> int:
        """Count rows without a filter, with no library set and with another library set."""
        total = 0
        for library_id in ("", self.other.library_id):
            await self._set_library(library_id)
            try:
                seen = int(await self.application.fetchval(f"SELECT count(*) FROM {relation.name}"))  # noqa: S608
            except asyncpg.InsufficientPrivilegeError:
                seen = 0
            foreign = seen - await self._own_rows(relation, library_id, seen=seen)
            place = "in another library" if library_id else "without a library"
            self.tally.check(
                f"SELECT {relation.name} {place}", f"{foreign} foreign rows are visible" if foreign else None
            )
            total += abs(foreign)
        return total

    async def _own_rows(self, relation: Relation, library_id: str, *, seen: int) -> int:
        if relation.name in SHARED:
            return seen
        condition = "library_id = $1" if relation.has_library else OWN_ROWS.get(relation.name, "$1::text IS NULL")
        sql = f"SELECT count(*) FROM {relation.name} WHERE {condition}"  # noqa: S608 (names from the catalog)
        own = int(await self.schema_owner.fetchval(sql, library_id))
        return own if relation.readable else 0

    async def _check_changes(self, relation: Relation) -> None:
        """Try to update, delete, insert and reassign rows of another library; all must fail."""
        table, foreign = relation.name, self.owner.library_id
        row = await self.schema_owner.fetchval(
            f"SELECT to_jsonb(t)::text FROM {table} t WHERE library_id = $1 LIMIT 1",  # noqa: S608
            foreign,
        )
        self.tally.check(table, None if row else "the owner has no row in it, so nothing is tested")
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
            await self._set_library(library_id)
            for sql, arguments in attempts:
                self.tally.check(f"in library '{library_id}': {sql}", await self._attempt(sql, arguments))

    async def _attempt(self, sql: str, arguments: list[Any]) -> str | None:
        """Execute a change and roll back; returns a fault unless row-level security stopped it."""
        transaction = self.application.transaction()
        await transaction.start()
        try:
            done = await self.application.execute(sql, *arguments)
        except asyncpg.InsufficientPrivilegeError:
            return None
        except asyncpg.PostgresError as error:
            return f"refused for another reason than row-level security: {error}"
        finally:
            await transaction.rollback()
        return None if done.endswith(" 0") else f"it succeeded: {done}"

    async def _check_append_only(self, table: str, *, is_readable: bool) -> None:
        """The ledger and the audit log are append-only even in the caller's own library."""
        await self._set_library(self.owner.library_id)
        if is_readable:
            seen = await self.application.fetchval(f"SELECT count(*) FROM {table}")  # noqa: S608
            self.tally.check(table, None if seen else "the owner has no row in it, so nothing is tested")
        for sql in (f"UPDATE {table} SET library_id = library_id", f"DELETE FROM {table}", f"TRUNCATE {table}"):  # noqa: S608
            done: str | None = f"{sql} was not refused"
            try:
                async with self.application.transaction():
                    await self.application.execute(sql)
            except asyncpg.InsufficientPrivilegeError:
                done = None
            self.tally.check(f"in the owner's library: {sql}", done)


async def prove_pool_resets_library(tally: Tally, settings: Settings, library: LibraryFixture) -> None:
    """A connection returned to the pool keeps no library."""
    database = await Database.connect(settings.api_database, 1, application="cutroom-proof")
    secret_box = SecretBox(settings.secret_key.get_secret_value())
    authenticator = Authenticator(secret_box=secret_box, plans=load_plans(settings.plans_file))
    try:
        async with database.connection() as connection:
            await authenticator.authenticate(connection, library.key.secret, now=system_clock(), speech=False)
            first = await _pid_and_videos(connection)
        async with database.connection() as connection:
            second = await _pid_and_videos(connection)
        async with database.transaction(library.library_id) as connection:
            third = await _pid_and_videos(connection)
        async with database.connection() as connection:
            fourth = await _pid_and_videos(connection)
    finally:
        await database.close()
    pids = {pid for pid, _ in (first, second, third, fourth)}
    seen = [videos > 0 for _, videos in (first, second, third, fourth)]
    fault = f"rows visible with, after, with and after a library: {seen}, on {len(pids)} connections"
    tally.check("the pool resets the library", None if seen == [True, False, True, False] and len(pids) == 1 else fault)


async def _pid_and_videos(connection: Connection) -> tuple[int, int]:
    row = await connection.fetchrow("SELECT pg_backend_pid(), (SELECT count(*) FROM videos)")
    assert row is not None
    return row[0], row[1]


async def fingerprint(connection: Connection, library_ids: list[str]) -> dict[str, str]:
    """Every row of these libraries by table, without the last use of keys."""
    prints = {}
    for relation in await read_relations(connection, role="public"):
        if relation.is_table and relation.has_library:
            rows = await connection.fetch(
                f"SELECT to_jsonb(t) - 'last_used_at' AS row FROM {relation.name} t WHERE library_id = ANY($1)",  # noqa: S608
                library_ids,
            )
            prints[relation.name] = json.dumps(sorted(str(row["row"]) for row in rows))
    return prints
