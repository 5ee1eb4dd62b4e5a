"""Lists every language pair that the advertised translators can make, with its quality."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from cutroom.capabilities.rules import AdvertisedTranslator, LanguageOptions, target_languages
from cutroom.engines.translation.port import Quality, Route
from cutroom.engines.translation.routing import plan_translation
from cutroom.text.language_tags import canonical_language, is_language, language_of


@dataclass(frozen=True, slots=True)
class LanguagePair:
    """A translation that can be made; `is_dubbed` if a voice speaks its target too."""

    source: str
    target: str
    quality: Quality
    is_dubbed: bool


@lru_cache(maxsize=4)  # routes change only when workers or their models do
def language_pairs(translators: tuple[AdvertisedTranslator, ...], spoken: frozenset[str]) -> tuple[LanguagePair, ...]:
    """All pairs that captions, and with a voice dubs, can be requested in; sorted by source and target."""
    routes = [route for each in translators for route in each.routes()]
    sources = sorted({canonical_language(route.source) for route in routes if is_language(route.source)})
    relevant = RelevantRoutes(translators)
    pairs = []
    for source in sources:
        translated = tuple(target_languages(translators, source=source))
        dubbed = set(LanguageOptions(source, translated, spoken).available)
        for target in LanguageOptions(source, translated).available:
            plan = plan_translation(relevant.between(source, target), source=source, target=target)
            pairs.append(LanguagePair(source, target, plan.quality, is_dubbed=target in dubbed))
    return tuple(pairs)


class RelevantRoutes:
    """Routes by language, because planning every pair over every route takes seconds."""

    def __init__(self, translators: Sequence[AdvertisedTranslator]) -> None:
        self._names = [each.name for each in translators]
        self._from: dict[tuple[str, str], list[Route]] = defaultdict(list)
        self._to: dict[tuple[str, str], list[Route]] = defaultdict(list)
        for each in translators:
            for route in each.routes():
                self._from[each.name, language_of(route.source)].append(route)
                self._to[each.name, language_of(route.target)].append(route)

    def between(self, source: str, target: str) -> list[AdvertisedTranslator]:
        """The translators with only the routes that can be a leg of this pair."""
        first, last = language_of(source), language_of(target)
        return [
            AdvertisedTranslator(name, tuple(dict.fromkeys((*self._from[name, first], *self._to[name, last]))))
            for name in self._names
        ]
