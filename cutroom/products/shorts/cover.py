"""Generates the thumbnail of a clip from its best frames and title."""

import asyncio
from pathlib import Path

from cutroom.engines.registry import Engines
from cutroom.engines.thumbnails.port import Pipeline, ThumbnailSpec
from cutroom.engines.vision.frame_selection import select_frames
from cutroom.media.frames import extract_stills
from cutroom.media.images import encode_jpeg
from cutroom.media.probe import probe_header
from cutroom.media.sandbox import Sandbox

FRAMES = 4


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
