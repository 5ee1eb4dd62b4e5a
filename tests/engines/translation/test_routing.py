"""Route planning across fake translators."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.engines.errors import NoRouteError
from cutroom.engines.translation.port import Quality, Route, Translator
from cutroom.engines.translation.routing import find_route, plan_translation, reachable_languages, translate_along
from cutroom.engines.types import OnProgress
from cutroom.text.language_tags import language_of, serves

GOOD, DRAFT = Quality.GOOD, Quality.DRAFT


class FakeTranslator:
    """Appends its name and the target language to each sentence."""

    def __init__(self, name: str, *routes: Route) -> None:
        self.name = name
        self._routes = routes

    def routes(self) -> Sequence[Route]:
        return self._routes

    def translate(
        self, sentences: Sequence[str], *, source: str, target: str, on_progress: OnProgress | None = None
    ) -> list[str]:
        assert (source, target) in {(route.source, route.target) for route in self._routes}
        if on_progress:
            on_progress(1.0)
        return [f"{sentence} {self.name}:{target}" for sentence in sentences]


def planned_legs(translators: Sequence[Translator], source: str, target: str) -> list[str]:
    plan = plan_translation(translators, source=source, target=target)
    return [f"{leg.translator.name} {leg.route.source}-{leg.route.target}" for leg in plan.legs]


def test_translator_order_breaks_ties() -> None:
    first, second = FakeTranslator("a", Route("en", "pt", GOOD)), FakeTranslator("b", Route("en", "pt", GOOD))
    assert planned_legs([first, second], "en", "pt") == ["a en-pt"]
    assert planned_legs([second, first], "en", "pt") == ["b en-pt"]


def test_good_is_preferred_to_draft() -> None:
    draft, good = FakeTranslator("a", Route("en", "pt", DRAFT)), FakeTranslator("b", Route("en", "pt", GOOD))
    assert planned_legs([draft, good], "en", "pt") == ["b en-pt"]


def test_direct_is_preferred_to_pivot() -> None:
    pivot = FakeTranslator("a", Route("es", "pt", GOOD, ("en",)))
    direct = FakeTranslator("b", Route("es", "pt", DRAFT))
    assert planned_legs([pivot, direct], "es", "pt") == ["b es-pt"]
    assert planned_legs([pivot], "es", "pt") == ["a es-pt"]


def test_two_translators_are_chained() -> None:
    neural, rules = FakeTranslator("a", Route("en", "pt", GOOD)), FakeTranslator("b", Route("pt", "es", DRAFT))
    plan = plan_translation([neural, rules], source="en", target="es")
    assert plan.via == ("pt",)
    assert plan.quality is DRAFT
    assert translate_along(plan, ["x", "y"]) == ["x a:pt b:es", "y a:pt b:es"]


def test_chained_translation_is_a_draft() -> None:
    first, second = FakeTranslator("a", Route("en", "pt", GOOD)), FakeTranslator("b", Route("pt", "es", GOOD))
    assert plan_translation([first, second], source="en", target="es").quality is DRAFT
    assert plan_translation([first, second], source="en", target="pt").quality is GOOD
    alone = FakeTranslator("c", Route("en", "es", GOOD, ("pt",)))  # its pivot is internal, so its own quality counts
    assert plan_translation([first, second, alone], source="en", target="es").quality is GOOD


def test_pivot_route_is_not_extended() -> None:
    pivot = FakeTranslator("a", Route("es", "pt", GOOD, ("en",)))
    further = FakeTranslator("b", Route("pt", "ca", GOOD))
    with pytest.raises(NoRouteError):
        plan_translation([pivot, further], source="es", target="ca")
    assert reachable_languages([pivot, further], source="es") == ["pt"]


def test_at_most_one_intermediate_language() -> None:
    chain = FakeTranslator("a", Route("en", "pt", GOOD), Route("pt", "es", GOOD), Route("es", "fr", GOOD))
    assert reachable_languages([chain], source="en") == ["es", "pt"]


def test_exact_region_is_preferred() -> None:
    translator = FakeTranslator("a", Route("es", "pt", DRAFT), Route("es", "pt-BR", DRAFT))
    assert planned_legs([translator], "es", "pt-BR") == ["a es-pt-BR"]
    assert planned_legs([translator], "es", "pt") == ["a es-pt"]
    assert planned_legs([translator], "es-MX", "pt-PT") == ["a es-pt"]


def test_unrequested_region_is_a_last_resort() -> None:
    brazil, plain = FakeTranslator("a", Route("es", "pt-BR", GOOD)), FakeTranslator("b", Route("es", "pt", DRAFT))
    assert planned_legs([brazil], "es", "pt") == ["a es-pt-BR"]
    assert planned_legs([brazil, plain], "es", "pt") == ["b es-pt"]
    assert planned_legs([brazil, plain], "es", "pt-PT") == ["b es-pt"]
    assert find_route(brazil.routes(), source="es-MX", target="pt") is brazil.routes()[0]
    with pytest.raises(NoRouteError):
        plan_translation([brazil], source="es", target="pt-PT")


def test_chaining_ignores_a_one_sided_region() -> None:
    for pivot, same in (("pt", "pt-BR"), ("pt-BR", "pt")):
        first, second = FakeTranslator("a", Route("en", pivot, GOOD)), FakeTranslator("b", Route(same, "gl", GOOD))
        assert planned_legs([first, second], "en", "gl") == [f"a en-{pivot}", f"b {same}-gl"]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("en", "xx"),
        ("xx", "pt"),
        ("pt", "en"),
        ("en", "en"),
        ("en", "en-GB"),
        ("pt", "pt-BR"),
        ("", ""),
        ("en", "zh-Hant"),
    ],
)
def test_no_route_error_lists_reachable_languages(source: str, target: str) -> None:
    routes = (Route("en", "pt", GOOD), Route("en", "fr", GOOD), Route("en", "zh", GOOD))
    with pytest.raises(NoRouteError) as caught:
        plan_translation([FakeTranslator("a", *routes)], source=source, target=target)
    reachable = "fr, pt, zh" if source == "en" else "none"
    assert str(caught.value).endswith(f"Targets from {source!r}: {reachable}.")


def test_no_translators_means_no_route() -> None:
    with pytest.raises(NoRouteError, match="none"):
        plan_translation([], source="en", target="pt")


def test_route_is_found_by_any_spelling() -> None:
    route = Route("pt", "nb", GOOD)
    assert find_route([route], source="pt_BR", target="no") is route
    with pytest.raises(NoRouteError, match="Targets from 'pt': nb"):
        find_route([route], source="pt", target="en")


_CODES = st.sampled_from(["en", "en-GB", "pt", "pt-BR", "pt-PT", "es", "fr", "zh", "zh-Hant"])
_ROUTES = st.builds(Route, _CODES, _CODES, st.sampled_from([GOOD, DRAFT]), st.sampled_from([(), (), ("en",)])).filter(
    lambda route: language_of(route.source) != language_of(route.target)
)


@given(st.lists(st.lists(_ROUTES, max_size=5), max_size=3), _CODES, _CODES)
def test_reachable_languages_match_plans(offers: list[list[Route]], source: str, target: str) -> None:
    translators = [FakeTranslator(str(number), *routes) for number, routes in enumerate(offers)]
    reachable = reachable_languages(translators, source=source)
    for code in reachable:
        plan = plan_translation(translators, source=source, target=code)
        assert len(plan.via) <= 1
        assert len(translate_along(plan, ["a"])) == 1
    if language_of(target) == language_of(source) or not any(serves(code, target) for code in reachable):
        with pytest.raises(NoRouteError):
            plan_translation(translators, source=source, target=target)
    else:
        assert serves(plan_translation(translators, source=source, target=target).legs[-1].route.target, target)
