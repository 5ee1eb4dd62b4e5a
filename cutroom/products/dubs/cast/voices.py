"""Assigns the voices of the cast to the speakers of a dub."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from cutroom.capabilities.service import find_stock_voice
from cutroom.cast.appearances import voices_of
from cutroom.engines.registry import Engines
from cutroom.engines.voice_conversion.port import REFERENCE_RATE
from cutroom.jobs.states import JobState
from cutroom.platform.db import Connection
from cutroom.products.dubs.artifacts import DubArtifacts, DubRef
from cutroom.products.dubs.script import AssignedVoice
from cutroom.products.speech.rules import wav_header
from cutroom.products.speech.service import find_clone


@dataclass(frozen=True, slots=True)
class CastClone:
    """A voice clone of the library."""

    path: str
    sha256: str
    pitch_hz: float | None


@dataclass(frozen=True, slots=True)
class CastStockVoice:
    """A stock voice, by its engine and name."""

    engine: str
    name: str


CastChoice = CastClone | CastStockVoice


async def load_cast_voices(connection: Connection, dub: DubRef) -> Mapping[str, CastChoice]:
    """The voice of each speaker who is a member of the cast; those that this dub cannot use are left out.

    Clones are for premium dubs: the price of others does not include cloned voices.
    """
    found: dict[str, CastChoice] = {}
    for speaker, voice_id in (await voices_of(connection, dub.library_id, dub.video_id, language=dub.language)).items():
        stock = await find_stock_voice(connection, voice_id)
        if stock is not None:
            found[speaker] = CastStockVoice(stock.engine, stock.name)
            continue
        clone = await find_clone(connection, dub.library_id, voice_id) if dub.product == "premium" else None
        if clone is not None and clone["job_status"] == JobState.READY and clone["reference_path"] is not None:
            found[speaker] = CastClone(clone["reference_path"], clone["reference_sha256"], clone["pitch_hz"])
    return found


async def assign_cast_voices(
    artifacts: DubArtifacts, engines: Engines, *, dub: DubRef, choices: Mapping[str, CastChoice]
) -> dict[str, AssignedVoice]:
    """Voices as the engines of this worker have them; the reference audio of clones is stored with the dub."""
    assigned: dict[str, AssignedVoice] = {}
    for speaker, choice in choices.items():
        if isinstance(choice, CastClone):
            assigned[speaker] = await _clone(artifacts, engines, dub=dub, clone=choice)
        elif (voice := await asyncio.to_thread(_stock_voice, engines, choice)) is not None:
            assigned[speaker] = voice
    return assigned


async def _clone(artifacts: DubArtifacts, engines: Engines, *, dub: DubRef, clone: CastClone) -> AssignedVoice:
    path = dub.shared_path(f"references/{clone.sha256}.pcm")
    if not await artifacts.exists(path):
        await artifacts.put(path, (await artifacts.read(clone.path))[len(wav_header(REFERENCE_RATE, 0)) :])
    cloner = await asyncio.to_thread(engines.voice_cloner)
    return AssignedVoice(cloner.name, reference_path=path, reference_sha256=clone.sha256, pitch_hz=clone.pitch_hz)


def _stock_voice(engines: Engines, choice: CastStockVoice) -> AssignedVoice | None:
    for synthesizer in engines.synthesizers():
        for voice in synthesizer.voices():
            if (synthesizer.name, voice.name) == (choice.engine, choice.name):
                return AssignedVoice(synthesizer.name, voice.name, pitch_hz=voice.pitch_hz)
    return None
