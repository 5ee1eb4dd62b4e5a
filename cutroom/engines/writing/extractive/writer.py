"""Rule-based writer that composes texts from the transcript, without a model or network access."""

from typing import TYPE_CHECKING

from cutroom.engines.writing.extractive.analysis import TranscriptAnalysis, analyze_transcript
from cutroom.engines.writing.extractive.descriptions import write_description
from cutroom.engines.writing.extractive.headlines import write_headline
from cutroom.engines.writing.extractive.titles import write_title
from cutroom.engines.writing.port import DescriptionKind, TitleStyle, WritingInput, WrittenText

if TYPE_CHECKING:
    from cutroom.engines.writing.port import TextEmbedder


class ExtractiveWriter:
    """Thread-safe; an embedder improves the choice of sentences."""

    name = "extractive"

    def __init__(self, embedder: "TextEmbedder | None" = None) -> None:
        self._embedder = embedder
        self._last: tuple[WritingInput, TranscriptAnalysis] | None = None

    def title(self, source: WritingInput, *, style: TitleStyle) -> WrittenText:
        return self.title_from(self.analyze(source), style)

    def description(self, source: WritingInput, *, kind: DescriptionKind) -> WrittenText:
        return self.description_from(self.analyze(source), kind)

    def headline(self, source: WritingInput) -> WrittenText:
        return self.headline_from(self.analyze(source))

    def analyze(self, source: WritingInput) -> TranscriptAnalysis:
        """Caches the last analysis, because most callers request several texts."""
        last = self._last
        if last is not None and last[0] == source:
            return last[1]
        analysis = analyze_transcript(source, embedder=self._embedder)
        self._last = (source, analysis)
        return analysis

    def title_from(self, analysis: TranscriptAnalysis, style: TitleStyle) -> WrittenText:
        return self._finish(analysis, write_title(analysis, style=style))

    def description_from(self, analysis: TranscriptAnalysis, kind: DescriptionKind) -> WrittenText:
        return self._finish(analysis, write_description(analysis, kind=kind))

    def headline_from(self, analysis: TranscriptAnalysis) -> WrittenText:
        return self._finish(analysis, write_headline(analysis))

    def _finish(self, analysis: TranscriptAnalysis, text: str) -> WrittenText:
        return WrittenText(analysis.guidelines.apply(text), self.name)
