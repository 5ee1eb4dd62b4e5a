"""Drops the local copies of erased libraries; every worker process sweeps its own cache."""

import asyncio
import logging
from datetime import timedelta

from cutroom.media.local_cache import LocalMediaCache
from cutroom.platform.db import DATABASE_ERRORS, Database
from cutroom.retention.erasure.rules import library_of_path

SWEEP_INTERVAL = timedelta(seconds=5)
_log = logging.getLogger(__name__)


async def sweep_forever(database: Database, cache: LocalMediaCache) -> None:
    """Sweep until cancelled; an empty cache costs no query."""
    while True:
        try:
            await sweep(database, cache)
        except DATABASE_ERRORS as error:
            _log.warning("media cache not swept", extra={"error": repr(error)})
        await asyncio.sleep(SWEEP_INTERVAL.total_seconds())


async def sweep(database: Database, cache: LocalMediaCache) -> int:
    """Drop the copies of libraries that are erased or being erased; return how many. Those in use wait."""
    by_path = {path: library_of_path(path) for path in cache.paths()}
    ids = sorted({each for each in by_path.values() if each is not None})
    if not ids:
        return 0
    async with database.connection() as connection:
        rows = await connection.fetch("SELECT library_id FROM erased_libraries($1)", ids)
    erased = {row["library_id"] for row in rows}
    dropped = [path for path, library_id in by_path.items() if library_id in erased and cache.drop(path)]
    if dropped:
        _log.info("local copies of erased libraries dropped", extra={"count": len(dropped)})
    return len(dropped)
