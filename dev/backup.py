"""Backs up the database and the object store to a folder, and restores them into empty ones.

The database is dumped first: rows reference objects, so the objects must be at least as new. `CUTROOM_SECRET_KEY` is
not in the backup; store it separately, because API keys and encrypted columns cannot be used without it.
"""

import argparse
import asyncio
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

import asyncpg
import obstore

from cutroom.platform.settings import Settings
from cutroom.platform.storage.objects import Storage
from dev.services.postgres import find_programs

ROWS = "rows.dump"
OBJECTS = "objects"
MAX_CONCURRENCY = 8


class NotEmptyError(Exception):
    """The restore target is not empty."""


@dataclass(frozen=True, slots=True)
class CopyStats:
    """Size of a backup or restore."""

    objects: int
    object_bytes: int
    dump_bytes: int


async def backup(settings: Settings, folder: Path, *, prefix: str | None = None) -> CopyStats:
    """Backs up to a new folder that only its owner can read; optionally only objects with a prefix."""
    folder.mkdir(mode=0o700, parents=True)
    dump = folder / ROWS
    await _program("pg_dump", _owner(settings), "--format=custom", "--no-owner", f"--file={dump}")
    storage = Storage.connect(settings)
    semaphore = asyncio.Semaphore(MAX_CONCURRENCY)

    async def download(path: str) -> int:
        target = folder / OBJECTS / path
        target.parent.mkdir(parents=True, exist_ok=True)
        async with semaphore:
            with target.open("wb") as file:
                async for chunk in storage.read(path):
                    file.write(chunk)
        return target.stat().st_size

    paths = await _paths(storage, prefix)
    sizes = await asyncio.gather(*(download(path) for path in paths))
    return CopyStats(len(sizes), sum(sizes), dump.stat().st_size)


async def restore(settings: Settings, folder: Path) -> CopyStats:
    """Restores into an empty database and bucket; otherwise raises NotEmptyError."""
    storage = Storage.connect(settings)
    if await _tables(settings) or await _paths(storage):
        raise NotEmptyError("the database or the bucket is not empty; nothing was changed")
    dump = folder / ROWS
    # pg_restore ignores PGDATABASE, so the name must be an argument.
    database = _connection(_owner(settings))["PGDATABASE"]
    options = ("--exit-on-error", "--single-transaction", "--no-owner", f"--dbname={database}")
    await _program("pg_restore", _owner(settings), *options, str(dump))
    objects = folder / OBJECTS
    files = [path for path in objects.rglob("*") if path.is_file()]
    semaphore = asyncio.Semaphore(MAX_CONCURRENCY)

    async def upload(path: Path) -> int:
        async with semaphore:
            await storage.put(path.relative_to(objects).as_posix(), path)
        return path.stat().st_size

    sizes = await asyncio.gather(*(upload(path) for path in files))
    return CopyStats(len(sizes), sum(sizes), dump.stat().st_size)


def _owner(settings: Settings) -> str:
    if settings.owner_database_url is None:
        raise SystemExit("CUTROOM_OWNER_DATABASE_URL is not set: only the owner can read and write all rows")
    return settings.owner_database_url.get_secret_value()


async def _tables(settings: Settings) -> int:
    connection = await asyncpg.connect(_owner(settings))
    try:
        return int(await connection.fetchval("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"))
    finally:
        await connection.close()


async def _paths(storage: Storage, prefix: str | None = None) -> list[str]:
    return [each["path"] async for batch in obstore.list(storage.store, prefix) for each in batch]


async def _program(name: str, url: str, *arguments: str) -> None:
    """Passes the credentials in the environment, because arguments are visible to all users."""
    command = [str(find_programs() / name), *arguments]
    environment = {**os.environ, **_connection(url)}
    done = await asyncio.to_thread(
        subprocess.run, command, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"{name} failed:\n{done.stderr.strip()}")


def _connection(url: str) -> dict[str, str]:
    parts = urlsplit(url)
    variables = {"PGHOST": parts.hostname, "PGPORT": str(parts.port or 5432), "PGDATABASE": parts.path.lstrip("/")}
    variables |= {"PGUSER": parts.username, "PGPASSWORD": unquote(parts.password or "")}
    variables |= {f"PG{name.upper()}": value for name, value in parse_qsl(parts.query)}
    return {name: value for name, value in variables.items() if value}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=("backup", "restore"))
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    run = backup if arguments.action == "backup" else restore
    stats = asyncio.run(run(Settings(), arguments.folder))
    print(
        f"{arguments.action}: {stats.dump_bytes:,} bytes of rows; "
        f"{stats.objects:,} objects with {stats.object_bytes:,} bytes"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
