"""Runs migrations as the owner of the schema (CUTROOM_OWNER_DATABASE_URL), and grants the other roles their rights."""

import asyncio
import os

from alembic import context
from sqlalchemy import Connection, pool
from sqlalchemy.ext.asyncio import create_async_engine

from cutroom.entrypoints.schema import METADATA
from migrations import privileges

# Two deployments that migrate at once must not interleave.
MIGRATION_LOCK = 6_118_720_141


def _migrate(connection: Connection) -> None:
    partitions = set(connection.exec_driver_sql("SELECT relname FROM pg_class WHERE relispartition").scalars())
    connection.rollback()  # migrations begin a transaction of their own
    context.configure(
        connection=connection,
        target_metadata=METADATA,
        compare_server_default=False,
        include_name=lambda name, kind, _: kind != "table" or name not in partitions,
    )
    with context.begin_transaction():
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})")
        context.run_migrations()
        if context.get_context().get_current_heads() == context.get_head_revisions():
            for statement in privileges.statements():
                connection.exec_driver_sql(statement)


async def _run() -> None:
    url = os.environ["CUTROOM_OWNER_DATABASE_URL"].replace("postgresql://", "postgresql+asyncpg://", 1)
    engine = create_async_engine(url, poolclass=pool.NullPool)
    async with engine.connect() as connection:
        await connection.run_sync(_migrate)
    await engine.dispose()


asyncio.run(_run())
