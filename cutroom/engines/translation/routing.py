"""Plans translation routes across several translators, directly or through one intermediate language."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from cutroom.engines.errors import NoRouteError
from cutroom.engines.translation.port import Quality, Route, Translator
from cutroom.engines.types import OnProgress
from cutroom.text.language_tags import canonical_tag, language_of, offers, serves, with_usual_region

LISTED_LANGUAGES = 60  # in an error message
UNREQUESTED_REGION = 2  # the largest distance of two tags


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
    def share(self) -> float:
        """The expected share of lines right in meaning: the product of the legs, because errors add up."""
        return math.prod(leg.route.expected_share for leg in self.legs)

    @property
    def quality(self) -> Quality:
        """The class of the share; a draft if rules translate what another engine wrote, or the other way round."""
        if len(self.legs) == 1:
            return self.legs[0].route.quality
        if any(leg.route.is_rule_based for leg in self.legs):
            return Quality.DRAFT
        return Quality.of_share(self.share)

    @property
    def via(self) -> tuple[str, ...]:
        """All intermediate languages."""
        pivots = [leg.route.target for leg in self.legs[:-1]]
        return tuple(
            code for leg, pivot in zip(self.legs, [*pivots, None], strict=True) for code in _intermediates(leg, pivot)
        )


def plan_translation(translators: Sequence[Translator], *, source: str, target: str) -> TranslationPlan:
    """The best plan: by class, then measured share; drafts by the number of intermediate languages first.

    Within a class, a region that was not requested is used only if there is no route without one.
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
    matching = [route for route in routes if serves(route.source, source) and offers(route.target, target)]
    if matching:
        return min(matching, key=lambda route: (_distance(route.source, source), _distance(route.target, target)))
    raise _no_route(source, target, sorted({route.target for route in _from(routes, source)}))


def lowest_quality(qualities: Iterable[Quality]) -> Quality:
    return min(qualities, key=lambda each: each.least_share)


def _no_route(source: str, target: str, targets: Sequence[str]) -> NoRouteError:
    listed = ", ".join(targets[:LISTED_LANGUAGES]) or "none"
    return NoRouteError(f"No translation route from {source!r} to {target!r}. Targets from {source!r}: {listed}.")


def _distance(offered: str, wanted: str) -> int:
    """0 for the same tag, 1 if the region is missing or the usual one, 2 if another region was not requested."""
    if canonical_tag(offered) == canonical_tag(wanted):
        return 0
    is_usual = canonical_tag(offered) in {language_of(offered), with_usual_region(wanted)}
    return 1 if is_usual else UNREQUESTED_REGION


def _plans(translators: Sequence[Translator], source: str, target: str) -> Iterator[TranslationPlan]:
    if language_of(source) == language_of(target):
        return
    legs = [Leg(translator, route) for translator in translators for route in translator.routes()]
    last = [leg for leg in legs if offers(leg.route.target, target)]
    for leg in legs:
        if not serves(leg.route.source, source):
            continue
        if offers(leg.route.target, target):
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
    return (
        -plan.quality.least_share,
        distances.count(UNREQUESTED_REGION),
        0.0 if plan.quality is Quality.DRAFT else -plan.share,
        len(plan.via),
        -plan.share,
        order,
        distances,
        plan.via,
    )


def _from(routes: Iterable[Route], source: str) -> list[Route]:
    return [route for route in routes if serves(route.source, source)]


def _intermediates(leg: Leg, pivot: str | None) -> tuple[str, ...]:
    return leg.route.via if pivot is None else (*leg.route.via, pivot)
