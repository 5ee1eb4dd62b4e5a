"""Stored sound of recorded people, and speakers of it who are confirmed to be a member of the cast."""

import subprocess
from pathlib import Path

import numpy as np

from cutroom.cast.appearances import confirm_speaker
from cutroom.engines.diarization.port import SpeakerEmbedder
from cutroom.engines.registry import Engines
from cutroom.engines.types import SAMPLE_RATE
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.products.transcripts import service
from cutroom.products.transcripts.speaker_recognition.service import SpeakerEmbeddingRef
from cutroom.web.runtime import Runtime
from tests.products.conftest import TranscribedVideo
from tests.support.dialogue import Samples, recording

SECONDS = 9.0


class OnlyEmbedder(Engines):
    """The engines of a worker with one speaker embedder, or with none."""

    def __init__(self, embedder: SpeakerEmbedder | None) -> None:
        self._only = embedder

    def speaker_embedder(self) -> SpeakerEmbedder | None:
        return self._only


def excerpt(speaker: str, name: str, start: float = 0.2) -> Samples:
    first = round(start * SAMPLE_RATE)
    return recording(speaker, name)[first : first + round(SECONDS * SAMPLE_RATE)]


async def store_sound(runtime: Runtime, transcribed: TranscribedVideo, tmp_path: Path, samples: Samples) -> None:
    """Store the speech of the video, and one segment over it."""
    raw, sound = tmp_path / "speech.raw", tmp_path / "speech.flac"
    raw.write_bytes(np.asarray(samples, "<f4").tobytes())
    options = ["-f", "f32le", "-ar", str(SAMPLE_RATE), "-ac", "1", "-i", str(raw), "-y", str(sound)]
    subprocess.run(["ffmpeg", "-v", "error", *options], check=True)
    await runtime.storage.put(service.speech_path(transcribed.library_id, transcribed.video_id), sound)
    seconds = len(samples) / SAMPLE_RATE
    segment = {"start": 0.0, "end": seconds, "speaker": "speaker_1", "text": "Words.", "deleted": False, "words": 1}
    await transcribed.accounts.connection.execute(
        "UPDATE transcripts SET segments = $2 WHERE video_id = $1", transcribed.video_id, [segment]
    )


async def confirm(
    runtime: Runtime, transcribed: TranscribedVideo, *, opts_in: bool = True
) -> tuple[str, SpeakerEmbeddingRef]:
    """A member of the cast who is the speaker of the video, and the voice print to make."""
    library_id, base = transcribed.library_id, {"library_id": transcribed.library_id, "created_at": system_clock()}
    member_id = new_id()
    await insert(transcribed.accounts.connection, "cast_members", {**base, "id": member_id, "name": "Ana"})
    if opts_in:
        await insert(transcribed.accounts.connection, "cast_scopes", {**base, "id": new_id(), "folder_id": None})
    async with runtime.database.transaction(library_id) as connection:
        found = await confirm_speaker(
            connection, library_id, member_id, transcribed.video_id, speaker="speaker_1", now=system_clock()
        )
    return member_id, SpeakerEmbeddingRef(library_id, found.id)
