"""Rules of the resumable protocol: ranges, sizes, checksums and errors."""

import base64
import re
from dataclasses import dataclass
from datetime import datetime, timedelta

START_LIFETIME = timedelta(minutes=30)  # of the signed URL that starts a session
SESSION_LIFETIME = timedelta(days=7)
CHUNK_BYTES = 256 * 1024  # all chunks but the last are multiples of it
PART_BYTES = 8 * 1024 * 1024
MAX_PARTS = 10_000  # per S3 multipart upload
MAX_UPLOAD_BYTES = 500 * 10**9
MAX_RELATED_BYTES = 8 * 1024 * 1024  # of a multipart/related upload, the limit of Google's clients
SLOT_RETRY_SECONDS = 5
DEFAULT_CONTENT_TYPE = "application/octet-stream"

_MEBIBYTE = 1024 * 1024
_CONTENT_RANGE = re.compile(r"bytes (?:(\d{1,18})-(\d{1,18})|\*)/(\d{1,18}|\*)")
_HASH = re.compile(r"(crc32c|md5)=([A-Za-z0-9+/]+={0,2})")


class UploadError(Exception):
    """An error response with Google's status and reason."""

    def __init__(self, status: int, reason: str, message: str, *, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message
        self.headers = headers or {}


def invalid(message: str) -> UploadError:
    return UploadError(400, "invalid", message)


def method_not_allowed(allowed: str, message: str) -> UploadError:
    return UploadError(405, "methodNotAllowed", message, headers={"Allow": allowed})


def try_again(message: str) -> UploadError:
    """A retryable error: clients wait, query the status and resume."""
    return UploadError(503, "backendError", message)


def too_many_uploads(scope: str) -> UploadError:
    """The protocol's form of RATE_LIMITED."""
    headers = {"Retry-After": str(SLOT_RETRY_SECONDS)}
    return UploadError(429, "rateLimitExceeded", f"Too many concurrent uploads {scope}.", headers=headers)


def being_finished() -> UploadError:
    return try_again("Another request is finishing this upload.")


def session_gone() -> UploadError:
    return UploadError(410, "gone", "The upload session has ended. Start a new one.")


def session_unknown() -> UploadError:
    return UploadError(404, "notFound", "The upload session does not exist.")


@dataclass(frozen=True, slots=True)
class PartialPart:
    """Received bytes that do not fill a part yet, stored as an immutable object."""

    path: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Session:
    """An upload session as stored."""

    library_id: str
    id: str
    video_id: str
    account_id: str | None
    state: str
    storage_path: str
    content_type: str
    multipart_id: str | None
    part_bytes: int
    part_count: int
    received_bytes: int
    total_bytes: int | None
    crc32c: int
    md5: str | None
    partial_parts: tuple[PartialPart, ...]
    assembly_owner: str | None
    assembly_until: datetime | None
    expires_at: datetime
    completed_at: datetime | None

    @property
    def is_complete(self) -> bool:
        return self.state == "complete"

    def is_being_assembled(self, now: datetime) -> bool:
        """Whether a live request is completing the object; after a crash its lease ends."""
        return self.state == "assembling" and self.assembly_until is not None and self.assembly_until > now


@dataclass(frozen=True, slots=True)
class Chunk:
    """The byte range of a PUT; without a length it extends to the end of the body."""

    first: int
    length: int | None
    total: int | None
    is_query: bool = False
    ends_file: bool = False  # the end of the body is the end of the file

    @property
    def end(self) -> int | None:
        return None if self.length is None else self.first + self.length


def parse_chunk(content_range: str | None, content_length: str | None) -> Chunk:
    """Parses the Content-Range and Content-Length headers of a PUT."""
    length = int(content_length) if content_length and re.fullmatch(r"\d{1,18}", content_length) else None
    if content_range is None:
        return _validate(Chunk(0, length, total=length, ends_file=True))
    match = _CONTENT_RANGE.fullmatch(content_range.strip())
    if match is None:
        raise invalid("Content-Range is malformed.")
    total = None if match[3] == "*" else int(match[3])
    if match[1] is None:
        return _validate(Chunk(0, 0, total=total, is_query=True))
    first, last = int(match[1]), int(match[2])
    if last < first or (total is not None and last >= total):
        raise invalid("Content-Range contradicts itself.")
    if length is not None and length != last - first + 1:
        raise invalid("Content-Length contradicts Content-Range.")
    chunk = _validate(Chunk(first, last - first + 1, total=total))
    if chunk.end != total and (last - first + 1) % CHUNK_BYTES:
        raise invalid(f"Every chunk but the last holds a multiple of {CHUNK_BYTES} bytes.")
    return chunk


def parse_total(header: str | None) -> int | None:
    """Parses the optional total size given when a session is started."""
    if header is None or not re.fullmatch(r"\d{1,18}", header):
        return None
    return _validate(Chunk(0, None, total=int(header))).total


def _validate(chunk: Chunk) -> Chunk:
    if chunk.total == 0:
        raise invalid("An empty file cannot be uploaded.")
    if max(chunk.total or 0, chunk.end or 0) > MAX_UPLOAD_BYTES:
        raise too_large(MAX_UPLOAD_BYTES)
    return chunk


def too_large(at_most: int) -> UploadError:
    return UploadError(413, "uploadTooLarge", f"The upload exceeds the limit of {at_most} bytes.")


def part_bytes_for(total: int | None) -> int:
    """Returns the part size: the default, or larger if the file would need too many parts."""
    minimum = -(-(total or 0) // MAX_PARTS)
    return max(PART_BYTES, -(-minimum // _MEBIBYTE) * _MEBIBYTE)


def capacity(part_bytes: int) -> int:
    """Returns the largest upload possible with this part size."""
    return min(part_bytes * MAX_PARTS, MAX_UPLOAD_BYTES)


def check_progress(chunk: Chunk, *, received: int, total: int | None) -> None:
    """Rejects chunks that contradict the session or leave a gap."""
    known = total if total is not None else chunk.total
    if chunk.total is not None and known != chunk.total:
        raise invalid(f"The size of the file was declared as {known} bytes before.")
    if known is not None and max(chunk.end or 0, received) > known:
        raise invalid(f"The chunk exceeds the declared size of {known} bytes.")
    if chunk.first > received:
        raise try_again(f"Bytes from {received} on have not arrived yet.")


def parse_hashes(headers: list[str]) -> dict[str, str]:
    """Parses the caller's base64 checksums."""
    return {name: value for header in headers for name, value in _HASH.findall(header)}


def crc_text(crc32c: int) -> str:
    return base64.b64encode(crc32c.to_bytes(4)).decode()
