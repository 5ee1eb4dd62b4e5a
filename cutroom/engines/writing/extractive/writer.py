"""The writer that needs no model and no network, and states nothing that was not said."""

from typing import TYPE_CHECKING

from cutroom.engines.writing.extractive.descriptions import description_of
from cutroom.engines.writing.extractive.headlines import headline_of
from cutroom.engines.writing.extractive.study import TranscriptAnalysis, study
from cutroom.engines.writing.extractive.titles import title_of
from cutroom.engines.writing.port import DescriptionKind, TitleStyle, WritingInput, WrittenText

if TYPE_CHECKING:
    from cutroom.engines.writing.text_ports import TextEmbedder


class ExtractiveWriter:
    """May be used from several threads at once; an embedder makes its choice of sentences better."""

    name = "extractive"

    def __init__(self, embedder: "TextEmbedder | None" = None) -> None:
        self._embedder = embedder
        self._last: tuple[WritingInput, TranscriptAnalysis] | None = None

    def title(self, material: WritingInput, *, style: TitleStyle) -> WrittenText:
        return self.title_from(self.study(material), style)

    def description(self, material: WritingInput, *, kind: DescriptionKind) -> WrittenText:
        return self.description_from(self.study(material), kind)

    def headline(self, material: WritingInput) -> WrittenText:
        return self.headline_from(self.study(material))

    def study(self, material: WritingInput) -> TranscriptAnalysis:
        """What several texts about one film can be written from; the last one is kept, since most ask for several."""
        last = self._last
        if last is not None and last[0] == material:
            return last[1]
        studied = study(material, embedder=self._embedder)
        self._last = (material, studied)
        return studied

    def title_from(self, studied: TranscriptAnalysis, style: TitleStyle) -> WrittenText:
        return self._written(studied, title_of(studied, style=style))

    def description_from(self, studied: TranscriptAnalysis, kind: DescriptionKind) -> WrittenText:
        return self._written(studied, description_of(studied, kind=kind))

    def headline_from(self, studied: TranscriptAnalysis) -> WrittenText:
        return self._written(studied, headline_of(studied))

    def _written(self, studied: TranscriptAnalysis, text: str) -> WrittenText:
        return WrittenText(studied.rules.finished(text), self.name)
