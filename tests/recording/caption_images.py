"""Renders the reference images of captions: `python -m tests.recording.caption_images [name ...]`. Review each one."""

import asyncio
import sys

from tests.products.shorts.captions.scenes import REFERENCE_DIR, SCENES, downscale, render_scenes, save


async def record(names: list[str]) -> None:
    """Renders all scenes, or those whose names start with one of `names`."""
    REFERENCE_DIR.mkdir(exist_ok=True)
    selected = [scene for scene in SCENES if not names or scene.name.startswith(tuple(names))]
    for name, image in (await render_scenes(selected)).items():
        path = REFERENCE_DIR / f"{name}.png"
        save(downscale(image), path)
        print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    asyncio.run(record(sys.argv[1:]))
