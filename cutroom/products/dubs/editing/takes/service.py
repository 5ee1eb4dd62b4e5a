"""Requests and reads previews of a line, and keeps the takes that are chosen."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import asyncpg

from cutroom.errors import Code, CutroomError, invalid_field, not_found
from cutroom.jobs.ids import InternalJobType, JobKey
from cutroom.jobs.service import NewJob, create_jobs
from cutroom.jobs.states import JobState
from cutroom.library.trash import keep_video
from cutroom.platform.ids import is_id
from cutroom.products.dubs.editing.changes import InvalidChangeError, LineChange, apply_changes
from cutroom.products.dubs.editing.lines import NO_EDITS, ChosenTake, LineEdits
from cutroom.products.dubs.editing.open_dub import DubAccess, OpenDub, line_of
from cutroom.products.dubs.editing.staleness import LineState
from cutroom.products.dubs.editing.takes.line_takes import (
    FOLDER,
    MadeTakes,
    TakesOrder,
    expires_at,
    parse_take_id,
    previewed_line,
)
from cutroom.products.dubs.editing.takes.schemas import LinePreview, NewLinePreview, PreviewTake, TakeFit
from cutroom.products.dubs.editing.text_fit import TextFit
from cutroom.products.dubs.script import AssignedVoice, SynthesizedLine
from cutroom.products.dubs.service import dub_path
from cutroom.products.speech.rules import SYNTHESIS_RATE, wav_header

ORDER, TAKES = "order.json", "takes.json"
WAV_HEADER_BYTES = len(wav_header(SYNTHESIS_RATE, 0))
_JOB = """SELECT id, status, created_at, finished_at, error_code, error_message, error_details FROM jobs
    WHERE library_id = $1 AND id = $2 AND plan ->> 'dubbed_video_id' = $3 AND plan ->> 'language' = $4
      AND plan ->> 'product' = $5 AND plan ->> 'line' = $6"""


def takes_path(library_id: str, video_id: str, preview_id: str, name: str) -> str:
    return dub_path(library_id, video_id, f"{FOLDER}{preview_id}/{name}")


@dataclass(frozen=True, slots=True)
class LinePreviews:
    """Previews of one line for a caller."""

    access: DubAccess
    line_id: str

    async def request(self, wanted: NewLinePreview) -> LinePreview:
        """Start to speak the takes; a repeated request returns those that were made before."""
        access = self.access
        await keep_video(access.connection, access.principal.library_id, access.video_id)  # videos are locked first
        dub = await access.open()
        state = line_of(dub, self.line_id)
        order = await self._order(dub, state, wanted)
        preview_id = order.preview_id(access.key.columns)
        job = await self.find_job(preview_id)
        has_expired = job is not None and job["status"] == JobState.READY and await self._takes(job) is None
        if job is None or has_expired or job["status"] == JobState.FAILED:
            await self.start(preview_id, order.to_json(), rerun=has_expired)
        return await self._described(preview_id, dub.fits(dub.lines)[self.line_id])

    async def get(self, preview_id: str) -> LinePreview:
        """A preview; not found once it has expired."""
        dub = await self.access.open()
        line_of(dub, self.line_id)
        return await self._described(preview_id, dub.fits(dub.lines)[self.line_id])

    async def _order(self, dub: OpenDub, state: LineState, wanted: NewLinePreview) -> TakesOrder:
        access = self.access
        edits = dub.state.edits.get(state.id, NO_EDITS)
        if changes := wanted.changes:
            await access.require_voices({"voice": wanted.voice} if wanted.voice is not None else {})
            edits = _changed(dub, state, edits, changes)
            await access.require_phonetic_voice(dub, state.source.speaker, edits, field="pronunciation")
        until = dub.duration_seconds or max(each.source.end_seconds for each in dub.lines)
        desired, line = previewed_line(
            dub.lines, edits, state.id, document=dub.document, until_seconds=until, glossary=await access.glossary()
        )
        if edits.text is None and (not any(line.texts) or _is_untranslated(state)):
            message = "The line has yet to be translated. Send a text."
            raise CutroomError(Code.FAILED_PRECONDITION, message=message, details={"reason": "untranslated"})
        voice = await self._voice(dub, state, edits)
        return TakesOrder(line, voice, wanted.count, desired.speech_fingerprint)

    async def _voice(self, dub: OpenDub, state: LineState, edits: LineEdits) -> AssignedVoice:
        found = await self.access.find_voice(dub, state.source.speaker, edits)
        if found is None:
            message = "No voice was assigned to this speaker yet. Send a voice."
            raise CutroomError(Code.FAILED_PRECONDITION, message=message, details={"reason": "voice"})
        return found

    async def start(self, preview_id: str, order: bytes, *, rerun: bool) -> None:
        """Store an order for a worker, and start the job that fulfills it."""
        access = self.access
        await access.storage.put(self._path(preview_id, ORDER), order)
        plan = {
            "dubbed_video_id": access.video_id,
            "language": access.language,
            "product": access.product.value,
            "line": self.line_id,
        }
        job = NewJob(JobKey(InternalJobType.TAKES, preview_id), None, plan=plan, rerun=rerun)
        await create_jobs(access.connection, access.principal, [job], prices=access.prices, now=access.now)

    async def find_job(self, preview_id: str) -> asyncpg.Record | None:
        """The job of an order for this line."""
        if not is_id(preview_id):
            return None
        access = self.access
        job_id = JobKey(InternalJobType.TAKES, preview_id).id
        values = (access.principal.library_id, job_id, access.video_id, access.language, access.product.value)
        return await access.connection.fetchrow(_JOB, *values, self.line_id)

    async def _takes(self, job: asyncpg.Record) -> MadeTakes | None:
        """What a finished job has spoken; None if it has expired."""
        preview_id = job["id"].partition("_")[2]
        path = self._path(preview_id, TAKES)
        if expires_at(job["finished_at"]) <= self.access.now or await self.access.storage.size(path) is None:
            return None
        return MadeTakes.from_json(await self.read(preview_id, TAKES))

    async def _described(self, preview_id: str, fit: TextFit) -> LinePreview:
        job = await self.find_job(preview_id)
        if job is None:
            raise not_found()
        made = await self._takes(job) if job["status"] == JobState.READY else None
        if job["status"] == JobState.READY and made is None:
            raise not_found()
        error = {"code": job["error_code"], "message": job["error_message"], "details": job["error_details"] or {}}
        return LinePreview(
            id=preview_id,
            segment_id=self.line_id,
            status=job["status"],
            takes=[
                PreviewTake(
                    id=each.id,
                    text=each.text,
                    seconds=round(each.seconds, 3),
                    tempo=round(each.tempo, 3),
                    fit=TakeFit(
                        available_seconds=fit.available_seconds, excess_seconds=fit.excess_seconds(each.seconds)
                    ),
                    variation=each.variation,
                    audio_url=self.access.storage.read_url(self._path(preview_id, f"{number}.wav")),
                )
                for number, each in enumerate(made.takes)
            ]
            if made is not None
            else [],
            expires_at=expires_at(job["finished_at"]) if made is not None else None,
            error=error if job["status"] == JobState.FAILED else None,
        )

    async def choose(self, take_id: str) -> ChosenTake | None:
        """Keep the audio of a take with the lines of the dub; None if there is no such take, or none any more."""
        parsed = parse_take_id(take_id)
        job = await self.find_job(parsed[0]) if parsed is not None else None
        if parsed is None or job is None or job["status"] != JobState.READY:
            return None
        preview_id, number = parsed
        made = await self._takes(job)
        chosen = made.chosen(take_id) if made is not None and made.line_id == self.line_id else None
        if made is None or chosen is None:
            return None
        take = made.takes[number]
        pcm = (await self.read(preview_id, f"{number}.wav"))[WAV_HEADER_BYTES:]
        stored = SynthesizedLine(0, chosen.key, take.seconds, take.tempo, 0, take.speaking_rate)
        library_id, video_id, storage = self.access.principal.library_id, self.access.video_id, self.access.storage
        await storage.put(dub_path(library_id, video_id, f"shared/lines/{chosen.key}.pcm"), pcm)
        result = json.dumps(asdict(stored)).encode()
        await storage.put(dub_path(library_id, video_id, f"shared/lines/{chosen.key}.json"), result)
        return chosen

    def _path(self, preview_id: str, name: str) -> str:
        return takes_path(self.access.principal.library_id, self.access.video_id, preview_id, name)

    async def size(self, preview_id: str, name: str) -> int | None:
        """The size of a file of an order; None if there is none."""
        return await self.access.storage.size(self._path(preview_id, name))

    async def read(self, preview_id: str, name: str) -> bytes:
        """A file of an order."""
        return b"".join([chunk async for chunk in self.access.storage.read(self._path(preview_id, name))])


def _changed(dub: OpenDub, state: LineState, edits: LineEdits, values: Mapping[str, Any]) -> LineEdits:
    """The edits of a line with other values, checked as those of a change."""
    try:
        return apply_changes(dub.lines, {**dub.state.edits, state.id: edits}, [LineChange(state.id, values)])[state.id]
    except InvalidChangeError as error:
        raise invalid_field(error.field.removeprefix("changes.0."), error.message) from error


def _is_untranslated(state: LineState) -> bool:
    if state.desired is not None and state.desired.caption is not None:
        return False
    return state.published is None or state.published.translated != state.source.text_fingerprint
