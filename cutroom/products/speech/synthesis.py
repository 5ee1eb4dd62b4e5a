"""Readings: asking for a text to be read aloud, how far it has come, and forgetting it in time."""

from dataclasses import dataclass
from datetime import datetime, timedelta

import asyncpg

from cutroom.accounts.principals import Principal
from cutroom.credits.pricing import Action, PriceList, Work
from cutroom.credits.rules import Bill
from cutroom.credits.service import is_subscriber
from cutroom.engines.translation.routing import language_of
from cutroom.errors import Code, CutroomError, invalid_field, not_found
from cutroom.jobs.ids import InternalJobType, JobKey
from cutroom.jobs.service import NewJob, create_jobs
from cutroom.jobs.states import JobState
from cutroom.platform.db import Connection
from cutroom.platform.ids import new_id
from cutroom.platform.settings import Settings
from cutroom.products.speech.rules import MODEL_ID, OutputFormat, fingerprint, passages
from cutroom.products.speech.schemas import NewSpeech
from cutroom.products.speech.service import STATES, Forgotten, available_voices, find_clone

KEPT_FOR = timedelta(hours=24)  # a reading, to be given again


@dataclass(frozen=True, slots=True)
class Reading:
    """A text that is being read, or was: where to look for its sound."""

    library_id: str
    id: str
    format: OutputFormat
    passages: int

    @property
    def job_id(self) -> str:
        return JobKey(InternalJobType.SPEECH, self.id).id


@dataclass(frozen=True, slots=True)
class Wish:
    """A text to be read, by whom, and how its sound is to be written."""

    voice_id: str
    speech: NewSpeech
    format: OutputFormat
    engines: tuple[str, ...]  # as settings name them: others sound otherwise

    def fingerprint(self, sound: str) -> str:
        """One name for all that a reading's bytes depend on; the voice is told by how it sounds."""
        return fingerprint(
            {
                "text": self.speech.text,
                "voice": sound,
                "language": self.speech.language_code,
                "speed": self.speech.speed,
                "format": self.format.name,
                "model": MODEL_ID,
                "engines": self.engines,
            }
        )


def engines_of(settings: Settings) -> tuple[str, ...]:
    return (settings.tts_engines, settings.voice_cloner, settings.remote_tts_model)


async def ask_for_speech(
    connection: Connection, principal: Principal, wish: Wish, *, prices: PriceList, now: datetime
) -> Reading:
    """Have a text read aloud, for one credit; what was read like this and is still kept is not read or paid again."""
    wanted = wish.speech
    sound = await _check_voice(connection, principal, wish.voice_id, wanted, now=now)
    # The update changes nothing: it is there to lock the row, and to give its id.
    reading_id = await connection.fetchval(
        """INSERT INTO syntheses
               (library_id, id, fingerprint, voice_id, text, language, speed, format, sizes, created_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, '{}', $9)
           ON CONFLICT (library_id, fingerprint) DO UPDATE SET fingerprint = excluded.fingerprint
           RETURNING id""",
        principal.library_id,
        new_id(),
        wish.fingerprint(sound),
        wish.voice_id,
        wanted.text,
        wanted.language_code,
        wanted.speed,
        wish.format.name,
        now,
    )
    pieces = len(passages(wanted.text))
    bill = Bill(works=(Work(Action.SPEECH, "speech"),), is_subscriber=is_subscriber(principal))
    job = NewJob(
        JobKey(InternalJobType.SPEECH, reading_id),
        None,
        plan={"passages": pieces, "joins_last": not wish.format.joins},
        bill=bill,
    )
    began = await create_jobs(connection, principal, [job], prices=prices, now=now)
    if began[0]:
        await connection.execute(
            "UPDATE syntheses SET sizes = '{}', created_at = $3 WHERE library_id = $1 AND id = $2",
            principal.library_id,
            reading_id,
            now,
        )
    return Reading(principal.library_id, reading_id, wish.format, pieces)


async def _check_voice(
    connection: Connection, principal: Principal, voice_id: str, wanted: NewSpeech, *, now: datetime
) -> str:
    """What the voice sounds like, in one word; refuses one that is not there or not ready, and a strange language."""
    there = await available_voices(connection, now=now)
    clone = await find_clone(connection, principal.library_id, voice_id)
    if clone is None and not any(row["id"] == voice_id for row in there):
        raise not_found()
    if clone is not None and clone["job_status"] != JobState.READY:
        status = STATES.get(clone["job_status"], "processing")
        raise CutroomError(
            Code.FAILED_PRECONDITION, message=f"The voice is {status}, not ready.", details={"status": status}
        )
    spoken = sorted({row["language"] for row in there})
    asked = wanted.language_code
    if asked is not None and there and language_of(asked) not in {language_of(code) for code in spoken}:
        fault = invalid_field("language_code", "No voice speaks this language.")
        fault.details["available"] = spoken
        raise fault
    return clone_sound(voice_id, clone["reference_sha256"]) if clone is not None else voice_id


def clone_sound(voice_id: str, reference_sha256: str) -> str:
    return f"{voice_id} {reference_sha256}"


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a reading has come."""

    status: JobState
    attempt: int
    sizes: dict[int, int]
    error_code: str | None
    error_message: str | None


async def standing(connection: Connection, reading: Reading) -> Standing:
    row = await connection.fetchrow(
        """SELECT j.status, j.attempt, j.error_code, j.error_message, s.sizes
           FROM jobs j JOIN syntheses s ON s.library_id = j.library_id AND s.id = $3
           WHERE j.library_id = $1 AND j.id = $2""",
        reading.library_id,
        reading.job_id,
        reading.id,
    )
    if row is None:
        raise CutroomError(Code.INTERNAL)
    sizes = {int(number): size for number, size in row["sizes"].items()}
    return Standing(JobState(row["status"]), row["attempt"], sizes, row["error_code"], row["error_message"])


@dataclass(frozen=True, slots=True)
class Ordered:
    """A reading as its worker needs it; the voice is a clone's row, or the engine's own."""

    id: str
    text: str
    language: str | None
    speed: float
    format: str
    clone: asyncpg.Record | None
    service_voice: asyncpg.Record | None


async def order_of(connection: Connection, library_id: str, reading_id: str) -> Ordered | None:
    row = await connection.fetchrow("SELECT * FROM syntheses WHERE library_id = $1 AND id = $2", library_id, reading_id)
    if row is None:
        return None
    # A clone that was deleted meanwhile still ends what was begun with it.
    clone = await connection.fetchrow(
        "SELECT * FROM voices WHERE library_id = $1 AND id = $2", library_id, row["voice_id"]
    )
    told = await connection.fetchrow("SELECT * FROM service_voices WHERE id = $1", row["voice_id"])
    return Ordered(row["id"], row["text"], row["language"], row["speed"], row["format"], clone, told)


async def record_passage(
    connection: Connection, library_id: str, reading_id: str, *, number: int, size_bytes: int
) -> None:
    await connection.execute(
        """UPDATE syntheses SET sizes = sizes || jsonb_build_object($3::text, $4::bigint)
           WHERE library_id = $1 AND id = $2""",
        library_id,
        reading_id,
        str(number),
        size_bytes,
    )


async def forgotten_readings(connection: Connection, *, now: datetime, limit: int) -> list[Forgotten]:
    rows = await connection.fetch("SELECT * FROM readings_to_forget($1, $2)", now - KEPT_FOR, limit)
    return [Forgotten(row["library_id"], row["id"]) for row in rows]


async def forget_reading(connection: Connection, reading: Forgotten) -> None:
    await connection.execute("DELETE FROM syntheses WHERE library_id = $1 AND id = $2", reading.library_id, reading.id)
