"""Backs up the database and the object store to a folder, and restores them into empty ones.

The database is dumped first: rows reference objects, so the objects must be at least as new. `CUTROOM_SECRET_KEY` is
not in the backup; store it separately, because API keys and encrypted columns cannot be used without it.
"""

import asyncio
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Annotated
from urllib.parse import parse_qsl, unquote, urlsplit

import asyncpg
import obstore
import typer

from cutroom.platform.ids import is_id
from cutroom.platform.settings import Settings
from cutroom.platform.storage.objects import Storage
from cutroom.retention.erasure.log import ErasureLog, prefix_in_media_bucket
from cutroom.retention.erasure.rules import library_of_path
from cutroom.retention.revocations.log import Revocation, RevocationLog, latest

ROWS = "rows.dump"
OBJECTS = "objects"
ERASURES = "erasures"
REVOCATIONS = "revocations"
MAX_CONCURRENCY = 8
# Positions from after the backup are not assigned again: a reader that has seen them misses none of the new events.
_SKIP_POSITIONS = b"""DO $$ BEGIN
    IF to_regclass('public.event_logs') IS NOT NULL THEN
        UPDATE public.event_logs SET last_position = last_position + 4294967296;
    END IF;
END $$;
"""

Folder = Annotated[Path, typer.Argument(help="Folder of the backup.")]
RevocationLogLocation = Annotated[
    str | None, typer.Option("--revocation-log", help="Another copy of the revocation log to apply, named likewise.")
]
LogLocation = Annotated[
    str | None,
    typer.Option(
        "--erasure-log",
        help="Another copy of the erasure log to apply: a directory, `s3://bucket/prefix`, or a prefix in the bucket.",
    ),
]


class NotEmptyError(Exception):
    """The restore target is not empty."""


@dataclass(frozen=True, slots=True)
class CopyStats:
    """Size of a backup or restore."""

    objects: int
    object_bytes: int
    dump_bytes: int
    erased_libraries: int = 0  # that a restore left out
    revocations: int = 0  # that a restore applied


async def backup(settings: Settings, folder: Path, *, prefix: str | None = None) -> CopyStats:
    """Backs up to a new folder that only its owner can read; optionally only objects with a prefix."""
    await asyncio.to_thread(folder.mkdir, mode=0o700, parents=True)
    dump = folder / ROWS
    await _run("pg_dump", _owner(settings), "--format=custom", "--no-owner", f"--file={dump}")
    storage = Storage.connect(settings)
    semaphore = asyncio.Semaphore(MAX_CONCURRENCY)

    async def download(path: str) -> int:
        target = folder / OBJECTS / path
        target.parent.mkdir(parents=True, exist_ok=True)
        async with semaphore:
            with target.open("wb") as file:
                return sum([file.write(chunk) async for chunk in storage.read(path)])

    paths = await _media_paths(settings, storage, prefix)
    sizes = await asyncio.gather(*(download(path) for path in paths))
    await ErasureLog.of(settings).copy_to(_log_in(settings, folder))
    kept = _revocations_in(settings, folder)
    for revocation in await RevocationLog.of(settings).entries():
        await kept.append(revocation)
    return CopyStats(len(sizes), sum(sizes), dump.stat().st_size)


async def restore(
    settings: Settings, folder: Path, *, erasure_log: str | None = None, revocation_log: str | None = None
) -> CopyStats:
    """Restores into an empty database and bucket, without erased libraries; otherwise raises NotEmptyError.

    The erasure and revocation logs of the backup, of this installation and of the given locations are applied in the
    transaction that loads the rows, so that no role ever sees what was erased, and no revoked key works again.
    """
    storage = Storage.connect(settings)
    if await _tables(settings) or await _media_paths(settings, storage):
        raise NotEmptyError("the database or the bucket is not empty; nothing was changed")
    logs = [_log_in(settings, folder), ErasureLog.of(settings)]
    if erasure_log is not None:
        logs.append(ErasureLog.of(settings, erasure_log))
    erased = set().union(*[await log.library_ids() for log in logs])
    revocations = await _revocations(settings, folder, revocation_log)
    dump = folder / ROWS
    erased |= await asyncio.to_thread(_load_rows, _owner(settings), dump, erased, revocations)
    objects = folder / OBJECTS
    semaphore = asyncio.Semaphore(MAX_CONCURRENCY)

    async def upload(path: Path) -> None:
        async with semaphore:
            await storage.put(path.relative_to(objects).as_posix(), path)

    sizes = {
        path: path.stat().st_size
        for path in objects.rglob("*")
        if path.is_file() and library_of_path(path.relative_to(objects).as_posix()) not in erased
    }
    await asyncio.gather(*(upload(path) for path in sizes))
    for log in logs:
        await log.copy_to(ErasureLog.of(settings))
    for revocation in revocations:
        await RevocationLog.of(settings).append(revocation)
    return CopyStats(len(sizes), sum(sizes.values()), dump.stat().st_size, len(erased), len(revocations))


async def _revocations(settings: Settings, folder: Path, location: str | None) -> list[Revocation]:
    """The last entry about each subject in all revocation logs."""
    logs = [_revocations_in(settings, folder), RevocationLog.of(settings)]
    if location is not None:
        logs.append(RevocationLog.of(settings, location))
    return latest([await log.entries() for log in logs])


def _load_rows(url: str, dump: Path, erased: Iterable[str], revocations: Sequence[Revocation]) -> set[str]:
    """Loads the dump, erases libraries and revokes access in one transaction; returns the libraries that the dump
    itself marks as erased.

    psql commits only after pg_restore has written its last statement, so that a broken dump leaves nothing.
    """
    with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as output:
        options = ("--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--set=ON_ERROR_STOP=1")
        psql = _start("psql", url, *options, stdin=subprocess.PIPE, stdout=output, stderr=errors)
        assert psql.stdin is not None
        try:
            _feed(psql.stdin, url, dump, erased, revocations)
        except BrokenPipeError:
            pass  # psql has stopped at an error, which it reports
        except BaseException:
            psql.kill()  # before it sees the end of its input
            raise
        finally:
            with suppress(BrokenPipeError):
                psql.stdin.close()
            status = psql.wait()
        if status != 0:
            raise RuntimeError(f"psql failed:\n{_text(errors)}")
        return {line for line in _text(output).splitlines() if is_id(line)}


def _feed(stdin: IO[bytes], url: str, dump: Path, erased: Iterable[str], revocations: Iterable[Revocation]) -> None:
    with tempfile.TemporaryFile() as errors:
        stdin.write(b"\\o /dev/null\nBEGIN;\n")  # the results of the dump's own statements are not needed
        source = _start("pg_restore", url, "--no-owner", "--file=-", str(dump), stdout=subprocess.PIPE, stderr=errors)
        assert source.stdout is not None
        try:
            shutil.copyfileobj(source.stdout, stdin)
        finally:
            source.stdout.close()
            status = source.wait()
        if status != 0:
            raise RuntimeError(f"pg_restore failed:\n{_text(errors)}")
    for library_id in sorted(erased):
        if not is_id(library_id):
            raise RuntimeError("the erasure log names something that is not a library")
        stdin.write(f"SELECT public.erase_library_rows('{library_id}');\n".encode())
    for each in revocations:  # the log checks ids and times
        values = f"'{each.kind}', '{each.library_id}', '{each.id}', '{each.at}'"
        stdin.write(f"SELECT public.apply_revocation({values});\n".encode())
    stdin.write(_SKIP_POSITIONS)
    stdin.write(b"DELETE FROM public.sessions;\n")  # some had ended: people sign in again
    # Libraries whose erasure was requested before the dump and had not finished.
    stdin.write(b"\\o\nSELECT id FROM public.libraries WHERE erased_at IS NOT NULL;\n\\o /dev/null\n")
    stdin.write(b"SELECT public.erase_library_rows(id) FROM public.libraries WHERE erased_at IS NOT NULL;\nCOMMIT;\n")


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace").strip()


def _log_in(settings: Settings, folder: Path) -> ErasureLog:
    return ErasureLog.of(settings, str((folder / ERASURES).absolute()))


def _revocations_in(settings: Settings, folder: Path) -> RevocationLog:
    return RevocationLog.of(settings, str((folder / REVOCATIONS).absolute()))


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


async def _media_paths(settings: Settings, storage: Storage, prefix: str | None = None) -> list[str]:
    """Objects of the bucket, except for the erasure and revocation logs, which are copied apart."""
    places = (settings.erasure_log, settings.revocation_log)
    logs = tuple(log for place in places if (log := prefix_in_media_bucket(settings, place)) is not None)
    found = [each["path"] async for batch in obstore.list(storage.store, prefix) for each in batch]
    return [path for path in found if not path.startswith(logs)]


async def _run(name: str, url: str, *arguments: str) -> None:
    with tempfile.TemporaryFile() as errors:
        process = _start(name, url, *arguments, stderr=errors)
        if await asyncio.to_thread(process.wait) != 0:
            raise RuntimeError(f"{name} failed:\n{_text(errors)}")


def _start(
    name: str,
    url: str,
    *arguments: str,
    stdin: int | None = subprocess.DEVNULL,
    stdout: int | IO[bytes] | None = subprocess.DEVNULL,
    stderr: IO[bytes],
) -> "subprocess.Popen[bytes]":
    """Passes the credentials in the environment, because arguments are visible to all users."""
    command = [str(_find_program(name)), *arguments]
    environment = {**os.environ, **_connection(url)}
    return subprocess.Popen(command, env=environment, stdin=stdin, stdout=stdout, stderr=stderr)  # noqa: S603 (PostgreSQL's)


def _find_program(name: str) -> Path:
    """Debian installs one directory per version, outside PATH; the newest can read the dumps of all others."""
    installed = {int(path.parts[-3]): path for path in Path("/usr/lib/postgresql").glob(f"*/bin/{name}")}
    if installed:
        return installed[max(installed)]
    if (in_path := shutil.which(name)) is None:
        raise RuntimeError(f"{name} is not installed: install PostgreSQL's client programs")
    return Path(in_path)


def _connection(url: str) -> dict[str, str]:
    parts = urlsplit(url)
    variables = {"PGHOST": parts.hostname, "PGPORT": str(parts.port or 5432), "PGDATABASE": parts.path.lstrip("/")}
    variables |= {"PGUSER": parts.username, "PGPASSWORD": unquote(parts.password or "")}
    variables |= {f"PG{name.upper()}": value for name, value in parse_qsl(parts.query)}
    return {name: value for name, value in variables.items() if value}


def backup_command(folder: Folder) -> None:
    """Back up the rows, the objects, and the logs of erasures and revocations to a new folder."""
    stats = asyncio.run(backup(Settings(), folder))
    _show("backup", stats)


def restore_command(
    folder: Folder, erasure_log: LogLocation = None, revocation_log: RevocationLogLocation = None
) -> None:
    """Restore a backup into an empty database and bucket, without what was erased or revoked since."""
    try:
        stats = asyncio.run(restore(Settings(), folder, erasure_log=erasure_log, revocation_log=revocation_log))
    except NotEmptyError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error
    _show("restore", stats)


def _show(action: str, stats: CopyStats) -> None:
    typer.echo(
        f"{action}: {stats.dump_bytes:,} bytes of rows; {stats.objects:,} objects with {stats.object_bytes:,} bytes; "
        f"{stats.erased_libraries:,} erased libraries left out; {stats.revocations:,} revocations applied"
    )
