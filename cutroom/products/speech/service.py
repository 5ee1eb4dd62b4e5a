"""Creates, reads, changes, deletes and purges voice clones, and reads stock voices."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import asyncpg

from cutroom.accounts.plans import Plans
from cutroom.accounts.principals import Principal
from cutroom.capabilities.rules import AvailableVoice
from cutroom.capabilities.service import available_voices
from cutroom.credits.pricing import PriceList
from cutroom.errors import not_found
from cutroom.jobs.ids import InternalJobType, JobKey
from cutroom.jobs.service import NewJob, create_jobs
from cutroom.jobs.states import JobState
from cutroom.platform.db import Connection, insert, update
from cutroom.platform.ids import new_id
from cutroom.platform.storage.objects import Storage
from cutroom.products.speech.rules import (
    is_voice_id,
)
from cutroom.products.speech.schemas import NewVoice, Voice, VoicePatch, VoiceSettings
from cutroom.web.revisions import Revised, require_match
from cutroom.web.schema import changes_of

URL_PURPOSE = "voice-sample"
MAX_LISTED = 100
SAMPLE_RETENTION = timedelta(days=7)  # of clones that were deleted or have failed
APPROXIMATE = "An approximate clone: a stock voice, adjusted to resemble the sample."

_VOICES = """SELECT v.*, j.status AS job_status, j.error_message
    FROM voices v JOIN jobs j ON j.library_id = v.library_id AND j.id = v.job_id
    WHERE v.library_id = $1 AND v.deleted_at IS NULL"""
STATES = {JobState.READY: "ready", JobState.FAILED: "failed"}


@dataclass(frozen=True, slots=True)
class VoiceSamples:
    """The samples of a clone: hashes of stored files, or an encrypted URL."""

    voice_id: str
    sha256: tuple[str, ...] = ()
    sealed_url: bytes | None = None


async def add_voice(
    connection: Connection,
    principal: Principal,
    voice: NewVoice,
    samples: VoiceSamples,
    *,
    prices: PriceList,
    now: datetime,
) -> None:
    """Create a clone with its job, and record the consent."""
    key = JobKey(InternalJobType.VOICE, new_id())
    row = {
        "library_id": principal.library_id,
        "id": samples.voice_id,
        "job_id": key.id,
        "name": voice.name,
        "description": voice.description or None,
        "labels": voice.labels,
        "remove_noise": voice.remove_background_noise,
        "sample_count": len(samples.sha256),
        "sealed_url": samples.sealed_url,
        "created_at": now,
    }
    await insert(connection, "voices", row)
    consent = {
        "library_id": principal.library_id,
        "voice_id": samples.voice_id,
        "user_id": principal.user_id,
        "principal_id": principal.id,
        "samples_sha256": list(samples.sha256),
        "given_at": now,
    }
    await insert(connection, "voice_consents", consent)
    job = NewJob(key, None, plan={"voice_id": samples.voice_id})
    await create_jobs(connection, principal, [job], prices=prices, now=now)


async def list_clones(
    connection: Connection, principal: Principal, *, ready_only: bool, storage: Storage, plans: Plans
) -> list[Voice]:
    ready = f"AND j.status = '{JobState.READY}'" if ready_only else ""
    rows = await connection.fetch(
        f"{_VOICES} {ready} ORDER BY v.created_at DESC, v.id DESC LIMIT $2",
        principal.library_id,
        MAX_LISTED,
    )
    return [_to_voice(row, principal, storage=storage, plans=plans) for row in rows]


async def get_voice(
    connection: Connection, principal: Principal, voice_id: str, *, storage: Storage, plans: Plans, now: datetime
) -> Voice | Revised[Voice]:
    """A clone of the caller's library, or a stock voice, which has no revisions."""
    row = await find_clone(connection, principal.library_id, voice_id)
    if row is not None:
        return Revised(_to_voice(row, principal, storage=storage, plans=plans), row["revision"])
    found = next((voice for voice in await available_voices(connection, now=now) if voice.id == voice_id), None)
    if found is None:
        raise not_found()
    return stock_voice(found, plans)


async def update_voice(
    connection: Connection, principal: Principal, voice_id: str, patch: VoicePatch, *, if_match: str | None = None
) -> None:
    changes = changes_of(patch)
    if "description" in changes:
        changes["description"] = patch.description or None
    await _lock_clone(connection, principal, voice_id, if_match=if_match)
    await update_clone(connection, principal.library_id, voice_id, columns=changes)


async def delete_voice(
    connection: Connection, principal: Principal, voice_id: str, *, if_match: str | None = None, now: datetime
) -> str:
    """Delete a clone and return its name."""
    name = await _lock_clone(connection, principal, voice_id, if_match=if_match)
    await update_clone(connection, principal.library_id, voice_id, columns={"deleted_at": now})
    return name


async def _lock_clone(connection: Connection, principal: Principal, voice_id: str, *, if_match: str | None) -> str:
    """Lock a clone for a change and return its name; raise CONFLICT unless `If-Match` names its revision."""
    row = await connection.fetchrow(
        "SELECT name, revision FROM voices WHERE library_id = $1 AND id = $2 AND deleted_at IS NULL FOR UPDATE",
        principal.library_id,
        voice_id,
    )
    if row is None:
        raise not_found()
    require_match(if_match, row["revision"])
    name: str = row["name"]
    return name


async def find_clone(connection: Connection, library_id: str, voice_id: str) -> asyncpg.Record | None:
    if not is_voice_id(voice_id):
        return None
    return await connection.fetchrow(f"{_VOICES} AND v.id = $2", library_id, voice_id)


def _to_voice(row: asyncpg.Record, principal: Principal, *, storage: Storage, plans: Plans) -> Voice:
    sentences = [row["description"]] if row["description"] else []
    if row["is_approximate"]:
        sentences.append(APPROXIMATE)
    return Voice(
        voice_id=row["id"],
        name=row["name"],
        category="generated",
        description=" ".join(sentences) or None,
        labels=row["labels"],
        preview_url=storage.read_url(row["preview_path"]) if row["preview_path"] is not None else None,
        status=STATES.get(row["job_status"], "processing"),
        workspace_id=principal.workspace_id,
        error=row["error_message"],
        available_for_tiers=_tiers(plans),
        settings=VoiceSettings(),
    )


def stock_voice(voice: AvailableVoice, plans: Plans) -> Voice:
    return Voice(
        voice_id=voice.id,
        name=voice.title,
        category="premade",
        labels={"language": voice.language, "gender": voice.gender, "age": voice.age},
        status="ready",
        available_for_tiers=_tiers(plans),
        settings=VoiceSettings(),
    )


def _tiers(plans: Plans) -> list[str]:
    return [plan.name for plan in plans.values() if plan.speech]


async def load_clone(connection: Connection, library_id: str, voice_id: str) -> asyncpg.Record:
    row = await connection.fetchrow("SELECT * FROM voices WHERE library_id = $1 AND id = $2", library_id, voice_id)
    if row is None:
        raise not_found()
    return row


async def update_clone(connection: Connection, library_id: str, voice_id: str, *, columns: Mapping[str, Any]) -> None:
    """Set columns of a clone; column names must never come from a request."""
    await update(connection, "voices", library_id, voice_id, columns=columns)


@dataclass(frozen=True, slots=True)
class PurgeItem:
    """A voice or synthesis whose objects are due for deletion."""

    library_id: str
    id: str


async def voices_to_purge(connection: Connection, *, now: datetime, limit: int) -> list[PurgeItem]:
    """Clones of all libraries whose samples are due; a SECURITY DEFINER function bypasses row-level security."""
    rows = await connection.fetch("SELECT * FROM voices_to_purge($1, $2)", now - SAMPLE_RETENTION, limit)
    return [PurgeItem(row["library_id"], row["id"]) for row in rows]


async def mark_purged(connection: Connection, voice: PurgeItem, *, now: datetime) -> None:
    await connection.execute(
        """UPDATE voices SET samples_deleted_at = $3, sealed_url = NULL, embedding = NULL, reference_path = NULL,
               preview_path = NULL
           WHERE library_id = $1 AND id = $2""",
        voice.library_id,
        voice.id,
        now,
    )
