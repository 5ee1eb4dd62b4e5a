"""Makes the stores give up the space of deleted data, as an operator would."""

import sqlite3
import subprocess
from pathlib import Path

import asyncpg

from dev import environment
from dev.environment import HOST, Port
from dev.probe import program_beside_python
from dev.services import control, postgres

SHELL_SECONDS = 120.0
WAL_ROUNDS = 2  # the segment before the checkpoint is kept until the next one


async def compact_postgres(database: str) -> None:
    """Rewrite every table, write everything out, and remove old segments of the write-ahead log.

    By default, PostgreSQL renames old segments for later use, with their contents.
    """
    settings = environment.load()
    password = (postgres.home(settings.data_dir) / "password").read_text()
    connection = await asyncpg.connect(
        host=HOST, port=settings.port(Port.POSTGRES), user=postgres.SERVER_USER, password=password, database=database
    )
    try:
        for setting in ("wal_recycle = off", "min_wal_size = '32MB'", "wal_keep_size = 0"):
            await connection.execute(f"ALTER SYSTEM SET {setting}")
        await connection.execute("SELECT pg_reload_conf()")
        await connection.execute("ANALYZE")  # first: it leaves dead rows with old samples in the catalog
        await connection.execute("VACUUM (FULL)")
        for _ in range(WAL_ROUNDS):
            await connection.execute("SELECT pg_switch_wal()")
            await connection.execute("CHECKPOINT")
    finally:
        await connection.close()


def compact_seaweedfs() -> None:
    """Rewrite every volume without deleted objects."""
    settings = environment.load()
    master = f"{settings.address(Port.WEED_MASTER)}.{settings.port(Port.WEED_MASTER_GRPC)}"
    filer = f"{settings.address(Port.WEED_FILER)}.{settings.port(Port.WEED_FILER_GRPC)}"
    subprocess.run(
        (str(program_beside_python("weed")), "shell", f"-master={master}", f"-filer={filer}"),
        input="lock\nvolume.vacuum -garbageThreshold=0\nunlock\n",
        capture_output=True,
        text=True,
        timeout=SHELL_SECONDS,
        check=True,
    )


def compact_temporal(data_dir: Path) -> None:
    """Stop the server, and rewrite its SQLite file: deleted histories stay in free pages otherwise."""
    control.stop("temporal")
    connection = sqlite3.connect(data_dir / "temporal" / "temporal.db")
    try:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.close()
