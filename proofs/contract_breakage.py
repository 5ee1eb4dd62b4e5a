"""A database that refuses its own application, to see what a caller is told when the fault is ours."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from proofs.contract_stage import Stage

# What it takes to know who is asking stays, or nobody would get further than that.
KEPT = ("users", "libraries", "members", "api_keys", "oauth_tokens", "retained_answers")
_TABLES = """SELECT table_name, array_agg(privilege_type::text) AS granted FROM information_schema.table_privileges
    WHERE table_schema = 'public' AND grantee = $1 AND NOT table_name = ANY($2) GROUP BY table_name"""


@asynccontextmanager
async def broken_database(stage: Stage) -> AsyncIterator[None]:
    """The application may touch none of its tables meanwhile."""
    connection = stage.accounts.connection
    role = urlsplit(stage.accounts.settings.database_url.get_secret_value()).username
    tables = await connection.fetch(_TABLES, role, list(KEPT))
    for table in tables:
        await connection.execute(f'REVOKE ALL ON "{table["table_name"]}" FROM "{role}"')
    try:
        yield
    finally:
        for table in tables:
            granted = ", ".join(table["granted"])
            await connection.execute(f'GRANT {granted} ON "{table["table_name"]}" TO "{role}"')
