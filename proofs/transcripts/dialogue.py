"""Four people who speak English in turn: where the words are all known, they can tell who spoke when."""

from functools import cache
from pathlib import Path

import numpy as np

from cutroom.engines.diarization.clustering import Turn
from cutroom.engines.types import SAMPLE_RATE
from tests.support.dialogue import (
    ALLISON,
    AUSTEN,
    DICKENS,
    LEVEL,
    ROOM_LEVEL,
    Conversation,
    Line,
    Samples,
    recording,
    speech_spans,
)

DAVID = "david"  # who recorded what PocketSphinx is tested with; in the same package as the reader of Austen
DAVIDS_FOLDER = Path("/usr/share/pocketsphinx/test/data")
# Some pauses are too short for a detector of voices, so that speakers also change inside its stretches.
ENGLISH = (
    Line(DICKENS, "two_cities", 1.05, 6.25, 0.5),
    Line(ALLISON, "demo-congrats", 0.2, 7.2, 0.2),
    Line(AUSTEN, "0880", 0.2, 2.97, 0.35),
    Line(DAVID, "something", 0.0, 3.0, 0.15),
    Line(DICKENS, "two_cities", 8.75, 12.85, 0.6),
    Line(AUSTEN, "0870", 0.0, 6.8, 0.1),
    Line(ALLISON, "demo-congrats", 19.5, 25.9, 0.4),
    Line(DAVID, "numbers", 0.0, 4.0, 0.25),
    Line(AUSTEN, "0890", 0.2, 5.3, 0.3),
    Line(DICKENS, "two_cities", 21.2, 26.05, 0.2),
    Line(ALLISON, "demo-instruct", 45.0, 47.6, 0.5),
)


@cache
def converse_in_english(*, seed: int = 7) -> Conversation:
    """All equally loud, in a quiet room."""
    parts: list[Samples] = []
    truth: list[Turn] = []
    numbers: dict[str, int] = {}
    for line in ENGLISH:
        whole = _davids(line.recording) if line.speaker == DAVID else recording(line.speaker, line.recording)
        said = whole[round(line.start_seconds * SAMPLE_RATE) : round(line.end_seconds * SAMPLE_RATE)]
        said = said * np.float32(LEVEL / np.sqrt(np.square(said).mean()))
        at = sum(map(len, parts)) / SAMPLE_RATE
        speaker = numbers.setdefault(line.speaker, len(numbers))
        truth += [Turn(speaker, at + span.start_seconds, at + span.end_seconds) for span in speech_spans(said)]
        parts += [said, np.zeros(round(line.pause_seconds * SAMPLE_RATE), np.float32)]
    samples = np.concatenate(parts)
    samples += np.random.default_rng(seed).normal(0, ROOM_LEVEL, len(samples)).astype(np.float32)
    return Conversation(samples, truth)


def _davids(name: str) -> Samples:
    return (np.fromfile(DAVIDS_FOLDER / f"{name}.raw", "<i2") / 32768).astype(np.float32)
