"""Writes the archive of an export as a multipart upload, part by part."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from enum import StrEnum

from cutroom.errors import Code, CutroomError
from cutroom.platform.db import Database
from cutroom.platform.storage.multipart import Multipart, MultipartUploadNotFoundError
from cutroom.platform.storage.objects import ObjectChangedError, Storage
from cutroom.retention.exports import archive_state
from cutroom.retention.exports.archive_state import ArchivedFile
from cutroom.retention.exports.rules import PART_BYTES, ExportRef, part_size
from cutroom.retention.exports.zip_layout import FileRange, StoredFile, ZipLayout

RUN_BYTES = 64 * 2**30  # written by one run of an activity, which then starts again
CONTENT_TYPE = "application/zip"
# Percent of the work that is done before and after the archive is written.
READ, ARCHIVED = 45.0, 90.0


class ArchiveOutcome(StrEnum):
    """How a run ended."""

    COMPLETE = "complete"
    MORE = "more"
    CHANGED = "changed"  # a file was replaced or removed after it was read: checksums and manifest are outdated


class FileChangedError(Exception):
    """A file was replaced or removed since its checksums were computed."""

    def __init__(self, number: int) -> None:
        super().__init__(f"file {number} of the export changed")
        self.number = number


@dataclass(frozen=True, slots=True)
class ArchiveWriter:
    """Continues with the first part that is not stored yet: the bytes of each part follow from the list of files."""

    database: Database
    storage: Storage
    multipart: Multipart
    part_bytes: int = PART_BYTES
    run_bytes: int = RUN_BYTES

    async def write(self, ref: ExportRef) -> ArchiveOutcome:
        """Uploads the parts that are not stored yet, then completes the archive; raises FileChangedError."""
        try:
            return await self._write(ref)
        except MultipartUploadNotFoundError:
            if await self._is_complete(ref):  # by a run whose response was lost
                return ArchiveOutcome.COMPLETE
            async with self.database.transaction(ref.library_id) as connection:
                await archive_state.discard_parts(connection, ref)
            raise  # the next run starts a new upload

    async def _write(self, ref: ExportRef) -> ArchiveOutcome:
        async with self.database.transaction(ref.library_id) as connection:
            files = [each for each in await archive_state.read_files(connection, ref) if not each.is_missing]
            etags = await archive_state.part_etags(connection, ref)
        layout = zip_layout(files)
        upload_id, part_bytes = await self._open_upload(ref, layout)
        count = -(-layout.size_bytes // part_bytes)
        sent = 0
        for number in range(len(etags) + 1, count + 1):
            if sent >= self.run_bytes:
                return ArchiveOutcome.MORE
            start, end = (number - 1) * part_bytes, min(number * part_bytes, layout.size_bytes)
            etag = await self.multipart.stream_part(
                ref.archive_path,
                upload_id,
                number=number,
                content=self._content(layout, files, start, end),
                size_bytes=end - start,
            )
            etags.append(etag)
            sent += end - start
            async with self.database.transaction(ref.library_id) as connection:
                await archive_state.add_part(connection, ref, number, etag)
                await archive_state.report_progress(connection, ref, READ + (ARCHIVED - READ) * number / count)
        await self.multipart.complete(ref.archive_path, upload_id, etags=etags)
        return ArchiveOutcome.COMPLETE

    async def _open_upload(self, ref: ExportRef, layout: ZipLayout) -> tuple[str, int]:
        """The export's multipart upload and the size of its parts, which stays the same once parts are stored."""
        async with self.database.transaction(ref.library_id) as connection:
            state = await archive_state.load_unfinished(connection, ref)
        if state is None:
            raise CutroomError(Code.NOT_FOUND)
        if state.multipart_id is not None and state.part_bytes is not None:
            return state.multipart_id, state.part_bytes
        part_bytes = part_size(layout.size_bytes, self.part_bytes)
        upload_id = await self.multipart.create(ref.archive_path, content_type=CONTENT_TYPE, owner=ref.export_id)
        async with self.database.transaction(ref.library_id) as connection:
            await archive_state.update_export(connection, ref, {"multipart_id": upload_id, "part_bytes": part_bytes})
        return upload_id, part_bytes

    async def _content(
        self, layout: ZipLayout, files: list[ArchivedFile], start: int, end: int
    ) -> AsyncIterator[bytes]:
        for each in layout.read(start, end):
            if isinstance(each, FileRange):
                file = files[each.index]
                span = (file.start_byte + each.start, file.start_byte + each.end)
                try:
                    async for chunk in self.storage.read(file.storage_path, span=span, etag=file.etag):
                        yield chunk
                except (ObjectChangedError, FileNotFoundError) as error:
                    raise FileChangedError(file.number) from error
            else:
                yield each

    async def _is_complete(self, ref: ExportRef) -> bool:
        async with self.database.transaction(ref.library_id) as connection:
            state = await archive_state.load_unfinished(connection, ref)
        found = await self.multipart.find(ref.archive_path)
        if state is None or found is None:
            return False
        return (found.size_bytes, found.owner) == (state.archive_bytes, ref.export_id)

    async def abort(self, ref: ExportRef) -> None:
        """Deletes the parts of an archive that is not complete."""
        async with self.database.transaction(ref.library_id) as connection:
            upload_id = await archive_state.multipart_id(connection, ref)
        if upload_id is not None:
            await self.multipart.abort(ref.archive_path, upload_id)


def zip_layout(files: list[ArchivedFile]) -> ZipLayout:
    stored = []
    for each in files:
        assert each.size_bytes is not None
        assert each.crc32 is not None
        stored.append(StoredFile(each.name, each.size_bytes, each.crc32))
    return ZipLayout(stored)
