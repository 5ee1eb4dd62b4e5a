"""The timeline of an output: source ranges in sequence, and the mapping of words to output time."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from cutroom.engines.recognition.port import Word
from cutroom.media.shorts import SourceRange


@dataclass(frozen=True, slots=True)
class Timeline:
    """Frame-aligned source ranges, so that video and audio stay in sync across cuts."""

    ranges: tuple[SourceRange, ...]

    @classmethod
    def of(cls, spans: Sequence[tuple[float, float]], *, rate: Fraction) -> "Timeline":
        ranges = []
        for start, end in spans:
            # Rounded down, so as not to reach into the next word, with tolerance for whole frame counts.
            frames = max(1, int(Fraction(end - start) * rate + Fraction(1, 1000)))
            ranges.append(SourceRange(start, float(frames / rate)))
        return cls(tuple(ranges))

    @property
    def seconds(self) -> float:
        return sum(source_range.seconds for source_range in self.ranges)

    def starts(self) -> list[float]:
        """Start of each range in the output."""
        starts, position = [], 0.0
        for source_range in self.ranges:
            starts.append(position)
            position += source_range.seconds
        return starts

    def source_seconds(self, seconds: float) -> float:
        """The time in the source of a time in the output."""
        index = max(0, bisect_right(self.starts(), seconds) - 1)
        source_range = self.ranges[index]
        return source_range.start_seconds + min(seconds - self.starts()[index], source_range.seconds)

    def cuts(self) -> list[float]:
        """Cuts between ranges, in output time."""
        return self.starts()[1:]

    def words(self, words: Sequence[Word], speakers: Sequence[str]) -> tuple[list[Word], list[str]]:
        """Words within the ranges in output time, and their speakers."""
        output_words, word_speakers = [], []
        for source_range, output_start in zip(self.ranges, self.starts(), strict=True):
            end = source_range.start_seconds + source_range.seconds
            for word, speaker in zip(words, speakers, strict=True):
                if word.start_seconds >= source_range.start_seconds - 1e-6 and word.end_seconds <= end + 0.05:
                    shift = output_start - source_range.start_seconds
                    start = max(word.start_seconds + shift, output_start)
                    output_words.append(
                        Word(
                            word.text,
                            start,
                            min(word.end_seconds + shift, output_start + source_range.seconds),
                            word.probability,
                        )
                    )
                    word_speakers.append(speaker)
        return output_words, word_speakers
