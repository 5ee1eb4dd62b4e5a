"""Makes the cover of an output: its title on a frame without captions, or a thumbnail of its best frames and title."""

import asyncio
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from cutroom.engines.registry import Engines
from cutroom.engines.thumbnails.port import Pipeline, ThumbnailSpec
from cutroom.engines.vision.frame_selection import select_frames
from cutroom.media.captions import captions_filter
from cutroom.media.crop_plan import CropPane, CropPlan, Keyframe, SceneFit
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
MIN_ZOOMED_FACES = 1.6  # sides of the main face that an enlarged window shows at least: hair and chin stay visible
MAX_ZOOM_FACTOR = 0.9  # of the window; less would hardly be seen
ZOOMED_FACE_Y = 0.4  # of an enlarged window; the title is below


def cover_frame_spec(edit: Edit, timeline: Timeline, *, rate: Fraction, aspect: AspectRatio) -> EncodeSpec:
    """One frame of the output at its thumbnail time, framed like the output or nearer, with the title of TITLE_NAME."""
    width, height = OUTPUT_SIZES[aspect]
    plan = _still_plan(edit)
    frame = SourceRange(timeline.source_seconds(edit.thumbnail_seconds), float(1 / rate))
    filters = framing_filter(plan, width=width, height=height, source="joined")
    filters += f";[framed]{captions_filter(TITLE_NAME)}[shown]"
    return EncodeSpec((frame,), filters, rate, plan.source_width, plan.source_height)


def cover_title(edit: Edit, title: str, *, language: str, aspect: AspectRatio) -> str:
    """The title as an ASS file, away from the faces of the cover's frame where possible."""
    width, height = OUTPUT_SIZES[aspect]
    faces = _shown_faces(edit)
    zoom = _Zoom.of(edit)
    if zoom is not None:
        faces = [zoom.region(face) for face in faces]
    track = write_cover_title(title, width=width, height=height, language=language, seconds=1.0, faces=faces)
    return track.ass


def _shown_faces(edit: Edit) -> list[FrameRegion]:
    seconds = edit.thumbnail_seconds
    return [FrameRegion(*box) for start, end, *box in edit.faces if start <= seconds <= end]


def _still_plan(edit: Edit) -> CropPlan:
    """The layout at the thumbnail time, for one frame."""
    plan, seconds = edit.crop, edit.thumbnail_seconds
    scene = plan.scene_at(seconds)
    zoom = _Zoom.of(edit)
    panes = tuple(replace(pane, path=(Keyframe(0.0, *pane.at(seconds)),)) for pane in scene.panes)
    if zoom is not None:
        panes = (zoom.window,)
    return replace(plan, scenes=(replace(scene, start_seconds=0.0, end_seconds=1 / plan.fps, panes=panes),))


@dataclass(frozen=True, slots=True)
class _Zoom:
    """A smaller window of a cropped scene around its main face."""

    before: CropPane  # with one keyframe, as is the window
    window: CropPane

    @classmethod
    def of(cls, edit: Edit) -> "_Zoom | None":
        """None if nothing is enlarged: scenes that show the whole frame or two windows stay as they are."""
        plan, seconds, faces = edit.crop, edit.thumbnail_seconds, _shown_faces(edit)
        scene = plan.scene_at(seconds)
        if edit.cover_zoom <= 1 or scene.fit is not SceneFit.CROP or not faces:
            return None
        pane, face = scene.panes[0], max(faces, key=lambda each: each.area)
        x, y = pane.at(seconds)
        largest = max(face.right - face.left, face.bottom - face.top) * MIN_ZOOMED_FACES
        factor = max(1 / edit.cover_zoom, largest)
        if factor > MAX_ZOOM_FACTOR:
            return None
        width, height = (2 * round(side * factor / 2) for side in (pane.width, pane.height))
        center_x = x + pane.width * (face.left + face.right) / 2
        center_y = y + pane.height * (face.top + face.bottom) / 2
        left = min(max(center_x - width / 2, 0.0), plan.source_width - width)
        top = min(max(center_y - ZOOMED_FACE_Y * height, 0.0), plan.source_height - height)
        return cls(replace(pane, path=(Keyframe(0.0, x, y),)), CropPane(width, height, (Keyframe(0.0, left, top),)))

    def region(self, shown: FrameRegion) -> FrameRegion:
        """A region of the frame before, in the enlarged frame."""
        one, two = self.before.path[0], self.window.path[0]

        def across(value: float) -> float:
            return min(max((one.x + value * self.before.width - two.x) / self.window.width, 0.0), 1.0)

        def down(value: float) -> float:
            return min(max((one.y + value * self.before.height - two.y) / self.window.height, 0.0), 1.0)

        return FrameRegion(across(shown.left), down(shown.top), across(shown.right), down(shown.bottom))


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
