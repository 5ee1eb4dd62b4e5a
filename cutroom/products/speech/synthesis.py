"""Requests text-to-speech synthesis, tracks its progress, and purges expired results."""

from dataclasses import dataclass
from datetime import datetime, timedelta

import asyncpg

from cutroom.accounts.principals import Principal
from cutroom.capabilities.rules import AvailableVoice, spoken_languages
from cutroom.capabilities.service import available_voices, find_stock_voice
from cutroom.credits.pricing import Action, BillableItem, PriceList
from cutroom.credits.rules import Charge
from cutroom.credits.service import is_subscriber
from cutroom.errors import Code, CutroomError, invalid_field, not_found
from cutroom.jobs.ids import InternalJobType, JobKey
from cutroom.jobs.service import NewJob, create_jobs
from cutroom.jobs.states import JobState
from cutroom.platform.db import Connection
from cutroom.platform.ids import new_id
from cutroom.platform.settings import Settings
from cutroom.products.speech.rules import MODEL_ID, OutputFormat, fingerprint, speech_passages
from cutroom.products.speech.schemas import NewSpeech
from cutroom.products.speech.service import STATES, PurgeItem, find_clone
from cutroom.text.language_tags import language_of

SYNTHESIS_TTL = timedelta(hours=24)  # during which identical requests reuse the result


@dataclass(frozen=True, slots=True)
class SynthesisRef:
    """Identifies a synthesis and its audio."""

    library_id: str
    id: str
    format: OutputFormat
    passage_count: int

    @property
    def file_count(self) -> int:
        """Number of stored audio files: one per passage, or one if the format is not concatenable."""
        return self.passage_count if self.format.is_concatenable else 1

    @property
    def job_id(self) -> str:
        return JobKey(InternalJobType.SPEECH, self.id).id


@dataclass(frozen=True, slots=True)
class SynthesisRequest:
    """A text to synthesize, with its voice and output format."""

    voice_id: str
    speech: NewSpeech
    format: OutputFormat
    engines: tuple[str, ...]  # configured engines, because they affect the audio

    def fingerprint(self, voice: str) -> str:
        """Fingerprint of everything the audio depends on; `voice` identifies the voice and its reference audio."""
        return fingerprint(
            {
                "text": self.speech.text,
                "voice": voice,
                "language": self.speech.language_code,
                "speed": self.speech.speed,
                "format": self.format.name,
                "model": MODEL_ID,
                "engines": self.engines,
            }
        )


def engine_settings(settings: Settings) -> tuple[str, ...]:
    return (*settings.tts_engines, settings.voice_cloner, settings.remote_tts_model)


async def request_synthesis(
    connection: Connection, principal: Principal, request: SynthesisRequest, *, prices: PriceList, now: datetime
) -> SynthesisRef:
    """Start a synthesis for one credit; an identical request within SYNTHESIS_TTL is reused without a charge."""
    speech = request.speech
    voice = await _check_voice(connection, principal, request.voice_id, speech, now=now)
    # The no-op update locks an existing row and returns its id.
    synthesis_id = await connection.fetchval(
        """INSERT INTO syntheses
               (library_id, id, fingerprint, voice_id, text, language, speed, format, passage_sizes, created_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, '{}', $9)
           ON CONFLICT (library_id, fingerprint) DO UPDATE SET fingerprint = excluded.fingerprint
           RETURNING id""",
        principal.library_id,
        new_id(),
        request.fingerprint(voice),
        request.voice_id,
        speech.text,
        speech.language_code,
        speech.speed,
        request.format.name,
        now,
    )
    passage_count = len(speech_passages(speech.text))
    charge = Charge(items=(BillableItem(Action.SPEECH, "speech"),), is_subscriber=is_subscriber(principal))
    job = NewJob(
        JobKey(InternalJobType.SPEECH, synthesis_id),
        None,
        plan={"passages": passage_count, "encode_last": not request.format.is_concatenable},
        charge=charge,
    )
    started = await create_jobs(connection, principal, [job], prices=prices, now=now)
    if started[0]:
        await connection.execute(
            "UPDATE syntheses SET passage_sizes = '{}', created_at = $3 WHERE library_id = $1 AND id = $2",
            principal.library_id,
            synthesis_id,
            now,
        )
    return SynthesisRef(principal.library_id, synthesis_id, request.format, passage_count)


async def _check_voice(
    connection: Connection, principal: Principal, voice_id: str, speech: NewSpeech, *, now: datetime
) -> str:
    """Identify the voice for fingerprints; raises if it is unknown or not ready, or the language is unsupported."""
    stock_voices = await available_voices(connection, now=now)
    clone = await find_clone(connection, principal.library_id, voice_id)
    if clone is None and not any(voice.id == voice_id for voice in stock_voices):
        raise not_found()
    if clone is not None and clone["job_status"] != JobState.READY:
        status = STATES.get(clone["job_status"], "processing")
        raise CutroomError(
            Code.FAILED_PRECONDITION, message=f"The voice is {status}, not ready.", details={"status": status}
        )
    spoken = spoken_languages(stock_voices)
    language = speech.language_code
    if language is not None and stock_voices and language_of(language) not in {language_of(code) for code in spoken}:
        error = invalid_field("language_code", "No voice speaks this language.")
        error.details["available"] = spoken
        raise error
    return clone_identity(voice_id, clone["reference_sha256"]) if clone is not None else voice_id


def clone_identity(voice_id: str, reference_sha256: str) -> str:
    return f"{voice_id} {reference_sha256}"


@dataclass(frozen=True, slots=True)
class SynthesisProgress:
    """The progress of a synthesis."""

    status: JobState
    attempt: int
    passage_sizes: dict[int, int]
    error_code: str | None
    error_message: str | None


async def get_progress(connection: Connection, synthesis: SynthesisRef) -> SynthesisProgress:
    row = await connection.fetchrow(
        """SELECT j.status, j.attempt, j.error_code, j.error_message, s.passage_sizes
           FROM jobs j JOIN syntheses s ON s.library_id = j.library_id AND s.id = $3
           WHERE j.library_id = $1 AND j.id = $2""",
        synthesis.library_id,
        synthesis.job_id,
        synthesis.id,
    )
    if row is None:
        raise CutroomError(Code.INTERNAL)
    sizes = {int(number): size for number, size in row["passage_sizes"].items()}
    return SynthesisProgress(JobState(row["status"]), row["attempt"], sizes, row["error_code"], row["error_message"])


@dataclass(frozen=True, slots=True)
class SynthesisTask:
    """A synthesis as loaded by activities; it has either a clone or a stock voice."""

    id: str
    text: str
    language: str | None
    speed: float
    format: str
    clone: asyncpg.Record | None
    stock_voice: AvailableVoice | None


async def load_task(connection: Connection, library_id: str, synthesis_id: str) -> SynthesisTask | None:
    row = await connection.fetchrow(
        "SELECT * FROM syntheses WHERE library_id = $1 AND id = $2", library_id, synthesis_id
    )
    if row is None:
        return None
    # A deleted clone can still finish syntheses that were already started.
    clone = await connection.fetchrow(
        "SELECT * FROM voices WHERE library_id = $1 AND id = $2", library_id, row["voice_id"]
    )
    stock_voice = await find_stock_voice(connection, row["voice_id"])
    return SynthesisTask(row["id"], row["text"], row["language"], row["speed"], row["format"], clone, stock_voice)


async def record_passage(
    connection: Connection, library_id: str, synthesis_id: str, *, number: int, size_bytes: int
) -> None:
    await connection.execute(
        """UPDATE syntheses SET passage_sizes = passage_sizes || jsonb_build_object($3::text, $4::bigint)
           WHERE library_id = $1 AND id = $2""",
        library_id,
        synthesis_id,
        str(number),
        size_bytes,
    )


async def syntheses_to_purge(connection: Connection, *, now: datetime, limit: int) -> list[PurgeItem]:
    rows = await connection.fetch("SELECT * FROM syntheses_to_purge($1, $2)", now - SYNTHESIS_TTL, limit)
    return [PurgeItem(row["library_id"], row["id"]) for row in rows]


async def delete_synthesis(connection: Connection, item: PurgeItem) -> None:
    await connection.execute("DELETE FROM syntheses WHERE library_id = $1 AND id = $2", item.library_id, item.id)
