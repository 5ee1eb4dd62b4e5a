"""Activities of exports. Each continues where an earlier run stopped, from what is stored in the database."""

import asyncio
import hashlib
import logging
from dataclasses import dataclass, replace

from temporalio import activity
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from cutroom.errors import Code, CutroomError
from cutroom.jobs.lifecycle import Failure
from cutroom.jobs.steps import heartbeating
from cutroom.media.local_cache import LocalMediaCache
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.platform.storage.objects import Storage
from cutroom.retention.exports import archive_state
from cutroom.retention.exports.archive_state import ArchivedFile, ArchiveState
from cutroom.retention.exports.archive_writer import (
    READ,
    RUN_BYTES,
    ArchiveOutcome,
    ArchiveWriter,
    FileChangedError,
    zip_layout,
)
from cutroom.retention.exports.contents import FileCollector, collect_files, open_snapshot
from cutroom.retention.exports.file_reader import FileReader
from cutroom.retention.exports.manifest import manifest_lines, summarize
from cutroom.retention.exports.rules import MANIFEST, MAX_ARCHIVE_BYTES, ExportRef

BATCH_FILES = 200
CONCURRENT_READS = 8
RUN_FILES = 20_000  # read by one run of an activity, which then starts again
PURGE_BATCH = 100
COLLECTED = 5.0  # percent of the work that is done when all files are listed

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ExportActivities:
    """Activities of ExportLibraryWorkflow, DeleteExportWorkflow and PurgeExportsWorkflow."""

    database: Database
    client: Client
    storage: Storage
    media_cache: LocalMediaCache
    writer: ArchiveWriter
    clock: Clock

    @property
    def reader(self) -> FileReader:
        return FileReader(self.storage)

    @activity.defn(name="start_export")
    async def start_export(self, ref: ExportRef) -> bool:
        """Returns whether there is anything to do: not after the export was deleted."""
        async with self.database.transaction(ref.library_id) as connection:
            if await archive_state.load_unfinished(connection, ref) is None:
                return False
            await archive_state.update_export(connection, ref, {"status": "processing"})
        return True

    @activity.defn(name="collect_export_files")
    async def collect_export_files(self, ref: ExportRef) -> None:
        """Lists the files of one snapshot of the library, and stores the content that is made for the export."""
        async with heartbeating():
            async with self.database.transaction(ref.library_id) as connection:
                if await archive_state.has_files(connection, ref):
                    return
            path = ref.work_path("generated")
            with self.media_cache.temp_dir() as folder:
                local = folder / "generated"
                with local.open("wb") as generated:
                    collector = FileCollector(generated, path)
                    async with open_snapshot(self.database, ref.library_id) as connection:
                        await collect_files(connection, ref.library_id, collector)
                await self.storage.put(path, local)
            stored = await self.storage.find(path)
            assert stored is not None
            files = [replace(each, etag=stored.etag) if each.sha256 else each for each in collector.files]
            async with self.database.transaction(ref.library_id) as connection:
                await archive_state.save_files(connection, ref, files)
                await archive_state.report_progress(connection, ref, COLLECTED)

    @activity.defn(name="read_export_files")
    async def read_export_files(self, ref: ExportRef) -> bool:
        """Computes the checksums of files that have none; returns whether there is more to read."""
        files_read = bytes_read = 0
        async with heartbeating():
            while files_read < RUN_FILES and bytes_read < RUN_BYTES:
                async with self.database.transaction(ref.library_id) as connection:
                    unread = await archive_state.unread_files(connection, ref, limit=BATCH_FILES)
                if not unread:
                    return False
                read = await self._read_batch(ref, unread)
                async with self.database.transaction(ref.library_id) as connection:
                    done, total = await archive_state.count_files(connection, ref)
                    percent = COLLECTED + (READ - COLLECTED) * done / max(total, 1)
                    await archive_state.report_progress(connection, ref, percent)
                files_read += len(read)
                bytes_read += sum(each.size_bytes or 0 for each in read)
        return True

    async def _read_batch(self, ref: ExportRef, files: list[ArchivedFile]) -> list[ArchivedFile]:
        """Reads several files at once, and saves each when it has been read."""
        semaphore = asyncio.Semaphore(CONCURRENT_READS)

        async def read(file: ArchivedFile) -> ArchivedFile:
            async with semaphore:
                found = await self.reader.read(ref, file)
                async with self.database.transaction(ref.library_id) as connection:
                    await archive_state.save_files(connection, ref, [found])
                return found

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(read(each)) for each in files]
        return [task.result() for task in tasks]

    @activity.defn(name="write_export_manifest")
    async def write_export_manifest(self, ref: ExportRef) -> None:
        """Adds the manifest as the first file, which fixes the bytes of the archive."""
        async with heartbeating():
            state = await self._load(ref)
            async with self.database.transaction(ref.library_id) as connection:
                files = await archive_state.read_files(connection, ref)
            if files[0].number == 0:
                return
            content = b"".join(manifest_lines(ref, files, created_at=state.created_at))
            unread = ArchivedFile(0, MANIFEST, "manifest", storage_path=ref.work_path(MANIFEST))
            manifest = await self.reader.store(unread, content)
            archived = [manifest, *(each for each in files if not each.is_missing)]
            layout = zip_layout(archived)
            if layout.size_bytes > MAX_ARCHIVE_BYTES:
                raise CutroomError(Code.FAILED_PRECONDITION, message="The library is too large for one archive.")
            columns = {
                "file_count": len(archived),
                "content_bytes": sum(each.size_bytes or 0 for each in archived),
                "archive_bytes": layout.size_bytes,
                "summary": summarize(files),
            }
            async with self.database.transaction(ref.library_id) as connection:
                await archive_state.save_files(connection, ref, [manifest])
                await archive_state.update_export(connection, ref, columns)

    @activity.defn(name="write_export_archive")
    async def write_export_archive(self, ref: ExportRef) -> ArchiveOutcome:
        """Uploads the parts that are not stored yet, then completes the archive."""
        async with heartbeating():
            try:
                return await self.writer.write(ref)
            except FileChangedError as error:
                _log.warning("exported file changed", extra={"export_id": ref.export_id, "file": error.number})
                await self.writer.abort(ref)
                async with self.database.transaction(ref.library_id) as connection:
                    await archive_state.forget_file(connection, ref, error.number)
                    await archive_state.discard_parts(connection, ref)
                return ArchiveOutcome.CHANGED

    @activity.defn(name="finish_export")
    async def finish_export(self, ref: ExportRef) -> None:
        """Reads the archive as it is stored, and publishes it with its checksum."""
        async with heartbeating():
            async with self.database.transaction(ref.library_id) as connection:
                if await archive_state.load_unfinished(connection, ref) is None:
                    return  # an earlier run has published it
            sha256 = hashlib.sha256()
            async for chunk in self.storage.read(ref.archive_path):
                sha256.update(chunk)
            async with self.database.transaction(ref.library_id) as connection:
                await archive_state.complete_export(connection, ref, sha256=sha256.hexdigest(), now=self.clock())
        _log.info("export ready", extra={"export_id": ref.export_id})

    @activity.defn(name="fail_export")
    async def fail_export(self, ref: ExportRef, failure: Failure) -> None:
        await self.writer.abort(ref)
        async with self.database.transaction(ref.library_id) as connection:
            await archive_state.fail_export(connection, ref, failure, now=self.clock())
        _log.warning("export failed", extra={"export_id": ref.export_id, "code": failure.code})

    @activity.defn(name="delete_export_work")
    async def delete_export_work(self, ref: ExportRef) -> None:
        """Deletes files that only building the archive needed."""
        async with heartbeating():
            await self.storage.delete_under(ref.work_path(""))

    @activity.defn(name="stop_export")
    async def stop_export(self, ref: ExportRef) -> None:
        """Terminates the export's workflow; its activity is canceled when it next heartbeats."""
        try:
            await self.client.get_workflow_handle(ref.workflow_id).terminate("export deleted")
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise

    @activity.defn(name="remove_export")
    async def remove_export(self, ref: ExportRef) -> None:
        """Deletes the archive and every other object of an export, then its rows."""
        async with heartbeating():
            await self._remove(ref)

    @activity.defn(name="purge_exports")
    async def purge_exports(self) -> int:
        """Removes expired exports of all libraries; returns how many."""
        removed = 0
        async with heartbeating():
            while True:
                async with self.database.connection() as connection:
                    expired = await archive_state.expired_exports(connection, now=self.clock(), limit=PURGE_BATCH)
                for ref in expired:
                    await self.stop_export(ref)
                    await self._remove(ref)
                removed += len(expired)
                if len(expired) < PURGE_BATCH:
                    return removed

    async def _remove(self, ref: ExportRef) -> None:
        await self.writer.abort(ref)
        await self.storage.delete_under(ref.prefix)
        async with self.database.transaction(ref.library_id) as connection:
            await archive_state.remove_export(connection, ref)

    async def _load(self, ref: ExportRef) -> ArchiveState:
        async with self.database.transaction(ref.library_id) as connection:
            state = await archive_state.load_unfinished(connection, ref)
        if state is None:
            raise CutroomError(Code.NOT_FOUND)
        return state
