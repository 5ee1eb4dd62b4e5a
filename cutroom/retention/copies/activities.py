"""Activities that copy the files of a ready job to the library's own bucket."""

import base64
import hashlib
import json
import logging
import mimetypes
from dataclasses import astuple, dataclass, field

from temporalio import activity
from temporalio.exceptions import ApplicationError

from cutroom.errors import Code, CutroomError
from cutroom.jobs.lifecycle import Failure
from cutroom.jobs.steps import heartbeating
from cutroom.library.exported_files import ExportedFile
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.platform.egress.client import Egress
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.storage.multipart import (
    InvalidPartsError,
    Multipart,
    MultipartUploadNotFoundError,
    StoreError,
)
from cutroom.platform.storage.objects import Storage
from cutroom.retention.copies import service
from cutroom.retention.copies.bucket import BucketAccess, BucketError, check_access, open_bucket
from cutroom.retention.copies.rules import PART_BYTES, CopyRef, StoreFault, copy_key
from cutroom.retention.exports.rules import part_size

CHECK_PURPOSE = "destination-check"
TURNED_OFF = "The library no longer copies outputs to a bucket."
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BucketCheck:
    """A bucket to test. Its address and key are sealed, because workflow histories contain this."""

    check_id: str
    sealed_access: str


@dataclass(frozen=True, slots=True)
class CheckedBucket:
    """Why a bucket cannot be written, if it cannot."""

    fault: StoreFault | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A file to copy; its version is stored with the copy."""

    file: ExportedFile
    size_bytes: int
    version: str
    etag: str | None = None


@dataclass(slots=True)
class Upload:
    """An unfinished multipart upload, as heartbeats carry it to the next attempt."""

    key: str
    version: str
    upload_id: str
    etags: list[str] = field(default_factory=list)


@dataclass(slots=True)
class CopyProgress:
    """The upload that an attempt is at, or that the one before was at."""

    upload: Upload | None = None

    def details(self) -> tuple[object, ...]:
        return astuple(self.upload) if self.upload is not None else ()


@dataclass(frozen=True, slots=True)
class CopyActivities:
    """Activities of CopyOutputWorkflow and CheckDestinationWorkflow."""

    database: Database
    storage: Storage
    egress: Egress
    secret_box: SecretBox
    clock: Clock

    @activity.defn(name="check_bucket")
    async def check_bucket(self, check: BucketCheck) -> CheckedBucket:
        """Writes and deletes a small object."""
        sealed = base64.b64decode(check.sealed_access)
        access = json.loads(self.secret_box.unseal(CHECK_PURPOSE, sealed, context=check.check_id))
        try:
            await check_access(BucketAccess(**access), self.egress)
        except BucketError as error:
            return CheckedBucket(error.fault)
        return CheckedBucket()

    @activity.defn(name="copy_output")
    async def copy_output(self, ref: CopyRef) -> None:
        """Copies every file that the bucket does not have yet; an interrupted file continues at its next part."""
        details = activity.info().heartbeat_details
        progress = CopyProgress(Upload(*details) if details else None)
        async with heartbeating(progress.details):
            async with self.database.transaction(ref.library_id) as connection:
                pending = await service.load_pending(connection, ref)
                access = await service.load_access(connection, ref.library_id, secret_box=self.secret_box)
                if pending is None:
                    return
                job_id, video_id = pending
                files = await service.list_files(connection, ref.library_id, video_id=video_id, job_id=job_id)
            if access is None:
                raise CutroomError(Code.FAILED_PRECONDITION, message=TURNED_OFF)
            objects = size_bytes = 0
            for product, file in files:
                key = copy_key(access.prefix, video_id=video_id, product=product, job_id=job_id, name=file.name)
                copied = await self._copy(access, key, file, progress)
                if copied is not None:
                    objects, size_bytes = objects + 1, size_bytes + copied
            async with self.database.transaction(ref.library_id) as connection:
                await service.complete_copy(connection, ref, objects=objects, size_bytes=size_bytes, now=self.clock())

    @activity.defn(name="fail_copy")
    async def fail_copy(self, ref: CopyRef, failure: Failure) -> None:
        async with self.database.transaction(ref.library_id) as connection:
            await service.fail_copy(connection, ref, message=failure.message)
        _log.info("copy failed", extra={"copy_id": ref.copy_id, "code": failure.code})

    async def _copy(self, access: BucketAccess, key: str, file: ExportedFile, progress: CopyProgress) -> int | None:
        """Returns the size of the file; None if it was deleted in the meantime."""
        source = await self._find(file)
        if source is None:
            return None
        try:
            async with open_bucket(access, self.egress) as bucket:
                if not await _has(bucket, key, source):
                    await self._transfer(bucket, key, source, progress)
        except BucketError as error:
            fault = error.fault
            raise ApplicationError(
                fault.message,
                {"reason": "bucket", "storeCode": fault.code},
                type=Code.FAILED_PRECONDITION.value,
                non_retryable=not fault.is_transient,
            ) from error
        return source.size_bytes

    async def _find(self, file: ExportedFile) -> Source | None:
        if file.path is None:
            return Source(file, len(file.content), version=hashlib.sha256(file.content).hexdigest())
        stored = await self.storage.find(file.path)
        if stored is None:
            return None
        return Source(file, stored.size_bytes, version=(stored.etag or "").strip('"'), etag=stored.etag)

    async def _transfer(self, bucket: Multipart, key: str, source: Source, progress: CopyProgress) -> None:
        content_type = mimetypes.guess_type(key)[0] or "application/octet-stream"
        if source.size_bytes <= PART_BYTES:
            content = b"".join(await self._read(source, 0, source.size_bytes))
            await bucket.put(key, content, content_type=content_type, owner=source.version)
            return
        upload = progress.upload
        if upload is None or (upload.key, upload.version) != (key, source.version):
            if upload is not None:
                await bucket.abort(upload.key, upload.upload_id)
            upload_id = await bucket.create(key, content_type=content_type, owner=source.version)
            upload = progress.upload = Upload(key, source.version, upload_id)
        part_bytes = part_size(source.size_bytes, PART_BYTES)
        try:
            for start in range(len(upload.etags) * part_bytes, source.size_bytes, part_bytes):
                buffers = await self._read(source, start, min(start + part_bytes, source.size_bytes))
                number = len(upload.etags) + 1
                upload.etags.append(await bucket.put_part(key, upload.upload_id, number=number, buffers=buffers))
                activity.heartbeat(*progress.details())
            await bucket.complete(key, upload.upload_id, etags=upload.etags)
        except (MultipartUploadNotFoundError, InvalidPartsError):
            progress.upload = None
            activity.heartbeat()  # without details, so that the next attempt begins a new upload
            raise
        progress.upload = None

    async def _read(self, source: Source, start: int, end: int) -> list[bytes]:
        if source.file.path is None:
            return [source.file.content[start:end]]
        span = (start, end) if end > start else None  # an empty range is invalid
        return [chunk async for chunk in self.storage.read(source.file.path, span=span, etag=source.etag)]


async def _has(bucket: Multipart, key: str, source: Source) -> bool:
    """Whether an earlier run has copied the file; a key that may only write cannot tell."""
    try:
        found = await bucket.find(key)
    except StoreError as error:
        if error.status == 403:
            return False
        raise
    return found is not None and (found.size_bytes, found.owner) == (source.size_bytes, source.version)
