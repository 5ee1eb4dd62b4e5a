"""The time of an output: parts of the film behind each other, and where words and pictures of the film fall in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from cutroom.engines.recognition.port import Word
from cutroom.media.shorts import Part


@dataclass(frozen=True, slots=True)
class Timeline:
    """Parts that begin and end on frames, so that picture and sound stay in step over every joint."""

    parts: tuple[Part, ...]

    @classmethod
    def of(cls, spans: Sequence[tuple[float, float]], *, rate: Fraction) -> "Timeline":
        parts = []
        for start, end in spans:
            # Rounded down, never into the next word; but what is a whole number of frames stays one.
            frames = max(1, int(Fraction(end - start) * rate + Fraction(1, 1000)))
            parts.append(Part(start, float(frames / rate)))
        return cls(tuple(parts))

    @property
    def seconds(self) -> float:
        return sum(part.seconds for part in self.parts)

    def starts(self) -> list[float]:
        """When each part begins in the output."""
        found, at = [], 0.0
        for part in self.parts:
            found.append(at)
            at += part.seconds
        return found

    def joints(self) -> list[float]:
        """Where one part follows another: cuts, whatever the picture shows."""
        return self.starts()[1:]

    def words(self, words: Sequence[Word], speakers: Sequence[str]) -> tuple[list[Word], list[str]]:
        """The words that are heard, in the output's time, and who says each."""
        heard, voices = [], []
        for part, begin in zip(self.parts, self.starts(), strict=True):
            end = part.start_seconds + part.seconds
            for word, speaker in zip(words, speakers, strict=True):
                if word.start_seconds >= part.start_seconds - 1e-6 and word.end_seconds <= end + 0.05:
                    shift = begin - part.start_seconds
                    start = max(word.start_seconds + shift, begin)
                    heard.append(
                        Word(word.text, start, min(word.end_seconds + shift, begin + part.seconds), word.probability)
                    )
                    voices.append(speaker)
        return heard, voices
