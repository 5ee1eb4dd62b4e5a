"""Lays spoken lines over the bed, listens to them, and writes the track."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.registry import Engines
from cutroom.engines.synthesis.port import SynthesizedSpeech
from cutroom.engines.types import SAMPLE_RATE, TimeSpan
from cutroom.library.rules import video_path
from cutroom.media.dubbing import AudioRange, join_stretches, measure_loudness, write_track
from cutroom.media.formats import Container
from cutroom.products.dubs.artifacts import DubArtifacts, DubRef
from cutroom.products.dubs.mixing import HEADROOM, LINE_RATE, MIX_RATE, laid_over, speech_alone
from cutroom.products.dubs.script import PlacedLine, Script
from cutroom.products.dubs.source_separation import SeparatedChunk
from cutroom.products.speech.encoding import at_rate, from_pcm
from cutroom.products.speech.rules import fingerprint

if TYPE_CHECKING:
    from cutroom.products.dubs.mixing import Sound

_log = logging.getLogger(__name__)

PEAK = 0.82  # -1.7 dB: what an encoder adds stays below -1 dBTP


@dataclass(frozen=True, slots=True)
class Publishing:
    """From lines in their places to a file that plays."""

    shelf: DubArtifacts
    engines: Engines

    async def mix(self, dub: DubRef, script: Script, index: int, lines: Sequence[PlacedLine], *, path: str) -> None:
        """One piece of the finished sound."""
        piece = SeparatedChunk.of(script, index)
        sounds = await self._sounds(dub, lines, level=HEADROOM)
        stretch = AudioRange(0.0, piece.seconds + 1, rate=MIX_RATE, channels=2)
        bed = await self.shelf.sound(dub.bed(script, index), Container.FLAC, stretch)
        mixed = await asyncio.to_thread(laid_over, bed, sounds, start_seconds=piece.start_seconds)
        await self.shelf.put_sound(path, mixed, rate=MIX_RATE, headroom=1.0)  # the bed has its headroom already

    async def hear(self, dub: DubRef, lines: Sequence[PlacedLine], *, start_seconds: float) -> dict[str, str]:
        """What a recogniser understands of some lines, by their numbers."""
        sounds = await self._sounds(dub, lines, level=1.0)
        return await asyncio.to_thread(self._hear, sounds, start_seconds, dub.language)

    def _hear(self, sounds: "Sequence[tuple[PlacedLine, Sound]]", start: float, language: str) -> dict[str, str]:
        if not sounds:
            return {}
        end = max(line.start_seconds + line.seconds for line, _ in sounds)
        alone = speech_alone(sounds, start_seconds=start, seconds=end - start)
        recording = at_rate(SynthesizedSpeech(alone, LINE_RATE), SAMPLE_RATE)
        spans = [TimeSpan(line.start_seconds - start, line.start_seconds + line.seconds - start) for line, _ in sounds]
        try:
            words = self.engines.recogniser().transcribe(recording, language=language, speech=spans).words
        except EngineUnavailableError:
            raise  # it may come back
        except EngineError as error:  # a recogniser of one language has nothing to say of another
            _log.warning("a dub was not listened to", extra={"language": language, "error": str(error)})
            return {}
        heard: dict[str, list[str]] = {str(line.number): [] for line, _ in sounds}
        for word in words:
            at = _nearest(spans, (word.start_seconds + word.end_seconds) / 2)
            heard[str(sounds[at][0].number)].append(word.text)
        return {number: " ".join(texts) for number, texts in heard.items()}

    async def _sounds(
        self, dub: DubRef, lines: Sequence[PlacedLine], *, level: float
    ) -> "list[tuple[PlacedLine, Sound]]":
        return [(each, from_pcm(await self.shelf.read(dub.line(each))) * level) for each in lines]

    async def publish(self, dub: DubRef, mixed: Sequence[str], name: str, *, seconds: float | None) -> str:
        """One track out of mixed pieces, as loud as the source is in that time; where it lies."""
        with self.shelf.workbench.drawer() as drawer:
            files = []
            for number, path in enumerate(mixed):
                file = drawer / f"piece-{number:05}.flac"
                with file.open("wb") as to:
                    async for chunk in self.shelf.storage.read(path):
                        to.write(chunk)
                files.append(file)
            sandbox = self.shelf.sandbox
            joined = await join_stretches(files, output=drawer, sandbox=sandbox)
            source_path = video_path(dub.library_id, dub.video_id, "mix.mka")
            async with self.shelf.workbench.fetch(source_path) as source:
                wanted = await measure_loudness(
                    source.path, container=Container.MATROSKA, sandbox=sandbox, output=drawer, seconds=seconds
                )
            ours = await measure_loudness(joined, container=Container.FLAC, sandbox=sandbox, output=drawer)
            track = await write_track(
                joined, gain_db=wanted - ours, peak=PEAK, language=dub.language, output=drawer, sandbox=sandbox
            )
            stored = dub.path(f"{fingerprint({'mixed': list(mixed)})[:16]}-{name}")
            await self.shelf.put(stored, track)
        return stored


def _nearest(spans: Sequence[TimeSpan], at_seconds: float) -> int:
    def far(at: int) -> float:
        return max(spans[at].start_seconds - at_seconds, at_seconds - spans[at].end_seconds, 0.0)

    return min(range(len(spans)), key=far)
