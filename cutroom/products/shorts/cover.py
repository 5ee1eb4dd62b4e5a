"""Makes the cover of an output: a frame without captions, or a thumbnail of its best frames and title."""

import asyncio
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from cutroom.engines.registry import Engines
from cutroom.engines.thumbnails.port import Pipeline, ThumbnailSpec
from cutroom.engines.vision.frame_selection import select_frames
from cutroom.media.crop_plan import CropPlan, Keyframe
from cutroom.media.frames import extract_stills
from cutroom.media.framing import framing_filter
from cutroom.media.images import encode_jpeg
from cutroom.media.probe import probe_header
from cutroom.media.sandbox import Sandbox
from cutroom.media.shorts import EncodeSpec, SourceRange
from cutroom.products.shorts.edit import Edit
from cutroom.products.shorts.rules import OUTPUT_SIZES, AspectRatio
from cutroom.products.shorts.timeline import Timeline

FRAMES = 4


def cover_frame_spec(edit: Edit, timeline: Timeline, *, rate: Fraction, aspect: AspectRatio) -> EncodeSpec:
    """One frame of the output at its thumbnail time, cropped like the output but without captions."""
    width, height = OUTPUT_SIZES[aspect]
    plan = _still_plan(edit.crop, edit.thumbnail_seconds)
    frame = SourceRange(timeline.source_seconds(edit.thumbnail_seconds), float(1 / rate))
    filters = framing_filter(plan, width=width, height=height, source="joined") + ";[framed]null[shown]"
    return EncodeSpec((frame,), filters, rate, plan.source_width, plan.source_height)


def _still_plan(plan: CropPlan, seconds: float) -> CropPlan:
    """The layout at one time, for one frame."""
    scene = plan.scene_at(seconds)
    panes = tuple(replace(pane, path=(Keyframe(0.0, *pane.at(seconds)),)) for pane in scene.panes)
    return replace(plan, scenes=(replace(scene, start_seconds=0.0, end_seconds=1 / plan.fps, panes=panes),))


async def render_cover(
    clip: Path, *, title: str, language: str, output: Path, sandbox: Sandbox, engines: Engines
) -> bytes:
    """Renders a 1280 x 720 JPEG."""
    info = await probe_header(clip, sandbox=sandbox)
    stills = await extract_stills(clip, info, output=output, sandbox=sandbox)
    images = [stills.image(index) for index in range(len(stills.paths))]

    def render() -> bytes:
        selected = select_frames(images, engines.face_detector(), count=FRAMES)
        frames = tuple(images[each.index] for each in selected)
        spec = ThumbnailSpec(pipeline=Pipeline.CREATIVE, headline=title, language=language, frames=frames)
        return encode_jpeg(engines.thumbnail_renderer().render(spec, count=1)[0].image)

    return await asyncio.to_thread(render)
