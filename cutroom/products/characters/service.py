"""Accepts uploads of character images, lists pending ones, and deletes characters and images."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from cutroom.accounts.principals import Principal
from cutroom.credits.pricing import PriceList
from cutroom.errors import invalid_field
from cutroom.jobs.ids import InternalJobType, JobKey
from cutroom.jobs.service import NewJob, create_jobs
from cutroom.library import branding
from cutroom.library.rules import MAX_CHARACTER_IMAGES, uploaded_image_path
from cutroom.media.images import HEAD_BYTES, MAX_BYTES, check_size, sniff_image
from cutroom.media.process import MediaError
from cutroom.media.sandbox import MIB
from cutroom.platform.db import Connection
from cutroom.platform.ids import new_id
from cutroom.platform.outbox import WorkflowStart, enqueue
from cutroom.platform.storage.objects import Storage

MAX_PENDING = 20  # pending or rejected images listed, newest first
CHARACTER_ID, IMAGE_ID, FILE_NAME = "character_id", "image_id", "file_name"  # in a job's plan
MAX_FILE_NAME = 200
DELETE_WORKFLOW = "delete-character-images"
_PENDING = """SELECT id, status, plan, error_message FROM jobs
    WHERE library_id = $1 AND type = 'character' AND status <> 'ready' ORDER BY created_at DESC, id DESC LIMIT $2"""
_IN_PROGRESS = """SELECT count(*) FROM jobs WHERE library_id = $1 AND type = 'character'
    AND status IN ('queued', 'processing') AND plan->>'character_id' = $2"""


@dataclass(frozen=True, slots=True)
class ImageDeletion:
    """Stored images whose rows have been deleted."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CharacterUpload:
    """An uploaded image file."""

    file_name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class PendingCharacterImage:
    """An image that is being processed, or was rejected with `error`."""

    character_id: str
    file_name: str
    error: str | None


async def upload_images(
    connection: Connection,
    principal: Principal,
    character_id: str,
    *,
    images: Sequence[CharacterUpload],
    storage: Storage,
    prices: PriceList,
    now: datetime,
) -> list[str]:
    """Stores the uploads and creates a job for each; returns the image ids."""
    slots = await branding.remaining_image_slots(connection, principal.library_id, character_id)
    slots -= await connection.fetchval(_IN_PROGRESS, principal.library_id, character_id)
    if len(images) > slots:
        raise invalid_field("pictures", f"A character has at most {MAX_CHARACTER_IMAGES} images.")
    for each in images:
        validate_image(each)
    jobs = []
    for each in images:
        image_id = new_id()
        await storage.put(uploaded_image_path(principal.library_id, image_id), each.data)
        name = each.file_name[:MAX_FILE_NAME]
        plan = {CHARACTER_ID: character_id, IMAGE_ID: image_id, FILE_NAME: name}
        jobs.append(NewJob(JobKey(InternalJobType.CHARACTER, image_id), None, plan=plan))
    await create_jobs(connection, principal, jobs, prices=prices, now=now)
    return [job.key.subject for job in jobs]


def validate_image(image: CharacterUpload) -> None:
    """Rejects unsupported and oversized images by their header, without decoding."""
    if len(image.data) > MAX_BYTES:
        raise invalid_field("pictures", f"An image has at most {MAX_BYTES // MIB} MiB.")
    header = sniff_image(image.data[:HEAD_BYTES])
    if header is None:
        raise invalid_field("pictures", f"{image.file_name or 'The file'} is not a PNG, JPEG, WebP or GIF image.")
    try:
        check_size(header)
    except MediaError as error:
        raise invalid_field("pictures", str(error.message)) from error


async def pending_images(connection: Connection, library_id: str) -> list[PendingCharacterImage]:
    rows = await connection.fetch(_PENDING, library_id, MAX_PENDING)
    return [
        PendingCharacterImage(
            row["plan"][CHARACTER_ID],
            row["plan"][FILE_NAME],
            (row["error_message"] or "The image could not be read.") if row["status"] == "failed" else None,
        )
        for row in rows
    ]


async def delete_character(
    connection: Connection, principal: Principal, character_id: str, *, if_match: str | None = None
) -> None:
    """Deletes a character; its images are deleted from storage once the transaction has committed."""
    paths = await branding.delete_character(connection, principal.library_id, character_id, if_match=if_match)
    await _delete_stored(connection, principal.library_id, character_id, paths=paths)


async def delete_image(connection: Connection, principal: Principal, character_id: str, *, image_id: str) -> None:
    """Deletes one image of a character."""
    path = await branding.remove_image(connection, principal.library_id, character_id, image_id=image_id)
    await _delete_stored(connection, principal.library_id, image_id, paths=[path])


async def _delete_stored(connection: Connection, library_id: str, deleted_id: str, *, paths: Sequence[str]) -> None:
    """Starts the workflow that deletes the files with this transaction, so that a crash leaves none behind."""
    if not paths:
        return
    start = WorkflowStart(
        library_id=library_id,
        workflow=DELETE_WORKFLOW,
        workflow_id=f"{DELETE_WORKFLOW}_{deleted_id}",
        argument=asdict(ImageDeletion(tuple(paths))),
    )
    await enqueue(connection, start)
