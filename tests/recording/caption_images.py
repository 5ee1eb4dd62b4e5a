"""Renders the reference images of captions: `python -m tests.recording.caption_images [name ...]`. Review each one."""

import asyncio
import sys

from tests.products.shorts.captions.scenes import FOLDER, SCENES, save, see, shrunk


async def record(names: list[str]) -> None:
    """All scenes, or those whose names begin with one of these."""
    FOLDER.mkdir(exist_ok=True)
    chosen = [scene for scene in SCENES if not names or scene.name.startswith(tuple(names))]
    for name, picture in (await see(chosen)).items():
        path = FOLDER / f"{name}.png"
        save(shrunk(picture), path)
        print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    asyncio.run(record(sys.argv[1:]))
