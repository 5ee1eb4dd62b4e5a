"""Activity that speaks takes of a line, or writes shorter wordings of it, and stores them for a day."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from temporalio import activity

from cutroom.engines.errors import EngineError
from cutroom.engines.registry import Engines
from cutroom.engines.synthesis.port import SamplingSynthesizer
from cutroom.errors import Code
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.steps import failure, job_step
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.products.dubs.artifacts import DubArtifacts, DubRef
from cutroom.products.dubs.editing.rewording.order import MADE, WordingsOrder, write_made
from cutroom.products.dubs.editing.takes.line_takes import (
    FOLDER,
    PACES,
    TAKES_TTL,
    LineTake,
    MadeTakes,
    TakesOrder,
    TakeVariation,
    take_id,
)
from cutroom.products.dubs.editing.takes.service import ORDER, TAKES, takes_path
from cutroom.products.dubs.line_speech import LineSpeech, pcm_seconds
from cutroom.products.dubs.mixing import LINE_RATE
from cutroom.products.dubs.script import AssignedVoice
from cutroom.products.dubs.service import dub_path
from cutroom.products.dubs.synthesis import FittedSpeech, speak_at_pace, speak_fitted
from cutroom.products.speech.rules import wav_header

MAX_DELETED = 200  # objects of expired takes, per preview


@dataclass(frozen=True, slots=True)
class TakeActivities:
    """Activities of the takes workflow, in the process of interactive speech."""

    database: Database
    artifacts: DubArtifacts
    engines: Engines
    clock: Clock

    @activity.defn(name="speak_takes")
    async def speak_takes(self, job: JobRef, dub: DubRef, preview_id: str) -> dict[str, Any]:
        """Speak the takes, or write the wordings, that were ordered; the list of them is stored last."""
        data = await self.artifacts.read(self._path(dub, preview_id, ORDER))
        if (wordings := WordingsOrder.from_json(data)) is not None:
            return await self._write_wordings(job, dub, preview_id, wordings)
        order = TakesOrder.from_json(data)
        async with job_step(self.database, self.clock, job, "synthesizing", progress=95) as report_progress:
            await self._delete_expired(dub, but=preview_id)
            takes: list[LineTake] = []
            async for spoken, variation in self._speak(dub, preview_id, order):
                number, pcm = len(takes), spoken.pcm
                await self.artifacts.put(
                    self._path(dub, preview_id, f"{number}.wav"), wav_header(LINE_RATE, len(pcm)) + pcm
                )
                text, rate = order.line.texts[spoken.text_index], spoken.speaking_rate
                id_ = take_id(preview_id, number)
                takes.append(LineTake(id_, text, pcm_seconds(pcm), spoken.tempo, rate, variation))
                report_progress(len(takes) / order.count)
            made = MadeTakes(order.line.id, order.made_for, tuple(takes))
            await self.artifacts.put(self._path(dub, preview_id, TAKES), made.to_json())
        return {"takes": len(takes)}

    async def _write_wordings(self, job: JobRef, dub: DubRef, preview_id: str, order: WordingsOrder) -> dict[str, Any]:
        """Ask the language model once: a person waits, and has the other wordings already."""
        async with job_step(self.database, self.clock, job, "writing", progress=95):
            await self._delete_expired(dub, but=preview_id)
            shortener = self.engines.shortener()
            if shortener is None:
                message = "No language model is configured."
                raise failure(Code.FAILED_PRECONDITION, message, reason="model", retry=False)
            try:
                found = await asyncio.to_thread(
                    shortener.shorten, order.text, language=order.language, max_characters=order.max_characters
                )
            except EngineError as error:
                raise failure(Code.INTERNAL, str(error), reason="model", retry=False) from error
            await self.artifacts.put(self._path(dub, preview_id, MADE), write_made(found))
        return {"wordings": len(found)}

    async def _speak(
        self, dub: DubRef, preview_id: str, order: TakesOrder
    ) -> AsyncIterator[tuple[FittedSpeech, TakeVariation]]:
        """The line as a regeneration would speak it, then takes that differ from it."""
        speech = self._speech(dub, preview_id, order, number=0)
        first = await speak_fitted(speech)
        yield first, TakeVariation.NONE
        for number in range(1, order.count):
            if self._is_sampled(order.voice):
                yield await speak_fitted(self._speech(dub, preview_id, order, number=number)), TakeVariation.SAMPLING
            else:
                yield await speak_at_pace(speech, first, pace=PACES[number]), TakeVariation.PACE

    def _speech(self, dub: DubRef, preview_id: str, order: TakesOrder, *, number: int) -> LineSpeech:
        folder = f"{FOLDER.removeprefix('shared/')}{preview_id}/synthesized-{number}"
        return LineSpeech(self.artifacts, self.engines, dub, order.line, order.voice, folder)

    def _is_sampled(self, voice: AssignedVoice) -> bool:
        """Whether the engine speaks a text differently each time."""
        if voice.voice is None:
            return False
        return isinstance(self.engines.synthesizer_named(voice.engine), SamplingSynthesizer)

    async def _delete_expired(self, dub: DubRef, *, but: str) -> None:
        """Delete takes of the video that can no longer be chosen; others are left to the retention policy."""
        folder, oldest = dub_path(dub.library_id, dub.video_id, FOLDER), self.clock() - TAKES_TTL
        expired = []
        async for each in self.artifacts.storage.list_objects(folder):
            if each.changed_at < oldest and f"/{but}/" not in each.path:
                expired.append(each.path)
            if len(expired) >= MAX_DELETED:
                break
        for path in expired:
            await self.artifacts.storage.delete(path)

    @staticmethod
    def _path(dub: DubRef, preview_id: str, name: str) -> str:
        return takes_path(dub.library_id, dub.video_id, preview_id, name)
