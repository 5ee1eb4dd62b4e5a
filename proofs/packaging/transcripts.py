"""Six films as transcripts: people who talk about bicycles, bread, bees, bridges, lighthouses and soil."""

from collections.abc import Sequence
from pathlib import Path

from cutroom.engines.writing.port import WritingInput
from cutroom.text.sentences import SpokenSegment

FOLDER = Path(__file__).with_name("transcript_texts")
NAMES = ("chain", "abelhas", "puente", "bread", "lighthouse", "soil")  # the shortest first
PAUSE_SECONDS = 0.5  # between two sentences
START_SECONDS = 0.5


def films() -> dict[str, WritingInput]:
    return {name: film(name) for name in NAMES}


def film(name: str) -> WritingInput:
    """A transcript with times that follow from how fast its speakers speak."""
    head, *blocks = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").split("\n\n")
    facts = dict(line.rsplit(" ", 1) for line in head.splitlines())
    pace, pause = float(facts["words per second"]), float(facts["pause"])
    said, at = [], START_SECONDS
    for block in blocks:
        for line in block.splitlines():
            speaker, _, text = line.partition(": ")
            seconds = len(text.split()) / pace
            said.append(SpokenSegment(text, round(at, 2), round(at + seconds, 2), f"speaker_{speaker}"))
            at += seconds + PAUSE_SECONDS
        at += pause
    return WritingInput(facts["language"], tuple(said), round(at, 2))


def with_sentences(material: WritingInput, texts: Sequence[str], *, place: float) -> WritingInput:
    """The film with somebody who says something else at a place from 0, its start, to 1, its end."""
    at = round(place * len(material.segments))
    before = material.segments[:at]
    seconds = before[-1].end_seconds if before else 0.0
    added = tuple(SpokenSegment(text, seconds + 0.1, seconds + 0.2, "speaker_9") for text in texts)
    return WritingInput(material.language, (*before, *added, *material.segments[at:]), material.duration_seconds)
