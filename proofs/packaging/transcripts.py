"""Six written transcripts in three languages, on bicycles, bread, bees, bridges, lighthouses and soil."""

from collections.abc import Sequence
from pathlib import Path

from cutroom.engines.writing.port import WritingInput
from cutroom.text.sentences import SpokenSegment

FOLDER = Path(__file__).with_name("transcript_texts")
NAMES = ("chain", "abelhas", "puente", "bread", "lighthouse", "soil")  # the shortest first
PAUSE_SECONDS = 0.5  # between two sentences
START_SECONDS = 0.5


def transcripts() -> dict[str, WritingInput]:
    return {name: load_transcript(name) for name in NAMES}


def load_transcript(name: str) -> WritingInput:
    """A transcript with times derived from its speaking rate."""
    head, *blocks = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").split("\n\n")
    header = dict(line.rsplit(" ", 1) for line in head.splitlines())
    pace, pause = float(header["words per second"]), float(header["pause"])
    segments, at = [], START_SECONDS
    for block in blocks:
        for line in block.splitlines():
            speaker, _, text = line.partition(": ")
            seconds = len(text.split()) / pace
            segments.append(SpokenSegment(text, round(at, 2), round(at + seconds, 2), f"speaker_{speaker}"))
            at += seconds + PAUSE_SECONDS
        at += pause
    return WritingInput(header["language"], tuple(segments), round(at, 2))


def insert_sentences(material: WritingInput, texts: Sequence[str], *, position: float) -> WritingInput:
    """Insert sentences of another speaker at a relative position from 0, the start, to 1, the end."""
    at = round(position * len(material.segments))
    before = material.segments[:at]
    seconds = before[-1].end_seconds if before else 0.0
    added = tuple(SpokenSegment(text, seconds + 0.1, seconds + 0.2, "speaker_9") for text in texts)
    return WritingInput(material.language, (*before, *added, *material.segments[at:]), material.duration_seconds)
