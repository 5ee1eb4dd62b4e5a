"""Language tags are validated, spelled, compared and named as users and containers expect."""

import pytest

from cutroom.text.language_tags import (
    alpha3,
    canonical_language,
    canonical_tag,
    display_name,
    is_language,
    language_of,
    offers,
    serves,
)


@pytest.mark.parametrize(
    ("code", "canonical"), [("PT-br", "pt-BR"), ("EN", "en"), ("zh-hant", "zh-Hant"), ("iw", "iw"), ("no", "no")]
)
def test_canonical_language_fixes_case_only(code: str, canonical: str) -> None:
    assert canonical_language(code) == canonical
    assert canonical_language(canonical) == canonical


@pytest.mark.parametrize(
    ("code", "tag"),
    [
        ("PT_br", "pt-BR"),
        ("iw", "he"),
        ("in", "id"),
        ("no", "nb"),
        ("cmn", "zh"),
        ("zh-hant-tw", "zh-Hant-TW"),
        (" en ", "en"),
        ("xx", "xx"),
    ],
)
def test_canonical_tag_resolves_deprecated_and_equivalent_codes(code: str, tag: str) -> None:
    assert canonical_tag(code) == tag


@pytest.mark.parametrize(("code", "language"), [("zh-Hant-TW", "zh-Hant"), ("pt-BR", "pt"), ("no-NO", "nb")])
def test_language_of_drops_the_region_and_keeps_the_script(code: str, language: str) -> None:
    assert language_of(code) == language


@pytest.mark.parametrize("code", ["", "e", "engl", "en-", "en-US-x", "en_US", "12", "en-USAAA"])
def test_malformed_codes_are_rejected(code: str) -> None:
    assert not is_language(code)


@pytest.mark.parametrize(
    ("offered", "wanted", "expected"),
    [
        ("pt", "pt", True),
        ("pt", "pt-BR", True),
        ("pt-BR", "pt", True),
        ("pt_br", "pt-BR", True),
        ("pt-BR", "pt-PT", False),
        ("zh-Hans", "zh-Hant", False),
        ("zh-Hant", "zh-TW", False),
        ("zh-Hant", "zh-Hant-TW", True),
        ("zh-Hant-TW", "zh", False),
        ("no", "nb-NO", True),
        ("es", "pt", False),
    ],
)
def test_a_tag_serves_another_of_the_same_language_and_region(offered: str, wanted: str, *, expected: bool) -> None:
    assert serves(offered, wanted) is expected


@pytest.mark.parametrize(
    ("offered", "wanted", "expected"),
    [
        ("pt", "pt", True),
        ("pt", "pt-BR", True),
        ("pt", "pt-PT", False),
        ("pt-PT", "pt", True),
        ("pt-PT", "pt-BR", False),
        ("fr", "fr-CA", False),
        ("fr", "fr-FR", True),
        ("zh", "zh-TW", False),
        ("zh", "zh-CN", True),
        ("no", "nb-NO", True),
        ("es", "pt", False),
        ("xx", "xx", True),
    ],
)
def test_a_base_language_offers_its_usual_region_only(offered: str, wanted: str, *, expected: bool) -> None:
    assert offers(offered, wanted) is expected


@pytest.mark.parametrize(
    ("code", "name"),
    [("pt-BR", "Portuguese (Brazil)"), ("zh-Hant", "Chinese (Traditional)"), ("de", "German"), ("xx", "xx")],
)
def test_display_name_is_english(code: str, name: str) -> None:
    assert display_name(code) == name


@pytest.mark.parametrize(("code", "letters"), [("pt-BR", "por"), ("de", "deu"), ("haw", "haw"), ("xx", "und")])
def test_alpha3_is_what_mp4_tracks_carry(code: str, letters: str) -> None:
    assert alpha3(code) == letters
