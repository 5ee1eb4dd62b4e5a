"""Rule-based writer that composes texts from the transcript, without a model or network access."""

from typing import TYPE_CHECKING

from cutroom.engines.errors import UnsuitableInputError
from cutroom.engines.writing.extractive.analysis import TranscriptAnalysis, analyze_transcript
from cutroom.engines.writing.extractive.descriptions import write_descriptions
from cutroom.engines.writing.extractive.titles import fallback_title, title_candidates, write_headline
from cutroom.engines.writing.port import MAX_CANDIDATES, DescriptionKind, TitleStyle, WritingInput, WrittenText
from cutroom.text.placeholders import clean_sentence

if TYPE_CHECKING:
    from cutroom.engines.writing.port import TextEmbedder

KEPT_TITLE = "This video does not say in one sentence what it is about, so its title was kept."


class ExtractiveWriter:
    """Thread-safe; an embedder improves the choice of sentences."""

    name = "extractive"

    def __init__(self, embedder: "TextEmbedder | None" = None) -> None:
        self._embedder = embedder
        self._last: tuple[WritingInput, TranscriptAnalysis] | None = None

    def title(self, source: WritingInput, *, style: TitleStyle) -> WrittenText:
        """Every style gets the same plain titles: rules cannot be funny, and a template would show."""
        del style
        return self.title_from(self.analyze(source))

    def description(self, source: WritingInput, *, kind: DescriptionKind) -> WrittenText:
        return self.description_from(self.analyze(source), kind)

    def headline(self, source: WritingInput) -> WrittenText:
        analysis = self.analyze(source)
        return self._finish(analysis, [write_headline(analysis)])

    def analyze(self, source: WritingInput) -> TranscriptAnalysis:
        """Caches the last analysis, because most callers request several texts."""
        last = self._last
        if last is not None and last[0] == source:
            return last[1]
        analysis = analyze_transcript(source, embedder=self._embedder)
        self._last = (source, analysis)
        return analysis

    def title_from(self, analysis: TranscriptAnalysis) -> WrittenText:
        if found := title_candidates(analysis):
            return self._finish(analysis, found[:MAX_CANDIDATES])
        if kept := clean_sentence(analysis.source.title or ""):
            return WrittenText(kept, self.name, KEPT_TITLE)
        if not (text := fallback_title(analysis)):
            raise UnsuitableInputError("no_title", "No sentence of this video fits into a title.")
        return self._finish(analysis, [text])

    def description_from(self, analysis: TranscriptAnalysis, kind: DescriptionKind) -> WrittenText:
        return self._finish(analysis, write_descriptions(analysis, kind=kind)[:MAX_CANDIDATES])

    def _finish(self, analysis: TranscriptAnalysis, texts: list[str]) -> WrittenText:
        first, *others = (analysis.guidelines.apply(text) for text in texts)
        return WrittenText(first, self.name, alternatives=tuple(others))
