"""Language pairs agree with the rules that validate requests."""

from hypothesis import given
from hypothesis import strategies as st

from cutroom.capabilities.pairs import language_pairs
from cutroom.capabilities.rules import AdvertisedTranslator, LanguageOptions, target_languages
from cutroom.engines.translation.port import Quality, Route
from cutroom.engines.translation.routing import plan_translation
from cutroom.text.language_tags import canonical_language

CODES = ("en", "de", "pt", "pt-BR", "pt-PT", "es", "zh-Hant", "nb", "no", "DE")
codes = st.sampled_from(CODES)
routes = st.builds(
    Route, codes, codes, st.sampled_from(Quality), st.lists(st.sampled_from(("fr", "en")), max_size=1).map(tuple)
)
translators = st.lists(st.lists(routes, max_size=8).map(tuple), min_size=1, max_size=3).map(
    lambda offered: tuple(AdvertisedTranslator(f"engine {at}", each) for at, each in enumerate(offered))
)


@given(translators, st.frozensets(st.sampled_from(("en", "de", "pt", "es"))))
def test_pairs_are_what_requests_may_name(engines: tuple[AdvertisedTranslator, ...], spoken: frozenset[str]) -> None:
    pairs = language_pairs(engines, spoken)
    for source in {canonical_language(route.source) for each in engines for route in each.routes()}:
        translated = tuple(target_languages(engines, source=source))
        listed = [pair for pair in pairs if pair.source == source]
        assert [pair.target for pair in listed] == LanguageOptions(source, translated).available
        dubbed = [pair.target for pair in listed if pair.is_dubbed]
        assert dubbed == LanguageOptions(source, translated, spoken).available
        for pair in listed:
            plan = plan_translation(engines, source=source, target=pair.target)
            assert pair.quality is plan.quality


def test_pivots_multiply_the_shares_of_their_legs() -> None:
    first = Route("de", "en", Quality.PUBLISHABLE, share=0.96)
    second = Route("en", "pt", Quality.REVIEW, share=0.7)
    engine = AdvertisedTranslator("one", (first, second, Route("en", "ca", Quality.REVIEW, is_rule_based=True)))
    qualities = {(pair.source, pair.target): pair.quality for pair in language_pairs((engine,), frozenset())}
    assert qualities == {
        ("de", "ca"): Quality.DRAFT,
        ("de", "en"): Quality.PUBLISHABLE,
        ("de", "pt"): Quality.REVIEW,
        ("en", "ca"): Quality.REVIEW,
        ("en", "pt"): Quality.REVIEW,
    }
