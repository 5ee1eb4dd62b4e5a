"""Chooses how to get from one language to another among several translators, and says where one can get to."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from cutroom.engines.errors import NoRouteError
from cutroom.engines.translation.port import Quality, Route, Translator

LISTED_LANGUAGES = 60  # in an error message

# Codes that mean the same language as a better one.
_ALIASES = {"no": "nb", "iw": "he", "in": "id", "ji": "yi", "mo": "ro", "cmn": "zh"}


@dataclass(frozen=True, slots=True)
class Leg:
    """A part of the way that one translator goes; the route has the languages as that translator calls them."""

    translator: Translator
    route: Route


@dataclass(frozen=True, slots=True)
class TranslationPlan:
    """The whole way, of one leg or two; `source` and `target` are as they were asked for."""

    source: str
    target: str
    legs: tuple[Leg, ...]

    @property
    def quality(self) -> Quality:
        """The worst part decides; what two engines made one after the other has the faults of both."""
        return Quality.DRAFT if len(self.legs) > 1 else worst(leg.route.quality for leg in self.legs)

    @property
    def via(self) -> tuple[str, ...]:
        """Every language on the way."""
        joints = [leg.route.target for leg in self.legs[:-1]]
        return tuple(
            code for leg, joint in zip(self.legs, [*joints, None], strict=True) for code in _passed(leg, joint)
        )


def choose(translators: Sequence[Translator], *, source: str, target: str) -> TranslationPlan:
    """The best way: fewest languages on the way, then good before draft, then the order of the translators.

    A region that nobody asked for is taken only where there is no way without one.
    """
    plans = list(_plans(translators, source, target))
    if not plans:
        there = available(translators, source=source)
        listed = ", ".join(there[:LISTED_LANGUAGES]) or "nothing"
        raise NoRouteError(f"No way from {source!r} to {target!r}. From {source!r} there is: {listed}.")
    return min(plans, key=lambda plan: _rank(plan, translators))


def available(translators: Sequence[Translator], *, source: str) -> list[str]:
    """Every language that can be reached from this one, in the order of their codes."""
    routes = [route for translator in translators for route in translator.routes()]
    first = _from(routes, source)
    reached = {route.target for route in first}
    for joint in tuple(reached):
        # A way that has gone over another language already is not made longer.
        if any(route.target == joint and not route.via for route in first):
            reached |= {route.target for route in _from(routes, joint) if not route.via}
    return sorted(code for code in reached if language_of(code) != language_of(source))


def translate_along(plan: TranslationPlan, sentences: Sequence[str]) -> list[str]:
    """Translate along the plan."""
    done = list(sentences)
    for leg in plan.legs:
        done = leg.translator.translate(done, source=leg.route.source, target=leg.route.target)
    return done


def find_route(routes: Iterable[Route], *, source: str, target: str) -> Route:
    """One translator's own way between two languages, however they are spelled and with whatever region."""
    routes = list(routes)
    fitting = [route for route in routes if serves(route.source, source) and serves(route.target, target)]
    if fitting:
        return min(fitting, key=lambda route: (_distance(route.source, source), _distance(route.target, target)))
    there = ", ".join(sorted({route.target for route in _from(routes, source)})[:LISTED_LANGUAGES]) or "nothing"
    raise NoRouteError(f"No way from {source!r} to {target!r}. From {source!r} there is: {there}.")


def canonical(code: str) -> str:
    """The usual spelling of a language code: `PT_br` is `pt-BR`, `zh-hant` is `zh-Hant`."""
    first, *rest = code.strip().replace("_", "-").split("-")
    first = _ALIASES.get(first.lower(), first.lower())
    return "-".join([first, *(part.title() if len(part) == 4 else part.upper() for part in rest)])


def language_of(code: str) -> str:
    """The code without its region; the script stays, since text in another script is no use to its readers."""
    parts = canonical(code).split("-")
    return "-".join([parts[0], *(part for part in parts[1:] if len(part) == 4)])


def serves(offered: str, wanted: str) -> bool:
    """Whether what is offered will do for what is wanted: the same language, and not of two different regions."""
    region_is_open = canonical(offered) == language_of(offered) or canonical(wanted) == language_of(wanted)
    return canonical(offered) == canonical(wanted) or (region_is_open and language_of(offered) == language_of(wanted))


def worst(qualities: Iterable[Quality]) -> Quality:
    return Quality.DRAFT if Quality.DRAFT in set(qualities) else Quality.GOOD


def _distance(offered: str, wanted: str) -> int:
    """How far what is offered is from what is wanted: not at all, a region less, or a region that nobody asked for."""
    if canonical(offered) == canonical(wanted):
        return 0
    return 1 if canonical(offered) == language_of(offered) else 2


def _plans(translators: Sequence[Translator], source: str, target: str) -> Iterator[TranslationPlan]:
    if language_of(source) == language_of(target):
        return
    legs = [Leg(translator, route) for translator in translators for route in translator.routes()]
    last = [leg for leg in legs if serves(leg.route.target, target)]
    for leg in legs:
        if not serves(leg.route.source, source):
            continue
        if leg in last:
            yield TranslationPlan(source, target, (leg,))
        elif not leg.route.via and language_of(leg.route.target) not in {language_of(source), language_of(target)}:
            yield from (
                TranslationPlan(source, target, (leg, second))
                for second in last
                if serves(second.route.source, leg.route.target) and not second.route.via
            )


def _rank(plan: TranslationPlan, translators: Sequence[Translator]) -> tuple[object, ...]:
    """Smaller is better; an exact region is better than none where all else is the same."""
    order = [next(at for at, each in enumerate(translators) if each is leg.translator) for leg in plan.legs]
    wanted = [plan.target, plan.source, *(leg.route.target for leg in plan.legs[:-1])]
    offered = [plan.legs[-1].route.target, *(leg.route.source for leg in plan.legs)]
    far = [_distance(*each) for each in zip(offered, wanted, strict=True)]
    return (far.count(2), len(plan.via), plan.quality is Quality.DRAFT, order, far, plan.via)


def _from(routes: Iterable[Route], source: str) -> list[Route]:
    return [route for route in routes if serves(route.source, source)]


def _passed(leg: Leg, joint: str | None) -> tuple[str, ...]:
    return leg.route.via if joint is None else (*leg.route.via, joint)
