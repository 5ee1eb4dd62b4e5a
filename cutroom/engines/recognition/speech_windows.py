"""Cuts a recording into windows that a recogniser takes at once, at silences, and leads its times back.

Long silences are left out of a window, so that it holds as much speech as it can: asr_engines pay for the length of a
window, and make words up where nothing is said.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cutroom.engines.types import SAMPLE_RATE, TimeSpan

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

CONTEXT_SECONDS = 0.25  # of what lies around each stretch of speech: two stretches keep a pause of 0.5 s between them
CUT_FROM = 0.6  # a window is cut at its widest silence after this share of what it could hold
QUIET_SECONDS = 0.05  # how long the quietest place is, where speech without a silence must be cut

_CONTEXT = round(CONTEXT_SECONDS * SAMPLE_RATE)
_QUIET = round(QUIET_SECONDS * SAMPLE_RATE)


@dataclass(frozen=True, slots=True)
class RecognizedWindow:
    """A stretch of the recording, and how much silence follows its speech; in samples."""

    start: int
    end: int
    silence_after: int = 0

    @property
    def length(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Window:
    """Pieces of the recording in order, to be heard as one."""

    pieces: tuple[RecognizedWindow, ...]

    @property
    def length(self) -> int:
        return sum(piece.length for piece in self.pieces)

    @property
    def seconds(self) -> float:
        return self.length / SAMPLE_RATE

    def take(self, samples: "Samples") -> "Samples":
        import numpy as np  # noqa: PLC0415 - the API process must be able to import this room without it

        return np.concatenate([samples[piece.start : piece.end] for piece in self.pieces])

    def within(self, speech: Sequence[TimeSpan]) -> list[TimeSpan]:
        """The stretches of speech that it holds."""
        return [span for _, span in self._overlaps(speech)]

    def laid_out(self, speech: Sequence[TimeSpan]) -> list[TimeSpan]:
        """The same by the clock of the window."""
        return [
            TimeSpan(span.start_seconds - shift, span.end_seconds - shift) for shift, span in self._overlaps(speech)
        ]

    def _overlaps(self, speech: Sequence[TimeSpan]) -> Iterator[tuple[float, TimeSpan]]:
        """Stretches by the clock of the recording, and how far that is ahead of the window's."""
        passed = 0
        for piece in self.pieces:
            for span in speech:
                start = max(span.start_seconds, piece.start / SAMPLE_RATE)
                end = min(span.end_seconds, piece.end / SAMPLE_RATE)
                if start < end:
                    yield (piece.start - passed) / SAMPLE_RATE, TimeSpan(start, end)
            passed += piece.length

    def lead_back(self, span: TimeSpan) -> TimeSpan:
        """Where a stretch of the window lies in the recording; it belongs to the piece that holds its middle."""
        middle = (span.start_seconds + span.end_seconds) / 2 * SAMPLE_RATE
        passed = 0
        for piece in self.pieces[:-1]:
            if middle < passed + piece.length:
                break
            passed += piece.length
        else:
            piece = self.pieces[-1]
        shift = (piece.start - passed) / SAMPLE_RATE
        return TimeSpan(span.start_seconds + shift, span.end_seconds + shift)


def plan_windows(samples: "Samples", speech: Sequence[TimeSpan], *, max_seconds: float) -> list[Window]:
    """Windows that hold all the speech, each cut at a silence if there is one."""
    longest = int(max_seconds * SAMPLE_RATE)
    pieces: list[RecognizedWindow] = []
    for piece in _with_context(_in_samples(speech, len(samples)), len(samples)):
        pieces.extend(_cut_to_length(piece, samples, longest=longest))
    windows = []
    while pieces:
        count = _how_many(pieces, longest)
        windows.append(Window(tuple(pieces[:count])))
        pieces = pieces[count:]
    return windows


def _in_samples(speech: Sequence[TimeSpan], length: int) -> list[RecognizedWindow]:
    """In order, inside the recording, none touching another."""
    pieces: list[RecognizedWindow] = []
    for span in sorted(speech, key=lambda each: each.start_seconds):
        start = max(0, round(span.start_seconds * SAMPLE_RATE))
        end = min(length, round(span.end_seconds * SAMPLE_RATE))
        if pieces and start <= pieces[-1].end:
            pieces[-1] = RecognizedWindow(pieces[-1].start, max(end, pieces[-1].end))
        elif start < end:
            pieces.append(RecognizedWindow(start, end))
    return pieces


def _with_context(pieces: Sequence[RecognizedWindow], length: int) -> list[RecognizedWindow]:
    """Each piece with what lies around it, at most to the middle of the silence."""
    widened = []
    for index, piece in enumerate(pieces):
        before = (pieces[index - 1].end + piece.start) // 2 if index else 0
        after = (piece.end + pieces[index + 1].start) // 2 if index + 1 < len(pieces) else length
        silence = 2 * (after - piece.end)
        widened.append(RecognizedWindow(max(before, piece.start - _CONTEXT), min(after, piece.end + _CONTEXT), silence))
    return widened


def _cut_to_length(piece: RecognizedWindow, samples: "Samples", *, longest: int) -> list[RecognizedWindow]:
    """Somebody who does not pause is cut where it is quietest."""
    cut = []
    while piece.length > longest:
        at = _quietest(samples, piece.start + int(longest * CUT_FROM), piece.start + longest)
        cut.append(RecognizedWindow(piece.start, at))
        piece = replace(piece, start=at)
    return [*cut, piece]


def _quietest(samples: "Samples", start: int, end: int) -> int:
    import numpy as np  # noqa: PLC0415 - see above

    power = np.square(samples[start:end], dtype=np.float64)
    width = min(_QUIET, len(power))
    summed = np.concatenate([[0.0], np.cumsum(power)])
    return start + int(np.argmin(summed[width:] - summed[:-width])) + width // 2


def _how_many(pieces: Sequence[RecognizedWindow], longest: int) -> int:
    """How many pieces make the next window: those that fit, less those after the widest silence near its end."""
    fitting = filled = 0
    candidates: list[tuple[int, int]] = []  # the silence, and after how many pieces it comes
    for piece in pieces:
        if filled + piece.length > longest:
            break
        filled += piece.length
        fitting += 1
        if filled >= longest * CUT_FROM:
            candidates.append((piece.silence_after, fitting))
    if fitting == len(pieces) or not candidates:
        return fitting
    return max(candidates)[1]
