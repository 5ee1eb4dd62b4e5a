"""Plans translation routes across several translators, directly or through one intermediate language."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from cutroom.engines.errors import NoRouteError
from cutroom.engines.translation.port import Quality, Route, Translator
from cutroom.engines.types import OnProgress
from cutroom.text.language_tags import canonical_tag, language_of, serves

LISTED_LANGUAGES = 60  # in an error message


@dataclass(frozen=True, slots=True)
class Leg:
    """One translator's step of a plan; the route uses that translator's language tags."""

    translator: Translator
    route: Route


@dataclass(frozen=True, slots=True)
class TranslationPlan:
    """One or two legs; `source` and `target` are the requested tags."""

    source: str
    target: str
    legs: tuple[Leg, ...]

    @property
    def quality(self) -> Quality:
        """The lowest quality of its legs; two chained engines are always a draft, because errors add up."""
        return Quality.DRAFT if len(self.legs) > 1 else lowest_quality(leg.route.quality for leg in self.legs)

    @property
    def via(self) -> tuple[str, ...]:
        """All intermediate languages."""
        pivots = [leg.route.target for leg in self.legs[:-1]]
        return tuple(
            code for leg, pivot in zip(self.legs, [*pivots, None], strict=True) for code in _intermediates(leg, pivot)
        )


def plan_translation(translators: Sequence[Translator], *, source: str, target: str) -> TranslationPlan:
    """The best plan: fewest intermediate languages, then quality, then translator order.

    A region that was not requested is used only if there is no route without one.
    """
    plans = list(_plans(translators, source, target))
    if not plans:
        raise _no_route(source, target, reachable_languages(translators, source=source))
    return min(plans, key=lambda plan: _rank(plan, translators))


def reachable_languages(translators: Sequence[Translator], *, source: str) -> list[str]:
    """Every language reachable from the source, sorted by tag."""
    routes = [route for translator in translators for route in translator.routes()]
    first = _from(routes, source)
    reached = {route.target for route in first}
    # A route that already has an intermediate language is not extended, and neither is one between two regions.
    pivots = {route.target for route in first if not route.via and language_of(route.target) != language_of(source)}
    direct = [route for route in routes if not route.via]
    for pivot in pivots:
        second = _from(direct, pivot)
        reached |= {route.target for route in second if language_of(route.target) != language_of(pivot)}
    return sorted(code for code in reached if language_of(code) != language_of(source))


def translate_along(
    plan: TranslationPlan, sentences: Sequence[str], *, on_progress: OnProgress | None = None
) -> list[str]:
    """Runs the plan's legs in order."""
    translated = list(sentences)
    for number, leg in enumerate(plan.legs):

        def report(share: float, done: int = number) -> None:
            if on_progress:
                on_progress((done + share) / len(plan.legs))

        translated = leg.translator.translate(
            translated, source=leg.route.source, target=leg.route.target, on_progress=report
        )
    return translated


def find_route(routes: Iterable[Route], *, source: str, target: str) -> Route:
    """The closest of one translator's routes for two language tags of any spelling or region."""
    routes = list(routes)
    matching = [route for route in routes if serves(route.source, source) and serves(route.target, target)]
    if matching:
        return min(matching, key=lambda route: (_distance(route.source, source), _distance(route.target, target)))
    raise _no_route(source, target, sorted({route.target for route in _from(routes, source)}))


def lowest_quality(qualities: Iterable[Quality]) -> Quality:
    return Quality.DRAFT if Quality.DRAFT in set(qualities) else Quality.GOOD


def _no_route(source: str, target: str, targets: Sequence[str]) -> NoRouteError:
    listed = ", ".join(targets[:LISTED_LANGUAGES]) or "none"
    return NoRouteError(f"No translation route from {source!r} to {target!r}. Targets from {source!r}: {listed}.")


def _distance(offered: str, wanted: str) -> int:
    """0 for the same tag, 1 if the region is missing, 2 if the region was not requested."""
    if canonical_tag(offered) == canonical_tag(wanted):
        return 0
    return 1 if canonical_tag(offered) == language_of(offered) else 2


def _plans(translators: Sequence[Translator], source: str, target: str) -> Iterator[TranslationPlan]:
    if language_of(source) == language_of(target):
        return
    legs = [Leg(translator, route) for translator in translators for route in translator.routes()]
    last = [leg for leg in legs if serves(leg.route.target, target)]
    for leg in legs:
        if not serves(leg.route.source, source):
            continue
        if serves(leg.route.target, target):
            yield TranslationPlan(source, target, (leg,))
        elif not leg.route.via and language_of(leg.route.target) not in {language_of(source), language_of(target)}:
            yield from (
                TranslationPlan(source, target, (leg, second))
                for second in last
                if serves(second.route.source, leg.route.target) and not second.route.via
            )


def _rank(plan: TranslationPlan, translators: Sequence[Translator]) -> tuple[object, ...]:
    """Sort key, smaller is better; an exact region breaks ties."""
    order = [next(at for at, each in enumerate(translators) if each is leg.translator) for leg in plan.legs]
    wanted = [plan.target, plan.source, *(leg.route.target for leg in plan.legs[:-1])]
    offered = [plan.legs[-1].route.target, *(leg.route.source for leg in plan.legs)]
    distances = [_distance(*each) for each in zip(offered, wanted, strict=True)]
    return (distances.count(2), len(plan.via), plan.quality is Quality.DRAFT, order, distances, plan.via)


def _from(routes: Iterable[Route], source: str) -> list[Route]:
    return [route for route in routes if serves(route.source, source)]


def _intermediates(leg: Leg, pivot: str | None) -> tuple[str, ...]:
    return leg.route.via if pivot is None else (*leg.route.via, pivot)
