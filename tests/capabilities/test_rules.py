"""Which languages can be made, and why others cannot."""

import pytest

from cutroom.capabilities.rules import LanguageFault, LanguageOptions

CAPTIONS = LanguageOptions("en", ("de", "pt", "fr-CA", "PT-br"))
DUBS = LanguageOptions("en", ("de", "pt", "fr-CA"), frozenset({"pt", "en"}))
UNKNOWN_SOURCE = LanguageOptions(None, ("de", "en", "pt"), frozenset({"pt", "en"}))


@pytest.mark.parametrize(
    ("options", "language", "fault"),
    [
        (CAPTIONS, "de", None),
        (CAPTIONS, "de-DE", None),
        (CAPTIONS, "de-AT", LanguageFault.NO_ROUTE),
        (CAPTIONS, "pt-PT", LanguageFault.NO_ROUTE),
        (CAPTIONS, "fr", None),
        (CAPTIONS, "fr-FR", LanguageFault.NO_ROUTE),
        (CAPTIONS, "en", LanguageFault.SAME_LANGUAGE),
        (CAPTIONS, "en-GB", LanguageFault.SAME_LANGUAGE),
        (DUBS, "pt-BR", None),
        (DUBS, "de", LanguageFault.NO_VOICE),
        (DUBS, "ja", LanguageFault.NO_ROUTE),
        (DUBS, "en", LanguageFault.SAME_LANGUAGE),
        (UNKNOWN_SOURCE, "en", None),
        (UNKNOWN_SOURCE, "de", LanguageFault.NO_VOICE),
    ],
)
def test_fault_of_a_language(options: LanguageOptions, language: str, fault: LanguageFault | None) -> None:
    assert options.fault(language) is fault


def test_available_languages_can_be_made_and_have_one_spelling() -> None:
    assert CAPTIONS.available == ["de", "fr-CA", "pt", "pt-BR"]
    assert DUBS.available == ["pt"]
    assert all(DUBS.fault(language) is None for language in DUBS.available)


def test_tags_that_no_request_can_name_are_not_offered() -> None:
    assert LanguageOptions("en", ("ca-valencia", "de")).available == ["de"]
