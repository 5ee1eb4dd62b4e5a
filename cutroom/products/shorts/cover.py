"""The thumbnail that is drawn for a clip: its best pictures and its title."""

import asyncio
from pathlib import Path

from cutroom.engines.registry import Engines
from cutroom.engines.thumbnails.port import Pipeline, ThumbnailSpec
from cutroom.engines.vision.frame_selection import choose_frames
from cutroom.media.frames import take_stills
from cutroom.media.images import encode_jpeg
from cutroom.media.probe import probe_header
from cutroom.media.sandbox import Sandbox

FRAMES = 4


async def draw_cover(
    clip: Path, *, title: str, language: str, output: Path, sandbox: Sandbox, engines: Engines
) -> bytes:
    """As a JPEG of 1280 by 720 pixels."""
    info = await probe_header(clip, sandbox=sandbox)
    stills = await take_stills(clip, info, output=output, sandbox=sandbox)
    pictures = [stills.picture(number) for number in range(len(stills.paths))]

    def draw() -> bytes:
        chosen = choose_frames(pictures, engines.face_finder(), count=FRAMES)
        frames = tuple(pictures[each.number] for each in chosen)
        design = ThumbnailSpec(pipeline=Pipeline.CREATIVE, headline=title, language=language, frames=frames)
        return encode_jpeg(engines.thumbnail_engine().draw(design, count=1)[0].picture)

    return await asyncio.to_thread(draw)
