"""Voices: clones, the engines' own, and forgetting samples in time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import asyncpg

from cutroom.accounts.plans import Plans
from cutroom.accounts.principals import Principal
from cutroom.credits.pricing import PriceList
from cutroom.engines.synthesis.port import SpeechSynthesizer
from cutroom.errors import not_found
from cutroom.jobs.ids import InternalJobType, JobKey
from cutroom.jobs.service import NewJob, create_jobs
from cutroom.jobs.states import JobState
from cutroom.platform.db import Connection, insert
from cutroom.platform.ids import new_id
from cutroom.platform.storage.objects import Storage
from cutroom.products.speech.rules import (
    is_voice_id,
    service_voice_id,
)
from cutroom.products.speech.schemas import NewVoice, Voice, VoiceSettings

URL_PURPOSE = "voice-sample"
MAX_LISTED = 100
CLEARED_AFTER = timedelta(days=7)  # the samples of a clone that was deleted or has failed
VOICES_LAST = timedelta(days=1)  # what no worker has told of for longer is gone
APPROXIMATE = "An approximate likeness: the engine's own voice, changed towards the sample."

_VOICES = """SELECT v.*, j.status AS job_status, j.error_message
    FROM voices v JOIN jobs j ON j.library_id = v.library_id AND j.id = v.job_id
    WHERE v.library_id = $1 AND v.deleted_at IS NULL"""
STATES = {JobState.READY: "ready", JobState.FAILED: "failed"}


@dataclass(frozen=True, slots=True)
class Samples:
    """What a clone is made from: files that are stored already, or a URL that is sealed."""

    voice_id: str
    sha256: tuple[str, ...] = ()
    sealed_url: bytes | None = None


async def add_voice(
    connection: Connection,
    principal: Principal,
    wanted: NewVoice,
    samples: Samples,
    *,
    prices: PriceList,
    now: datetime,
) -> None:
    """Begin a clone, and keep who said that it may be made."""
    key = JobKey(InternalJobType.VOICE, new_id())
    row = {
        "library_id": principal.library_id,
        "id": samples.voice_id,
        "job_id": key.id,
        "name": wanted.name,
        "description": wanted.description or None,
        "labels": wanted.labels,
        "remove_noise": wanted.remove_background_noise,
        "samples": len(samples.sha256),
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
    return await _shown(rows, principal, storage=storage, plans=plans)


async def get_voice(
    connection: Connection, principal: Principal, voice_id: str, *, storage: Storage, plans: Plans, now: datetime
) -> Voice:
    """A clone of the caller's library, or a voice of the engine."""
    row = await find_clone(connection, principal.library_id, voice_id)
    if row is not None:
        return (await _shown([row], principal, storage=storage, plans=plans))[0]
    found = next((row for row in await available_voices(connection, now=now) if row["id"] == voice_id), None)
    if found is None:
        raise not_found()
    return premade(found, plans)


async def delete_voice(connection: Connection, principal: Principal, voice_id: str, *, now: datetime) -> None:
    gone = await connection.fetchval(
        """UPDATE voices SET deleted_at = $3 WHERE library_id = $1 AND id = $2 AND deleted_at IS NULL
           RETURNING true""",
        principal.library_id,
        voice_id,
        now,
    )
    if gone is None:
        raise not_found()


async def find_clone(connection: Connection, library_id: str, voice_id: str) -> asyncpg.Record | None:
    if not is_voice_id(voice_id):
        return None
    return await connection.fetchrow(f"{_VOICES} AND v.id = $2", library_id, voice_id)


async def _shown(
    rows: Sequence[asyncpg.Record], principal: Principal, *, storage: Storage, plans: Plans
) -> list[Voice]:
    paths = [row["preview_path"] for row in rows if row["preview_path"] is not None]
    urls = dict(zip(paths, await storage.read_urls(paths), strict=True)) if paths else {}
    return [_voice(row, principal, preview_url=urls.get(row["preview_path"]), plans=plans) for row in rows]


def _voice(row: asyncpg.Record, principal: Principal, *, preview_url: str | None, plans: Plans) -> Voice:
    words = [row["description"]] if row["description"] else []
    if row["is_approximate"]:
        words.append(APPROXIMATE)
    return Voice(
        voice_id=row["id"],
        name=row["name"],
        category="generated",
        description=" ".join(words) or None,
        labels=row["labels"],
        preview_url=preview_url,
        status=STATES.get(row["job_status"], "processing"),
        workspace_id=principal.workspace_id,
        error=row["error_message"],
        available_for_tiers=_tiers(plans),
        settings=VoiceSettings(),
    )


def premade(row: asyncpg.Record, plans: Plans) -> Voice:
    return Voice(
        voice_id=row["id"],
        name=row["title"],
        category="premade",
        labels={"language": row["language"], "gender": row["gender"], "age": row["age"]},
        status="ready",
        available_for_tiers=_tiers(plans),
        settings=VoiceSettings(),
    )


def _tiers(plans: Plans) -> list[str]:
    return [plan.name for plan in plans.values() if plan.speech]


async def available_voices(connection: Connection, *, now: datetime) -> list[asyncpg.Record]:
    """The engines' own voices, as workers have told of them lately."""
    return await connection.fetch(
        "SELECT * FROM service_voices WHERE seen_at > $1 ORDER BY language, title, id", now - VOICES_LAST
    )


async def publish_voices(connection: Connection, speaker: SpeechSynthesizer, *, now: datetime) -> int:
    """A worker says which voices its engine has; how many."""
    rows = [
        (
            service_voice_id(speaker.name, voice.name),
            speaker.name,
            voice.name,
            voice.title,
            voice.language,
            voice.gender.value,
            voice.age,
            now,
        )
        for voice in speaker.voices()
    ]
    await connection.executemany(
        """INSERT INTO service_voices (id, speaker, name, title, language, gender, age, seen_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
           ON CONFLICT (id) DO UPDATE SET
               title = excluded.title, language = excluded.language, gender = excluded.gender, age = excluded.age,
               seen_at = greatest(service_voices.seen_at, excluded.seen_at)""",
        sorted(rows),  # one order for all workers: no deadlocks
    )
    await connection.execute("DELETE FROM service_voices WHERE seen_at < $1", now - VOICES_LAST)
    return len(rows)


async def clone_of(connection: Connection, library_id: str, voice_id: str) -> asyncpg.Record:
    row = await connection.fetchrow("SELECT * FROM voices WHERE library_id = $1 AND id = $2", library_id, voice_id)
    if row is None:
        raise not_found()
    return row


async def record_reference(connection: Connection, library_id: str, voice_id: str, *, found: Mapping[str, Any]) -> None:
    """What the workflow has found out about a clone; the names of columns are its own."""
    columns = ", ".join(f"{name} = ${at}" for at, name in enumerate(found, 3))
    await connection.execute(
        f"UPDATE voices SET {columns} WHERE library_id = $1 AND id = $2",  # noqa: S608
        library_id,
        voice_id,
        *found.values(),
    )


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What is to be removed from the store."""

    library_id: str
    id: str


async def forgotten_voices(connection: Connection, *, now: datetime, limit: int) -> list[Forgotten]:
    """Clones whose samples have to go, in every library: a door of the database, for nobody else may look there."""
    rows = await connection.fetch("SELECT * FROM voices_to_clear($1, $2)", now - CLEARED_AFTER, limit)
    return [Forgotten(row["library_id"], row["id"]) for row in rows]


async def mark_cleared(connection: Connection, voice: Forgotten, *, now: datetime) -> None:
    await connection.execute(
        """UPDATE voices SET cleared_at = $3, sealed_url = NULL, profile = NULL, reference_path = NULL,
               preview_path = NULL
           WHERE library_id = $1 AND id = $2""",
        voice.library_id,
        voice.id,
        now,
    )
