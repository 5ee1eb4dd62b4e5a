"""The steps of a dub. Each writes under a name that follows from what goes in; what is there is not made again."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from temporalio import activity

from cutroom.engines.registry import Engines
from cutroom.engines.translation.routing import TranslationPlan, choose, translate_along
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.steps import ReportProgress, job_step
from cutroom.library.service import duration_of
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.products.dubs import service
from cutroom.products.dubs.artifacts import DubArtifacts, DubRef
from cutroom.products.dubs.line_sync import Slot, is_likely_too_long, place, slots
from cutroom.products.dubs.mixdown import Publishing
from cutroom.products.dubs.mixing import gain_for, loudness_of
from cutroom.products.dubs.phrasing import Phrase, phrases
from cutroom.products.dubs.report import LineSync, sync_report
from cutroom.products.dubs.script import (
    PIECE_SECONDS,
    Layout,
    Line,
    PlacedLine,
    Script,
    Spoken,
    segments_of,
    speakers_of,
    write,
)
from cutroom.products.dubs.shorten import shorter
from cutroom.products.dubs.source_separation import SeparatedChunk, SourceSeparation
from cutroom.products.dubs.synthesis import Speaking
from cutroom.products.speech.encoding import from_pcm
from cutroom.products.speech.rules import fingerprint
from cutroom.products.transcripts.alignment import read_words
from cutroom.products.transcripts.alignment import segments_of as spoken_segments
from cutroom.products.transcripts.sentences import Segment
from cutroom.products.transcripts.service import transcript_of


@dataclass(frozen=True, slots=True)
class Planned:
    """What the workflow needs to know of a script."""

    pieces: int
    lines: list[int]  # the piece in which each line starts


@dataclass(frozen=True, slots=True)
class DubActivities:
    """What the workflow of a dub calls."""

    database: Database
    shelf: DubArtifacts
    engines: Engines
    clock: Clock

    @activity.defn(name="plan_dub")
    async def plan_dub(self, ref: JobRef, dub: DubRef) -> Planned:
        """Translate every line, and know how much time there is for each."""
        async with self.database.transaction(ref.library_id) as connection:
            transcript = await transcript_of(connection, ref.library_id, dub.video_id)
            duration = await duration_of(connection, ref.library_id, dub.video_id)
            edits = await service.edits_of(connection, ref.library_id, dub.video_id, dub.language, dub.product)
        async with self._working(ref, "translating", progress=5):
            words = read_words(await self.shelf.read(transcript.alignment_path))
            spoken = [each for each in spoken_segments(transcript.segments, words) if not each.deleted]
            until = duration or max((each.end_seconds for each in spoken), default=0.0)
            plan = await asyncio.to_thread(self._plan, spoken, transcript.language, dub.language)
            lines = await asyncio.to_thread(_lines, spoken, plan, until, edits) if plan is not None else []
            separator = await asyncio.to_thread(self.engines.separator)
            spans = [(line.start_seconds, line.end_seconds) for line in lines]
            script = Script(
                language=dub.language,
                product=dub.product,
                source_language=transcript.language,
                quality=plan.quality.value if plan is not None else "good",
                engines=tuple(leg.translator.name for leg in plan.legs) if plan is not None else (),
                duration_seconds=until,
                lines=tuple(lines),
                bed=fingerprint({"separator": separator.name, "spans": spans}),
            )
            await self.shelf.put(dub.path("script.json"), write(script))
        return Planned(script.pieces, [line.piece for line in script.lines])

    def _plan(self, spoken: Sequence[Segment], source: str, target: str) -> TranslationPlan | None:
        return choose(self.engines.translators(), source=source, target=target) if spoken else None

    @activity.defn(name="separate_chunk")
    async def separate_chunk(self, ref: JobRef, dub: DubRef, index: int, progress: int) -> None:
        """Part speech from the rest in one piece of the mix, for every dub of the video."""
        script = await self.shelf.script(dub)
        if await self.shelf.holds(dub.levels(script, index)):  # what is written last
            return
        async with self._working(ref, "synthesizing", progress=progress):
            await SourceSeparation(self.shelf, self.engines).part(dub, script, index)

    @activity.defn(name="assign_voices")
    async def assign_voices(self, ref: JobRef, dub: DubRef) -> None:
        """Give each speaker a voice."""
        script = await self.shelf.script(dub)
        async with self._working(ref, "synthesizing", progress=12):
            voices = await Speaking(self.shelf, self.engines).cast(dub, script)
            await self.shelf.put(dub.path("voices.json"), write(voices))

    @activity.defn(name="synthesize_line")
    async def synthesize_line(self, ref: JobRef, dub: DubRef, number: int, progress: int) -> Spoken:
        """One line in its speaker's voice, as long as there is time for it."""
        script, voices = await self.shelf.script(dub), await self.shelf.voices(dub)
        line, speaking = script.lines[number], Speaking(self.shelf, self.engines)
        voice = voices[line.speaker]
        told = dub.shared(f"lines/{speaking.key(dub, line, voice)}.json")
        if await self.shelf.holds(told):
            return Spoken(number, **json.loads(await self.shelf.read(told)))
        async with self._working(ref, "synthesizing", progress=progress):
            made = await speaking.speak(dub, line, voice)
            await self.shelf.put(told, json.dumps(made).encode())
        return Spoken(number, **made)

    @activity.defn(name="schedule_lines")
    async def schedule_lines(self, ref: JobRef, dub: DubRef, spoken: list[Spoken], name: str) -> None:
        """Put every line that was spoken in its place, as loud as the one that it replaces."""
        script = await self.shelf.script(dub)
        async with self._working(ref, "mixing", progress=80):
            starts = place([(script.lines[each.number].slot, each.seconds) for each in spoken])
            levels: dict[str, float] = {}
            for index in sorted({script.lines[each.number].piece for each in spoken}):
                levels |= json.loads(await self.shelf.read(dub.levels(script, index)))
            laid = []
            for each, start in zip(spoken, starts, strict=True):
                sound = from_pcm(await self.shelf.read(dub.shared(f"lines/{each.key}.pcm")))
                laid.append(
                    PlacedLine(
                        number=each.number,
                        key=each.key,
                        start_seconds=start,
                        seconds=each.seconds,
                        stretch=each.stretch,
                        text=script.lines[each.number].texts[each.text],
                        shortened=each.text > 0,
                        gain=gain_for(levels.get(str(each.number), 0.0), loudness_of(sound)),
                    )
                )
            await self.shelf.put(dub.path(f"{name}.json"), write(Layout(tuple(laid))))

    @activity.defn(name="mix_chunk")
    async def mix_chunk(self, ref: JobRef, dub: DubRef, index: int, layout: str, progress: int) -> str:
        """One piece of the finished sound; where it lies."""
        script, piece = await self.shelf.script(dub), index * PIECE_SECONDS
        here = (await self.shelf.layout(dub, layout)).within(piece, piece + PIECE_SECONDS)
        lines = [[each.key, each.start_seconds, each.gain] for each in here]
        stored = dub.shared(f"mixed/{fingerprint({'bed': script.bed, 'piece': index, 'lines': lines})}.flac")
        if not await self.shelf.holds(stored):
            async with self._working(ref, "mixing", progress=progress):
                await Publishing(self.shelf, self.engines).mix(dub, script, index, here, path=stored)
        return stored

    @activity.defn(name="transcribe_chunk")
    async def transcribe_chunk(self, ref: JobRef, dub: DubRef, index: int, layout: str, progress: int) -> str:
        """What a recogniser understands of the lines that start in this piece; where it is written."""
        script = await self.shelf.script(dub)
        piece = SeparatedChunk.of(script, index)
        laid = (await self.shelf.layout(dub, layout)).lines
        here = [each for each in laid if piece.start_seconds <= each.start_seconds < piece.end_seconds]
        lines = [[each.key, each.start_seconds - piece.start_seconds] for each in here]
        stored = dub.shared(f"heard/{fingerprint({'language': dub.language, 'lines': lines})}.json")
        if not await self.shelf.holds(stored):
            async with self._working(ref, "mixing", progress=progress):
                publishing = Publishing(self.shelf, self.engines)
                heard = await publishing.hear(dub, here, start_seconds=piece.start_seconds)
                await self.shelf.put(stored, json.dumps(heard, ensure_ascii=False).encode())
        return stored

    @activity.defn(name="publish_dub_preview")
    async def publish_dub_preview(self, ref: JobRef, dub: DubRef, mixed: str) -> None:
        """The first minute can be listened to while the rest is made."""
        async with self._working(ref, "synthesizing", progress=30):
            publishing = Publishing(self.shelf, self.engines)
            stored = await publishing.publish(dub, [mixed], "preview.m4a", seconds=PIECE_SECONDS)
            await self._record(dub, {"completion": "preview_ready", "preview_path": stored})

    @activity.defn(name="publish_dub")
    async def publish_dub(
        self, ref: JobRef, dub: DubRef, mixed: list[str], heard: list[str], layout_name: str
    ) -> dict[str, Any]:
        """Join the pieces, match the loudness of the source, write the track, and say how well it fits."""
        script, layout = await self.shelf.script(dub), await self.shelf.layout(dub, layout_name)
        voices = await self.shelf.voices(dub) if script.lines else {}
        async with self.database.transaction(ref.library_id) as connection:
            transcript = await transcript_of(connection, ref.library_id, dub.video_id)
        async with self._working(ref, "mixing", progress=98):
            stored = await Publishing(self.shelf, self.engines).publish(dub, mixed, "track.m4a", seconds=None)
            understood: dict[str, str] = {}
            for path in heard:
                understood |= json.loads(await self.shelf.read(path))
            sync = sync_report([_placed(script, line, understood) for line in layout.lines])
            found = {
                "completion": "complete",
                "audio_path": stored,
                "segments": segments_of(script, layout),
                "speakers": speakers_of(script, transcript.speakers),
                "sync": sync,
            }
            await self._record(dub, found)
        return {
            "language": dub.language,
            "product": dub.product,
            "sourceLanguage": script.source_language,
            "quality": script.quality,
            "engines": list(script.engines),
            "voices": {name: voice.told() for name, voice in voices.items()},
            "sync": sync,
        }

    async def _record(self, dub: DubRef, found: Mapping[str, Any]) -> None:
        async with self.database.transaction(dub.library_id) as connection:
            await service.record(
                connection,
                dub.library_id,
                dub.video_id,
                language=dub.language,
                product=dub.product,
                found={**found, "updated_at": self.clock()},
            )

    def _working(self, ref: JobRef, stage: str, *, progress: int) -> AbstractAsyncContextManager[ReportProgress]:
        return job_step(self.database, self.clock, ref, stage, progress=progress)


def _lines(
    spoken: Sequence[Segment], plan: TranslationPlan, until_seconds: float, edits: Mapping[int, str]
) -> list[Line]:
    """What is said in order, with its times and the texts to say instead."""
    ordered = sorted(spoken, key=lambda each: (each.start_seconds, each.end_seconds))
    translated = translate_along(plan, [each.text for each in ordered])
    said = phrases(
        [
            Phrase(each.start_seconds, each.end_seconds, each.speaker, each.text, text)
            for each, text in zip(ordered, translated, strict=True)
        ],
        language=plan.target,
    )
    times = slots([(each.start_seconds, each.end_seconds) for each in said], until_seconds=until_seconds)
    lines = []
    for number, (phrase, slot) in enumerate(zip(said, times, strict=True)):
        texts = [edits[number]] if number in edits else _texts(phrase, slot, plan)
        times_of = (slot.start_seconds, slot.end_seconds, slot.latest_end_seconds)
        lines.append(Line(number, *times_of, phrase.speaker, phrase.source, tuple(dict.fromkeys(texts))))
    return lines


def _texts(phrase: Phrase, slot: Slot, plan: TranslationPlan) -> list[str]:
    """The translation, and shorter ones behind it where it would hardly be spoken in time."""
    if not is_likely_too_long(phrase.text, slot, language=plan.target):
        return [phrase.text]
    briefer = shorter(phrase.source, language=plan.source)
    texts = [phrase.text, *(translate_along(plan, briefer) if briefer else [])]
    return [*texts, *shorter(texts[-1], language=plan.target)]


def _placed(script: Script, line: PlacedLine, heard: Mapping[str, str]) -> LineSync:
    source = script.lines[line.number]
    return LineSync(
        number=line.number,
        source_start_seconds=source.start_seconds,
        slot_seconds=source.slot.seconds,
        start_seconds=line.start_seconds,
        seconds=line.seconds,
        stretch=line.stretch,
        text=line.text,
        heard=heard.get(str(line.number)),
        shortened=line.shortened,
    )
