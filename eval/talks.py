"""Reads and validates the evaluation talks: speaker turns with reference translations."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError

from cutroom.engines.synthesis.kokoro_voices import VOICES
from cutroom.engines.synthesis.port import Gender, StockVoice
from dev.fixtures.photographs import PHOTOGRAPHS

FOLDER = Path(__file__).with_name("talks")
MIN_LINES, MAX_LINES = 26, 36
MIN_WORDS, MAX_WORDS = 4, 28  # of a source line
MIN_PICTURES, MAX_PICTURES = 2, 3

_REFUSE_UNKNOWN_KEYS = ConfigDict(extra="forbid")
_VOICES = {voice.name: voice for voice in VOICES}

Language = Literal["en", "pt", "es"]
LANGUAGES: tuple[Language, ...] = ("en", "pt", "es")


class Half(StrEnum):
    """Rules may be tuned on `dev`; `held-out` only measures."""

    DEV = "dev"
    HELD_OUT = "held-out"


class Register(StrEnum):
    """How the references address people."""

    FORMAL = "formal"
    INFORMAL = "informal"


class Background(StrEnum):
    """What is mixed under the voices."""

    NONE = "none"
    MUSIC = "music"
    STREET = "street"
    STADIUM = "stadium"
    PHONE = "phone"


@dataclass(frozen=True, slots=True)
class TalkSpeaker:
    """A person of the talk, and the Kokoro voice that speaks for them."""

    __pydantic_config__: ClassVar[ConfigDict] = _REFUSE_UNKNOWN_KEYS

    id: str
    name: str
    gender: Literal[Gender.FEMALE, Gender.MALE]
    voice: str

    @property
    def stock_voice(self) -> StockVoice:
        return _VOICES[self.voice]


@dataclass(frozen=True, slots=True)
class TalkPicture:
    """What is shown from a line on; `at_line` counts from 1, `asset` is a file name of the photographs."""

    __pydantic_config__: ClassVar[ConfigDict] = _REFUSE_UNKNOWN_KEYS

    at_line: int
    description: str
    asset: str | None = None


@dataclass(frozen=True, slots=True)
class GlossaryTerm:
    """A term with its required translations."""

    __pydantic_config__: ClassVar[ConfigDict] = _REFUSE_UNKNOWN_KEYS

    en: str
    pt: str
    es: str

    def text(self, language: Language) -> str:
        return {"en": self.en, "pt": self.pt, "es": self.es}[language]


@dataclass(frozen=True, slots=True)
class TalkLine:
    """What one person says in one go, with its translations; `traps` names what a bad translation gets wrong."""

    __pydantic_config__: ClassVar[ConfigDict] = _REFUSE_UNKNOWN_KEYS

    speaker: str
    en: str
    pt: str
    es: str
    traps: tuple[str, ...] = ()

    def text(self, language: Language) -> str:
        return {"en": self.en, "pt": self.pt, "es": self.es}[language]


@dataclass(frozen=True, slots=True)
class EvaluationTalk:
    """A talk in its source language, with a reference translation of each line."""

    __pydantic_config__: ClassVar[ConfigDict] = _REFUSE_UNKNOWN_KEYS

    slug: str
    title: str
    genre: str
    half: Half
    language: Literal["en", "pt"]
    register: Register
    background: Background
    names: tuple[str, ...]
    speakers: tuple[TalkSpeaker, ...]
    pictures: tuple[TalkPicture, ...]
    lines: tuple[TalkLine, ...]
    glossary: tuple[GlossaryTerm, ...] = ()

    @property
    def targets(self) -> tuple[Language, ...]:
        """The languages of the references."""
        return tuple(language for language in LANGUAGES if language != self.language)

    def source(self, line: TalkLine) -> str:
        return line.text(self.language)

    def speaker(self, line: TalkLine) -> TalkSpeaker:
        return next(speaker for speaker in self.speakers if speaker.id == line.speaker)


class InvalidTalkError(ValueError):
    """A talk breaks rules of the format; the message lists all of them."""


_TALK = TypeAdapter(EvaluationTalk)


def load_talks(half: Half | None = None, *, folder: Path = FOLDER) -> tuple[EvaluationTalk, ...]:
    """Reads all talks, or one half of them, by slug."""
    talks = [parse_talk(path.read_text(encoding="utf-8"), slug=path.stem) for path in sorted(folder.glob("*.toml"))]
    repeated = _repeated([talk.genre for talk in talks])
    if repeated:
        raise InvalidTalkError(f"Several talks have the genre {', '.join(repeated)}.")
    return tuple(talk for talk in talks if half is None or talk.half == half)


def parse_talk(text: str, *, slug: str) -> EvaluationTalk:
    """Reads one talk; raises InvalidTalkError with every rule that it breaks."""
    try:
        talk = _TALK.validate_python({**tomllib.loads(text), "slug": slug})
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise InvalidTalkError(f"{slug}: {error}") from error
    problems = [
        *_speaker_problems(talk), *_line_problems(talk), *_name_problems(talk),
        *_glossary_problems(talk), *_picture_problems(talk),
    ]  # fmt: skip
    if problems:
        raise InvalidTalkError("\n".join(f"{slug}: {problem}" for problem in problems))
    return talk


def contains_phrase(text: str, phrase: str) -> bool:
    """Whether whole words of the text spell the phrase exactly."""
    return re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text) is not None


def _speaker_problems(talk: EvaluationTalk) -> Iterator[str]:
    for id_ in _repeated([speaker.id for speaker in talk.speakers]):
        yield f"the speaker {id_} is declared twice"
    for name in _repeated([speaker.voice for speaker in talk.speakers]):
        yield f"several speakers share the voice {name}"
    speaking = {line.speaker for line in talk.lines}
    for speaker in talk.speakers:
        if speaker.id not in speaking:
            yield f"the speaker {speaker.id} says nothing"
        voice = _VOICES.get(speaker.voice)
        if voice is None:
            yield f"the voice {speaker.voice} does not exist"
        elif voice.language.partition("-")[0] != talk.language:
            yield f"the voice {speaker.voice} does not speak the source language"
        elif voice.gender != speaker.gender:
            yield f"the voice {speaker.voice} does not match the gender of {speaker.id}"


def _line_problems(talk: EvaluationTalk) -> Iterator[str]:
    if not MIN_LINES <= len(talk.lines) <= MAX_LINES:
        yield f"{len(talk.lines)} lines instead of {MIN_LINES} to {MAX_LINES}"
    for text in _repeated([talk.source(line) for line in talk.lines]):
        yield f"two lines say {text!r}"
    known = {speaker.id for speaker in talk.speakers}
    for number, line in enumerate(talk.lines, start=1):
        if line.speaker not in known:
            yield f"line {number}: unknown speaker {line.speaker}"
        words = len(talk.source(line).split())
        if not MIN_WORDS <= words <= MAX_WORDS:
            yield f"line {number}: {words} words instead of {MIN_WORDS} to {MAX_WORDS}"
        for language in LANGUAGES:
            text = line.text(language)
            if not text or text != " ".join(text.split()):
                yield f"line {number}: {language} is empty or has stray white space"
        if any(line.es.count(opening) != line.es.count(closing) for opening, closing in ("¿?", "¡!")):
            yield f"line {number}: es lacks an opening or closing mark"


def _name_problems(talk: EvaluationTalk) -> Iterator[str]:
    for name in _repeated(talk.names):
        yield f"the name {name} is listed twice"
    for name in talk.names:
        numbered = enumerate(talk.lines, start=1)
        spoken = [(number, line) for number, line in numbered if contains_phrase(talk.source(line), name)]
        if not spoken:
            yield f"no line says the name {name}"
        for number, line in spoken:
            for language in talk.targets:
                if not contains_phrase(line.text(language), name):
                    yield f"line {number}: {language} lacks the name {name}"


def _glossary_problems(talk: EvaluationTalk) -> Iterator[str]:
    for language in LANGUAGES:
        spoken = "\n".join(line.text(language) for line in talk.lines).lower()
        for term in talk.glossary:
            if not contains_phrase(spoken, term.text(language).lower()):
                yield f"no line uses the {language} term {term.text(language)} of the glossary"


def _picture_problems(talk: EvaluationTalk) -> Iterator[str]:
    if not MIN_PICTURES <= len(talk.pictures) <= MAX_PICTURES:
        yield f"{len(talk.pictures)} pictures instead of {MIN_PICTURES} to {MAX_PICTURES}"
    starts = [picture.at_line for picture in talk.pictures]
    if starts[:1] != [1] or starts != sorted(set(starts)) or starts[-1] > len(talk.lines):
        yield "the pictures do not start at line 1 and at later lines in order"
    for picture in talk.pictures:
        if picture.asset is not None and picture.asset not in PHOTOGRAPHS:
            yield f"the photograph {picture.asset} does not exist"


def _repeated(values: Sequence[str]) -> list[str]:
    return [value for value, count in Counter(values).items() if count > 1]
