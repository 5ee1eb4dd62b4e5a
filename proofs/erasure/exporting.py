"""Exports a planted library as its owner would, and compares the archive with the database and the object store."""

import asyncio
import hashlib
import io
import json
import time
import zipfile
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

import httpx

from cutroom.platform.db import Connection
from cutroom.platform.storage.objects import Storage
from proofs.erasure.planting import PlantedLibrary
from tests.support.stage import Stage

EXPORT_SECONDS = 240.0
PATH = "/v1/library/exports"
# Canaries that an owner gets back, by where they were planted.
EXPORTED_KINDS = frozenset({"title", "description", "label", "filename", "folder", "webhook", "metadata"})


async def count_wrong_files(stage: Stage, library: PlantedLibrary, other: PlantedLibrary) -> tuple[int, list[str]]:
    """The files of an export, and what is wrong with it."""
    rows = await _count_rows(stage.accounts.connection, library.library_id)
    export, archive = await _export(stage, library)
    faults = [] if hashlib.sha256(archive).hexdigest() == export["sha256"] else ["the archive's checksum differs"]
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        files = {name: opened.read(name) for name in opened.namelist()}
    manifest = json.loads(files["manifest.json"])
    listed = {file["path"]: file for file in manifest["files"]}
    faults += [f"not in the manifest: {name}" for name in files.keys() - listed.keys() - {"manifest.json"}]
    for path, file in listed.items():
        if path not in files:
            faults.append(f"missing: {path}")
        elif (len(files[path]), hashlib.sha256(files[path]).hexdigest()) != (file["bytes"], file["sha256"]):
            faults.append(f"differs from the manifest: {path}")
    faults += _missing_rows(files, rows)
    faults += [fault async for fault in _missing_sources(stage, library, files)]
    content = b"".join(files.values())
    faults += [
        f"canary missing: {each}" for each in EXPORTED_KINDS if f"{library.word}x{each}x".encode() not in content
    ]
    faults += ["the other library's words"] * (other.word.encode() in content)
    return len(files), faults


async def _export(stage: Stage, library: PlantedLibrary) -> tuple[Mapping[str, Any], bytes]:
    """Request an export, wait for it, and download it in two ranges."""
    async with httpx.AsyncClient(base_url=stage.api.url, headers=library.headers, timeout=120) as client:
        created = (await client.post(PATH)).raise_for_status().json()
        deadline = time.monotonic() + EXPORT_SECONDS
        while True:
            export: dict[str, Any] = (await client.get(f"{PATH}/{created['id']}")).raise_for_status().json()
            if export["status"] == "ready":
                break
            if export["status"] == "failed" or time.monotonic() > deadline:
                raise RuntimeError(f"no export: {export}\n{stage.worker.read_log()[-3000:]}")
            await asyncio.sleep(0.3)
        half = export["archiveBytes"] // 2
        parts = []
        for span in (f"bytes=0-{half - 1}", f"bytes={half}-"):
            url = httpx.URL(export["downloadUrl"])
            response = await client.get(url.raw_path.decode(), headers={"Authorization": "", "Range": span})
            parts.append(response.raise_for_status().content)
    return export, b"".join(parts)


async def _count_rows(connection: Connection, library_id: str) -> dict[str, int]:
    """Rows of the library in every table that has any."""
    tables = await connection.fetch(
        """SELECT c.table_name FROM information_schema.columns c JOIN information_schema.tables t USING (table_name)
           WHERE c.column_name = 'library_id' AND c.table_schema = 'public' AND t.table_type = 'BASE TABLE'
             AND NOT (SELECT p.relispartition FROM pg_class p WHERE p.oid = c.table_name::text::regclass)"""
    )
    return {
        table: int(await connection.fetchval(f"SELECT count(*) FROM {table} WHERE library_id = $1", library_id))  # noqa: S608
        for (table,) in tables
    }


def _missing_rows(files: Mapping[str, bytes], rows: Mapping[str, int]) -> Iterator[str]:
    """Tables of the export with fewer rows than the database had before it; more may have come."""
    for table, count in rows.items():
        content = files.get(f"rows/{table}.jsonl")
        if content is not None and len(content.splitlines()) < count:
            yield f"{table}: {len(content.splitlines())} of {count} rows"


async def _missing_sources(stage: Stage, library: PlantedLibrary, files: Mapping[str, bytes]) -> AsyncIterator[str]:
    """Originals in the bucket that are no file of the archive."""
    storage, known = Storage.connect(stage.settings), {hashlib.sha256(content).digest() for content in files.values()}
    for path in await storage.names(f"libraries/{library.library_id}/videos/"):
        if path.endswith("/source"):
            content = b"".join([chunk async for chunk in storage.read(path)])
            if hashlib.sha256(content).digest() not in known:
                yield f"original missing: {path}"
