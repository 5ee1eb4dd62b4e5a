"""What each database role can do: nothing to other libraries, to the schema, or as another role."""

import os
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import asyncpg
import pytest

from cutroom.entrypoints.schema import METADATA
from cutroom.platform.settings import Settings
from dev.environment import PROJECT
from dev.scratch import Accounts, drop_scratch, migrate, scratch
from dev.services import control
from migrations.privileges import API, FUNCTIONS, RELAY, ROLES, TABLES, VIEWS, WORKER
from tests.support.relations import Relation, fill_empty_tables, read_relations

SHARED = frozenset({"alembic_version", "key_ring", "stock_voices", "translation_routes"})
OWN_ROWS = {"libraries": "id = $1", "users": "id IN (SELECT user_id FROM members WHERE library_id = $1)"}
SCHEMA_CHANGES = (
    "CREATE TABLE mine (id text)",
    "CREATE SCHEMA mine",
    "CREATE FUNCTION public.now() RETURNS timestamptz LANGUAGE sql AS 'SELECT NULL::timestamptz'",
    "CREATE OR REPLACE FUNCTION authenticate_key(bytea) RETURNS void LANGUAGE sql AS ''",
    "CREATE VIEW mine AS SELECT 1",
    "CREATE EXTENSION file_fdw",
    "CREATE TRIGGER mine BEFORE INSERT ON videos FOR EACH ROW EXECUTE FUNCTION next_revision()",
    "ALTER TABLE videos DISABLE ROW LEVEL SECURITY",
    "ALTER TABLE videos OWNER TO CURRENT_USER",
    "ALTER TABLE audit_entries DISABLE TRIGGER ALL",
    "ALTER TABLE videos ADD COLUMN mine text",
    "ALTER FUNCTION authenticate_key(bytea) SECURITY INVOKER",
    "CREATE POLICY mine ON videos USING (true)",
    "ALTER POLICY own_library ON videos USING (true)",
    "DROP POLICY own_library ON videos",
    "DROP TABLE videos CASCADE",
    "DROP FUNCTION authenticate_key(bytea)",
    "TRUNCATE videos CASCADE",
    "GRANT SELECT ON sessions TO PUBLIC",
    "SET session_replication_role = replica",
    "ALTER SYSTEM SET log_statement = 'all'",
    "COPY (SELECT 1) TO PROGRAM 'true'",
    "SELECT pg_read_file('PG_VERSION')",
    "SELECT rolpassword FROM pg_authid",
    "CREATE ROLE mine",
    "ALTER ROLE CURRENT_USER BYPASSRLS",
    "ALTER ROLE cutroom_owner PASSWORD 'mine'",
    "ALTER DATABASE cutroom OWNER TO CURRENT_USER",
    "UPDATE alembic_version SET version_num = 'x'",
)
# Tables that a role has no business with.
UNREADABLE = {
    API: ("sessions", "user_passwords", "oauth_clients", "outbox", "started_workflows", "export_files", "hostings"),
    WORKER: (
        "sessions",
        "user_passwords",
        "oauth_clients",
        "oauth_grants",
        "oauth_refresh_tokens",
        "invitations",
        "idempotency_records",
    ),
    RELAY: tuple(TABLES),
}
# Functions that act on one library, with the arguments $1 (a library that was not entered) and nulls.
ONE_LIBRARY = {
    API: ("begin_erasure($1, now())", "move_credits($1, 'x', 'hold', 'x', 1, now())"),
    WORKER: (
        "move_credits($1, 'x', 'release', 'x', 1, now())",
        "count_library_rows($1)",
        "erase_library_rows($1)",
    ),
}

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"


class Stage:
    """A database with two libraries that have a row in every table, and a connection of each role."""

    def __init__(self, settings: Settings, owner: Connection, *, own: str, foreign: str) -> None:
        self.settings, self.owner, self.own, self.foreign = settings, owner, own, foreign
        self.urls = {
            API: settings.api_database,
            WORKER: settings.worker_database,
            RELAY: settings.relay_database,
        }

    @asynccontextmanager
    async def connect(self, role: str) -> AsyncIterator[Connection]:
        connection = await asyncpg.connect(self.urls[role])
        try:
            assert await connection.fetchval("SELECT session_user::text || current_user::text") == role * 2
            yield connection
        finally:
            await connection.close()

    async def foreign_rows(self) -> dict[str, list[str]]:
        tables = [each.name for each in await read_relations(self.owner, role="public") if each.has_library]
        return {
            table: sorted(
                row["row"]
                for row in await self.owner.fetch(
                    f"SELECT to_jsonb(t)::text AS row FROM {table} t WHERE library_id = $1",  # noqa: S608
                    self.foreign,
                )
            )
            for table in tables
        }


@pytest.fixture(scope="module")
async def stage() -> AsyncIterator[Stage]:
    """Its own database: rows of every table break constraints that other tests rely on."""
    control.start_all()
    name = f"roles_{os.getpid()}"
    settings = await scratch(name)
    accounts = await Accounts.open(settings)
    try:
        own, foreign = [(await accounts.person()).library_id for _ in range(2)]
        for library_id in (own, foreign):
            await fill_empty_tables(accounts.connection, library_id)
        yield Stage(settings, accounts.connection, own=own, foreign=foreign)
    finally:
        await accounts.close()
        await drop_scratch(name)


async def enter(connection: Connection, library_id: str) -> None:
    await connection.execute("SELECT set_config('cutroom.library_id', $1, false)", library_id)


@pytest.mark.parametrize("role", ROLES)
async def test_role_cannot_bypass_row_level_security(stage: Stage, role: str) -> None:
    row = await stage.owner.fetchrow("SELECT * FROM pg_roles WHERE rolname = $1", role)
    assert row is not None
    powers = ("rolsuper", "rolbypassrls", "rolcreaterole", "rolcreatedb", "rolreplication")
    assert [name for name in powers if row[name]] == []
    owned = "SELECT count(*) FROM pg_class WHERE relowner = $1::text::regrole"
    assert await stage.owner.fetchval(owned, role) == 0
    memberships = "SELECT count(*) FROM pg_auth_members WHERE member = $1::text::regrole"
    assert await stage.owner.fetchval(memberships, role) == 0


@pytest.mark.parametrize("role", ROLES)
async def test_role_reads_no_row_of_another_library(stage: Stage, role: str) -> None:
    async with stage.connect(role) as connection:
        for relation in await read_relations(stage.owner, role=role):
            assert relation.fault is None, relation.name
            for entered in ("", stage.own):
                await enter(connection, entered)
                assert await _foreign_rows(stage, connection, relation, entered) == 0, (relation.name, entered)


async def _foreign_rows(stage: Stage, connection: Connection, relation: Relation, entered: str) -> int:
    try:
        seen: int = await connection.fetchval(f"SELECT count(*) FROM {relation.name}")  # noqa: S608
    except asyncpg.InsufficientPrivilegeError:
        assert not relation.readable
        return 0
    if relation.name in SHARED:
        return 0
    condition = "library_id = $1" if relation.has_library else OWN_ROWS[relation.name]
    own = await stage.owner.fetchval(f"SELECT count(*) FROM {relation.name} WHERE {condition}", entered)  # noqa: S608
    assert not entered or own or not relation.is_table, f"{relation.name} has no row that could be seen"
    return seen - int(own)


@pytest.mark.parametrize("role", ROLES)
async def test_role_changes_no_row_of_another_library(stage: Stage, role: str) -> None:
    before = await stage.foreign_rows()
    relations = [each for each in await read_relations(stage.owner, role=role) if each.is_table and each.has_library]
    assert len(relations) >= 45
    async with stage.connect(role) as connection:
        for entered in ("", stage.own):
            await enter(connection, entered)
            for relation in relations:
                for sql, argument in _changes(relation, stage.foreign, before[relation.name]):
                    assert await _changed_rows(connection, sql, argument) == 0, sql
    assert await stage.foreign_rows() == before


def _changes(relation: Relation, foreign: str, rows: list[str]) -> Iterator[tuple[str, str]]:
    table, columns = relation.name, ", ".join(relation.columns)
    yield f"UPDATE {table} SET library_id = library_id WHERE library_id = $1", foreign  # noqa: S608
    yield f"UPDATE {table} SET library_id = $1", foreign  # noqa: S608
    yield f"DELETE FROM {table} WHERE library_id = $1", foreign  # noqa: S608
    if not rows:  # of a partition
        return
    yield (
        f"INSERT INTO {table} ({columns}) OVERRIDING SYSTEM VALUE "  # noqa: S608
        f"SELECT {columns} FROM json_populate_record(NULL::{table}, $1::text::json)",
        rows[0],
    )


async def _changed_rows(connection: Connection, sql: str, argument: str) -> int:
    """Rows that a statement changed before it was rolled back."""
    transaction = connection.transaction()
    await transaction.start()
    try:
        done = await connection.execute(sql, argument)
    except asyncpg.InsufficientPrivilegeError:
        return 0
    finally:
        await transaction.rollback()
    return int(done.rpartition(" ")[2])


@pytest.mark.parametrize("role", ROLES)
async def test_role_cannot_turn_row_level_security_off(stage: Stage, role: str) -> None:
    async with stage.connect(role) as connection:
        await connection.execute("SET row_security = off")
        for relation in await read_relations(stage.owner, role=role):
            if relation.is_table and relation.name not in SHARED:
                with pytest.raises(asyncpg.InsufficientPrivilegeError):
                    await connection.fetch(f"SELECT * FROM {relation.name}")  # noqa: S608


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("statement", SCHEMA_CHANGES)
async def test_role_cannot_change_the_schema_or_roles(stage: Stage, role: str, statement: str) -> None:
    async with stage.connect(role) as connection:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(statement)


@pytest.mark.parametrize("role", ROLES)
async def test_role_cannot_become_another_one(stage: Stage, role: str) -> None:
    others = [each["rolname"] for each in await stage.owner.fetch("SELECT rolname FROM pg_roles")]
    assert {*ROLES, "cutroom_owner", "postgres"} <= set(others)
    async with stage.connect(role) as connection:
        for other in sorted(set(others) - {role}):
            for statement in ("SET ROLE", "SET SESSION AUTHORIZATION"):
                with pytest.raises(asyncpg.InsufficientPrivilegeError):
                    await connection.execute(f'{statement} "{other}"')


@pytest.mark.parametrize("role", ROLES)
async def test_role_cannot_read_tables_it_has_no_business_with(stage: Stage, role: str) -> None:
    async with stage.connect(role) as connection:
        await enter(connection, stage.own)
        for table in UNREADABLE[role]:
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.fetch(f"SELECT * FROM {table}")  # noqa: S608


async def test_worker_cannot_read_hashes_of_keys(stage: Stage) -> None:
    async with stage.connect(WORKER) as connection:
        await enter(connection, stage.own)
        for column in ("api_keys.hash", "api_keys.hint", "oauth_tokens.hash", "oauth_tokens.scopes"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.fetch(f"SELECT {column} FROM {column.partition('.')[0]}")  # noqa: S608


@pytest.mark.parametrize("role", ROLES)
async def test_role_cannot_execute_functions_of_others(stage: Stage, role: str) -> None:
    refused = 0
    async with stage.connect(role) as connection:
        for name, arguments in await _functions(stage):
            if role not in FUNCTIONS.get(f"{name}({arguments})", ()):
                types = [each for each in arguments.split(", ") if each]
                nulls = [f"NULL::{each} AS a{number}" for number, each in enumerate(types)]
                names = ", ".join(f"a{number}" for number in range(len(types)))
                # The subquery keeps the planner from folding a strict function of constants.
                sql = f"SELECT {name}({names}) FROM (SELECT {', '.join(nulls)} OFFSET 0) t"  # noqa: S608
                with pytest.raises(asyncpg.InsufficientPrivilegeError):
                    await connection.fetch(sql)
                refused += 1
    assert refused >= 20


@pytest.mark.parametrize(("role", "call"), [(role, call) for role, calls in ONE_LIBRARY.items() for call in calls])
async def test_function_for_the_current_library_refuses_another(stage: Stage, role: str, call: str) -> None:
    async with stage.connect(role) as connection:
        for entered in ("", stage.own):
            await enter(connection, entered)
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.fetch(f"SELECT {call}", stage.foreign)


async def _functions(stage: Stage) -> list[tuple[str, str]]:
    """Name and argument types of every function that is not a trigger's, with the names that grants use."""
    rows = await stage.owner.fetch(
        """SELECT p.proname AS name, pg_get_function_identity_arguments(p.oid) AS arguments,
                  array(SELECT format_type(each, NULL) FROM unnest(p.proargtypes) AS each) AS types
           FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND p.prorettype <> 'trigger'::regtype"""
    )
    short = {"timestamp with time zone": "timestamptz"}
    return [(row["name"], ", ".join(_short(each, short) for each in row["types"])) for row in rows]


def _short(type_name: str, names: dict[str, str]) -> str:
    base = type_name.removesuffix("[]")
    return names.get(base, base) + type_name[len(base) :]


async def test_privileges_are_those_that_are_declared(stage: Stage) -> None:
    assert set(TABLES) == set(METADATA.tables) | {"alembic_version"}
    rows = await stage.owner.fetch(
        """SELECT c.relname AS name, '' AS column, a.privilege_type AS privilege, a.grantee::regrole::text AS role
             FROM pg_class c, aclexplode(c.relacl) a
            WHERE c.relnamespace = 'public'::regnamespace AND a.grantee <> c.relowner
            UNION ALL
           SELECT c.relname, t.attname, a.privilege_type, a.grantee::regrole::text
             FROM pg_class c JOIN pg_attribute t ON t.attrelid = c.oid, aclexplode(t.attacl) a
            WHERE c.relnamespace = 'public'::regnamespace AND a.grantee <> c.relowner"""
    )
    found = {(row["role"], row["name"], row["column"], row["privilege"]) for row in rows}
    declared = {(role, view, "", "SELECT") for view in VIEWS for role in (API, WORKER)}
    for table, of_roles in TABLES.items():
        for role, privileges in zip((API, WORKER), of_roles, strict=True):
            for privilege, columns in re.findall(r"(\w+)(?: \(([^)]*)\))?(?:, |$)", privileges):
                declared |= {(role, table, column, privilege) for column in (columns or "").split(", ")}
    assert found == declared


async def _acls(stage: Stage) -> dict[str, set[str]]:
    """Who may execute each function, besides the owner; `-` stands for everyone."""
    rows = await stage.owner.fetch(
        """SELECT p.oid::regprocedure::text AS name, a.grantee::regrole::text AS role
           FROM pg_proc p LEFT JOIN LATERAL aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
             ON a.grantee <> p.proowner
           WHERE p.pronamespace = 'public'::regnamespace"""
    )
    found: dict[str, set[str]] = {row["name"]: set() for row in rows}
    for row in rows:
        if row["role"] is not None:
            found[row["name"]].add(row["role"])
    return found


async def test_only_the_declared_roles_execute_each_function(stage: Stage) -> None:
    declared = {
        name.replace(", ", ",").replace("timestamptz", "timestamp with time zone"): set(roles)
        for name, roles in FUNCTIONS.items()
    }
    assert {name: roles for name, roles in (await _acls(stage)).items() if roles} == declared


async def test_every_security_definer_function_is_justified_and_confined(stage: Stage) -> None:
    rows = await stage.owner.fetch(
        """SELECT p.proname AS name, p.proconfig AS settings, pg_get_userbyid(p.proowner) AS owner,
                  array(SELECT a.grantee::regrole::text FROM aclexplode(p.proacl) a WHERE a.grantee <> p.proowner)
                      AS callers
           FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND p.prosecdef
                 AND p.prorettype <> 'trigger'::regtype"""
    )
    page = (PROJECT / "docs" / "database-roles.md").read_text().partition("## SECURITY DEFINER functions")[2]
    documented: dict[str, tuple[set[str], str]] = {
        name: ({f"cutroom_{each}" for each in callers.split(", ")}, why.strip())
        for name, callers, why in re.findall(r"^\| `(\w+)` \| ([a-z, ]+) \| ([^|]+) \|$", page, re.MULTILINE)
    }
    assert {row["name"]: set(row["callers"]) for row in rows} == {
        name: callers for name, (callers, _) in documented.items()
    }
    assert [name for name, (_, why) in documented.items() if len(why) < 20] == []
    for row in rows:
        assert (row["settings"], row["owner"]) == (["search_path=public, pg_temp"], "cutroom_owner"), row["name"]


async def test_migrating_again_takes_back_what_was_granted_by_hand(stage: Stage) -> None:
    assert stage.settings.owner_database_url is not None
    async with stage.connect(API) as connection:
        await stage.owner.execute("GRANT SELECT ON sessions TO cutroom_api")
        await stage.owner.execute("GRANT SELECT (hash) ON user_passwords TO PUBLIC")
        assert await connection.fetch("SELECT hash FROM user_passwords LIMIT 0") == []
        migrate(stage.settings.owner_database_url.get_secret_value())
        for statement in ("SELECT * FROM sessions", "SELECT hash FROM user_passwords"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.fetch(statement)


async def test_roles_cannot_create_temporary_tables_in_the_database_of_the_service(stage: Stage) -> None:
    rights: dict[str, Any] = {}
    for role in (*ROLES, "public"):
        for right in ("CONNECT", "CREATE", "TEMPORARY"):
            sql = "SELECT has_database_privilege($1::text::name, 'cutroom', $2)"
            rights[f"{role} {right}"] = await stage.owner.fetchval(sql, role, right)
    assert {name for name, has in rights.items() if has} == {f"{role} CONNECT" for role in ROLES}
