"""Writes about the evaluation talks as packaging does, without a language model."""

from dataclasses import dataclass
from pathlib import Path

from cutroom.engines.models.store import ModelStore
from cutroom.engines.writing.extractive.writer import ExtractiveWriter
from cutroom.engines.writing.minilm import MiniLmEmbedder
from cutroom.engines.writing.port import DescriptionKind, TitleStyle, WritingInput
from cutroom.text.sentences import SpokenSegment
from eval.talks import EvaluationTalk

EMBEDDER = "minilm-l6-v2"
CHARACTERS_PER_SECOND = 15.0
PAUSE_SECONDS = 0.4


@dataclass(frozen=True, slots=True)
class TalkTexts:
    """Everything that is written about one talk."""

    talk: EvaluationTalk
    titles: tuple[str, ...]  # by style
    headline: str
    descriptions: dict[DescriptionKind, str]

    @property
    def all(self) -> tuple[str, ...]:
        return (*self.titles, self.headline, *self.descriptions.values())

    @property
    def judged(self) -> dict[str, str]:
        """The texts that readers judge, by kind."""
        title = self.titles[list(TitleStyle).index(TitleStyle.INFORMATIONAL)]
        return {"title": title, "description": self.descriptions[DescriptionKind.YOUTUBE_DESCRIPTION]}


def open_writer(models_dir: Path) -> ExtractiveWriter:
    return ExtractiveWriter(MiniLmEmbedder(ModelStore(models_dir).path(EMBEDDER)))


def write_texts(writer: ExtractiveWriter, talk: EvaluationTalk) -> TalkTexts:
    source = spoken(talk)
    return TalkTexts(
        talk,
        tuple(writer.title(source, style=style).text for style in TitleStyle),
        writer.headline(source).text,
        {kind: writer.description(source, kind=kind).text for kind in DescriptionKind},
    )


def spoken(talk: EvaluationTalk, *, inserted: str = "") -> WritingInput:
    """The talk as a perfect transcript with estimated times; `inserted` is said by another person in the middle."""
    lines = [(line.text(talk.language), line.speaker) for line in talk.lines]
    if inserted:
        lines.insert(len(lines) // 2, (inserted, "stranger"))
    segments, at = [], 0.0
    for text, speaker in lines:
        seconds = len(text) / CHARACTERS_PER_SECOND
        segments.append(SpokenSegment(text, at, at + seconds, speaker))
        at += seconds + PAUSE_SECONDS
    return WritingInput(talk.language, tuple(segments), at, title=talk.title)
