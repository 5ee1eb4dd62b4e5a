"""Makes the cover of an output: its title on a frame without captions, or a thumbnail of its best frames and title."""

import asyncio
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from cutroom.engines.registry import Engines
from cutroom.engines.thumbnails.port import Pipeline, ThumbnailSpec
from cutroom.engines.vision.frame_selection import select_frames
from cutroom.media.captions import captions_filter
from cutroom.media.crop_plan import CropPlan, Keyframe
from cutroom.media.frames import extract_stills
from cutroom.media.framing import framing_filter
from cutroom.media.images import encode_jpeg
from cutroom.media.probe import probe_header
from cutroom.media.sandbox import Sandbox
from cutroom.media.shorts import EncodeSpec, SourceRange
from cutroom.products.shorts.captions.cover_title import write_cover_title
from cutroom.products.shorts.captions.safe_zones import FrameRegion
from cutroom.products.shorts.edit import Edit
from cutroom.products.shorts.rules import OUTPUT_SIZES, AspectRatio
from cutroom.products.shorts.timeline import Timeline

FRAMES = 4
TITLE_NAME = "title.ass"


def cover_frame_spec(edit: Edit, timeline: Timeline, *, rate: Fraction, aspect: AspectRatio) -> EncodeSpec:
    """One frame of the output at its thumbnail time, cropped like the output, with the title of TITLE_NAME."""
    width, height = OUTPUT_SIZES[aspect]
    plan = _still_plan(edit.crop, edit.thumbnail_seconds)
    frame = SourceRange(timeline.source_seconds(edit.thumbnail_seconds), float(1 / rate))
    filters = framing_filter(plan, width=width, height=height, source="joined")
    filters += f";[framed]{captions_filter(TITLE_NAME)}[shown]"
    return EncodeSpec((frame,), filters, rate, plan.source_width, plan.source_height)


def cover_title(edit: Edit, title: str, *, language: str, aspect: AspectRatio) -> str:
    """The title as an ASS file, away from the faces of the cover's frame where possible."""
    width, height = OUTPUT_SIZES[aspect]
    seconds = edit.thumbnail_seconds
    faces = [FrameRegion(*box) for start, end, *box in edit.faces if start <= seconds <= end]
    track = write_cover_title(title, width=width, height=height, language=language, seconds=1.0, faces=faces)
    return track.ass


def _still_plan(plan: CropPlan, seconds: float) -> CropPlan:
    """The layout at one time, for one frame."""
    scene = plan.scene_at(seconds)
    panes = tuple(replace(pane, path=(Keyframe(0.0, *pane.at(seconds)),)) for pane in scene.panes)
    return replace(plan, scenes=(replace(scene, start_seconds=0.0, end_seconds=1 / plan.fps, panes=panes),))


async def render_generated_cover(
    clip: Path, *, title: str, language: str, output: Path, sandbox: Sandbox, engines: Engines
) -> bytes:
    """Renders a 1280 x 720 JPEG."""
    info = await probe_header(clip, sandbox=sandbox)
    stills = await extract_stills(clip, info, output=output, sandbox=sandbox)
    images = [stills.image(index) for index in range(len(stills.paths))]

    def render() -> bytes:
        detector, landmarker = engines.face_detector(), engines.face_landmarker()
        selected = select_frames(images, detector, count=FRAMES, landmarker=landmarker)
        frames = tuple(images[each.index] for each in selected)
        spec = ThumbnailSpec(pipeline=Pipeline.CREATIVE, headline=title, language=language, frames=frames)
        return encode_jpeg(engines.thumbnail_renderer().render(spec, count=1)[0].image)

    return await asyncio.to_thread(render)
