"""Route planning across fake translators."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.engines.errors import NoRouteError
from cutroom.engines.translation.port import Quality, Route, Translator
from cutroom.engines.translation.routing import find_route, plan_translation, reachable_languages, translate_along
from cutroom.engines.types import OnProgress
from cutroom.text.language_tags import language_of, offers

GOOD, REVIEW, DRAFT = Quality.PUBLISHABLE, Quality.REVIEW, Quality.DRAFT


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


def test_better_class_is_preferred() -> None:
    draft, review, good = (
        FakeTranslator(name, Route("en", "pt", quality)) for name, quality in (("a", DRAFT), ("b", REVIEW), ("c", GOOD))
    )
    assert planned_legs([draft, review, good], "en", "pt") == ["c en-pt"]
    assert planned_legs([draft, review], "en", "pt") == ["b en-pt"]


def test_higher_share_is_preferred_within_a_class() -> None:
    low = FakeTranslator("a", Route("en", "pt", REVIEW, share=0.7))
    high = FakeTranslator("b", Route("en", "pt", REVIEW, share=0.8))
    assert planned_legs([low, high], "en", "pt") == ["b en-pt"]


def test_better_pivot_is_preferred_to_a_worse_direct_route() -> None:
    pivot = FakeTranslator("a", Route("es", "pt", GOOD, ("en",)))
    direct = FakeTranslator("b", Route("es", "pt", DRAFT))
    assert planned_legs([direct, pivot], "es", "pt") == ["a es-pt"]


def test_direct_draft_is_preferred_to_a_draft_through_another_language() -> None:
    pivot = FakeTranslator("a", Route("es", "pt", DRAFT, ("en",), share=0.6))
    direct = FakeTranslator("b", Route("es", "pt", DRAFT))
    assert planned_legs([pivot, direct], "es", "pt") == ["b es-pt"]
    assert planned_legs([pivot], "es", "pt") == ["a es-pt"]


def test_two_translators_are_chained() -> None:
    neural, rules = FakeTranslator("a", Route("en", "pt", GOOD)), FakeTranslator("b", Route("pt", "es", DRAFT))
    plan = plan_translation([neural, rules], source="en", target="es")
    assert plan.via == ("pt",)
    assert plan.quality is DRAFT
    assert translate_along(plan, ["x", "y"]) == ["x a:pt b:es", "y a:pt b:es"]


@pytest.mark.parametrize(
    ("first", "second", "share", "quality"),
    [
        (Route("en", "pt", GOOD, share=0.98), Route("pt", "es", GOOD, share=0.98), 0.9604, GOOD),
        (Route("en", "pt", GOOD, share=0.95), Route("pt", "es", GOOD, share=0.95), 0.9025, REVIEW),
        (Route("en", "pt", REVIEW, share=0.7), Route("pt", "es", REVIEW, share=0.9), 0.63, DRAFT),
        (Route("en", "pt", GOOD), Route("pt", "es", REVIEW), 0.6175, DRAFT),  # set by the operator, not measured
        (Route("en", "pt", GOOD), Route("pt", "es", DRAFT), 0.0, DRAFT),
        (Route("en", "pt", GOOD, share=1.0), Route("pt", "es", GOOD, share=1.0, is_rule_based=True), 1.0, DRAFT),
        (Route("en", "pt", GOOD, share=1.0, is_rule_based=True), Route("pt", "es", GOOD, share=1.0), 1.0, DRAFT),
    ],
)
def test_a_chain_multiplies_the_shares_of_its_legs(first: Route, second: Route, share: float, quality: Quality) -> None:
    engines = [FakeTranslator("a", first), FakeTranslator("b", second)]
    plan = plan_translation(engines, source="en", target="es")
    assert plan.share == pytest.approx(share)
    assert plan.quality is quality


def test_direct_rules_have_their_own_class() -> None:
    rules = FakeTranslator("a", Route("es", "ca", GOOD, share=0.96, is_rule_based=True))
    assert plan_translation([rules], source="es", target="ca").quality is GOOD


@given(st.floats(0, 1))
def test_class_of_a_share(share: float) -> None:
    expected = GOOD if share >= 0.95 else REVIEW if share >= 0.65 else DRAFT
    assert Quality.of_share(share) is expected


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
    translator = FakeTranslator("a", Route("es", "pt", DRAFT), Route("es", "pt-BR", DRAFT), Route("es", "pt-PT", DRAFT))
    assert planned_legs([translator], "es", "pt-BR") == ["a es-pt-BR"]
    assert planned_legs([translator], "es", "pt") == ["a es-pt"]
    assert planned_legs([translator], "es-MX", "pt-PT") == ["a es-pt-PT"]


def test_another_region_needs_its_own_route() -> None:
    plain = FakeTranslator("a", Route("es", "pt", GOOD))
    assert planned_legs([plain], "es", "pt-BR") == ["a es-pt"]
    with pytest.raises(NoRouteError):
        plan_translation([plain], source="es", target="pt-PT")
    european = FakeTranslator("b", Route("es", "pt-PT", DRAFT))
    assert planned_legs([plain, european], "es", "pt-PT") == ["b es-pt-PT"]


def test_unrequested_region_is_a_last_resort_within_a_class() -> None:
    european, plain = FakeTranslator("a", Route("es", "pt-PT", DRAFT)), FakeTranslator("b", Route("es", "pt", DRAFT))
    brazilian = FakeTranslator("c", Route("es", "pt-BR", DRAFT))
    assert planned_legs([european], "es", "pt") == ["a es-pt-PT"]
    assert planned_legs([european, plain], "es", "pt") == ["b es-pt"]
    assert planned_legs([european, brazilian], "es", "pt") == ["c es-pt-BR"]
    assert find_route(brazilian.routes(), source="es-MX", target="pt") is brazilian.routes()[0]
    with pytest.raises(NoRouteError):
        plan_translation([brazilian], source="es", target="pt-PT")


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
_ROUTES = st.builds(Route, _CODES, _CODES, st.sampled_from(Quality), st.sampled_from([(), (), ("en",)])).filter(
    lambda route: language_of(route.source) != language_of(route.target)
)


@given(st.lists(st.lists(_ROUTES, max_size=5), max_size=3), _CODES, _CODES)
def test_reachable_languages_match_plans(offered: list[list[Route]], source: str, target: str) -> None:
    translators = [FakeTranslator(str(number), *routes) for number, routes in enumerate(offered)]
    reachable = reachable_languages(translators, source=source)
    for code in reachable:
        plan = plan_translation(translators, source=source, target=code)
        assert len(plan.via) <= 1
        assert len(translate_along(plan, ["a"])) == 1
    if language_of(target) == language_of(source) or not any(offers(code, target) for code in reachable):
        with pytest.raises(NoRouteError):
            plan_translation(translators, source=source, target=target)
    else:
        assert offers(plan_translation(translators, source=source, target=target).legs[-1].route.target, target)
