"""How text sounds, in the symbols that Kokoro was trained with; espeak-ng, a separate program, says it."""

# ruff: noqa: RUF001 (signs and phonemes look like letters)

import asyncio
import os
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.media.process import Finished, MediaError, Reason, run

PROGRAM = Path("/usr/bin/espeak-ng")
RUN_SECONDS = 30.0
RUN_CHARACTERS = 8_000
# The program ends a clause of its own accord after some 700 characters.
CLAUSE_CHARACTERS = 300

# The program's voice for each language; by the first part of the code where the whole one is not here.
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

# Marks that the model knows how to pause and to sing at. Between digits they belong to a number.
_MARK = re.compile(r'(?<!\d)[.,:]|[.,:](?!\d)|[;!?…—"“”()]')
_SAME_MARKS = str.maketrans(
    {
        "«": "“", "»": "”", "„": "“", "‟": "“", "‹": "“", "›": "”",
        "[": "(", "]": ")", "{": "(", "}": ")",  # the program takes [[...]] for phonemes
        "’": "'", "‘": "'", "`": "'", "´": "'",
        "。": ".", "、": ",", "，": ",", "！": "!", "？": "?", "।": ".",
        "¿": " ", "¡": " ", "*": " ", "_": " ", "|": " ", "~": " ", "<": " ", ">": " ", "^": " ", "\\": " ",
    }
)  # fmt: skip
_DASH = re.compile(r"\s+[-–—]+\s+|\s*—\s*|\s+--\s+")
_DOTS = re.compile(r"\.(?:\s?\.)+")
_BLANKS = re.compile(r"\s+")
_FOREIGN = re.compile(r"\([a-z]{2,3}(?:-[a-z0-9-]+)?\)")  # where the program changes the language and back

# Pairs that the program ties with ^ and the model has one symbol for.
_TIED = {
    "a^ɪ": "I", "a^ʊ": "W", "e^ɪ": "A", "o^ʊ": "O", "ə^ʊ": "Q", "ɔ^ɪ": "Y",
    "d^z": "ʣ", "d^ʒ": "ʤ", "t^s": "ʦ", "t^ʃ": "ʧ", "s^s": "S",
}  # fmt: skip
# English was written by a dictionary with fewer symbols than the program has.
_ENGLISH = {
    "ʔn": "tᵊn", "ʔ": "t", "ɚ": "əɹ", "ɐ": "ə", "r": "ɹ", "x": "k", "ç": "k", "ɬ": "l", "\u0303": "", "ʲ": "",
}  # fmt: skip
_AMERICAN = {**_ENGLISH, "ɜːɹ": "ɜɹ", "ɜː": "ɜɹ", "oː": "ɔ", "o": "ɔ", "ɪə": "iə", "ː": "", "ɾ": "T"}
_BRITISH = {**_ENGLISH, "e^ə": "ɛː", "i^ə": "ɪə", "iə": "ɪə"}
_SYLLABIC = re.compile("(.)\u0329")  # a consonant that carries a syllable

# What the model knows, by the number that it has there; some numbers stand for nothing.
_SYMBOLS = (
    (1, ";:,.!?"),
    (9, '—…"()“” \u0303ʣʥʦʨᵝ\uab67AI'),
    (31, "O"), (33, "Q"), (35, "ST"), (39, "W"),
    (41, "Yᵊabcdef"), (50, "hijklmnopqrstuvwxyzɑɐɒæ"),
    (75, "βɔɕç"), (80, "ɖðʤə"), (85, "ɚɛɜ"), (90, "ɟ"), (92, "ɡ"), (99, "ɥ"),
    (101, "ɨɪʝ"), (110, "ɯɰŋɳɲɴø"), (118, "ɸθœ"), (123, "ɹ"), (125, "ɾɻ"), (128, "ʁɽʂʃʈʧ"), (135, "ʊʋ"),
    (138, "ʌɣɤ"), (142, "χʎ"), (147, "ʒʔ"), (156, "ˈˌː"), (162, "ʰ"), (164, "ʲ"), (169, "↓"), (171, "→↗↘"), (177, "ᵻ"),
)  # fmt: skip
NUMBERS = {symbol: start + at for start, symbols in _SYMBOLS for at, symbol in enumerate(symbols)}

ENDS_OF_SENTENCES = ".!?…"
ENDS_OF_CLAUSES = ",;:—)”"


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of words, or a mark with the blanks around it."""

    text: str
    is_mark: bool


class Espeak:
    """Starts the program once for each few thousand characters; may be used from several threads at once."""

    def __init__(self, program: Path = PROGRAM, *, seconds: float = RUN_SECONDS) -> None:
        self._program = program
        self._seconds = seconds

    def phonemes(self, text: str, *, language: str) -> str:
        """The text in the model's symbols, with its punctuation; empty where there is nothing to say."""
        voice = espeak_voice(language)
        if voice is None:
            raise EngineError(f"No phonemes are known for the language {language}.")
        pieces = list(_pieces(_tidied(text)))
        words = [piece.text for piece in pieces if not piece.is_mark]
        spoken = iter([sound for batch in _batches(words) for sound in self._speak(batch, voice)])
        sounds = [piece.text if piece.is_mark else _in_symbols(next(spoken), voice) for piece in pieces]
        written = "".join(symbol for symbol in "".join(sounds) if symbol in NUMBERS)
        return _BLANKS.sub(" ", written).strip() if any(map(str.isalpha, written)) else ""

    def _speak(self, words: Sequence[str], voice: str) -> list[str]:
        """The program writes a line for each paragraph; where it does not, each stretch has a run of its own."""
        lines = self._run("\n\n".join(words), voice)
        if len(lines) == len(words):
            return lines
        return [" ".join(self._run(each, voice)) for each in words]

    def _run(self, text: str, voice: str) -> list[str]:
        """The text goes in as a file that has no name: neither its words nor a dash before them become options."""
        file = os.memfd_create("text")
        try:
            with os.fdopen(os.dup(file), "wb") as stream:
                stream.write(text.encode() + b"\n")
            # -q: no sound. -b 1: the text is UTF-8. --tie: marks what is one sound in two letters.
            command = [str(self._program), "-q", "--ipa", "--tie=^", "-b", "1", "-v", voice, "-f", f"/dev/fd/{file}"]
            finished = self._finish(command, file)
        finally:
            os.close(file)
        return finished.stdout.decode(errors="replace").strip("\n").split("\n")

    def _finish(self, command: Sequence[str], file: int) -> Finished:
        environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
        try:
            finished = asyncio.run(run(command, seconds=self._seconds, environment=environment, pass_fds=(file,)))
        except MediaError as error:
            raise _explained(error) from error
        if finished.exit_code != 0:
            raise EngineError(f"The program espeak-ng ended with {finished.exit_code}: {finished.stderr[-200:]}")
        return finished


def espeak_voice(language: str) -> str | None:
    code = language.lower().replace("_", "-")
    return _VOICES.get(code) or _VOICES.get(code.partition("-")[0])


def _explained(error: MediaError) -> EngineError:
    if error.reason is Reason.TOOL_MISSING:
        return EngineUnavailableError("The program espeak-ng is not installed.")
    if error.reason is Reason.TIMED_OUT:
        return EngineUnavailableError("The program espeak-ng did not end in time.")
    return EngineError(f"The program espeak-ng failed: {error.reason}")


def _tidied(text: str) -> str:
    text = "".join(
        " " if character.isspace() else character
        for character in unicodedata.normalize("NFC", text)
        if character.isspace() or not unicodedata.category(character).startswith("C")
    )
    text = _DASH.sub("— ", text).translate(_SAME_MARKS)
    return _BLANKS.sub(" ", _DOTS.sub("…", text)).strip()


def _pieces(text: str) -> Iterator[_Piece]:
    at = 0
    for match in _MARK.finditer(text):
        yield from _stretches(text[at : match.start()])
        yield _Piece(match[0], is_mark=True)
        at = match.end()
    yield from _stretches(text[at:])


def _stretches(text: str) -> Iterator[_Piece]:
    """Words without marks, with the blanks around them as pieces, and not longer than the program takes at once."""
    core = text.strip()
    if not any(map(str.isalnum, core)):
        yield _Piece(" " if text else "", is_mark=True)
        return
    yield _Piece(" " if text[0] == " " else "", is_mark=True)
    while len(core) > CLAUSE_CHARACTERS:
        cut = core.rfind(" ", 1, CLAUSE_CHARACTERS)
        cut = cut if cut > 0 else CLAUSE_CHARACTERS
        yield _Piece(core[:cut].strip(), is_mark=False)
        yield _Piece(" ", is_mark=True)
        core = core[cut:].strip()
    if core:
        yield _Piece(core, is_mark=False)
    yield _Piece(" " if text[-1] == " " else "", is_mark=True)


def _batches(words: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    for each in words:
        if batch and sum(map(len, batch)) + len(each) > RUN_CHARACTERS:
            yield batch
            batch = []
        batch.append(each)
    if batch:
        yield batch


def _in_symbols(sound: str, voice: str) -> str:
    tables: dict[str, Mapping[str, str]] = {"en-us": _AMERICAN, "en-gb": _BRITISH}
    sound = _replaced(_FOREIGN.sub("", sound), _TIED)
    if voice in tables:
        sound = _replaced(_SYLLABIC.sub(r"ᵊ\1", sound), tables[voice])
    return sound.replace("^", "").replace("-", "").strip()


def _replaced(sound: str, table: Mapping[str, str]) -> str:
    longest_first = sorted(table, key=len, reverse=True)
    return re.sub("|".join(map(re.escape, longest_first)), lambda match: table[match[0]], sound)
