"""Stores the artifacts of a dub: per-dub documents, and audio shared by all dubs of a video under fingerprints."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cutroom.library.derived_media import AudioName, DerivedMedia
from cutroom.media.dubbing import AudioRange, decode_range, encode_flac
from cutroom.media.formats import Container
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.sandbox import Sandbox
from cutroom.platform.storage.objects import Storage
from cutroom.products.dubs.mixing import HEADROOM
from cutroom.products.dubs.script import (
    AssignedVoice,
    DubScript,
    LineSchedule,
    read_schedule,
    read_script,
    read_voices,
)
from cutroom.products.dubs.service import dub_path
from cutroom.products.speech.rules import fingerprint

if TYPE_CHECKING:
    from cutroom.engines.types import Samples


@dataclass(frozen=True, slots=True)
class DubRef:
    """Identifies a dub, and derives the storage keys of its artifacts."""

    library_id: str
    video_id: str
    language: str
    product: str
    generation: str = ""  # the regeneration that its documents are of; none of the first publication

    @property
    def name(self) -> str:
        return f"{self.language}-{self.product}"

    def path(self, name: str) -> str:
        folder = f"{self.name}/{self.generation}" if self.generation else self.name
        return dub_path(self.library_id, self.video_id, f"{folder}/{name}")

    def shared_path(self, name: str) -> str:
        """A key shared by all dubs of the video; the name contains a fingerprint of the inputs."""
        return dub_path(self.library_id, self.video_id, f"shared/{name}")

    def background_path(self, script: DubScript, chunk: int) -> str:
        return self.shared_path(f"separated/{script.separation_key}/background-{chunk:05}.flac")

    def speech_path(self, script: DubScript, chunk: int) -> str:
        return self.shared_path(f"separated/{script.separation_key}/speech-{chunk:05}.flac")

    def powers_path(self, script: DubScript, chunk: int) -> str:
        return self.shared_path(f"separated/{script.separation_key}/powers-{chunk:05}.json")

    def mixed_path(self, script: DubScript, schedule: LineSchedule, chunk: int) -> str:
        """Where the mix of a chunk is stored: by everything that it is made of."""
        lines, original = schedule.in_chunk(chunk)
        inputs = {
            "separation": script.separation_key,
            "chunk": chunk,
            "lines": [[each.key, each.start_seconds, each.gain] for each in lines],
            **({"original": [list(span) for span in original]} if original else {}),
        }
        return self.shared_path(f"mixed/{fingerprint(inputs)}.flac")

    def line_path(self, key: str) -> str:
        return self.shared_path(f"lines/{key}.pcm")

    def line_result_path(self, key: str) -> str:
        return self.shared_path(f"lines/{key}.json")


@dataclass(frozen=True, slots=True)
class DubArtifacts:
    """Reads and writes artifacts in object storage."""

    storage: Storage
    media_cache: LocalMediaCache
    sandbox: Sandbox

    async def source_audio(self, dub: DubRef, name: AudioName) -> str:
        """Path of the video's own audio, extracted from the original again if it has been deleted."""
        derived = DerivedMedia(self.storage, self.media_cache, self.sandbox)
        return await derived.require_audio(dub.library_id, dub.video_id, name)

    async def exists(self, path: str) -> bool:
        return await self.storage.size(path) is not None

    async def put(self, path: str, content: Path | bytes) -> None:
        await self.storage.put(path, content)

    async def read(self, path: str) -> bytes:
        return b"".join([chunk async for chunk in self.storage.read(path)])

    async def read_cached(self, path: str) -> bytes:
        """Read through the local cache, for objects that every line needs."""
        async with self.media_cache.fetch(path) as copy:
            return copy.path.read_bytes()

    async def script(self, dub: DubRef) -> DubScript:
        return read_script(await self.read(dub.path("script.json")))

    async def schedule(self, dub: DubRef, name: str) -> LineSchedule:
        return read_schedule(await self.read(dub.path(f"{name}.json")))

    async def voices(self, dub: DubRef) -> dict[str, AssignedVoice]:
        return read_voices(await self.read(dub.path("voices.json")))

    async def read_audio(self, path: str, container: Container, audio_range: AudioRange) -> "Samples":
        """Decode a time range of a stored file; one row per channel."""
        import numpy as np  # noqa: PLC0415 - numpy is absent on workers without engines

        async with self.media_cache.fetch(path) as copy:
            with self.media_cache.temp_dir() as temp_dir:
                raw = await decode_range(
                    copy.path, audio_range, container=container, output=temp_dir, sandbox=self.sandbox
                )
                samples = await asyncio.to_thread(np.fromfile, raw, "<f4")
        return np.ascontiguousarray(samples.reshape(-1, audio_range.channels).T)

    async def put_audio(self, path: str, samples: "Samples", *, rate: int, headroom: float = HEADROOM) -> None:
        """Store as FLAC, attenuated by `headroom` so that peaks above full scale survive."""
        import numpy as np  # noqa: PLC0415 - as above

        rows = np.atleast_2d(samples)
        with self.media_cache.temp_dir() as temp_dir:
            raw = temp_dir / "encode.raw"
            await asyncio.to_thread(np.ascontiguousarray(rows.T * np.float32(headroom), "<f4").tofile, raw)
            file = await encode_flac(raw, rate=rate, channels=len(rows), output=temp_dir, sandbox=self.sandbox)
            await self.storage.put(path, file)
