"""Compares speech with the text that was meant to be spoken: words, numbers and levels.

Both texts are normalized for speech first, because a recognizer writes "149", "140 e 9" or "cento e quarenta e nove"
for the same sounds, and words are compared by their phonemes, because it writes "há", "à" or "a" for one sound.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import jiwer
import numpy as np

from cutroom.engines.synthesis.phonemes import Espeak, espeak_voice
from cutroom.text.numbers import NumberMention, find_numbers
from cutroom.text.speech_normalization import normalize_for_speech

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_BELOW_MEDIAN_DB = 6.0
FRAME_SECONDS = 0.05
GATE_DB = 20.0  # frames this far below the loudest one are pauses
_STRESS = re.compile("[\\s\u02c8\u02cc]")


@dataclass(frozen=True, slots=True)
class HeardWords:
    """The number of words that were meant, and of substitutions, deletions and insertions in what was heard."""

    said: int
    wrong: int


def spoken_words(text: str, *, language: str) -> list[str]:
    """The words as they are spoken, in lower case and without punctuation or hyphens."""
    words = normalize_for_speech(text, language).lower().replace("\u2019", "'")
    return re.sub(r"[^\w' ]+", " ", words).split()


def word_sounds(words: Sequence[str], *, language: str) -> list[str]:
    """The phonemes of each word without stress; the words themselves where espeak-ng has no voice for the language."""
    if not words or espeak_voice(language) is None:
        return list(words)
    listed = ", ".join(words).replace("à", "a")  # alone, espeak-ng would read it as a letter
    sounds = [_STRESS.sub("", each) for each in Espeak().phonemes(listed, language=language).split(",")]
    if len(sounds) != len(words):
        raise ValueError(f"espeak-ng spoke {len(sounds)} of {len(words)} words.")
    return [sound or word for sound, word in zip(sounds, words, strict=True)]


def compare_heard(text: str, heard: str, *, language: str) -> HeardWords:
    """Counts word errors; either text may be empty."""
    said = word_sounds(spoken_words(text, language=language), language=language)
    recognized = word_sounds(spoken_words(heard, language=language), language=language)
    if not said:
        return HeardWords(0, len(recognized))
    compared = jiwer.process_words(" ".join(said), " ".join(recognized))
    return HeardWords(len(said), compared.substitutions + compared.deletions + compared.insertions)


def misheard_numbers(text: str, heard: str, *, language: str) -> int:
    """How many numbers of the text were heard as another number; numbers that were not heard at all do not count."""
    said, recognized = _numbers(text, language), _numbers(heard, language)
    missing = []
    for number in said:
        same = next((each for each in recognized if each.values & number.values), None)
        if same is None:
            missing.append(number)
        else:
            recognized.remove(same)
    return min(len(missing), len(recognized))


def count_numbers(text: str, *, language: str) -> int:
    return len(_numbers(text, language))


def _numbers(text: str, language: str) -> list[NumberMention]:
    return find_numbers(normalize_for_speech(text, language), language=language.partition("-")[0])


def speech_level_db(samples: "NDArray[np.float32]", *, rate: int) -> float | None:
    """RMS level of the frames that are not pauses; None for silence."""
    frame = round(FRAME_SECONDS * rate)
    count = len(samples) // frame
    if not count:
        return None
    power = np.square(samples[: count * frame]).reshape(count, frame).mean(axis=1)
    loudest = float(power.max())
    return None if loudest <= 0 else float(10 * np.log10(power[power > loudest * 10 ** (-GATE_DB / 10)].mean()))


def level_outliers(lines: Sequence[tuple[str, float | None]]) -> list[int]:
    """Indexes of lines, given as speaker and level, that are silent or far below the median of their speaker."""
    found = []
    for index, (speaker, level) in enumerate(lines):
        own = [each for name, each in lines if name == speaker and each is not None]
        if level is None or level < float(np.median(own)) - MAX_BELOW_MEDIAN_DB:
            found.append(index)
    return found
