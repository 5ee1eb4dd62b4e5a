"""Judges whether an engine's answer can be a translation at all: not empty, not cut short, not running away."""

import re
import unicodedata
from collections.abc import Sequence

from cutroom.engines.errors import EngineError
from cutroom.text.placeholders import cleaned, has_words

SENTENCE_LIMIT_CHARACTERS = 20_000
LEAST_SHARE = 0.2  # of the source's length: less has lost most of what was said
MOST_TIMES = 4.0  # the source's length
# Short words differ too much in length to be judged: "no" is four times as long in some languages.
JUDGED_LETTERS = 12
SLACK_LETTERS = 40
LOOP_TIMES = 8
LOOP_CHARACTERS = 40
SOURCE_LOOP_TIMES = 3  # who laughs three times in the source may laugh eight times in the answer
EXCERPT_CHARACTERS = 60

# A sign that stands for a syllable or a word, counted in letters of an alphabet.
_SIGN_LETTERS = {"CJK": 3.0, "HIRAGANA": 1.5, "KATAKANA": 1.5, "HANGUL": 2.0}
_LOOP = re.compile(rf"(.{{1,{LOOP_CHARACTERS}}}?)\1{{{LOOP_TIMES - 1},}}", re.DOTALL)
_SOURCE_LOOP = re.compile(rf"(.{{1,{LOOP_CHARACTERS}}}?)\1{{{SOURCE_LOOP_TIMES - 1},}}", re.DOTALL)
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")


def check_answers(sentences: Sequence[str], answers: Sequence[str]) -> None:
    """Raise EngineError unless there is one believable answer for each sentence."""
    if len(answers) != len(sentences):
        raise EngineError(f"The translator gave {len(answers)} answers for {len(sentences)} sentences.")
    for sentence, answer in zip(sentences, answers, strict=True):
        if fault := fault_in_answer(sentence, answer):
            raise EngineError(f"{fault} The sentence begins: {excerpt(sentence)!r}")


def fault_in_answer(sentence: str, answer: str) -> str | None:
    """What speaks against the answer; how good it is as a translation is not judged."""
    if not has_words(cleaned(sentence)):
        return None
    if not answer.strip():
        return "The translator gave nothing for a sentence that has words."
    asked, given = letters(sentence), letters(answer)
    if asked >= JUDGED_LETTERS and given < LEAST_SHARE * asked:
        return f"The translation has {given:.0f} letters where the sentence has {asked:.0f}: something was left out."
    if given > MOST_TIMES * asked + SLACK_LETTERS:
        return f"The translation has {given:.0f} letters where the sentence has {asked:.0f}: it runs away."
    if _loops(answer) and not _SOURCE_LOOP.search(sentence):
        return "The translation says the same over and over."
    return None


def letters(text: str) -> float:
    """The length of a text that compares across scripts, without blanks and punctuation."""
    return sum(_letters_in(character) for character in text if character.isalnum())


def _letters_in(character: str) -> float:
    if character < "\u1100":  # the alphabets
        return 1.0
    return _SIGN_LETTERS.get(unicodedata.name(character, "").partition(" ")[0], 1.0)


def _loops(text: str) -> bool:
    """Dots and dashes in a row are only punctuation."""
    return any(_LETTER_OR_DIGIT.search(match.group(1)) for match in _LOOP.finditer(text))


def check_sentences(sentences: Sequence[str]) -> None:
    for sentence in sentences:
        if len(sentence) > SENTENCE_LIMIT_CHARACTERS:
            raise EngineError(f"A sentence has more than {SENTENCE_LIMIT_CHARACTERS} characters: {excerpt(sentence)!r}")


def excerpt(text: str) -> str:
    return text if len(text) <= EXCERPT_CHARACTERS else text[: EXCERPT_CHARACTERS - 1] + "…"
