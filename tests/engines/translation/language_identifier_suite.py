"""What every language identifier must do: each adapter's test class inherits this one and names its identifier."""
# ruff: noqa: RUF001 - letters of one script look like those of another, and that is the point

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutroom.engines.translation.port import LanguageIdentifier

# Two sentences of everyday talk for each, as they are in a transcript.
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
EVERYTHING = "".join(map(chr, (0, 7, 0x1B, 0x200B, 0x202E, 0xD800, 0xFEFF, 0xFFFE, 0x1F600, 0x10FFFF)))


class IdentifierSuite:
    """Languages by their BCP 47 codes, and silence where a text says too little."""

    @pytest.fixture(scope="class")
    @classmethod
    def identifier(cls) -> LanguageIdentifier:
        raise NotImplementedError

    @pytest.mark.parametrize("language", TEXTS)
    def test_the_language_is_told(self, identifier: LanguageIdentifier, language: str) -> None:
        guess = identifier.identify(TEXTS[language])
        assert guess is not None
        assert guess.language == language
        assert 0.5 <= guess.confidence <= 1.0

    @pytest.mark.parametrize(
        "text",
        [
            pytest.param("", id="nothing"),
            pytest.param("\n \n\t\n", id="blanks"),
            pytest.param("Ok.", id="a word"),
            pytest.param("123 456 789 2024", id="numbers"),
            pytest.param("[00:12] 3:45 -- 100 %?!", id="symbols"),
            pytest.param("🎉🥳😀" * 100, id="emoji"),
            pytest.param("\0" * 100_000, id="nulls"),
            pytest.param("\ud800" * 20, id="half characters"),
            pytest.param("ha " * 1000, id="laughter"),
            pytest.param("é" * 100_000, id="one letter"),
            pytest.param(EVERYTHING * 50, id="everything else"),
        ],
    )
    def test_what_says_too_little_has_no_language(self, identifier: LanguageIdentifier, text: str) -> None:
        assert identifier.identify(text) is None

    @pytest.mark.parametrize(
        "wrap",
        [
            pytest.param("{}\n", id="a line"),
            pytest.param("\r\n\n{}\n\n", id="empty lines"),
            pytest.param("\0{}\0", id="nulls"),
            pytest.param("\ud800{}\udfff", id="half characters"),
            pytest.param("🎉 1. {} 🎉 (2024)", id="emoji and numbers"),
            pytest.param("   \t{}", id="blanks"),
        ],
    )
    @pytest.mark.parametrize("language", ["en", "ja", "ar"])
    def test_what_is_no_language_does_not_matter(
        self, identifier: LanguageIdentifier, wrap: str, language: str
    ) -> None:
        text = wrap.format(TEXTS[language].replace(" ", "\n"))
        guess = identifier.identify(text)
        assert guess is not None
        assert guess.language == language

    @pytest.mark.parametrize("language", ["en", "pt", "zh"])
    def test_long_texts_are_no_trouble(self, identifier: LanguageIdentifier, language: str) -> None:
        guess = identifier.identify(f"{TEXTS[language]}\n" * (100_000 // len(TEXTS[language])))
        assert guess is not None
        assert guess.language == language

    def test_capitals_are_the_same_language(self, identifier: LanguageIdentifier) -> None:
        guess = identifier.identify(TEXTS["fr"].upper())
        assert guess is not None
        assert guess.language == "fr"

    @settings(max_examples=150, deadline=None)
    @given(text=st.text(alphabet=st.characters(), max_size=300))
    def test_no_text_breaks_it(self, identifier: LanguageIdentifier, text: str) -> None:
        guess = identifier.identify(text)
        assert guess is None or (0.0 <= guess.confidence <= 1.0 and guess.language)
