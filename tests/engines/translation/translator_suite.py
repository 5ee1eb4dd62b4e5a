"""Conformance suite of translators; each adapter's test class inherits it and provides the fixture."""

import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ClassVar

import pytest

from cutroom.engines.errors import EngineError, NoRouteError
from cutroom.engines.translation.fidelity import missing_entities
from cutroom.engines.translation.output_checks import MAX_SENTENCE_CHARACTERS
from cutroom.engines.translation.port import Translator

PROJECT = Path(__file__).resolve().parents[3]
WITHOUT_WORDS = ("", " ", "...", "?!", "—", "😀😀", "1984", "\n", "♪ ♪")

LITERALS = (
    "https://example.com/a_b?c=d&e=1",
    "someone@example.com",
    "@someone",
    "{\\an8}",
    "{count}",
    "<script>",
    "😀",
)
ODD_CHARACTERS = (
    *("\x00", "\x1b[31m", "\u202e", "\u2066", "\ufeff", "\r\n", "\u2028", "\ud800"),
    *("[", "]]", "^$", "\\", "|", "*", "~"),
)


def model_folder(name: str) -> Path:
    """Folder of a model; a missing model fails the test rather than skip it."""
    models = Path(os.environ.get("CUTROOM_MODELS_DIR") or PROJECT / ".data" / "models")
    folder = models / name
    if not folder.is_dir():
        pytest.fail(f"The model {name} is not installed; run `just models`.")
    return folder


class TranslatorSuite:
    """Subclasses set the language pair and sentences in its source language."""

    source: ClassVar[str]
    target: ClassVar[str]
    # At least three sentences; the first contains the numbers 1984, 17 and 2500.
    sentences: ClassVar[tuple[str, ...]]

    def translate(self, translator: Translator, *sentences: str) -> list[str]:
        return translator.translate(sentences, source=self.source, target=self.target)

    def test_routes_include_the_pair(self, translator: Translator) -> None:
        assert (self.source, self.target) in {(route.source, route.target) for route in translator.routes()}
        assert translator.name

    def test_every_sentence_is_translated(self, translator: Translator) -> None:
        translated = self.translate(translator, *self.sentences)
        assert len(translated) == len(self.sentences)
        assert all(any(letter.isalpha() for letter in text) for text in translated)
        assert [text == sentence for text, sentence in zip(translated, self.sentences, strict=True)].count(True) == 0

    def test_empty_input_gives_empty_output(self, translator: Translator) -> None:
        assert self.translate(translator) == []

    @pytest.mark.parametrize("text", WITHOUT_WORDS)
    def test_text_without_words_is_unchanged(self, translator: Translator, text: str) -> None:
        assert self.translate(translator, text) == [" ".join(text.split())]

    def test_sentences_without_words_keep_alignment(self, translator: Translator) -> None:
        first, second = self.sentences[:2]
        alone = [self.translate(translator, each)[0] for each in (first, second)]
        mixed = self.translate(translator, "...", first, "", second, "😀")
        assert mixed == ["...", alone[0], "", alone[1], "😀"]

    def test_digits_are_kept_or_flagged(self, translator: Translator) -> None:
        sentence = self.sentences[0]
        [translation] = self.translate(translator, sentence)
        digits = re.sub(r"(?<=\d)[.,\s](?=\d)", "", translation)
        flagged = " ".join(
            entity.text for entity in missing_entities(sentence, translation, source=self.source, target=self.target)
        )
        for number in ("1984", "17", "2500"):
            assert number in digits or number in re.sub(r"\D", "", flagged)

    def test_literals_are_preserved(self, translator: Translator) -> None:
        words = self.sentences[1].split()
        places = [(literal, place) for literal in LITERALS for place in (0, len(words) // 2, len(words))]
        sentences = [" ".join([*words[:place], literal, *words[place:]]) for literal, place in places]
        translations = self.translate(translator, *sentences)
        assert [translation.count(literal) for translation, (literal, _) in zip(translations, places, strict=True)] == [
            1
        ] * len(places)

    def test_odd_characters_are_handled_and_controls_removed(self, translator: Translator) -> None:
        first, *rest = self.sentences[1].split()
        translations = self.translate(translator, *(f"{first} {sign} {' '.join(rest)}" for sign in ODD_CHARACTERS))
        for translation in translations:
            assert any(letter.isalpha() for letter in translation)
            assert all(character.isprintable() for character in translation)

    def test_long_sentence_is_fully_translated(self, translator: Translator) -> None:
        text = " ".join(self.sentences[1:])
        long = " ".join([text] * (2_500 // len(text) + 1))[:2_500]  # many passages
        [translation] = self.translate(translator, long)
        assert 0.5 < len(translation) / len(long) < 2

    def test_long_word_is_unchanged(self, translator: Translator) -> None:
        [translation] = self.translate(translator, "a" * 10_000)
        assert translation == "a" * 10_000

    def test_too_long_sentence_is_rejected(self, translator: Translator) -> None:
        with pytest.raises(EngineError, match="characters"):
            self.translate(translator, "a " * MAX_SENTENCE_CHARACTERS)

    def test_translation_is_deterministic(self, translator: Translator) -> None:
        assert self.translate(translator, *self.sentences) == self.translate(translator, *self.sentences)

    def test_translator_is_thread_safe(self, translator: Translator) -> None:
        expected = self.translate(translator, *self.sentences)
        with ThreadPoolExecutor(2) as threads:
            futures = [threads.submit(self.translate, translator, *self.sentences) for _ in range(4)]
        assert [each.result() for each in futures] == [expected] * 4

    def test_unknown_pair_lists_reachable_languages(self, translator: Translator) -> None:
        with pytest.raises(NoRouteError, match=rf"Targets from .*\b{self.target}\b"):
            translator.translate(["a"], source=self.source, target="tlh")
        with pytest.raises(NoRouteError):
            translator.translate(["a"], source=self.source, target="../../etc/passwd")
