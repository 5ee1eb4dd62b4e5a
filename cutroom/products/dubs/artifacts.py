"""Where everything of a dub lies: what belongs to it alone, and what all dubs of its video share by its fingerprint."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cutroom.media.dubbing import AudioRange, decode_stretch, encode_stretch
from cutroom.media.formats import Container
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.sandbox import Sandbox
from cutroom.platform.storage.objects import Storage
from cutroom.products.dubs.mixing import HEADROOM
from cutroom.products.dubs.script import (
    Layout,
    PartVoice,
    PlacedLine,
    Script,
    read_layout,
    read_script,
    read_voices,
)
from cutroom.products.dubs.service import dub_path

if TYPE_CHECKING:
    from cutroom.products.dubs.mixing import Sound


@dataclass(frozen=True, slots=True)
class DubRef:
    """Which dub; every step is told."""

    library_id: str
    video_id: str
    language: str
    product: str

    @property
    def name(self) -> str:
        return f"{self.language}-{self.product}"

    def path(self, name: str) -> str:
        return dub_path(self.library_id, self.video_id, f"{self.name}/{name}")

    def shared(self, name: str) -> str:
        """For every dub of the video: named by what it is made of."""
        return dub_path(self.library_id, self.video_id, f"shared/{name}")

    def bed(self, script: Script, index: int) -> str:
        return self.shared(f"beds/{script.bed}/bed-{index:05}.flac")

    def voice(self, script: Script, index: int) -> str:
        return self.shared(f"beds/{script.bed}/voice-{index:05}.flac")

    def levels(self, script: Script, index: int) -> str:
        return self.shared(f"beds/{script.bed}/levels-{index:05}.json")

    def line(self, line: PlacedLine) -> str:
        return self.shared(f"lines/{line.key}.pcm")


@dataclass(frozen=True, slots=True)
class DubArtifacts:
    """Reads and writes what lies there."""

    storage: Storage
    workbench: LocalMediaCache
    sandbox: Sandbox

    async def holds(self, path: str) -> bool:
        return await self.storage.size(path) is not None

    async def put(self, path: str, content: Path | bytes) -> None:
        await self.storage.put(path, content)

    async def read(self, path: str) -> bytes:
        return b"".join([chunk async for chunk in self.storage.read(path)])

    async def read_kept(self, path: str) -> bytes:
        """Through the folder of copies: what every line needs is fetched once."""
        async with self.workbench.fetch(path) as copy:
            return copy.path.read_bytes()

    async def script(self, dub: DubRef) -> Script:
        return read_script(await self.read(dub.path("script.json")))

    async def layout(self, dub: DubRef, name: str) -> Layout:
        return read_layout(await self.read(dub.path(f"{name}.json")))

    async def voices(self, dub: DubRef) -> dict[str, PartVoice]:
        return read_voices(await self.read(dub.path("voices.json")))

    async def sound(self, path: str, container: Container, stretch: AudioRange) -> "Sound":
        """A stretch of a stored recording: a row for each channel."""
        import numpy as np  # noqa: PLC0415 - a worker without engines must be able to import this room

        async with self.workbench.fetch(path) as copy:
            with self.workbench.drawer() as drawer:
                raw = await decode_stretch(copy.path, stretch, container=container, output=drawer, sandbox=self.sandbox)
                samples = await asyncio.to_thread(np.fromfile, raw, "<f4")
        return np.ascontiguousarray(samples.reshape(-1, stretch.channels).T)

    async def put_sound(self, path: str, sound: "Sound", *, rate: int, headroom: float = HEADROOM) -> None:
        """As FLAC, with room above it for what is louder than full scale."""
        import numpy as np  # noqa: PLC0415 - as above

        rows = np.atleast_2d(sound)
        with self.workbench.drawer() as drawer:
            raw = drawer / "encode.raw"
            await asyncio.to_thread(np.ascontiguousarray(rows.T * np.float32(headroom), "<f4").tofile, raw)
            file = await encode_stretch(raw, rate=rate, channels=len(rows), output=drawer, sandbox=self.sandbox)
            await self.storage.put(path, file)
