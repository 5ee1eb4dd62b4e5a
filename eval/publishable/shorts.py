"""Chooses and renders shorts of the evaluation talks as the product does with its default options."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from cutroom.engines.registry import Engines
from cutroom.media.captions import captions_filter
from cutroom.media.crop_plan import SceneFit
from cutroom.media.framing import framing_filter
from cutroom.media.probe import MediaInfo, probe_header
from cutroom.media.sandbox import Sandbox
from cutroom.media.shorts import (
    EncodeSpec,
    display_frame_rate,
    encode_output,
    extract_framed_thumbnail,
    extract_frames,
)
from cutroom.products.shorts.activities import CAPTIONS_NAME
from cutroom.products.shorts.captions.screens import group_into_screens
from cutroom.products.shorts.cover import TITLE_NAME, cover_frame_spec, cover_title
from cutroom.products.shorts.cover_views import choose_covers
from cutroom.products.shorts.edit import Edit, SelectedOutput
from cutroom.products.shorts.moment_selection import select_outputs
from cutroom.products.shorts.planning import make_timeline, plan_edit
from cutroom.products.shorts.rules import OUTPUT_SIZES, ShortsOptions, parse_options
from cutroom.products.shorts.timeline import Timeline
from cutroom.products.shorts.visual_analysis import VisualAnalysis, analyze_frames
from eval.publishable.reference import reference_transcript
from eval.publishable.short_checks import SpokenLine
from eval.publishable.talk_video import FPS, TalkVideo
from eval.talks import EvaluationTalk

MAX_SHORTS = 2  # per talk
OPTIONS: ShortsOptions = parse_options({"numClips": MAX_SHORTS})


@dataclass(frozen=True, slots=True)
class PlannedShort:
    """A short before it is encoded."""

    selection: SelectedOutput
    edit: Edit
    timeline: Timeline
    info: MediaInfo  # of the talk's video
    language: str
    video: TalkVideo

    @property
    def cover_shot(self) -> str:
        """The view that the cover shows, and how near."""
        shot = self.video.shot_at(self.timeline.source_seconds(self.edit.thumbnail_seconds)).name
        zoom = self.edit.cover_zoom
        return shot if zoom == 1 else f"{shot}, {zoom:g} x"

    @property
    def decisions(self) -> str:
        """What only the pictures decide: the layouts of its scenes, and what the cover shows."""
        fits = [scene.fit for scene in self.edit.crop.scenes]
        used = "/".join(fit for fit in SceneFit if fit in fits)
        return f"{used}, titled cover {self.cover_shot}"


@dataclass(frozen=True, slots=True)
class RenderedShort:
    """A short and its cover as files."""

    planned: PlannedShort
    path: Path
    cover_path: Path


def choose_talk_shorts(talk: EvaluationTalk, engines: Engines) -> Sequence[SelectedOutput]:
    """The shorts that are judged, best first; needs no rendering."""
    return select_outputs(reference_transcript(talk), OPTIONS, energy=(), engines=engines)


def described(short: SelectedOutput) -> str:
    """Times to 0.1 s and the title: what a verdict is bound to."""
    [span] = short.spans
    return f"{span.start_seconds:.1f}-{span.end_seconds:.1f} s: {short.title}"


def spoken_words(talk: EvaluationTalk, short: SelectedOutput) -> str:
    """What is heard in a short."""
    [span] = short.spans
    return " ".join(
        word.text
        for word in reference_transcript(talk).words
        if span.start_seconds <= word.start_seconds and word.end_seconds <= span.end_seconds
    )


def boundary_lines(talk: EvaluationTalk, short: SelectedOutput) -> list[SpokenLine | None]:
    """The sentences before, at the start, at the end and after a short; None where there is none."""
    [span] = short.spans
    segments = reference_transcript(talk).segments
    inside = [at for at, each in enumerate(segments) if span.start_seconds <= each.start_seconds < span.end_seconds]
    wanted = (inside[0] - 1, inside[0], inside[-1], inside[-1] + 1)
    return [SpokenLine(segments[at].speaker, segments[at].text) if 0 <= at < len(segments) else None for at in wanted]


def caption_lines(talk: EvaluationTalk, short: SelectedOutput) -> list[str]:
    """All lines of its captions in order."""
    transcript = reference_transcript(talk)
    words, speakers = _timeline(short).words(transcript.words, transcript.speakers)
    width, height = OUTPUT_SIZES[OPTIONS.aspect_ratio]
    screens = group_into_screens(
        words,
        caption_style=OPTIONS.caption_style,
        width=width,
        height=height,
        language=transcript.language,
        speakers=speakers,
    )
    return [" ".join(word.text for word in line) for screen in screens for line in screen.lines]


def _timeline(short: SelectedOutput) -> Timeline:
    return Timeline.of([(span.start_seconds, span.end_seconds) for span in short.spans], rate=Fraction(FPS))


async def plan_short(
    talk: EvaluationTalk, video: TalkVideo, selection: SelectedOutput, *, engines: Engines, folder: Path
) -> PlannedShort:
    """Analyzes the frames of a short, and plans its crops, captions and cover."""
    sandbox = Sandbox()
    info = await probe_header(video.path, sandbox=sandbox)
    timeline = make_timeline(selection, info)
    faces, shots = await extract_frames(video.path, info, timeline.ranges[0], output=folder, sandbox=sandbox)
    analysis = await asyncio.to_thread(analyze_frames, faces, shots, engines, offset_seconds=0.0)
    frames = tuple(each for each in analysis.frames if each.seconds < timeline.seconds)
    visuals = VisualAnalysis(frames, tuple(cut for cut in analysis.cuts if cut < timeline.seconds))
    edit = plan_edit(reference_transcript(talk), timeline, info, visuals=visuals, options=OPTIONS)
    return PlannedShort(selection, edit, timeline, info, talk.language, video)


def with_covers(planned: Sequence[PlannedShort]) -> list[PlannedShort]:
    """The shorts of one talk with their covers chosen together, as one request would."""
    edits = choose_covers([each.edit for each in planned])
    return [replace(each, edit=edit) for each, edit in zip(planned, edits, strict=True)]


async def render_short(planned: PlannedShort, *, folder: Path) -> RenderedShort:
    """Writes the short and its cover to the folder."""
    sandbox = Sandbox()
    edit, info, rate = planned.edit, planned.info, display_frame_rate(planned.info)
    width, height = OUTPUT_SIZES[OPTIONS.aspect_ratio]
    (folder / CAPTIONS_NAME).write_text(edit.captions, encoding="utf-8")
    filters = framing_filter(edit.crop, width=width, height=height, source="joined")
    filters += f";[framed]{captions_filter(CAPTIONS_NAME)}[shown]"
    spec = EncodeSpec(planned.timeline.ranges, filters, rate, edit.crop.source_width, edit.crop.source_height)
    path = await encode_output(planned.video.path, info, spec, audio=None, output=folder, sandbox=sandbox)
    title = cover_title(edit, planned.selection.title, language=planned.language, aspect=OPTIONS.aspect_ratio)
    (folder / TITLE_NAME).write_text(title, encoding="utf-8")
    cover = cover_frame_spec(edit, planned.timeline, rate=rate, aspect=OPTIONS.aspect_ratio)
    cover_path = await extract_framed_thumbnail(planned.video.path, info, cover, output=folder, sandbox=sandbox)
    return RenderedShort(planned, path, cover_path)
