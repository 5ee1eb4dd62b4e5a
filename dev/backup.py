"""Backs up the database and the object store into a folder, and restores them into empty ones.

The database is read first and the objects after it: rows point at objects, so the store must be at least as new.
`CUTROOM_SECRET_KEY` is not in the folder. Keep it elsewhere; without it no key of the backup opens anything.
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
AT_ONCE = 8


class NotEmptyError(Exception):
    """A restore would mix two installations."""


@dataclass(frozen=True, slots=True)
class Copied:
    """How much went one way."""

    objects: int
    object_bytes: int
    dump_bytes: int


async def backup(settings: Settings, folder: Path, *, prefix: str | None = None) -> Copied:
    """Into a folder that does not exist yet, readable by its owner only; all objects, or those of a prefix."""
    folder.mkdir(mode=0o700, parents=True)
    dump = folder / ROWS
    await _program("pg_dump", _owner(settings), "--format=custom", "--no-owner", f"--file={dump}")
    storage = Storage.connect(settings)
    taken = asyncio.Semaphore(AT_ONCE)

    async def take(path: str) -> int:
        target = folder / OBJECTS / path
        target.parent.mkdir(parents=True, exist_ok=True)
        async with taken:
            with target.open("wb") as file:
                async for chunk in storage.read(path):
                    file.write(chunk)
        return target.stat().st_size

    paths = await _paths(storage, prefix)
    sizes = await asyncio.gather(*(take(path) for path in paths))
    return Copied(len(sizes), sum(sizes), dump.stat().st_size)


async def restore(settings: Settings, folder: Path) -> Copied:
    """Into a database and a bucket that hold nothing; anything else is refused."""
    storage = Storage.connect(settings)
    if await _tables(settings) or await _paths(storage):
        raise NotEmptyError("the database or the bucket is not empty; nothing was changed")
    dump = folder / ROWS
    # pg_restore reads the name of the database from its arguments alone.
    database = _connection(_owner(settings))["PGDATABASE"]
    how = ("--exit-on-error", "--single-transaction", "--no-owner", f"--dbname={database}")
    await _program("pg_restore", _owner(settings), *how, str(dump))
    objects = folder / OBJECTS
    files = [path for path in objects.rglob("*") if path.is_file()]
    taken = asyncio.Semaphore(AT_ONCE)

    async def give(path: Path) -> int:
        async with taken:
            await storage.put(path.relative_to(objects).as_posix(), path)
        return path.stat().st_size

    sizes = await asyncio.gather(*(give(path) for path in files))
    return Copied(len(sizes), sum(sizes), dump.stat().st_size)


def _owner(settings: Settings) -> str:
    if settings.owner_database_url is None:
        raise SystemExit("CUTROOM_OWNER_DATABASE_URL is not set: only the owner reads and writes all rows")
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
    """Told where to connect by its environment: everybody on the machine can read its arguments."""
    command = [str(find_programs() / name), *arguments]
    environment = {**os.environ, **_connection(url)}
    done = await asyncio.to_thread(
        subprocess.run, command, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"{name} failed:\n{done.stderr.strip()}")


def _connection(url: str) -> dict[str, str]:
    parts = urlsplit(url)
    found = {"PGHOST": parts.hostname, "PGPORT": str(parts.port or 5432), "PGDATABASE": parts.path.lstrip("/")}
    found |= {"PGUSER": parts.username, "PGPASSWORD": unquote(parts.password or "")}
    found |= {f"PG{name.upper()}": value for name, value in parse_qsl(parts.query)}
    return {name: value for name, value in found.items() if value}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("way", choices=("backup", "restore"))
    parser.add_argument("folder", type=Path)
    asked = parser.parse_args()
    act = backup if asked.way == "backup" else restore
    told = asyncio.run(act(Settings(), asked.folder))
    print(f"{asked.way}: {told.dump_bytes:,} bytes of rows; {told.objects:,} objects with {told.object_bytes:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
