"""Parts speech from the rest of a video's sound, piece by piece, and knows how loud each line was."""

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cutroom.engines.registry import Engines
from cutroom.engines.samples import resampled
from cutroom.engines.types import SAMPLE_RATE
from cutroom.engines.voice_conversion.port import REFERENCE_RATE
from cutroom.library.rules import video_path
from cutroom.media.dubbing import AudioRange
from cutroom.media.formats import Container
from cutroom.products.dubs.artifacts import DubArtifacts, DubRef
from cutroom.products.dubs.mixing import MIX_RATE, blended, loudness_of
from cutroom.products.dubs.script import PIECE_SECONDS, Line, Script

if TYPE_CHECKING:
    from cutroom.products.dubs.mixing import Sound

MARGIN_SECONDS = 1.5  # heard around a piece that is separated, and cut off again


@dataclass(frozen=True, slots=True)
class SeparatedChunk:
    """A piece of the video, and how much of what comes before it is heard with it."""

    start_seconds: float
    end_seconds: float
    before_seconds: float

    @classmethod
    def of(cls, script: Script, index: int) -> "SeparatedChunk":
        start = index * PIECE_SECONDS
        return cls(start, min(start + PIECE_SECONDS, script.duration_seconds), min(MARGIN_SECONDS, start))

    @property
    def seconds(self) -> float:
        return self.end_seconds - self.start_seconds

    def lines(self, script: Script) -> list[Line]:
        """Those that start in it."""
        return [line for line in script.lines if self.start_seconds <= line.start_seconds < self.end_seconds]


@dataclass(frozen=True, slots=True)
class SourceSeparation:
    """Works for every dub of a video at once: what is parted is kept under a name of its own."""

    shelf: DubArtifacts
    engines: Engines

    async def part(self, dub: DubRef, script: Script, index: int) -> None:
        piece = SeparatedChunk.of(script, index)
        stretch = AudioRange(
            piece.start_seconds - piece.before_seconds,
            piece.before_seconds + piece.seconds + MARGIN_SECONDS,
            rate=MIX_RATE,
            channels=2,
        )
        mix = await self.shelf.sound(video_path(dub.library_id, dub.video_id, "mix.mka"), Container.MATROSKA, stretch)
        bed, voice = await asyncio.to_thread(self._part, mix, script, piece)
        await self.shelf.put_sound(dub.bed(script, index), bed, rate=MIX_RATE)
        await self.shelf.put_sound(dub.voice(script, index), voice, rate=REFERENCE_RATE)
        levels = {str(line.number): round(loudness_of(_cut(voice, piece, line)), 6) for line in piece.lines(script)}
        await self.shelf.put(dub.levels(script, index), json.dumps(levels).encode())

    def _part(self, mix: "Sound", script: Script, piece: SeparatedChunk) -> "tuple[Sound, Sound]":
        """What is not speech, at full rate; and speech, at a clone's rate."""
        import numpy as np  # noqa: PLC0415 - a worker without engines must be able to import this room

        skip, count = round(piece.before_seconds * MIX_RATE), round(piece.seconds * MIX_RATE)
        mix = _as_long_as(mix, max(mix.shape[-1], skip + count))
        here = slice(skip, skip + count)
        shift = piece.before_seconds - piece.start_seconds
        spans = [
            (line.start_seconds + shift, line.end_seconds + shift)
            for line in script.lines
            if line.start_seconds < piece.end_seconds + MARGIN_SECONDS
            and line.end_seconds > piece.start_seconds - MARGIN_SECONDS
        ]
        if not spans:
            return mix[:, here], np.zeros(round(piece.seconds * REFERENCE_RATE), np.float32)
        separator = self.engines.separator()
        speech, _ = separator.separate(resampled(mix, MIX_RATE, separator.sample_rate))
        speech = _as_long_as(resampled(speech, separator.sample_rate, MIX_RATE), mix.shape[-1])
        mono: Sound = speech.mean(axis=0)
        # Also where somebody speaks whom no line replaces: two at once, a word that was not recognised.
        heard = self.engines.voice_detector().detect([resampled(mono, MIX_RATE, SAMPLE_RATE)])
        spans += [(span.start_seconds, span.end_seconds) for span in heard]
        bed = blended(mix, mix - speech, spans, rate=MIX_RATE)[:, here]
        return bed, resampled(mono[here], MIX_RATE, REFERENCE_RATE)


def _as_long_as(sound: "Sound", count: int) -> "Sound":
    import numpy as np  # noqa: PLC0415 - as above

    return np.pad(sound, ((0, 0), (0, max(0, count - sound.shape[-1]))))[:, :count]


def _cut(voice: "Sound", piece: SeparatedChunk, line: Line) -> "Sound":
    first = round((line.start_seconds - piece.start_seconds) * REFERENCE_RATE)
    return voice[first : round((line.end_seconds - piece.start_seconds) * REFERENCE_RATE)]
