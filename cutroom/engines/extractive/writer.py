"""The writer that needs no model and no network, and states nothing that was not said."""

from typing import TYPE_CHECKING

from cutroom.engines.extractive.descriptions import description_of
from cutroom.engines.extractive.headlines import headline_of
from cutroom.engines.extractive.study import Study, study
from cutroom.engines.extractive.titles import title_of
from cutroom.engines.writing import DescriptionKind, Material, TitleStyle, Written

if TYPE_CHECKING:
    from cutroom.engines.ports import Embedder


class ExtractiveWriter:
    """May be used from several threads at once; an embedder makes its choice of sentences better."""

    name = "extractive"

    def __init__(self, embedder: "Embedder | None" = None) -> None:
        self._embedder = embedder
        self._last: tuple[Material, Study] | None = None

    def title(self, material: Material, *, style: TitleStyle) -> Written:
        return self.title_from(self.study(material), style)

    def description(self, material: Material, *, kind: DescriptionKind) -> Written:
        return self.description_from(self.study(material), kind)

    def headline(self, material: Material) -> Written:
        return self.headline_from(self.study(material))

    def study(self, material: Material) -> Study:
        """What several texts about one film can be written from; the last one is kept, since most ask for several."""
        last = self._last
        if last is not None and last[0] == material:
            return last[1]
        studied = study(material, embedder=self._embedder)
        self._last = (material, studied)
        return studied

    def title_from(self, studied: Study, style: TitleStyle) -> Written:
        return self._written(studied, title_of(studied, style=style))

    def description_from(self, studied: Study, kind: DescriptionKind) -> Written:
        return self._written(studied, description_of(studied, kind=kind))

    def headline_from(self, studied: Study) -> Written:
        return self._written(studied, headline_of(studied))

    def _written(self, studied: Study, text: str) -> Written:
        return Written(studied.rules.finished(text), self.name)
