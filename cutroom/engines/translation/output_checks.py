"""Rejects implausible translations: empty, truncated, runaway or looping."""

import re
import unicodedata
from collections.abc import Sequence

from cutroom.engines.errors import EngineError, UnsuitableInputError
from cutroom.text.placeholders import clean_sentence, has_words

MAX_SENTENCE_CHARACTERS = 20_000
MIN_LENGTH_RATIO = 0.2  # translation to source; shorter means lost content
MAX_LENGTH_RATIO = 4.0  # translation to source
# Short texts vary too much in length across languages to be checked.
MIN_CHECKED_LETTERS = 12
SLACK_LETTERS = 40
LOOP_TIMES = 8
LOOP_CHARACTERS = 40
SOURCE_LOOP_TIMES = 3  # a source that repeats itself may loop in translation
EXCERPT_CHARACTERS = 60

# Letters of an alphabet that one character of other scripts is worth.
_LETTERS_PER_CHARACTER = {"CJK": 3.0, "HIRAGANA": 1.5, "KATAKANA": 1.5, "HANGUL": 2.0}
_LOOP = re.compile(rf"(.{{1,{LOOP_CHARACTERS}}}?)\1{{{LOOP_TIMES - 1},}}", re.DOTALL)
_SOURCE_LOOP = re.compile(rf"(.{{1,{LOOP_CHARACTERS}}}?)\1{{{SOURCE_LOOP_TIMES - 1},}}", re.DOTALL)
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")


def check_translations(sentences: Sequence[str], translations: Sequence[str]) -> None:
    """Raises EngineError unless every sentence has a plausible translation."""
    if len(translations) != len(sentences):
        raise EngineError(f"The translator returned {len(translations)} translations for {len(sentences)} sentences.")
    for sentence, translation in zip(sentences, translations, strict=True):
        if fault := translation_fault(sentence, translation):
            raise EngineError(f"{fault} The sentence starts with {excerpt(sentence)!r}")


def translation_fault(sentence: str, translation: str) -> str | None:
    """Why the translation is implausible, or None; does not judge its quality."""
    if not has_words(clean_sentence(sentence)):
        return None
    if not translation.strip():
        return "The translation is empty."
    source_letters, letters = letter_count(sentence), letter_count(translation)
    if source_letters >= MIN_CHECKED_LETTERS and letters < MIN_LENGTH_RATIO * source_letters:
        return f"The translation is too short: {letters:.0f} letters for {source_letters:.0f}."
    if letters > MAX_LENGTH_RATIO * source_letters + SLACK_LETTERS:
        return f"The translation is too long: {letters:.0f} letters for {source_letters:.0f}."
    if _loops(translation) and not _SOURCE_LOOP.search(sentence):
        return "The translation repeats itself."
    return None


def letter_count(text: str) -> float:
    """Text length comparable across scripts, without whitespace and punctuation."""
    return sum(_letter_weight(character) for character in text if character.isalnum())


def _letter_weight(character: str) -> float:
    if character < "\u1100":  # alphabetic scripts
        return 1.0
    return _LETTERS_PER_CHARACTER.get(unicodedata.name(character, "").partition(" ")[0], 1.0)


def _loops(text: str) -> bool:
    """Repeated punctuation does not count."""
    return any(_LETTER_OR_DIGIT.search(match.group(1)) for match in _LOOP.finditer(text))


def check_sentences(sentences: Sequence[str]) -> None:
    for sentence in sentences:
        if len(sentence) > MAX_SENTENCE_CHARACTERS:
            message = f"A sentence is longer than {MAX_SENTENCE_CHARACTERS} characters: {excerpt(sentence)!r}."
            raise UnsuitableInputError("sentence_too_long", message)


def excerpt(text: str) -> str:
    return text if len(text) <= EXCERPT_CHARACTERS else text[: EXCERPT_CHARACTERS - 1] + "…"
