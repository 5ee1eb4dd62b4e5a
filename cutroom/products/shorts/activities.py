"""The steps of shorts. Each writes under a name that follows from its request, so a repeat writes the same again."""

import asyncio
import hashlib
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from temporalio import activity

from cutroom.engines.registry import Engines
from cutroom.errors import Code
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.steps import ReportProgress, failure, job_step
from cutroom.library.rules import video_path
from cutroom.media.captions import captions_filter
from cutroom.media.framing import framing_filter
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.probe import MediaInfo, probe_header
from cutroom.media.sandbox import Sandbox
from cutroom.media.shorts import Encode, encode_output, shown_rate, take_frames, take_thumbnail
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.platform.storage.objects import Storage
from cutroom.products.shorts import service
from cutroom.products.shorts.audio import make_levelled_sound
from cutroom.products.shorts.cover import draw_cover
from cutroom.products.shorts.edit import Chosen, Edit, read_chosen, write_chosen
from cutroom.products.shorts.framing.tracks import FrameAnalysis
from cutroom.products.shorts.moment_selection import choose
from cutroom.products.shorts.planning import plan_edit, timeline_of
from cutroom.products.shorts.rules import SIZES, Kind, ShortsOptions, parse_options
from cutroom.products.shorts.timeline import Timeline
from cutroom.products.shorts.transcript_view import TranscriptView, energy_of, read_heard
from cutroom.products.shorts.visual_analysis import VisualAnalysis, watch

CAPTIONS_NAME = "captions.ass"


@dataclass(frozen=True, slots=True)
class ShortsRef:
    """Which request; every step is told."""

    library_id: str
    video_id: str
    request_id: str
    plan: dict[str, Any]

    @property
    def wanted(self) -> ShortsOptions:
        return parse_options(self.plan)

    def path(self, name: str) -> str:
        return service.output_path(self.library_id, self.video_id, self.request_id, name)

    def film(self, name: str) -> str:
        return video_path(self.library_id, self.video_id, name)

    def output_id(self, number: int) -> str:
        return hashlib.sha256(f"{self.request_id}/{number}".encode()).hexdigest()[:26]


@dataclass(frozen=True, slots=True)
class ShortsActivities:
    """What the workflow of shorts calls."""

    database: Database
    storage: Storage
    workbench: LocalMediaCache
    sandbox: Sandbox
    engines: Engines
    clock: Clock

    @activity.defn(name="choose_moments")
    async def choose_moments(self, ref: JobRef, shorts: ShortsRef) -> int:
        """Decide what each output shows; how many there will be."""
        async with self._working(ref, "choosing moments", progress=10):
            heard = await self._heard(shorts)
            energy = await self._energy(shorts, heard)
            outputs = await asyncio.to_thread(choose, heard, shorts.wanted, energy=energy, engines=self.engines)
            if not outputs:
                sentence = "There is nothing in this video that could be shown."
                raise failure(Code.UNSUPPORTED_SOURCE, sentence, reason="NO_MOMENTS", retry=False)
            await self.storage.put(shorts.path("moments.json"), write_chosen(outputs))
        return len(outputs)

    @activity.defn(name="frame_output")
    async def frame_output(self, ref: JobRef, shorts: ShortsRef, number: int, progress: int) -> None:
        """Look at what an output shows, and plan its framing and its captions."""
        async with self._working(ref, "framing", progress=progress):
            heard, chosen, info = (
                await self._heard(shorts),
                await self._chosen(shorts, number),
                await self._info(shorts),
            )
            timeline = timeline_of(chosen, info)
            watched = await self._watch(shorts, info, timeline)
            edit = await asyncio.to_thread(plan_edit, heard, timeline, info, watched=watched, wanted=shorts.wanted)
            await self.storage.put(shorts.path(f"edit-{number}.json"), edit.to_json(chosen))

    @activity.defn(name="render_output")
    async def render_output(self, ref: JobRef, shorts: ShortsRef, number: int, progress: int) -> None:
        """Encode an output once, take its thumbnail, and write it down."""
        async with self._working(ref, "rendering", progress=progress):
            chosen = await self._chosen(shorts, number)
            plan_path = shorts.path(f"edit-{number}.json")
            edit = Edit.from_json(await self._read(plan_path))
            info = await self._info(shorts)
            timeline = timeline_of(chosen, info)
            paths = shorts.path(f"output-{number}.mp4"), shorts.path(f"thumbnail-{number}.jpg")
            with self.workbench.drawer() as drawer:
                made = await self._encode(shorts, info, timeline, edit, drawer)
                await self.storage.put(paths[0], made)
                await self.storage.put(paths[1], await self._cover(shorts, chosen, edit, made, drawer))
            output = service.NewOutput(
                id=shorts.output_id(number),
                request_id=shorts.request_id,
                video_id=shorts.video_id,
                number=number,
                kind=shorts.wanted.kind,
                title=chosen.title,
                description=chosen.description,
                reason=chosen.reason,
                duration_seconds=round(timeline.seconds, 3),
                moments=[{"start": part.start_seconds, "seconds": part.seconds} for part in timeline.parts],
                video_path=paths[0],
                thumbnail_path=paths[1],
                plan_path=plan_path,
            )
            async with self.database.transaction(ref.library_id) as connection:
                await service.put_output(connection, ref.library_id, output, now=self.clock())

    async def _cover(self, shorts: ShortsRef, chosen: Chosen, edit: Edit, made: Path, drawer: Path) -> Path | bytes:
        """The picture that an output is shown by: one of its own, or one that was drawn for it."""
        if not shorts.wanted.generated_thumbnail:
            return await take_thumbnail(made, at_seconds=edit.thumbnail_seconds, output=drawer, sandbox=self.sandbox)
        heard = await self._heard(shorts)
        return await draw_cover(
            made, title=chosen.title, language=heard.language, output=drawer, sandbox=self.sandbox, engines=self.engines
        )

    async def _encode(self, shorts: ShortsRef, info: MediaInfo, timeline: Timeline, edit: Edit, drawer: Path) -> Path:
        wanted = shorts.wanted
        width, height = SIZES[wanted.aspect]
        sound = None
        if info.audio_streams:
            async with self.workbench.fetch(shorts.film("mix.mka")) as mix:
                sound = await make_levelled_sound(
                    mix.path, timeline, with_music=wanted.soundtrack, drawer=drawer, sandbox=self.sandbox
                )
        filters = framing_filter(edit.crop, width=width, height=height, source="joined")
        if edit.captions:
            (drawer / CAPTIONS_NAME).write_text(edit.captions)
            filters += f";[framed]{captions_filter(CAPTIONS_NAME)}[shown]"
        else:
            filters += ";[framed]null[shown]"
        encode = Encode(timeline.parts, filters, shown_rate(info), edit.crop.source_width, edit.crop.source_height)
        async with self.workbench.fetch(shorts.film("source")) as source:
            return await encode_output(source.path, info, encode, sound=sound, output=drawer, sandbox=self.sandbox)

    async def _watch(self, shorts: ShortsRef, info: MediaInfo, timeline: Timeline) -> VisualAnalysis:
        """Clips show all of the picture, and sound has none: nobody needs to look."""
        if shorts.wanted.kind is Kind.CLIPS or info.media_type == "audio":
            return VisualAnalysis((), ())
        seen: list[FrameAnalysis] = []
        cuts: list[float] = timeline.joints()
        async with self.workbench.fetch(shorts.film("proxy.mp4")) as proxy:
            for part, start in zip(timeline.parts, timeline.starts(), strict=True):
                with self.workbench.drawer() as drawer:
                    faces, shots = await take_frames(proxy.path, info, part, output=drawer, sandbox=self.sandbox)
                    found = await asyncio.to_thread(watch, faces, shots, self.engines, from_seconds=start)
                seen += [each for each in found.seen if each.seconds < start + part.seconds]
                cuts += [cut for cut in found.cuts if cut < start + part.seconds]
        return VisualAnalysis(tuple(seen), tuple(sorted(cuts)))

    async def _energy(self, shorts: ShortsRef, heard: TranscriptView) -> list[float]:
        path = shorts.film("speech.flac")
        if await self.storage.size(path) is None:  # a film without sound
            return []
        return await energy_of(path, heard.duration_seconds, self.workbench, self.sandbox)

    async def _heard(self, shorts: ShortsRef) -> TranscriptView:
        async with self.database.transaction(shorts.library_id) as connection:
            return await read_heard(connection, self.storage, shorts.library_id, shorts.video_id)

    async def _info(self, shorts: ShortsRef) -> MediaInfo:
        """What the source holds; the picture of what was sent as sound was not imported, and is none."""
        async with self.workbench.fetch(shorts.film("source")) as source:
            info = await probe_header(source.path, sandbox=self.sandbox)
        has_picture = await self.storage.size(shorts.film("proxy.mp4")) is not None
        return info if has_picture else replace(info, media_type="audio")

    async def _chosen(self, shorts: ShortsRef, number: int) -> Chosen:
        return read_chosen(await self._read(shorts.path("moments.json")))[number]

    async def _read(self, path: str) -> bytes:
        return b"".join([chunk async for chunk in self.storage.read(path)])

    def _working(self, ref: JobRef, stage: str, *, progress: int) -> AbstractAsyncContextManager[ReportProgress]:
        return job_step(self.database, self.clock, ref, stage, progress=progress)
