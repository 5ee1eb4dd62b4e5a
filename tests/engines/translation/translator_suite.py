"""What every translator must do, whatever it is made of; each adapter's tests subclass this."""

import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ClassVar

import pytest

from cutroom.engines.errors import EngineError, NoRouteError
from cutroom.engines.translation.fidelity import missing_entities
from cutroom.engines.translation.output_checks import SENTENCE_LIMIT_CHARACTERS
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
ODD_SIGNS = (
    *("\x00", "\x1b[31m", "\u202e", "\u2066", "\ufeff", "\r\n", "\u2028", "\ud800"),
    *("[", "]]", "^$", "\\", "|", "*", "~"),
)


def model_folder(name: str) -> Path:
    """Where a model lies; a test that lacks it fails, since a skipped one proves nothing."""
    models = Path(os.environ.get("CUTROOM_MODELS_DIR") or PROJECT / ".data" / "models")
    folder = models / name
    if not folder.is_dir():
        pytest.fail(f"The model {name} is not there: fetch it with `just models`.")
    return folder


class TranslatorSuite:
    """Subclasses set the pair with a few sentences in its source language, and give a fixture `translator`."""

    source: ClassVar[str]
    target: ClassVar[str]
    # At least three sentences of several words; the first has the numbers 1984, 17 and 2500.
    sentences: ClassVar[tuple[str, ...]]

    def translate(self, translator: Translator, *sentences: str) -> list[str]:
        return translator.translate(sentences, source=self.source, target=self.target)

    def test_its_routes_name_the_pair(self, translator: Translator) -> None:
        assert (self.source, self.target) in {(route.source, route.target) for route in translator.routes()}
        assert translator.name

    def test_each_sentence_has_its_own_translation(self, translator: Translator) -> None:
        together = self.translate(translator, *self.sentences)
        assert len(together) == len(self.sentences)
        assert all(any(letter.isalpha() for letter in text) for text in together)
        assert [text == sentence for text, sentence in zip(together, self.sentences, strict=True)].count(True) == 0

    def test_nothing_in_nothing_out(self, translator: Translator) -> None:
        assert self.translate(translator) == []

    @pytest.mark.parametrize("text", WITHOUT_WORDS)
    def test_what_has_no_words_stays(self, translator: Translator, text: str) -> None:
        assert self.translate(translator, text) == [" ".join(text.split())]

    def test_sentences_without_words_do_not_shift_the_others(self, translator: Translator) -> None:
        first, second = self.sentences[:2]
        alone = [self.translate(translator, each)[0] for each in (first, second)]
        mixed = self.translate(translator, "...", first, "", second, "😀")
        assert mixed == ["...", alone[0], "", alone[1], "😀"]

    def test_digits_are_kept_or_flagged(self, translator: Translator) -> None:
        sentence = self.sentences[0]
        [answer] = self.translate(translator, sentence)
        digits = re.sub(r"(?<=\d)[.,\s](?=\d)", "", answer)
        flagged = " ".join(
            loss.text for loss in missing_entities(sentence, answer, source=self.source, target=self.target)
        )
        for number in ("1984", "17", "2500"):
            assert number in digits or number in re.sub(r"\D", "", flagged)

    def test_what_must_not_be_translated_is_carried_over(self, translator: Translator) -> None:
        words = self.sentences[1].split()
        places = [(literal, place) for literal in LITERALS for place in (0, len(words) // 2, len(words))]
        asked = [" ".join([*words[:place], literal, *words[place:]]) for literal, place in places]
        answers = self.translate(translator, *asked)
        assert [answer.count(literal) for answer, (literal, _) in zip(answers, places, strict=True)] == [1] * len(
            places
        )

    def test_odd_signs_neither_break_it_nor_let_controls_through(self, translator: Translator) -> None:
        first, *rest = self.sentences[1].split()
        answers = self.translate(translator, *(f"{first} {sign} {' '.join(rest)}" for sign in ODD_SIGNS))
        for answer in answers:
            assert any(letter.isalpha() for letter in answer)
            assert all(character.isprintable() for character in answer)

    def test_ten_thousand_characters_are_translated_whole(self, translator: Translator) -> None:
        text = " ".join(self.sentences[1:])
        long = " ".join([text] * (10_000 // len(text) + 1))[:10_000]
        [answer] = self.translate(translator, long)
        assert 0.5 < len(answer) / len(long) < 2

    def test_ten_thousand_characters_without_a_blank_end_soon(self, translator: Translator) -> None:
        [answer] = self.translate(translator, "a" * 10_000)
        assert answer == "a" * 10_000

    def test_more_than_a_sentence_can_be_is_refused(self, translator: Translator) -> None:
        with pytest.raises(EngineError, match="characters"):
            self.translate(translator, "a " * SENTENCE_LIMIT_CHARACTERS)

    def test_the_same_again_gives_the_same(self, translator: Translator) -> None:
        assert self.translate(translator, *self.sentences) == self.translate(translator, *self.sentences)

    def test_two_threads_do_not_disturb_each_other(self, translator: Translator) -> None:
        expected = self.translate(translator, *self.sentences)
        with ThreadPoolExecutor(2) as threads:
            made = [threads.submit(self.translate, translator, *self.sentences) for _ in range(4)]
        assert [each.result() for each in made] == [expected] * 4

    def test_an_unknown_pair_is_refused_with_what_there_is(self, translator: Translator) -> None:
        with pytest.raises(NoRouteError, match=rf"there is: .*\b{self.target}\b"):
            translator.translate(["a"], source=self.source, target="tlh")
        with pytest.raises(NoRouteError):
            translator.translate(["a"], source=self.source, target="../../etc/passwd")
