"""Activities of the shorts workflow; storage keys derive from the request, so retries are idempotent."""

import asyncio
import hashlib
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from temporalio import activity

from cutroom.engines.registry import Engines
from cutroom.engines.types import TimeSpan
from cutroom.errors import Code
from cutroom.jobs.lifecycle import JobRef, require_running
from cutroom.jobs.step_progress import ReportProgress, portion
from cutroom.jobs.steps import failure, heartbeating, job_step
from cutroom.library.derived_media import DerivedMedia
from cutroom.library.rules import video_path
from cutroom.library.service import has_picture
from cutroom.media.captions import captions_filter
from cutroom.media.framing import framing_filter
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.probe import MediaInfo, probe_header
from cutroom.media.sandbox import Sandbox
from cutroom.media.shorts import (
    EncodeSpec,
    display_frame_rate,
    encode_output,
    extract_framed_thumbnail,
    extract_frames,
    extract_thumbnail,
)
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.platform.storage.objects import Storage
from cutroom.products.shorts import service
from cutroom.products.shorts.audio import mix_normalized_audio
from cutroom.products.shorts.captions.safe_zones import FrameRegion
from cutroom.products.shorts.captions.watermark import write_watermark
from cutroom.products.shorts.cover import TITLE_NAME, cover_frame_spec, cover_title, render_generated_cover
from cutroom.products.shorts.cover_views import choose_covers
from cutroom.products.shorts.edit import Edit, SelectedOutput, read_selection, write_selection
from cutroom.products.shorts.framing.tracks import FrameAnalysis
from cutroom.products.shorts.moment_selection import select_outputs
from cutroom.products.shorts.planning import make_timeline, plan_edit
from cutroom.products.shorts.rules import OUTPUT_SIZES, ShortsKind, ShortsOptions, parse_options
from cutroom.products.shorts.timeline import Timeline
from cutroom.products.shorts.transcript_view import TranscriptView, load_transcript_view, measure_energy
from cutroom.products.shorts.visual_analysis import VisualAnalysis, analyze_frames

CAPTIONS_NAME, WATERMARK_NAME = "captions.ass", "watermark.ass"

CHOSEN_PERCENT, RENDERED_PERCENT = 10.0, 97.0  # progress after the moments are chosen, and after the last output
MIXED_FRACTION, ENCODED_FRACTION = 0.2, 0.95  # of the time that rendering takes; a thumbnail follows


@dataclass(frozen=True, slots=True)
class ShortsRef:
    """Identifies one shorts request."""

    library_id: str
    video_id: str
    request_id: str
    plan: dict[str, Any]

    @property
    def options(self) -> ShortsOptions:
        return parse_options(self.plan)

    def path(self, name: str) -> str:
        return service.output_path(self.library_id, self.video_id, self.request_id, name)

    def media_path(self, name: str) -> str:
        return video_path(self.library_id, self.video_id, name)

    def output_id(self, number: int) -> str:
        return hashlib.sha256(f"{self.request_id}/{number}".encode()).hexdigest()[:26]


@dataclass(frozen=True, slots=True)
class ShortsActivities:
    """Activities of ShortsWorkflow."""

    database: Database
    storage: Storage
    media_cache: LocalMediaCache
    sandbox: Sandbox
    engines: Engines
    clock: Clock

    @activity.defn(name="choose_moments")
    async def choose_moments(self, job: JobRef, shorts: ShortsRef) -> int:
        """Selects the moments of all outputs; returns the number of outputs."""
        async with self._job_step(job, "choosing moments", progress=CHOSEN_PERCENT):
            transcript = await self._transcript(shorts)
            energy = await self._energy(shorts, transcript)
            outputs = await asyncio.to_thread(
                select_outputs, transcript, shorts.options, energy=energy, engines=self.engines
            )
            if not outputs:
                message = "No suitable moments were found in this video."
                raise failure(Code.UNSUPPORTED_SOURCE, message, reason="NO_MOMENTS", retry=False)
            outputs = [each.without(transcript.cuts, revision=transcript.revision) for each in outputs]
            await self.storage.put(shorts.path("moments.json"), write_selection(outputs))
        return len(outputs)

    @activity.defn(name="plan_short")
    async def plan_short(self, job: JobRef, shorts: ShortsRef, number: int, share: float) -> None:
        """Analyzes the frames of an output and plans its crops and captions."""
        async with self._job_step(job, "framing", progress=RENDERED_PERCENT, share=share) as report_progress:
            transcript, selection, info = (
                await self._transcript(shorts),
                await self._selection(shorts, number),
                await self._info(shorts),
            )
            timeline = make_timeline(selection, info)
            visuals = await self._analyze(shorts, info, timeline, report_progress=report_progress)
            edit = await asyncio.to_thread(
                plan_edit, transcript, timeline, info, visuals=visuals, options=shorts.options
            )
            await self.storage.put(shorts.path(f"edit-{number}.json"), edit.to_json(selection))

    @activity.defn(name="choose_covers")
    async def choose_covers(self, shorts: ShortsRef, numbers: list[int]) -> None:
        """Gives each of the planned outputs another cover."""
        async with heartbeating():
            edits = [Edit.from_json(await self._read(shorts.path(f"edit-{number}.json"))) for number in numbers]
            for number, edit in zip(numbers, choose_covers(edits), strict=True):
                selection = await self._selection(shorts, number)
                await self.storage.put(shorts.path(f"edit-{number}.json"), edit.to_json(selection))

    @activity.defn(name="render_short")
    async def render_short(self, job: JobRef, shorts: ShortsRef, number: int, share: float) -> None:
        """Encodes an output and its thumbnail, and saves it."""
        async with self._job_step(job, "rendering", progress=RENDERED_PERCENT, share=share) as report_progress:
            selection = await self._selection(shorts, number)
            plan_path = shorts.path(f"edit-{number}.json")
            edit = Edit.from_json(await self._read(plan_path))
            info = await self._info(shorts)
            timeline = make_timeline(selection, info)
            paths = shorts.path(f"output-{number}.mp4"), shorts.path(f"thumbnail-{number}.jpg")
            with self.media_cache.temp_dir() as temp_dir:
                encoded = await self._encode(shorts, info, timeline, edit, temp_dir, report_progress=report_progress)
                await self.storage.put(paths[0], encoded)
                thumbnail = await self._thumbnail(shorts, selection, info, timeline, edit, encoded=encoded)
                await self.storage.put(paths[1], thumbnail)
            output = service.NewShortsOutput(
                id=shorts.output_id(number),
                request_id=shorts.request_id,
                video_id=shorts.video_id,
                number=number,
                kind=shorts.options.kind,
                title=selection.title,
                description=selection.description,
                reason=selection.reason,
                duration_seconds=round(timeline.seconds, 3),
                moments=[
                    {"start": span.start_seconds, "seconds": span.end_seconds - span.start_seconds}
                    for span in selection.spans
                ],
                video_path=paths[0],
                thumbnail_path=paths[1],
                plan_path=plan_path,
                transcript_revision=selection.transcript_revision,
            )
            async with self.database.transaction(job.library_id) as connection:
                await require_running(connection, job)
                await service.save_output(connection, job.library_id, output, now=self.clock())

    async def _thumbnail(
        self,
        shorts: ShortsRef,
        selection: SelectedOutput,
        info: MediaInfo,
        timeline: Timeline,
        edit: Edit,
        *,
        encoded: Path,
    ) -> Path | bytes:
        """The thumbnail: a frame of the output with its title instead of captions, or a generated one."""
        temp_dir, language = encoded.parent, (await self._transcript(shorts)).language
        if shorts.options.generated_thumbnail:
            return await render_generated_cover(
                encoded,
                title=selection.title,
                language=language,
                output=temp_dir,
                sandbox=self.sandbox,
                engines=self.engines,
            )
        if info.media_type == "audio":
            return await extract_thumbnail(
                encoded, at_seconds=edit.thumbnail_seconds, output=temp_dir, sandbox=self.sandbox
            )
        aspect = shorts.options.aspect_ratio
        title = cover_title(edit, selection.title, language=language, aspect=aspect)
        (temp_dir / TITLE_NAME).write_text(title, encoding="utf-8")
        spec = cover_frame_spec(edit, timeline, rate=display_frame_rate(info), aspect=aspect)
        async with self.media_cache.fetch(shorts.media_path("source")) as source:
            return await extract_framed_thumbnail(source.path, info, spec, output=temp_dir, sandbox=self.sandbox)

    async def _encode(
        self,
        shorts: ShortsRef,
        info: MediaInfo,
        timeline: Timeline,
        edit: Edit,
        temp_dir: Path,
        *,
        report_progress: ReportProgress,
    ) -> Path:
        options = shorts.options
        width, height = OUTPUT_SIZES[options.aspect_ratio]
        audio = None
        if info.audio_streams:
            mix_path = await self._derived.require_audio(shorts.library_id, shorts.video_id, "mix.mka")
            async with self.media_cache.fetch(mix_path) as mix:
                audio = await mix_normalized_audio(
                    mix.path, timeline, with_music=options.soundtrack, temp_dir=temp_dir, sandbox=self.sandbox
                )
        filters = framing_filter(edit.crop, width=width, height=height, source="joined")
        overlays = {CAPTIONS_NAME: edit.captions}
        if options.watermark:
            occupied = [(TimeSpan(*box[:2]), FrameRegion(*box[2:])) for box in (*edit.caption_boxes, *edit.faces)]
            overlays[WATERMARK_NAME] = write_watermark(width, height, seconds=timeline.seconds, occupied=occupied).ass
        shown = {name: overlay for name, overlay in overlays.items() if overlay}
        for name, overlay in shown.items():
            (temp_dir / name).write_text(overlay)
        filters += f";[framed]{','.join(map(captions_filter, shown)) or 'null'}[shown]"
        encode = EncodeSpec(
            timeline.ranges, filters, display_frame_rate(info), edit.crop.source_width, edit.crop.source_height
        )
        async with self.media_cache.fetch(shorts.media_path("source")) as source:
            return await encode_output(
                source.path,
                info,
                encode,
                audio=audio,
                output=temp_dir,
                sandbox=self.sandbox,
                on_fraction=portion(report_progress, MIXED_FRACTION, ENCODED_FRACTION),
            )

    async def _analyze(
        self, shorts: ShortsRef, info: MediaInfo, timeline: Timeline, *, report_progress: ReportProgress
    ) -> VisualAnalysis:
        """Frame analysis for cropping; empty for clips, which are not cropped, and for audio."""
        if shorts.options.kind is ShortsKind.CLIPS or info.media_type == "audio":
            return VisualAnalysis((), ())
        frames: list[FrameAnalysis] = []
        cuts: list[float] = timeline.cuts()
        async with self.media_cache.fetch(shorts.media_path("source")) as source:
            for source_range, start in zip(timeline.ranges, timeline.starts(), strict=True):
                with self.media_cache.temp_dir() as temp_dir:
                    faces, shots = await extract_frames(
                        source.path, info, source_range, output=temp_dir, sandbox=self.sandbox
                    )
                    end = start + source_range.seconds
                    analyzed = portion(report_progress, start / timeline.seconds, end / timeline.seconds)
                    analysis = await asyncio.to_thread(
                        analyze_frames, faces, shots, self.engines, offset_seconds=start, on_progress=analyzed
                    )
                frames += [each for each in analysis.frames if each.seconds < start + source_range.seconds]
                cuts += [cut for cut in analysis.cuts if cut < start + source_range.seconds]
        return VisualAnalysis(tuple(frames), tuple(sorted(cuts)))

    async def _energy(self, shorts: ShortsRef, transcript: TranscriptView) -> list[float]:
        path = await self._derived.find_audio(shorts.library_id, shorts.video_id, "speech.flac")
        if path is None:  # a video without audio
            return []
        return await measure_energy(path, transcript.duration_seconds, self.media_cache, self.sandbox)

    async def _transcript(self, shorts: ShortsRef) -> TranscriptView:
        async with self.database.transaction(shorts.library_id) as connection:
            return await load_transcript_view(connection, self.storage, shorts.library_id, shorts.video_id)

    async def _info(self, shorts: ShortsRef) -> MediaInfo:
        """The source's properties; media imported as audio counts as audio, even if it has cover video."""
        async with self.media_cache.fetch(shorts.media_path("source")) as source:
            info = await probe_header(source.path, sandbox=self.sandbox)
        async with self.database.transaction(shorts.library_id) as connection:
            has_video = await has_picture(connection, shorts.library_id, shorts.video_id)
        return info if has_video else replace(info, media_type="audio")

    @property
    def _derived(self) -> DerivedMedia:
        return DerivedMedia(self.storage, self.media_cache, self.sandbox)

    async def _selection(self, shorts: ShortsRef, number: int) -> SelectedOutput:
        return read_selection(await self._read(shorts.path("moments.json")))[number]

    async def _read(self, path: str) -> bytes:
        return b"".join([chunk async for chunk in self.storage.read(path)])

    def _job_step(
        self, job: JobRef, stage: str, *, progress: float, share: float | None = None
    ) -> AbstractAsyncContextManager[ReportProgress]:
        return job_step(self.database, self.clock, job, stage, progress=progress, share=share)
