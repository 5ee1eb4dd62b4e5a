"""Revokes the application's database privileges, to provoke internal errors."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from proofs.contract.stage import Stage

# Needed for authentication, without which requests would fail earlier.
KEPT = ("users", "libraries", "members", "api_keys", "oauth_tokens", "idempotency_records")
# Some privileges are granted per column.
_COLUMNS = """SELECT table_name, privilege_type::text AS granted, array_agg(column_name::text) AS columns
    FROM information_schema.column_privileges
    WHERE table_schema = 'public' AND grantee = $1 AND NOT table_name = ANY($2) GROUP BY 1, 2"""
_TABLES = """SELECT table_name, array_agg(privilege_type::text) AS granted FROM information_schema.table_privileges
    WHERE table_schema = 'public' AND grantee = $1 AND NOT table_name = ANY($2) GROUP BY table_name"""


@asynccontextmanager
async def broken_database(stage: Stage) -> AsyncIterator[None]:
    """Revoke access to all other tables for the duration of the context."""
    connection = stage.accounts.connection
    role = urlsplit(stage.accounts.settings.api_database).username
    tables = await connection.fetch(_TABLES, role, list(KEPT))
    columns = await connection.fetch(_COLUMNS, role, list(KEPT))
    for table in tables:
        await connection.execute(f'REVOKE ALL ON "{table["table_name"]}" FROM "{role}"')
    try:
        yield
    finally:
        for table in tables:
            granted = ", ".join(table["granted"])
            await connection.execute(f'GRANT {granted} ON "{table["table_name"]}" TO "{role}"')
        for grant in columns:
            names = ", ".join(f'"{name}"' for name in grant["columns"])
            await connection.execute(f'GRANT {grant["granted"]} ({names}) ON "{grant["table_name"]}" TO "{role}"')
