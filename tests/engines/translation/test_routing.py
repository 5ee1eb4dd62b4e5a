"""Which way is taken among several translators. The translators here are fakes: only their routes matter."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.engines.errors import NoRouteError
from cutroom.engines.translation.port import Quality, Route, Translator
from cutroom.engines.translation.routing import (
    available,
    canonical,
    choose,
    find_route,
    language_of,
    serves,
    translate_along,
)

GOOD, DRAFT = Quality.GOOD, Quality.DRAFT


class FakeTranslator:
    """Writes its name and the language behind each sentence."""

    def __init__(self, name: str, *routes: Route) -> None:
        self.name = name
        self._routes = routes

    def routes(self) -> Sequence[Route]:
        return self._routes

    def translate(self, sentences: Sequence[str], *, source: str, target: str) -> list[str]:
        assert (source, target) in {(route.source, route.target) for route in self._routes}
        return [f"{sentence} {self.name}:{target}" for sentence in sentences]


def taken(translators: Sequence[Translator], source: str, target: str) -> list[str]:
    plan = choose(translators, source=source, target=target)
    return [f"{leg.translator.name} {leg.route.source}-{leg.route.target}" for leg in plan.legs]


def test_the_order_of_the_setting_decides_between_equals() -> None:
    first, second = FakeTranslator("a", Route("en", "pt", GOOD)), FakeTranslator("b", Route("en", "pt", GOOD))
    assert taken([first, second], "en", "pt") == ["a en-pt"]
    assert taken([second, first], "en", "pt") == ["b en-pt"]


def test_good_comes_before_draft_whatever_the_order() -> None:
    draft, good = FakeTranslator("a", Route("en", "pt", DRAFT)), FakeTranslator("b", Route("en", "pt", GOOD))
    assert taken([draft, good], "en", "pt") == ["b en-pt"]


def test_direct_comes_before_a_pivot() -> None:
    pivot = FakeTranslator("a", Route("es", "pt", GOOD, ("en",)))
    direct = FakeTranslator("b", Route("es", "pt", DRAFT))
    assert taken([pivot, direct], "es", "pt") == ["b es-pt"]
    assert taken([pivot], "es", "pt") == ["a es-pt"]


def test_two_translators_make_a_way_together() -> None:
    neural, rules = FakeTranslator("a", Route("en", "pt", GOOD)), FakeTranslator("b", Route("pt", "es", DRAFT))
    plan = choose([neural, rules], source="en", target="es")
    assert plan.via == ("pt",)
    assert plan.quality is DRAFT
    assert translate_along(plan, ["x", "y"]) == ["x a:pt b:es", "y a:pt b:es"]


def test_what_two_engines_made_one_after_the_other_is_a_draft() -> None:
    first, second = FakeTranslator("a", Route("en", "pt", GOOD)), FakeTranslator("b", Route("pt", "es", GOOD))
    assert choose([first, second], source="en", target="es").quality is DRAFT
    assert choose([first, second], source="en", target="pt").quality is GOOD
    alone = FakeTranslator("c", Route("en", "es", GOOD, ("pt",)))  # it says itself how good it is
    assert choose([first, second, alone], source="en", target="es").quality is GOOD


def test_a_way_over_another_language_is_not_made_longer() -> None:
    pivot = FakeTranslator("a", Route("es", "pt", GOOD, ("en",)))
    further = FakeTranslator("b", Route("pt", "ca", GOOD))
    with pytest.raises(NoRouteError):
        choose([pivot, further], source="es", target="ca")
    assert available([pivot, further], source="es") == ["pt"]


def test_three_languages_on_the_way_are_too_many() -> None:
    chain = FakeTranslator("a", Route("en", "pt", GOOD), Route("pt", "es", GOOD), Route("es", "fr", GOOD))
    assert available([chain], source="en") == ["es", "pt"]


def test_an_exact_region_is_taken_before_the_language_alone() -> None:
    translator = FakeTranslator("a", Route("es", "pt", DRAFT), Route("es", "pt-BR", DRAFT))
    assert taken([translator], "es", "pt-BR") == ["a es-pt-BR"]
    assert taken([translator], "es", "pt") == ["a es-pt"]
    assert taken([translator], "es-MX", "pt-PT") == ["a es-pt"]


@pytest.mark.parametrize(
    ("offered", "wanted", "does"),
    [
        ("pt", "pt", True),
        ("pt", "pt-BR", True),
        ("pt-BR", "pt", True),
        ("pt_br", "pt-BR", True),
        ("pt-PT", "pt-BR", False),
        ("zh-Hant", "zh-TW", False),
        ("zh-Hant", "zh-Hant-TW", True),
        ("zh-Hant-TW", "zh", False),
        ("no", "nb-NO", True),
        ("en", "pt", False),
    ],
)
def test_a_language_serves_another_unless_both_name_a_region(offered: str, wanted: str, *, does: bool) -> None:
    assert serves(offered, wanted) is does


def test_a_region_that_nobody_asked_for_is_taken_where_there_is_nothing_else() -> None:
    brazil, plain = FakeTranslator("a", Route("es", "pt-BR", GOOD)), FakeTranslator("b", Route("es", "pt", DRAFT))
    assert taken([brazil], "es", "pt") == ["a es-pt-BR"]
    assert taken([brazil, plain], "es", "pt") == ["b es-pt"]
    assert taken([brazil, plain], "es", "pt-PT") == ["b es-pt"]
    assert find_route(brazil.routes(), source="es-MX", target="pt") is brazil.routes()[0]
    with pytest.raises(NoRouteError):
        choose([brazil], source="es", target="pt-PT")


def test_two_translators_meet_in_a_language_that_only_one_of_them_names_with_a_region() -> None:
    for joint, same in (("pt", "pt-BR"), ("pt-BR", "pt")):
        first, second = FakeTranslator("a", Route("en", joint, GOOD)), FakeTranslator("b", Route(same, "gl", GOOD))
        assert taken([first, second], "en", "gl") == [f"a en-{joint}", f"b {same}-gl"]


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
def test_where_there_is_no_way_the_error_lists_what_there_is(source: str, target: str) -> None:
    routes = (Route("en", "pt", GOOD), Route("en", "fr", GOOD), Route("en", "zh", GOOD))
    with pytest.raises(NoRouteError) as caught:
        choose([FakeTranslator("a", *routes)], source=source, target=target)
    listed = "fr, pt, zh" if source == "en" else "nothing"
    assert str(caught.value).endswith(f"there is: {listed}.")


def test_no_translator_at_all_is_no_route() -> None:
    with pytest.raises(NoRouteError, match="nothing"):
        choose([], source="en", target="pt")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("pt", "pt"),
        ("PT_br", "pt-BR"),
        ("zh-hant-tw", "zh-Hant-TW"),
        ("no", "nb"),
        ("no-NO", "nb-NO"),
        ("iw", "he"),
        (" en ", "en"),
        ("es-419", "es-419"),
    ],
)
def test_codes_have_one_spelling(code: str, expected: str) -> None:
    assert canonical(code) == expected


def test_the_script_belongs_to_a_language_and_the_region_does_not() -> None:
    assert language_of("zh-Hant-TW") == "zh-Hant"
    assert language_of("pt-BR") == "pt"


def test_one_translators_own_route_is_found_by_any_spelling() -> None:
    route = Route("pt", "nb", GOOD)
    assert find_route([route], source="pt_BR", target="no") is route
    with pytest.raises(NoRouteError, match="there is: nb"):
        find_route([route], source="pt", target="en")


_CODES = st.sampled_from(["en", "en-GB", "pt", "pt-BR", "pt-PT", "es", "fr", "zh", "zh-Hant"])
_ROUTES = st.builds(Route, _CODES, _CODES, st.sampled_from([GOOD, DRAFT]), st.sampled_from([(), (), ("en",)])).filter(
    lambda route: language_of(route.source) != language_of(route.target)
)


@given(st.lists(st.lists(_ROUTES, max_size=5), max_size=3), _CODES, _CODES)
def test_what_is_listed_can_be_chosen_and_what_can_be_chosen_is_listed(
    offers: list[list[Route]], source: str, target: str
) -> None:
    translators = [FakeTranslator(str(number), *routes) for number, routes in enumerate(offers)]
    listed = available(translators, source=source)
    for code in listed:
        plan = choose(translators, source=source, target=code)
        assert len(plan.via) <= 1
        assert len(translate_along(plan, ["a"])) == 1
    if language_of(target) == language_of(source) or not any(serves(code, target) for code in listed):
        with pytest.raises(NoRouteError):
            choose(translators, source=source, target=target)
    else:
        assert serves(choose(translators, source=source, target=target).legs[-1].route.target, target)
