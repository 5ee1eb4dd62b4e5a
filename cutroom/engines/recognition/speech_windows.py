"""Packs speech into decoding windows cut at silences, and maps times between window and recording.

Long silences are left out, because decoding cost grows with window length and Whisper hallucinates in silence.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cutroom.engines.types import SAMPLE_RATE, TimeSpan

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

CONTEXT_SECONDS = 0.25  # kept on either side of a chunk, so two chunks are 0.5 s apart
CUT_FROM = 0.6  # a window ends at its capacity silence past this share of its capacity
QUIET_SECONDS = 0.05  # length of the quiet section at which continuous speech is cut

_CONTEXT = round(CONTEXT_SECONDS * SAMPLE_RATE)
_QUIET = round(QUIET_SECONDS * SAMPLE_RATE)


@dataclass(frozen=True, slots=True)
class SpeechChunk:
    """A span of the recording and the silence that follows it, in samples."""

    start: int
    end: int
    silence_after: int = 0

    @property
    def length(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class DecodingWindow:
    """Consecutive chunks of the recording, decoded together."""

    chunks: tuple[SpeechChunk, ...]

    @property
    def length(self) -> int:
        return sum(chunk.length for chunk in self.chunks)

    @property
    def seconds(self) -> float:
        return self.length / SAMPLE_RATE

    def extract(self, samples: "Samples") -> "Samples":
        import numpy as np  # noqa: PLC0415 - the API process imports this module without it

        return np.concatenate([samples[chunk.start : chunk.end] for chunk in self.chunks])

    def speech_in_recording_time(self, speech: Sequence[TimeSpan]) -> list[TimeSpan]:
        """The parts of `speech` inside this window, in recording time."""
        return [span for _, span in self._overlaps(speech)]

    def speech_in_window_time(self, speech: Sequence[TimeSpan]) -> list[TimeSpan]:
        """The parts of `speech` inside this window, in window time."""
        return [
            TimeSpan(span.start_seconds - shift, span.end_seconds - shift) for shift, span in self._overlaps(speech)
        ]

    def _overlaps(self, speech: Sequence[TimeSpan]) -> Iterator[tuple[float, TimeSpan]]:
        """Overlapping spans in recording time, each with its offset from window time."""
        elapsed = 0
        for chunk in self.chunks:
            for span in speech:
                start = max(span.start_seconds, chunk.start / SAMPLE_RATE)
                end = min(span.end_seconds, chunk.end / SAMPLE_RATE)
                if start < end:
                    yield (chunk.start - elapsed) / SAMPLE_RATE, TimeSpan(start, end)
            elapsed += chunk.length

    def to_recording_time(self, span: TimeSpan) -> TimeSpan:
        """Maps a span from window to recording time by the chunk that contains its midpoint."""
        middle = (span.start_seconds + span.end_seconds) / 2 * SAMPLE_RATE
        elapsed = 0
        for chunk in self.chunks[:-1]:
            if middle < elapsed + chunk.length:
                break
            elapsed += chunk.length
        else:
            chunk = self.chunks[-1]
        shift = (chunk.start - elapsed) / SAMPLE_RATE
        return TimeSpan(span.start_seconds + shift, span.end_seconds + shift)


def plan_windows(samples: "Samples", speech: Sequence[TimeSpan], *, max_seconds: float) -> list[DecodingWindow]:
    """Windows that cover all speech, each ending at a silence if possible."""
    capacity = int(max_seconds * SAMPLE_RATE)
    chunks: list[SpeechChunk] = []
    for chunk in _with_context(_in_samples(speech, len(samples)), len(samples)):
        chunks.extend(_cut_to_length(chunk, samples, capacity=capacity))
    windows = []
    while chunks:
        count = _next_window_size(chunks, capacity)
        windows.append(DecodingWindow(tuple(chunks[:count])))
        chunks = chunks[count:]
    return windows


def _in_samples(speech: Sequence[TimeSpan], length: int) -> list[SpeechChunk]:
    """Spans in samples: sorted, clipped to the recording and merged."""
    chunks: list[SpeechChunk] = []
    for span in sorted(speech, key=lambda each: each.start_seconds):
        start = max(0, round(span.start_seconds * SAMPLE_RATE))
        end = min(length, round(span.end_seconds * SAMPLE_RATE))
        if chunks and start <= chunks[-1].end:
            chunks[-1] = SpeechChunk(chunks[-1].start, max(end, chunks[-1].end))
        elif start < end:
            chunks.append(SpeechChunk(start, end))
    return chunks


def _with_context(chunks: Sequence[SpeechChunk], length: int) -> list[SpeechChunk]:
    """Widens each chunk by its context, at most to the middle of the silence."""
    widened = []
    for index, chunk in enumerate(chunks):
        before = (chunks[index - 1].end + chunk.start) // 2 if index else 0
        after = (chunk.end + chunks[index + 1].start) // 2 if index + 1 < len(chunks) else length
        silence = 2 * (after - chunk.end)
        widened.append(SpeechChunk(max(before, chunk.start - _CONTEXT), min(after, chunk.end + _CONTEXT), silence))
    return widened


def _cut_to_length(chunk: SpeechChunk, samples: "Samples", *, capacity: int) -> list[SpeechChunk]:
    """Cuts continuous speech at its quietest point."""
    cut = []
    while chunk.length > capacity:
        at = _quietest(samples, chunk.start + int(capacity * CUT_FROM), chunk.start + capacity)
        cut.append(SpeechChunk(chunk.start, at))
        chunk = replace(chunk, start=at)
    return [*cut, chunk]


def _quietest(samples: "Samples", start: int, end: int) -> int:
    import numpy as np  # noqa: PLC0415 - see above

    power = np.square(samples[start:end], dtype=np.float64)
    width = min(_QUIET, len(power))
    summed = np.concatenate([[0.0], np.cumsum(power)])
    return start + int(np.argmin(summed[width:] - summed[:-width])) + width // 2


def _next_window_size(chunks: Sequence[SpeechChunk], capacity: int) -> int:
    """Number of chunks in the next window: those that fit, up to the longest silence near its end."""
    fitting = filled = 0
    candidates: list[tuple[int, int]] = []  # (silence after, chunk count)
    for chunk in chunks:
        if filled + chunk.length > capacity:
            break
        filled += chunk.length
        fitting += 1
        if filled >= capacity * CUT_FROM:
            candidates.append((chunk.silence_after, fitting))
    if fitting == len(chunks) or not candidates:
        return fitting
    return max(candidates)[1]
