"""Removes the rows of a purged video from the tables that products own, and the content of core tables."""

from cutroom.jobs.deletion import strip_jobs
from cutroom.library.trash import delete_purged_row
from cutroom.library.usage import Usage, add_usage
from cutroom.platform.db import Connection
from cutroom.products.catalog import PRODUCTS
from cutroom.webhooks.publishing import delete_video_events

RETENTION_TABLES = ("storage_usage", "retention_deletions", "output_copies")
REVIEW_TABLES = ("review_links", "review_comments")
OWNED_TABLES = frozenset(
    [*RETENTION_TABLES, *REVIEW_TABLES, *(name for product in PRODUCTS for name in product.owns.tables)]
)


async def list_video_tables(connection: Connection) -> list[str]:
    """Return the tables of products and of retention that hold rows of videos."""
    rows = await connection.fetch(
        """SELECT table_name::text FROM information_schema.columns
           WHERE table_schema = 'public' AND column_name = 'video_id' AND table_name = ANY($1) ORDER BY table_name""",
        list(OWNED_TABLES),
    )
    return [row["table_name"] for row in rows]


async def delete_video_rows(connection: Connection, library_id: str, video_id: str) -> None:
    """Delete every row of a purged video; rows that the ledger refers to stay without content."""
    source_bytes = await connection.fetchval(
        "SELECT size_bytes FROM published_sources WHERE library_id = $1 AND video_id = $2", library_id, video_id
    )
    for table in await list_video_tables(connection):
        await connection.execute(
            f"DELETE FROM {table} WHERE library_id = $1 AND video_id = $2",  # noqa: S608 (a declared table)
            library_id,
            video_id,
        )
    await delete_video_events(connection, library_id, video_id)
    await strip_jobs(connection, library_id, video_id)
    if await delete_purged_row(connection, library_id, video_id):
        await add_usage(connection, library_id, Usage(source_bytes=-(source_bytes or 0)))
