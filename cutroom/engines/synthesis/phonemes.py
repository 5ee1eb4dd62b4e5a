"""Converts text to phonemes by running espeak-ng: to IPA, or to the symbols of Kokoro."""

# ruff: noqa: RUF001 (phonemes look like letters)

import asyncio
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cutroom.engines.errors import EngineError, EngineUnavailableError, UnsuitableInputError
from cutroom.media.process import MediaError, Reason
from cutroom.media.sandbox import Sandbox

PROGRAM = Path("/usr/bin/espeak-ng")
RUN_SECONDS = 30.0
RUN_CHARACTERS = 8_000
# espeak-ng forces a clause break after about 700 characters.
CLAUSE_CHARACTERS = 300

# espeak-ng voice by language tag, or by primary language if the tag is not listed.
_VOICES = {
    "en": "en-us",
    "en-us": "en-us",
    "en-gb": "en-gb",
    "es": "es",
    "fr": "fr-fr",
    "hi": "hi",
    "it": "it",
    "pt": "pt-br",
}

# Punctuation that the model uses for pauses and intonation; between digits it belongs to a number.
_MARK = re.compile(r'(?<!\d)[.,:]|[.,:](?!\d)|[;!?…—"“”()]')
_EQUIVALENT_MARKS = str.maketrans(
    {
        "«": "“", "»": "”", "„": "“", "‟": "“", "‹": "“", "›": "”",
        "[": "(", "]": ")", "{": "(", "}": ")",  # espeak-ng reads [[...]] as phonemes
        "’": "'", "‘": "'", "`": "'", "´": "'",
        "。": ".", "、": ",", "，": ",", "！": "!", "？": "?", "।": ".",
        "¿": " ", "¡": " ", "*": " ", "_": " ", "|": " ", "~": " ", "<": " ", ">": " ", "^": " ", "\\": " ",
    }
)  # fmt: skip
_DASH = re.compile(r"\s+[-–—]+\s+|\s*—\s*|\s+--\s+")
_DOTS = re.compile(r"\.(?:\s?\.)+")
_WHITESPACE = re.compile(r"\s+")
_LANGUAGE_SWITCH = re.compile(r"\([a-z]{2,3}(?:-[a-z0-9-]+)?\)")  # markers that espeak-ng inserts for foreign words

# Tied phoneme pairs (^) that are a single symbol in the model.
_TIED = {
    "a^ɪ": "I", "a^ʊ": "W", "e^ɪ": "A", "o^ʊ": "O", "ə^ʊ": "Q", "ɔ^ɪ": "Y",
    "d^z": "ʣ", "d^ʒ": "ʤ", "t^s": "ʦ", "t^ʃ": "ʧ", "s^s": "S",
}  # fmt: skip
# The model's English phonemes come from a dictionary with fewer symbols than espeak-ng.
_ENGLISH = {
    "ʔn": "tᵊn", "ʔ": "t", "ɚ": "əɹ", "ɐ": "ə", "r": "ɹ", "x": "k", "ç": "k", "ɬ": "l", "\u0303": "", "ʲ": "",
}  # fmt: skip
_AMERICAN = {**_ENGLISH, "ɜːɹ": "ɜɹ", "ɜː": "ɜɹ", "oː": "ɔ", "o": "ɔ", "ɪə": "iə", "ː": "", "ɾ": "T"}
_BRITISH = {**_ENGLISH, "e^ə": "ɛː", "i^ə": "ɪə", "iə": "ɪə"}
_SYLLABIC = re.compile("(.)\u0329")  # a syllabic consonant

# The model's vocabulary by token id; some ids are unused.
_SYMBOLS = (
    (1, ";:,.!?"),
    (9, '—…"()“” \u0303ʣʥʦʨᵝ\uab67AI'),
    (31, "O"), (33, "Q"), (35, "ST"), (39, "W"),
    (41, "Yᵊabcdef"), (50, "hijklmnopqrstuvwxyzɑɐɒæ"),
    (75, "βɔɕç"), (80, "ɖðʤə"), (85, "ɚɛɜ"), (90, "ɟ"), (92, "ɡ"), (99, "ɥ"),
    (101, "ɨɪʝ"), (110, "ɯɰŋɳɲɴø"), (118, "ɸθœ"), (123, "ɹ"), (125, "ɾɻ"), (128, "ʁɽʂʃʈʧ"), (135, "ʊʋ"),
    (138, "ʌɣɤ"), (142, "χʎ"), (147, "ʒʔ"), (156, "ˈˌː"), (162, "ʰ"), (164, "ʲ"), (169, "↓"), (171, "→↗↘"), (177, "ᵻ"),
)  # fmt: skip
TOKEN_IDS = {symbol: start + at for start, symbols in _SYMBOLS for at, symbol in enumerate(symbols)}

SENTENCE_ENDS = ".!?…"
CLAUSE_ENDS = ",;:—)”"


@dataclass(frozen=True, slots=True)
class _Token:
    """A run of words, or punctuation and whitespace."""

    text: str
    is_mark: bool


class Espeak:
    """Thread-safe; starts one sandboxed process per RUN_CHARACTERS."""

    def __init__(
        self, program: Path = PROGRAM, *, seconds: float = RUN_SECONDS, sandbox: Sandbox | None = None
    ) -> None:
        self._program = program
        self._sandbox = sandbox or Sandbox()
        self._seconds = seconds

    def phonemes(self, text: str, *, language: str) -> str:
        """The text as symbols of Kokoro with punctuation; empty if it contains nothing to speak."""
        voice = espeak_voice(language)
        if voice is None:
            raise UnsuitableInputError("no_voice", f"No voice speaks the language {language}.")
        converted = self._convert(text, voice, lambda phonemes: _to_model_symbols(phonemes, voice))
        symbols = "".join(symbol for symbol in converted if symbol in TOKEN_IDS)
        return _WHITESPACE.sub(" ", symbols).strip() if any(map(str.isalpha, symbols)) else ""

    def ipa(self, text: str, *, voice: str) -> str:
        """The text as IPA with punctuation, by any voice of espeak-ng; empty if it contains nothing to speak."""
        converted = self._convert(text, voice, lambda phonemes: _LANGUAGE_SWITCH.sub("", phonemes).replace("^", ""))
        return _WHITESPACE.sub(" ", converted).strip() if any(map(str.isalpha, converted)) else ""

    def _convert(self, text: str, voice: str, convert: Callable[[str], str]) -> str:
        """Punctuation is kept, and the words between it are converted."""
        tokens = list(_tokenize(_clean(text)))
        words = [token.text for token in tokens if not token.is_mark]
        spoken = iter([line for batch in _batches(words) for line in self._phonemize(batch, voice)])
        return "".join(token.text if token.is_mark else convert(next(spoken)) for token in tokens)

    def _phonemize(self, words: Sequence[str], voice: str) -> list[str]:
        """One output line per paragraph; if the counts differ, runs each entry separately."""
        lines = self._run("\n\n".join(words), voice)
        if len(lines) == len(words):
            return lines
        return [" ".join(self._run(each, voice)) for each in words]

    def _run(self, text: str, voice: str) -> list[str]:
        """Passes the text as stdin, so that it cannot be parsed as options."""
        # -q: no audio. -b 1: UTF-8 input. --tie: joins the letters of one phoneme. --stdin: all of it at once.
        arguments = ["-q", "--ipa", "--tie=^", "-b", "1", "-v", voice, "--stdin"]
        running = self._sandbox.run_on_text(self._program, arguments, text=text.encode() + b"\n", seconds=self._seconds)
        try:
            finished = asyncio.run(running)
        except MediaError as error:
            raise _engine_error(error) from error
        if finished.exit_code != 0:
            raise EngineError(f"espeak-ng exited with {finished.exit_code}: {finished.stderr[-200:]}")
        return finished.stdout.decode(errors="replace").strip("\n").split("\n")


def model_symbols(phonemes: str) -> str:
    """Phonemes that a person has written, as symbols of Kokoro: diphthongs and affricates are one symbol."""
    pairs = {pair.replace("^", ""): symbol for pair, symbol in _TIED.items() if pair != "s^s"}
    return "".join(symbol for symbol in _replace(phonemes, pairs) if symbol in TOKEN_IDS)


def espeak_voice(language: str) -> str | None:
    code = language.lower().replace("_", "-")
    return _VOICES.get(code) or _VOICES.get(code.partition("-")[0])


def _engine_error(error: MediaError) -> EngineError:
    if error.reason is Reason.TOOL_MISSING:
        return EngineUnavailableError("espeak-ng is not installed.")
    if error.reason is Reason.TIMED_OUT:
        return EngineUnavailableError("espeak-ng timed out.")
    if error.reason is Reason.SANDBOX_UNAVAILABLE:
        return EngineUnavailableError("The sandbox of espeak-ng is not available.")
    return EngineError(f"espeak-ng failed: {error.reason}")


def _clean(text: str) -> str:
    text = "".join(
        " " if character.isspace() else character
        for character in unicodedata.normalize("NFC", text)
        if character.isspace() or not unicodedata.category(character).startswith("C")
    )
    text = _DASH.sub("— ", text).translate(_EQUIVALENT_MARKS)
    return _WHITESPACE.sub(" ", _DOTS.sub("…", text)).strip()


def _tokenize(text: str) -> Iterator[_Token]:
    at = 0
    for match in _MARK.finditer(text):
        yield from _word_tokens(text[at : match.start()])
        yield _Token(match[0], is_mark=True)
        at = match.end()
    yield from _word_tokens(text[at:])


def _word_tokens(text: str) -> Iterator[_Token]:
    """Words without punctuation, split below CLAUSE_CHARACTERS, with surrounding whitespace as separate tokens."""
    core = text.strip()
    if not any(map(str.isalnum, core)):
        yield _Token(" " if text else "", is_mark=True)
        return
    yield _Token(" " if text[0] == " " else "", is_mark=True)
    while len(core) > CLAUSE_CHARACTERS:
        cut = core.rfind(" ", 1, CLAUSE_CHARACTERS)
        cut = cut if cut > 0 else CLAUSE_CHARACTERS
        yield _Token(core[:cut].strip(), is_mark=False)
        yield _Token(" ", is_mark=True)
        core = core[cut:].strip()
    if core:
        yield _Token(core, is_mark=False)
    yield _Token(" " if text[-1] == " " else "", is_mark=True)


def _batches(words: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    for each in words:
        if batch and sum(map(len, batch)) + len(each) > RUN_CHARACTERS:
            yield batch
            batch = []
        batch.append(each)
    if batch:
        yield batch


def _to_model_symbols(phonemes: str, voice: str) -> str:
    tables: dict[str, Mapping[str, str]] = {"en-us": _AMERICAN, "en-gb": _BRITISH}
    phonemes = _replace(_LANGUAGE_SWITCH.sub("", phonemes), _TIED)
    if voice in tables:
        phonemes = _replace(_SYLLABIC.sub(r"ᵊ\1", phonemes), tables[voice])
    return phonemes.replace("^", "").replace("-", "").strip()


def _replace(phonemes: str, table: Mapping[str, str]) -> str:
    longest_first = sorted(table, key=len, reverse=True)
    return re.sub("|".join(map(re.escape, longest_first)), lambda match: table[match[0]], phonemes)
