"""Audio that an import extracts from the original, extracted again if it has been deleted since."""

from dataclasses import dataclass
from typing import Literal

from cutroom.library.originals import original_deleted
from cutroom.library.rules import source_path, video_path
from cutroom.media.audio import make_audio
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.probe import probe, probe_header
from cutroom.media.sandbox import Sandbox
from cutroom.platform.storage.objects import Storage

AudioName = Literal["speech.flac", "mix.mka"]


@dataclass(frozen=True, slots=True)
class DerivedMedia:
    """Finds the derived audio of videos. Extraction is deterministic, so fingerprints of later artifacts stay valid."""

    storage: Storage
    media_cache: LocalMediaCache
    sandbox: Sandbox

    async def find_audio(self, library_id: str, video_id: str, name: AudioName) -> str | None:
        """Path of the audio, which is extracted if it is missing; None if the original has no audio stream."""
        path = video_path(library_id, video_id, name)
        async with self.media_cache.exclusive(path):
            if await self.storage.size(path) is not None:
                return path
            original = source_path(library_id, video_id)
            if await self.storage.size(original) is None:
                raise original_deleted()
            return path if await self._extract(original, path, name) else None

    async def require_audio(self, library_id: str, video_id: str, name: AudioName) -> str:
        """The path of audio that is known to exist or to be extractable."""
        path = await self.find_audio(library_id, video_id, name)
        if path is None:
            raise original_deleted()
        return path

    async def _extract(self, original: str, path: str, name: AudioName) -> bool:
        async with self.media_cache.fetch(original) as copy:
            header = await probe_header(copy.path, sandbox=self.sandbox)
            if not header.audio_streams:
                return False
            info = await probe(copy.path, sandbox=self.sandbox)  # as the import does, for the same length
            with self.media_cache.temp_dir() as temp_dir:
                await make_audio(copy.path, info, output=temp_dir, sandbox=self.sandbox)
                await self.storage.put(path, temp_dir / name)
        return True
