"""Splits a recording into chunks of about five minutes for transcription, at silences."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from cutroom.engines.types import TimeSpan

TARGET_SECONDS = 300.0
MIN_SECONDS = 240.0
MAX_SECONDS = 360.0
DETECTION_PROGRESS, TRANSCRIPTION_PROGRESS = 8, 90  # job progress after speech detection and after transcription


@dataclass(frozen=True, slots=True)
class TranscriptChunk:
    """A time range of a recording, and how much of it is speech."""

    index: int
    start_seconds: float
    end_seconds: float
    speech_seconds: float


def plan_chunks(speech: Sequence[TimeSpan], *, duration_seconds: float) -> list[TranscriptChunk]:
    """Chunks that cover the recording without gaps; chunks without speech are left out."""
    edges, start = [0.0], 0.0
    while duration_seconds - start > MAX_SECONDS:
        start = _best_split(speech, start)
        edges.append(start)
    edges.append(duration_seconds)
    chunks: list[TranscriptChunk] = []
    for begin, end in pairwise(edges):
        spoken = sum(max(0.0, min(span.end_seconds, end) - max(span.start_seconds, begin)) for span in speech)
        if spoken > 0:
            chunks.append(TranscriptChunk(len(chunks), begin, end, round(spoken, 3)))
    return chunks


def speech_within(speech: Sequence[TimeSpan], chunk: TranscriptChunk) -> list[TimeSpan]:
    """The speech of a chunk, relative to its start."""
    begin, end = chunk.start_seconds, chunk.end_seconds
    return [
        TimeSpan(max(span.start_seconds, begin) - begin, min(span.end_seconds, end) - begin)
        for span in speech
        if span.end_seconds > begin and span.start_seconds < end
    ]


def language_probe(chunks: Sequence[TranscriptChunk], *, among: int = 3) -> TranscriptChunk:
    """The chunk used to detect the language: of the first few, the one with the most speech."""
    return max(chunks[:among], key=lambda chunk: chunk.speech_seconds)


def transcription_share(total_chunks: int) -> float:
    """Job progress in percent that each chunk adds; chunks finish in any order."""
    return (TRANSCRIPTION_PROGRESS - DETECTION_PROGRESS) / total_chunks


def _best_split(speech: Sequence[TimeSpan], start: float) -> float:
    """The middle of the longest silence within the allowed range, or the target position if there is no silence."""
    earliest, latest = start + MIN_SECONDS, start + MAX_SECONDS
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
    # Among silences at least half as long as the longest, take the one nearest to the target.
    return min(
        (cut for silence, cut in silences if silence >= longest / 2),
        key=lambda cut: abs(cut - start - TARGET_SECONDS),
    )
