"""Tests the migrated schema: matches the models, and row-level security. test_database_roles.py has the rest."""

import subprocess
import sys
from pathlib import Path

import asyncpg
import pytest

from cutroom.entrypoints.schema import METADATA
from cutroom.platform.settings import Settings
from cutroom.web.runtime import Runtime
from dev.environment import PROJECT
from dev.scratch import Accounts

WITHOUT_RLS = {"alembic_version", "key_ring", "stock_voices", "translation_routes"}  # shared by all libraries


def test_models_match_the_migrations(environment: dict[str, str]) -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("alembic"), "check"],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "No new upgrade operations detected" in done.stdout + done.stderr


async def tables(accounts: Accounts) -> dict[str, asyncpg.Record]:
    rows = await accounts.connection.fetch(
        """SELECT c.relname AS name, c.relrowsecurity AS has_rls, pg_get_userbyid(c.relowner) AS owner,
                  EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'library_id'
                          AND NOT a.attisdropped) AS of_library
           FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
              AND NOT c.relispartition"""
    )
    return {row["name"]: row for row in rows}


async def test_every_model_table_exists(accounts: Accounts) -> None:
    assert set(await tables(accounts)) == set(METADATA.tables) | {"alembic_version"}


async def test_every_table_with_library_data_has_row_level_security(accounts: Accounts) -> None:
    assert {name for name, row in (await tables(accounts)).items() if not row["has_rls"]} == WITHOUT_RLS


async def test_policies_restrict_rows_to_the_current_library(accounts: Accounts) -> None:
    of_library = {name for name, row in (await tables(accounts)).items() if row["of_library"]}
    assert len(of_library) >= 13
    policies = await accounts.connection.fetch("SELECT * FROM pg_policies WHERE schemaname = 'public'")
    by_table = {policy["tablename"]: policy for policy in policies}
    assert len(by_table) == len(policies)  # a second permissive policy would widen access
    condition = "(library_id = current_setting('cutroom.library_id'::text, true))"
    for table in of_library:
        policy = by_table[table]
        assert (policy["cmd"], policy["permissive"], policy["roles"]) == ("ALL", "PERMISSIVE", ["public"])
        assert (policy["qual"], policy["with_check"]) == (condition, condition), table


async def test_tables_are_empty_without_a_library_setting(accounts: Accounts, runtime: Runtime) -> None:
    person = await accounts.person()
    await accounts.key(person)
    async with runtime.database.connection() as connection:
        for table in set(await tables(accounts)) - WITHOUT_RLS:
            try:
                assert await connection.fetchval(f"SELECT count(*) FROM {table}") == 0, table  # noqa: S608
            except asyncpg.InsufficientPrivilegeError:  # no read access at all
                continue


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE mine (id text)",
        "CREATE FUNCTION public.now() RETURNS timestamptz LANGUAGE sql AS 'SELECT NULL::timestamptz'",
        "ALTER TABLE videos DISABLE ROW LEVEL SECURITY",
        "DROP POLICY own_library ON videos",
        "UPDATE users SET name = 'x'",
        "UPDATE libraries SET plan = 'business'",
        "INSERT INTO libraries SELECT * FROM libraries",
        "DELETE FROM api_keys",
        "DELETE FROM webhook_endpoints",
        "UPDATE alembic_version SET version_num = 'x'",
        "SET ROLE cutroom_owner",
    ],
)
async def test_application_role_cannot_change_schema_plans_or_users(runtime: Runtime, statement: str) -> None:
    async with runtime.database.connection() as connection:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(statement)


async def test_temporary_table_does_not_shadow_a_table_in_security_definer_functions(
    settings: Settings, accounts: Accounts
) -> None:
    """Temporary tables are the only objects that a role could add to a search path."""
    person = await accounts.person()
    key = await accounts.key(person)
    connection = await asyncpg.connect(settings.api_database)
    try:
        await connection.execute("CREATE TEMPORARY TABLE api_keys (id text, last_used_at timestamptz)")
        await connection.execute("SELECT touch_keys($1, ARRAY[now()])", [key.id])
    finally:
        await connection.close()
    used = await accounts.connection.fetchval("SELECT last_used_at FROM public.api_keys WHERE id = $1", key.id)
    assert used is not None
