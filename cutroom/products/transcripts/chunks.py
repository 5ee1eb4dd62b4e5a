"""Where a recording is cut for its asr_engines: in silences, about every five minutes."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from cutroom.engines.types import TimeSpan

TARGET_SECONDS = 300.0
LEAST_SECONDS = 240.0
MOST_SECONDS = 360.0
LISTENED, HEARD = 8, 90  # progress of the job when all speech is found, and when all of it is recognised


@dataclass(frozen=True, slots=True)
class SpeechPiece:
    """A stretch of a recording and how much of it is speech, in seconds."""

    index: int
    start_seconds: float
    end_seconds: float
    speech_seconds: float


def plan_pieces(speech: Sequence[TimeSpan], *, duration_seconds: float) -> list[SpeechPiece]:
    """Pieces that cover the recording without a gap; those in which nobody speaks are left out."""
    edges, start = [0.0], 0.0
    while duration_seconds - start > MOST_SECONDS:
        start = _best_cut(speech, start)
        edges.append(start)
    edges.append(duration_seconds)
    pieces: list[SpeechPiece] = []
    for begin, end in pairwise(edges):
        spoken = sum(max(0.0, min(span.end_seconds, end) - max(span.start_seconds, begin)) for span in speech)
        if spoken > 0:
            pieces.append(SpeechPiece(len(pieces), begin, end, round(spoken, 3)))
    return pieces


def within(speech: Sequence[TimeSpan], piece: SpeechPiece) -> list[TimeSpan]:
    """The speech of a piece, in its own time."""
    begin, end = piece.start_seconds, piece.end_seconds
    return [
        TimeSpan(max(span.start_seconds, begin) - begin, min(span.end_seconds, end) - begin)
        for span in speech
        if span.end_seconds > begin and span.start_seconds < end
    ]


def leader(pieces: Sequence[SpeechPiece], *, among: int = 3) -> SpeechPiece:
    """The piece that tells the language: of the first few, the one with the most speech."""
    return max(pieces[:among], key=lambda piece: piece.speech_seconds)


def progress_after(done: int, *, of: int) -> int:
    """Of the job; pieces end in any order, so what counts is how many have."""
    return LISTENED + (HEARD - LISTENED) * done // of


def _best_cut(speech: Sequence[TimeSpan], start: float) -> float:
    """The middle of the longest silence where a cut is due; where there is none, a cut in the middle of speech."""
    earliest, latest = start + LEAST_SECONDS, start + MOST_SECONDS
    silences = []
    quiet_from = start
    for span in speech:
        if span.start_seconds > quiet_from:
            begin, end = max(quiet_from, earliest), min(span.start_seconds, latest)
            if end > begin:
                silences.append((end - begin, (begin + end) / 2))
        quiet_from = max(quiet_from, span.end_seconds)
        if quiet_from >= latest:
            break
    if quiet_from < latest:
        begin = max(quiet_from, earliest)
        silences.append((latest - begin, (begin + latest) / 2))
    if not silences:
        return start + TARGET_SECONDS
    longest = max(silence for silence, _ in silences)
    # Of silences that are about as long, the one nearest to the target.
    return min(
        (cut for silence, cut in silences if silence >= longest / 2),
        key=lambda cut: abs(cut - start - TARGET_SECONDS),
    )
