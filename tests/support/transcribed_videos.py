"""Videos with a transcript, and languages that workers advertise, inserted without running an engine."""

from collections.abc import Sequence
from dataclasses import dataclass

from cutroom.capabilities.rules import AdvertisedTranslator
from cutroom.capabilities.service import publish_routes, publish_voices
from cutroom.engines.synthesis.port import Gender, StockVoice, SynthesizedSpeech
from cutroom.engines.translation.port import Quality, Route
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection, insert
from cutroom.platform.ids import new_id

ENGINE = "advertised"
SOURCE = "en"


@dataclass
class AdvertisedSynthesizer:
    """Has one voice for each language, and cannot speak."""

    languages: Sequence[str]
    name: str = ENGINE

    def voices(self) -> list[StockVoice]:
        return [StockVoice(code, code, code, Gender.FEMALE, "young", 200.0) for code in self.languages]

    def synthesize(self, text: str, *, voice: str, language: str, speed: float = 1.0) -> SynthesizedSpeech:
        raise NotImplementedError


async def advertise_languages(
    connection: Connection,
    languages: Sequence[str],
    *,
    spoken: Sequence[str] | None = None,
    quality: Quality = Quality.PUBLISHABLE,
) -> None:
    """Advertise translations from English, and voices: of all these languages, or of some."""
    now = system_clock()
    routes = tuple(Route(SOURCE, code, quality) for code in languages)
    await publish_routes(connection, [AdvertisedTranslator(ENGINE, routes)], now=now)
    voices = AdvertisedSynthesizer(languages if spoken is None else spoken)
    await publish_voices(connection, voices, now=now)


async def withdraw_languages(connection: Connection) -> None:
    await connection.execute("DELETE FROM translation_routes WHERE engine = $1", ENGINE)
    await connection.execute("DELETE FROM stock_voices WHERE engine = $1", ENGINE)


async def insert_video(
    connection: Connection, library_id: str, *, duration_seconds: float | None, transcript: str | None = "ready"
) -> str:
    """Insert an English video whose transcript job has this status, or that has none."""
    video_id, now = new_id(), system_clock()
    base = {"library_id": library_id, "created_at": now}
    state = "queued" if duration_seconds is None else "ready"
    video = {"id": video_id, "status": state, "import_status": state, "duration_seconds": duration_seconds}
    await insert(connection, "videos", {**base, **video})
    if transcript is not None:
        await insert_transcript(connection, library_id, video_id, status=transcript)
    return video_id


async def insert_transcript(connection: Connection, library_id: str, video_id: str, *, status: str = "ready") -> None:
    """Insert the transcript job of a video, and its transcript if it is ready."""
    now = system_clock()
    base = {"library_id": library_id, "created_at": now}
    job = {
        "id": f"transcript_{video_id}",
        "type": "transcript",
        "status": status,
        "video_id": video_id,
        "attempt": 1,
        "plan": {},
        "depends_on": [],
        "progress": 0,
        "updated_at": now,
        "finished_at": now if status in {"ready", "failed"} else None,
    }
    if status == "failed":
        job |= {"error_code": "INTERNAL", "error_message": "It failed."}
    await insert(connection, "jobs", {**base, **job})
    if status == "ready":
        text = {"segments": [], "speakers": [], "alignment_path": "words.json", "engine": "none"}
        await insert(connection, "transcripts", {**base, "video_id": video_id, "language": SOURCE, **text})
