"""Erasure: an erased library is found in no store, log or cache, and a backup restores without it."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import httpx
from rich.markup import escape

from cutroom.platform.db import Connection
from cutroom.platform.settings import Settings
from cutroom.platform.storage.objects import Storage
from cutroom.platform.task_queues import TaskQueue
from cutroom.retention.erasure.log import ErasureLog, is_valid_certificate
from dev import environment
from dev.scratch import environment_of
from dev.server import Server
from dev.services import postgres
from proofs.erasure.compaction import compact_postgres, compact_seaweedfs, compact_temporal
from proofs.erasure.exporting import count_wrong_files
from proofs.erasure.planting import PlantedLibrary, plant
from proofs.erasure.searching import (
    ENCRYPTED_STORE,
    STORES,
    Findings,
    Needles,
    count_files_with,
    search_files,
    search_objects,
    search_redis,
    search_tables,
    search_text,
)
from proofs.stage.access_fixtures import LibraryFactory
from proofs.stage.own_services import own_services
from proofs.stage.report import Report, prove
from proofs.stage.requirements import Needs
from proofs.stage.service_settings import settings_of_services
from tests.support.stage import Stage, open_stage

PORT_BASE, RESTORE_PORT_BASE = 29400, 30400
ERASE_SECONDS = 240.0
HISTORY_SECONDS = 60.0
QUEUES = [TaskQueue.CONTROL, TaskQueue.MEDIA, TaskQueue.EGRESS, TaskQueue.DOWNLOAD]
MAX_NOTES = 40


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    del short  # one form: what takes time is waiting until no activity can write
    with TemporaryDirectory() as name:
        folder = Path(name)
        with own_services(PORT_BASE):
            changes: dict[str, Any] = {"worker_queues": QUEUES, "erasure_log": str(folder / "erasures")}
            async with open_stage("proof_erasure", folder / "stage", **changes) as stage:
                erased, kept = await _erase_one_of_two(report, stage, folder)
            await _search_compacted(report, stage, erased, kept, folder)
        with own_services(RESTORE_PORT_BASE):
            await _restore(report, stage, erased, kept, folder)


async def _erase_one_of_two(report: Report, stage: Stage, folder: Path) -> tuple[PlantedLibrary, PlantedLibrary]:
    """Plant two libraries, back both up, and erase one by HTTP."""
    factory = LibraryFactory(stage.accounts)
    erased, kept = [await plant(stage, factory, folder) for _ in range(2)]
    await _await_history(stage)
    await _claim_export(report, stage, erased, kept)
    before = await _search_live(stage, erased, folder)
    await _command(stage.settings, "backup", str(folder / "backup"))
    missing = erased.kinds - before.kinds
    report.note(f"planted: {escape(', '.join(sorted(before.kinds)))}")
    report.claim(
        "every canary is found before the erasure",
        expected=f"{len(erased.kinds)} kinds",
        measured=f"{len(erased.kinds - missing)}; not found: {sorted(missing)}",
        holds=bool(erased.kinds) and not missing,
    )
    stores = before.stores()
    report.claim(
        "every store is one that the search can read",
        expected=", ".join(STORES),
        measured=", ".join(sorted(stores)),
        holds=stores == set(STORES),
    )
    named = await asyncio.to_thread(
        count_files_with, environment.data_dir() / ENCRYPTED_STORE, erased.library_id.encode()
    )
    plain = sum(ENCRYPTED_STORE in place for place in before.hits)
    report.claim(
        "Temporal's store names the library, and holds nothing of it in plain text",
        expected="found, 0",
        measured=f"in {named} files, {plain}",
        holds=named > 0 and plain == 0,
    )
    report.figures(planted=before.count, kinds=len(erased.kinds))
    rows, objects = await _keys(stage.accounts.connection, kept.library_id), await _objects(stage.settings, kept)
    certificate = await _erase(report, stage, erased)
    _claim_certificate(report, certificate, stage.settings)
    after = await _keys(stage.accounts.connection, kept.library_id)
    lost = sum(len(keys - after.get(table, set())) for table, keys in rows.items())
    lost_objects = len(objects - await _objects(stage.settings, kept))
    report.claim(
        "rows and objects of the other library that are lost",
        expected="0",
        measured=f"{lost} of {sum(map(len, rows.values()))} rows, {lost_objects} of {len(objects)} objects",
        holds=bool(rows) and bool(objects) and not lost and not lost_objects,
    )
    report.figures(other_tenant_rows_lost=lost, other_tenant_objects_lost=lost_objects)
    return erased, kept


async def _claim_export(report: Report, stage: Stage, library: PlantedLibrary, other: PlantedLibrary) -> None:
    """The owner takes the data along before the erasure; the archive is erased with the library."""
    files, faults = await count_wrong_files(stage, library, other)
    for fault in faults[:MAX_NOTES]:
        report.note(escape(f"export: {fault}"))
    report.claim(
        "files of the export that are missing, differ or are another library's",
        expected="0",
        measured=f"{len(faults)} of {files}",
        holds=files > 0 and not faults,
    )
    report.figures(export_files=files, export_files_wrong=len(faults))


async def _await_history(stage: Stage) -> None:
    """Wait until the relay has started every workflow."""
    deadline = time.monotonic() + HISTORY_SECONDS
    while await stage.accounts.connection.fetchval("SELECT count(*) FROM outbox WHERE NOT is_job"):
        if time.monotonic() > deadline:
            raise RuntimeError(f"workflows were not started\n{stage.worker.read_log()[-3000:]}")
        await asyncio.sleep(0.2)


async def _search_live(stage: Stage, library: PlantedLibrary, folder: Path) -> Findings:
    """Search everything while it runs."""
    needles, findings = Needles.of(library), Findings()
    await search_tables(needles, stage.accounts.connection, findings)
    await search_objects(needles, stage.settings, findings)
    async with httpx.AsyncClient(base_url=stage.api.url, headers=library.headers, timeout=60) as client:
        (await client.get("/v1/videos")).raise_for_status()  # what Redis counts expires within seconds
    await search_redis(needles, stage.settings, findings)
    _search_stores(needles, stage, folder, findings)
    return findings


def _search_stores(needles: Needles, stage: Stage, folder: Path, findings: Findings) -> int:
    """Search the files of every service, the workers' caches and all logs; the backup is restored instead."""
    data = environment.data_dir()
    cluster = postgres.home(data)
    folders = [data, folder / "stage", folder / "erasures", *([] if cluster.is_relative_to(data) else [cluster])]
    for name, text in (("api log", stage.api.read_log()), ("worker log", stage.worker.read_log())):
        search_text(needles, name, text, findings)
    return search_files(needles, [each for each in folders if each.exists()], findings)


async def _erase(report: Report, stage: Stage, library: PlantedLibrary) -> Mapping[str, Any]:
    """Erase the library by HTTP and wait for the certificate."""
    started = time.monotonic()
    async with httpx.AsyncClient(base_url=stage.api.url, timeout=60) as client:
        response = await client.delete("/v1/library", params={"confirm": library.library_id}, headers=library.headers)
        response.raise_for_status()
        path = urlsplit(response.json()["certificateUrl"]).path
        refused = (await client.get("/v1/videos", headers=library.headers)).status_code
        report.claim("the key is refused at once", expected="401", measured=refused, holds=refused == 401)
        while True:
            state: dict[str, Any] = (await client.get(path)).raise_for_status().json()
            if state["status"] == "erased":
                break
            if time.monotonic() - started > ERASE_SECONDS:
                raise RuntimeError(f"the library was not erased\n{stage.worker.read_log()[-5000:]}")
            await asyncio.sleep(0.5)
    report.figures(erase_seconds=round(time.monotonic() - started, 1))
    return state


def _claim_certificate(report: Report, signed: Mapping[str, Any], settings: Settings) -> None:
    certificate = signed["certificate"]
    holds = (
        is_valid_certificate(signed, ErasureLog.of(settings).public_key)
        and sum(certificate["rows"].values()) > 0
        and certificate["objects"]["versions"] > 0
        and certificate["workflowHistories"] > 0
        and certificate["backups"]["lastExpiresAt"] > certificate["finishedAt"]
    )
    report.claim(
        "the certificate is signed and lists what was destroyed",
        expected="rows, objects, histories, last backup",
        measured=f"{sum(certificate['rows'].values())} rows of {len(certificate['rows'])} tables, "
        f"{certificate['objects']['versions']} objects, {certificate['workflowHistories']} histories, "
        f"backups until {certificate['backups']['lastExpiresAt'][:10]}",
        holds=holds,
    )


async def _search_compacted(
    report: Report, stage: Stage, erased: PlantedLibrary, kept: PlantedLibrary, folder: Path
) -> None:
    """Compact every store, and search everything for the erased library; the other one must still be found."""
    assert stage.settings.owner_database_url is not None
    url = stage.settings.owner_database_url.get_secret_value()
    connection = await asyncpg.connect(url)
    needles, findings, other = Needles.of(erased), Findings(), Findings()
    try:
        await search_tables(needles, connection, findings)
        await search_tables(Needles.of(kept), connection, other)
    finally:
        await connection.close()
    await search_objects(needles, stage.settings, findings)
    await search_redis(needles, stage.settings, findings)
    await compact_postgres(urlsplit(url).path.lstrip("/"))
    compact_seaweedfs()
    compact_temporal(environment.data_dir())
    searched = _search_stores(needles, stage, folder, findings)
    for line in list(findings.lines())[:MAX_NOTES]:
        report.note(escape(f"found: {line}"))
    report.claim(
        "canaries of the erased library in tables, objects, Redis, files, logs and caches",
        expected="0",
        measured=f"{findings.count} in {searched / 1e6:,.0f} MB",
        holds=not findings.count and searched > 0,
    )
    report.claim(
        "canaries of the other library are still found",
        expected="more than 0",
        measured=other.count,
        holds=other.count > 0,
    )
    report.figures(found=findings.count, searched_bytes=searched)


async def _restore(report: Report, stage: Stage, erased: PlantedLibrary, kept: PlantedLibrary, folder: Path) -> None:
    """Restore the backup from before the erasure into empty services, and look for both libraries."""
    settings = settings_of_services(stage.settings)
    await _command(settings, "restore", str(folder / "backup"))
    assert settings.owner_database_url is not None
    connection = await asyncpg.connect(settings.owner_database_url.get_secret_value())
    findings, other = Findings(), Findings()
    try:
        for library, found in ((erased, findings), (kept, other)):
            await search_tables(Needles.of(library), connection, found)
            await search_objects(Needles.of(library), settings, found)
        ids = sum(len(keys) for keys in (await _keys(connection, erased.library_id)).values())
    finally:
        await connection.close()
    statuses = await _statuses(settings, erased, kept)
    readable = findings.count + ids + len(await _objects(settings, erased)) + (statuses[0] != 401)
    for line in list(findings.lines())[:MAX_NOTES]:
        report.note(escape(f"restored: {line}"))
    report.claim(
        "what a restore of the earlier backup makes readable of the erased library",
        expected="0",
        measured=readable,
        holds=not readable,
    )
    report.claim(
        "the other library is restored, and its key works",
        expected="200 and more than 0 canaries",
        measured=f"{statuses[1]} and {other.count}",
        holds=statuses[1] == 200 and other.count > 0,
    )
    report.figures(restored_readable=readable)


async def _statuses(settings: Settings, *libraries: PlantedLibrary) -> list[int]:
    """What each key gets from an API on the restored data."""
    api = Server(environment_of(settings))
    api.start()
    try:
        async with httpx.AsyncClient(base_url=api.url, timeout=60) as client:
            return [(await client.get("/v1/videos", headers=each.headers)).status_code for each in libraries]
    finally:
        api.stop()


async def _command(settings: Settings, *arguments: str) -> None:
    """Run `cutroom-server` as an operator does."""
    await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "cutroom.entrypoints.cli", *arguments],
        env=environment_of(settings),
        check=True,
        stdout=subprocess.DEVNULL,
    )


async def _objects(settings: Settings, library: PlantedLibrary) -> set[str]:
    return set(await Storage.connect(settings).names(f"libraries/{library.library_id}/"))


async def _keys(connection: Connection, library_id: str) -> dict[str, set[str]]:
    """Primary keys of a library's rows, except for the outbox, whose rows go when they are relayed."""
    tables = await connection.fetch(
        """SELECT c.relname AS name, array_agg(format('%I', a.attname)) AS columns
           FROM pg_class c JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
           JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
           WHERE c.relnamespace = 'public'::regnamespace AND c.relname <> 'outbox' AND EXISTS (
                 SELECT FROM pg_attribute l WHERE l.attrelid = c.oid AND l.attname = 'library_id')
           GROUP BY c.relname"""
    )
    found = {}
    for table in tables:
        sql = f"SELECT ROW({', '.join(table['columns'])})::text AS key FROM {table['name']} WHERE library_id = $1"  # noqa: S608
        if rows := await connection.fetch(sql, library_id):
            found[table["name"]] = {row["key"] for row in rows}
    return found


if __name__ == "__main__":
    sys.exit(prove("Erasure", proof, within=nullcontext, needs=Needs(programs=("ffmpeg",))))
