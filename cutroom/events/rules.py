"""Declares the types of events, and encodes cursors of a library's log."""

import base64
import binascii
import hashlib
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, get_args

RETENTION = timedelta(days=30)  # longer than any webhook delivery, including Retry-After delays

EventType = Literal[
    "video.ready",
    "video.failed",
    "job.ready",
    "job.failed",
    "video.updated",
    "job.cancelled",
    "credits.low",
    "transcript.edited",
    "captions.edited",
    "dub.regenerated",
    "dub.regeneration_failed",
]


@dataclass(frozen=True, slots=True)
class EventDeclaration:
    """A type of lasting event: when it happens, and what its data is."""

    type: EventType
    when: str
    data: str  # the schema of its data
    is_default: bool = False  # sent to a webhook endpoint that has chosen no types


DECLARATIONS = (
    EventDeclaration("video.ready", "A video's import is ready.", "Video", is_default=True),
    EventDeclaration("video.failed", "A video's import failed.", "Video", is_default=True),
    EventDeclaration("job.ready", "A job is ready.", "Job", is_default=True),
    EventDeclaration("job.failed", "A job failed, or was canceled.", "Job", is_default=True),
    EventDeclaration("video.updated", "A video's title, other details, poster or playback changed.", "Video"),
    EventDeclaration("job.cancelled", "A job was canceled. A `job.failed` event precedes it.", "Job"),
    EventDeclaration("credits.low", "The balance fell below the warning threshold.", "CreditsLow"),
    EventDeclaration("transcript.edited", "A transcript has a new revision.", "TranscriptEdited"),
    EventDeclaration("captions.edited", "Translated captions have a new revision.", "CaptionsEdited"),
    EventDeclaration("dub.regenerated", "Lines of a dub were made again, and its audio is new.", "DubRegenerated"),
    EventDeclaration("dub.regeneration_failed", "Lines of a dub could not be made again.", "DubRegenerated"),
)
EVENT_TYPES: tuple[EventType, ...] = get_args(EventType)
DEFAULT_TYPES: tuple[EventType, ...] = tuple(each.type for each in DECLARATIONS if each.is_default)
PROGRESS_TYPE = "job.progress"  # sent live only

_POSITION_BYTES = 8
_CHECK_BYTES = 6


class InvalidCursorError(ValueError):
    """A cursor is malformed, or of another library."""


def encode_cursor(library_id: str, position: int) -> str:
    """Return the cursor of a position; it is bound to its library and valid in every cell, whatever the keys."""
    encoded = position.to_bytes(_POSITION_BYTES)
    return base64.urlsafe_b64encode(encoded + _check(library_id, encoded)).decode().rstrip("=")


def decode_cursor(library_id: str, cursor: str) -> int:
    """Return the position; raise InvalidCursorError for anything that `encode_cursor` did not return."""
    try:
        decoded = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidCursorError from error
    position = int.from_bytes(decoded[:_POSITION_BYTES])
    if position >= 2**63 or encode_cursor(library_id, position) != cursor:
        raise InvalidCursorError
    return position


def _check(library_id: str, position: bytes) -> bytes:
    """Detects mistakes, not attacks: the cursor of another library would only name a place in the caller's own log."""
    return hashlib.sha256(b"events " + library_id.encode() + position).digest()[:_CHECK_BYTES]
