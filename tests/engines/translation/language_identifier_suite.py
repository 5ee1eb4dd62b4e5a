"""Conformance suite of language identifiers; each adapter's test class inherits it and provides the fixture."""
# ruff: noqa: RUF001 - several scripts with look-alike letters

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutroom.engines.translation.port import LanguageIdentifier

# Two everyday sentences per language, as in a transcript.
TEXTS = {
    "ar": "أين وضعت مفاتيح السيارة؟ لقد بحثت عنها في كل مكان ولم أجدها.",
    "cs": "Kam jsi dal klíče od auta? Hledal jsem je úplně všude.",
    "de": "Wo hast du die Autoschlüssel hingelegt? Ich habe sie überall gesucht.",
    "el": "Πού έβαλες τα κλειδιά του αυτοκινήτου; Τα έψαξα παντού.",
    "en": "Where did you put the car keys? I have looked for them everywhere.",
    "es": "¿Dónde has puesto las llaves del coche? Las he buscado por todas partes.",
    "fi": "Mihin sinä laitoit auton avaimet? Olen etsinyt niitä joka paikasta.",
    "fr": "Où as-tu mis les clés de la voiture ? Je les ai cherchées partout.",
    "he": "איפה שמת את המפתחות של המכונית? חיפשתי אותם בכל מקום.",
    "hi": "तुमने गाड़ी की चाबियाँ कहाँ रखी हैं? मैंने उन्हें हर जगह ढूँढा है।",
    "hu": "Hová tetted az autó kulcsait? Mindenhol kerestem őket.",
    "id": "Di mana kamu menaruh kunci mobil itu? Saya sudah mencarinya di mana-mana.",
    "it": "Dove hai messo le chiavi della macchina? Le ho cercate dappertutto.",
    "ja": "車の鍵をどこに置きましたか。あちこち探したんですけど。",
    "ko": "자동차 열쇠를 어디에 두었어요? 여기저기 다 찾아봤어요.",
    "nl": "Waar heb je de autosleutels neergelegd? Ik heb ze overal gezocht.",
    "pl": "Gdzie położyłeś kluczyki do samochodu? Szukałem ich wszędzie.",
    "pt": "Onde é que puseste as chaves do carro? Já as procurei em todo o lado.",
    "ro": "Unde ai pus cheile de la mașină? Le-am căutat peste tot.",
    "ru": "Куда ты положил ключи от машины? Я их везде искал.",
    "sv": "Var har du lagt bilnycklarna? Jag har letat efter dem överallt.",
    "th": "คุณวางกุญแจรถไว้ที่ไหน ฉันหามันทุกที่แล้ว",
    "tr": "Arabanın anahtarlarını nereye koydun? Her yerde onları aradım.",
    "uk": "Куди ти поклав ключі від машини? Я їх усюди шукав.",
    "vi": "Bạn đã để chìa khóa xe ở đâu? Tôi đã tìm khắp nơi rồi.",
    "zh": "你把车钥匙放在哪里了？我到处都找过了。",
}
ODD_CHARACTERS = "".join(map(chr, (0, 7, 0x1B, 0x200B, 0x202E, 0xD800, 0xFEFF, 0xFFFE, 0x1F600, 0x10FFFF)))


class LanguageIdentifierSuite:
    """BCP 47 tags for texts, and None for texts that are too short."""

    @pytest.fixture(scope="class")
    @classmethod
    def identifier(cls) -> LanguageIdentifier:
        raise NotImplementedError

    @pytest.mark.parametrize("language", TEXTS)
    def test_language_is_identified(self, identifier: LanguageIdentifier, language: str) -> None:
        guess = identifier.identify(TEXTS[language])
        assert guess is not None
        assert guess.language == language
        assert 0.5 <= guess.confidence <= 1.0

    @pytest.mark.parametrize(
        "text",
        [
            pytest.param("", id="empty"),
            pytest.param("\n \n\t\n", id="whitespace"),
            pytest.param("Ok.", id="one word"),
            pytest.param("123 456 789 2024", id="numbers"),
            pytest.param("[00:12] 3:45 -- 100 %?!", id="symbols"),
            pytest.param("🎉🥳😀" * 100, id="emoji"),
            pytest.param("\0" * 100_000, id="nulls"),
            pytest.param("\ud800" * 20, id="lone surrogates"),
            pytest.param("ha " * 1000, id="laughter"),
            pytest.param("é" * 100_000, id="one letter"),
            pytest.param(ODD_CHARACTERS * 50, id="odd characters"),
        ],
    )
    def test_insufficient_text_is_not_identified(self, identifier: LanguageIdentifier, text: str) -> None:
        assert identifier.identify(text) is None

    @pytest.mark.parametrize(
        "wrap",
        [
            pytest.param("{}\n", id="newline"),
            pytest.param("\r\n\n{}\n\n", id="empty lines"),
            pytest.param("\0{}\0", id="nulls"),
            pytest.param("\ud800{}\udfff", id="lone surrogates"),
            pytest.param("🎉 1. {} 🎉 (2024)", id="emoji and numbers"),
            pytest.param("   \t{}", id="whitespace"),
        ],
    )
    @pytest.mark.parametrize("language", ["en", "ja", "ar"])
    def test_surrounding_noise_is_ignored(self, identifier: LanguageIdentifier, wrap: str, language: str) -> None:
        text = wrap.format(TEXTS[language].replace(" ", "\n"))
        guess = identifier.identify(text)
        assert guess is not None
        assert guess.language == language

    @pytest.mark.parametrize("language", ["en", "pt", "zh"])
    def test_long_text_is_identified(self, identifier: LanguageIdentifier, language: str) -> None:
        guess = identifier.identify(f"{TEXTS[language]}\n" * (100_000 // len(TEXTS[language])))
        assert guess is not None
        assert guess.language == language

    def test_upper_case_is_identified(self, identifier: LanguageIdentifier) -> None:
        guess = identifier.identify(TEXTS["fr"].upper())
        assert guess is not None
        assert guess.language == "fr"

    @settings(max_examples=150, deadline=None)
    @given(text=st.text(alphabet=st.characters(), max_size=300))
    def test_any_text_is_accepted(self, identifier: LanguageIdentifier, text: str) -> None:
        guess = identifier.identify(text)
        assert guess is None or (0.0 <= guess.confidence <= 1.0 and guess.language)
