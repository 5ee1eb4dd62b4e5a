"""A conversation of four English speakers with known turns, for word-based diarization error."""

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

DAVID = "david"  # speaker of PocketSphinx's test data, in the same package as the reader of Austen
DAVID_FOLDER = Path("/usr/share/pocketsphinx/test/data")
# Some pauses are too short for voice activity detection, so speakers also change within its spans.
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
    """Concatenate the lines at equal loudness, with quiet room noise."""
    clips: list[Samples] = []
    truth: list[Turn] = []
    numbers: dict[str, int] = {}
    for line in ENGLISH:
        source = _david_recording(line.recording) if line.speaker == DAVID else recording(line.speaker, line.recording)
        speech = source[round(line.start_seconds * SAMPLE_RATE) : round(line.end_seconds * SAMPLE_RATE)]
        speech = speech * np.float32(LEVEL / np.sqrt(np.square(speech).mean()))
        at = sum(map(len, clips)) / SAMPLE_RATE
        speaker = numbers.setdefault(line.speaker, len(numbers))
        truth += [Turn(speaker, at + span.start_seconds, at + span.end_seconds) for span in speech_spans(speech)]
        clips += [speech, np.zeros(round(line.pause_seconds * SAMPLE_RATE), np.float32)]
    samples = np.concatenate(clips)
    samples += np.random.default_rng(seed).normal(0, ROOM_LEVEL, len(samples)).astype(np.float32)
    return Conversation(samples, truth)


def _david_recording(name: str) -> Samples:
    return (np.fromfile(DAVID_FOLDER / f"{name}.raw", "<i2") / 32768).astype(np.float32)
