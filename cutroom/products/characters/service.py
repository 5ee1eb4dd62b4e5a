"""Taking pictures of a character in, and telling what became of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cutroom.accounts.principals import Principal
from cutroom.credits.pricing import PriceList
from cutroom.errors import invalid_field
from cutroom.jobs.ids import InternalJobType, JobKey
from cutroom.jobs.service import NewJob, create_jobs
from cutroom.library.branding import images_free
from cutroom.library.rules import MAX_CHARACTER_IMAGES, sent_picture_path
from cutroom.media.images import HEAD_BYTES, MAX_BYTES, check_size, sniff_picture
from cutroom.media.process import MediaError
from cutroom.media.sandbox import MIB
from cutroom.platform.db import Connection
from cutroom.platform.ids import new_id
from cutroom.platform.storage.objects import Storage

MAX_TOLD = 20  # pictures that wait or were refused, newest first
CHARACTER_ID, IMAGE_ID, FILE_NAME = "character_id", "image_id", "file_name"  # in a job's plan
MAX_FILE_NAME = 200
_PENDING = """SELECT id, status, plan, error_message FROM jobs
    WHERE library_id = $1 AND type = 'character' AND status <> 'ready' ORDER BY created_at DESC, id DESC LIMIT $2"""
_HELD = """SELECT count(*) FROM jobs WHERE library_id = $1 AND type = 'character'
    AND status IN ('queued', 'processing') AND plan->>'character_id' = $2"""


@dataclass(frozen=True, slots=True)
class SentPicture:
    """A picture as it came."""

    file_name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class PendingPicture:
    """A picture that is being looked at, or could not be used, and why."""

    character_id: str
    file_name: str
    fault: str | None


async def send_pictures(
    connection: Connection,
    principal: Principal,
    character_id: str,
    *,
    pictures: Sequence[SentPicture],
    storage: Storage,
    prices: PriceList,
    now: datetime,
) -> list[str]:
    """Put the pictures where a worker finds them, and ask it to look; the ids that they will have."""
    free = await images_free(connection, principal.library_id, character_id)
    free -= await connection.fetchval(_HELD, principal.library_id, character_id)
    if len(pictures) > free:
        raise invalid_field("pictures", f"A character has at most {MAX_CHARACTER_IMAGES} pictures.")
    for each in pictures:
        check_picture(each)
    jobs = []
    for each in pictures:
        image_id = new_id()
        await storage.put(sent_picture_path(principal.library_id, image_id), each.data)
        name = each.file_name[:MAX_FILE_NAME]
        plan = {CHARACTER_ID: character_id, IMAGE_ID: image_id, FILE_NAME: name}
        jobs.append(NewJob(JobKey(InternalJobType.CHARACTER, image_id), None, plan=plan))
    await create_jobs(connection, principal, jobs, prices=prices, now=now)
    return [job.key.subject for job in jobs]


def check_picture(picture: SentPicture) -> None:
    """What its first bytes tell is said at once; nothing is decoded here."""
    if len(picture.data) > MAX_BYTES:
        raise invalid_field("pictures", f"A picture has at most {MAX_BYTES // MIB} MiB.")
    head = sniff_picture(picture.data[:HEAD_BYTES])
    if head is None:
        raise invalid_field("pictures", f"{picture.file_name or 'The file'} is not a PNG, JPEG, WebP or GIF picture.")
    try:
        check_size(head)
    except MediaError as error:
        raise invalid_field("pictures", str(error.sentence)) from error


async def pending_pictures(connection: Connection, library_id: str) -> list[PendingPicture]:
    rows = await connection.fetch(_PENDING, library_id, MAX_TOLD)
    return [
        PendingPicture(
            row["plan"][CHARACTER_ID],
            row["plan"][FILE_NAME],
            (row["error_message"] or "It could not be read.") if row["status"] == "failed" else None,
        )
        for row in rows
    ]
