"""What purged videos and canceled jobs have left behind: rows, objects and processes."""

import asyncio
import re
import time
from pathlib import Path

import psutil

from cutroom.platform.db import Connection
from cutroom.platform.storage.objects import Storage
from tests.support.stage import Stage

# Kept by the purge, without content: the ledger refers to them.
ACCOUNTING = frozenset({"jobs", "escrow_lines"})
PURGE_SECONDS = 300.0
_VIDEO_OBJECT = re.compile(r"libraries/([^/]+)/videos/([^/]+)/")
_UPLOAD_OBJECT = re.compile(r"libraries/([^/]+)/uploads/([^/]+)/")


async def wait_for_purges(stage: Stage) -> int:
    """Wait until no video is being purged and no workflow is about to start; return how many purges are left."""
    deadline = time.monotonic() + PURGE_SECONDS
    while True:
        stage.worker.keep_running()
        left: int = await stage.accounts.connection.fetchval(
            """SELECT (SELECT count(*) FROM videos WHERE purged_at IS NOT NULL)
                    + (SELECT count(*) FROM outbox WHERE workflow IN ('purge-video', 'cancel-job'))"""
        )
        if not left or time.monotonic() > deadline:
            return left
        await asyncio.sleep(0.5)


async def find_orphan_rows(connection: Connection) -> list[str]:
    """Rows of videos that do not exist, in every table of the database that has a column for them."""
    tables = await connection.fetch(
        """SELECT c.table_name FROM information_schema.columns c JOIN information_schema.tables t USING (table_name)
           WHERE c.column_name = 'video_id' AND c.table_schema = 'public' AND t.table_type = 'BASE TABLE'"""
    )
    found = []
    for (table,) in tables:
        if table in ACCOUNTING:
            continue
        rows = await connection.fetch(
            f"""SELECT o.video_id FROM {table} o WHERE NOT EXISTS (
                    SELECT FROM videos v WHERE v.library_id = o.library_id AND v.id = o.video_id)"""  # noqa: S608
        )
        found += [f"{table}: {row['video_id']}" for row in rows]
    events = await connection.fetch(
        """SELECT e.type, coalesce(e.payload ->> 'videoId', e.payload ->> 'id') AS video_id FROM events e
           WHERE NOT EXISTS (SELECT FROM videos v WHERE v.library_id = e.library_id
                                AND v.id IN (e.payload ->> 'videoId', e.payload ->> 'id'))"""
    )
    return [*found, *(f"{row['type']}: {row['video_id']}" for row in events)]


async def find_contents(connection: Connection) -> list[str]:
    """Jobs of purged videos that still have a plan, a result or details."""
    rows = await connection.fetch(
        """SELECT j.id FROM jobs j
           WHERE j.video_id IS NOT NULL
             AND (j.plan <> '{}' OR j.result - 'receipt' <> '{}' OR j.error_details IS NOT NULL)
             AND NOT EXISTS (SELECT FROM videos v WHERE v.library_id = j.library_id AND v.id = j.video_id)"""
    )
    return [row["id"] for row in rows]


async def find_orphan_objects(connection: Connection, storage: Storage, library_id: str) -> list[str]:
    """Objects of videos and upload sessions that do not exist."""
    videos = {row["id"] for row in await connection.fetch("SELECT id FROM videos")}
    sessions = {row["id"] for row in await connection.fetch("SELECT id FROM upload_sessions")}
    found = []
    for path in await storage.names(f"libraries/{library_id}/"):
        if match := _VIDEO_OBJECT.match(path):
            found += [path] if match[2] not in videos else []
        elif match := _UPLOAD_OBJECT.match(path):
            found += [path] if match[2] not in sessions else []
    return found


def find_orphan_processes(folder: Path) -> list[str]:
    """Programs that work in the stage's folder; called once its worker has stopped."""
    found = []
    for process in psutil.process_iter():
        try:
            command, working_directory = " ".join(process.cmdline()), process.cwd()
        except psutil.Error:  # it has ended, or is not ours
            continue
        is_here = str(folder) in command or working_directory.startswith(str(folder))
        if is_here and process.pid != psutil.Process().pid:
            found.append(command[:200])
    return found
