"""A whole document to translate: lines with speakers and times, and what is known about the talk."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol, runtime_checkable

from cutroom.engines.translation.port import Quality, Translator
from cutroom.engines.types import OnProgress
from cutroom.text.glossary.rules import TermRule


class Register(StrEnum):
    """How the audience is addressed, in languages that distinguish it."""

    FORMAL = "formal"
    INFORMAL = "informal"


@dataclass(frozen=True, slots=True)
class DocumentSpeaker:
    """A person who says lines of the document."""

    id: str
    name: str | None = None
    gender: str | None = None


@dataclass(frozen=True, slots=True)
class DocumentLine:
    """One line, usually a sentence; `max_characters` is what can be read or said in its time."""

    id: str
    text: str
    speaker: str | None = None
    start_seconds: float | None = None
    end_seconds: float | None = None
    max_characters: int | None = None

    @property
    def seconds(self) -> float | None:
        if self.start_seconds is None or self.end_seconds is None:
            return None
        return max(0.0, self.end_seconds - self.start_seconds)


@dataclass(frozen=True, slots=True)
class TranslationDocument:
    """Lines in the order in which they are said, and the glossary rules for their terms."""

    source: str
    target: str
    lines: tuple[DocumentLine, ...]
    speakers: tuple[DocumentSpeaker, ...] = ()
    title: str = ""
    glossary: tuple[TermRule, ...] = ()
    register: Register | None = None

    def __post_init__(self) -> None:
        if len({line.id for line in self.lines}) < len(self.lines):
            raise ValueError("line ids must be unique")


class LineFault(StrEnum):
    """Why a translated line was rejected, or should be reviewed."""

    NO_ANSWER = "no_answer"  # the model left the line out, refused, or its response was unusable
    EMPTY = "empty"
    IMPLAUSIBLE = "implausible"  # far too short or long for its source, or looping
    UNTRANSLATED = "untranslated"
    NUMBER = "number"
    NAME = "name"
    ADDRESS = "address"  # a URL, email address, handle or placeholder is missing
    INVENTED = "invented"  # a number or an address that was not said
    INSTRUCTION = "instruction"  # text addressed to a language model that was not said
    GLOSSARY = "glossary"
    LANGUAGE = "language"
    LEFTOVER = "leftover"  # words of the source language
    DOUBTFUL = "doubtful"  # translated back, it says something else
    TOO_LONG = "too_long"  # for the time the line has


# Reported for review, but better than another engine's translation without such a fault.
MINOR_FAULTS = frozenset(
    {LineFault.NAME, LineFault.TOO_LONG, LineFault.LEFTOVER, LineFault.GLOSSARY, LineFault.DOUBTFUL}
)
# Text with one of these is never used, whatever the alternative is.
UNUSABLE_FAULTS = frozenset({LineFault.NO_ANSWER, LineFault.EMPTY, LineFault.IMPLAUSIBLE})


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault of a translated line; `subject` is the text of the source that it is about, if any."""

    fault: LineFault
    subject: str = ""


CheckLine = Callable[[DocumentLine, str], list[Finding]]


@dataclass(frozen=True, slots=True)
class TranslationCounts:
    """What a document cost, and how much of it had to be repaired."""

    requests: int = 0
    rejected_lines: int = 0  # not usable in the first response
    retries: int = 0  # requests for a single line, or for a whole window again
    fallback_lines: int = 0  # translated by another engine
    busy_waits: int = 0  # pauses because the server was busy

    def __add__(self, other: "TranslationCounts") -> "TranslationCounts":
        return TranslationCounts(
            self.requests + other.requests,
            self.rejected_lines + other.rejected_lines,
            self.retries + other.retries,
            self.fallback_lines + other.fallback_lines,
            self.busy_waits + other.busy_waits,
        )


@dataclass(frozen=True, slots=True)
class TranslatedLine:
    """The translation of one line: the engine that made it, what is wrong with it, and what was wrong before.

    `rejected` are the faults for which a language model's own translation was replaced by another engine's.
    """

    id: str
    text: str
    engine: str
    findings: tuple[Finding, ...] = ()
    rejected: tuple[LineFault, ...] = ()
    alternatives: tuple[str, ...] = ()

    @property
    def is_fallback(self) -> bool:
        return bool(self.rejected)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Reason codes for review, empty if there is nothing to review."""
        codes = dict.fromkeys((*(each.fault.value for each in self.findings), *(each.value for each in self.rejected)))
        return ("fallback", *codes) if self.is_fallback else tuple(codes)

    @property
    def is_usable(self) -> bool:
        return not any(each.fault in UNUSABLE_FAULTS for each in self.findings)

    def severity(self) -> tuple[int, int, int]:
        """Sort key, smaller is better: unusable, then other faults, then minor ones."""
        faults = {each.fault for each in self.findings}
        return len(faults & UNUSABLE_FAULTS), len(faults - UNUSABLE_FAULTS - MINOR_FAULTS), len(faults & MINOR_FAULTS)


@dataclass(frozen=True, slots=True)
class DocumentTranslation:
    """One translated line for each line of the document, in its order."""

    lines: tuple[TranslatedLine, ...]
    counts: TranslationCounts = TranslationCounts()
    quality: Quality = Quality.PUBLISHABLE

    @property
    def texts(self) -> list[str]:
        return [line.text for line in self.lines]

    def rated(self, quality: Quality) -> "DocumentTranslation":
        return replace(self, quality=quality)


@runtime_checkable
class DocumentTranslator(Translator, Protocol):
    """A translator that uses the context of a whole document; others translate its lines as sentences."""

    def translate_document(
        self, document: TranslationDocument, *, check: CheckLine, on_progress: OnProgress | None = None
    ) -> DocumentTranslation:
        """Translates every line and checks it with `check`.

        Lines without an acceptable translation keep their findings; the caller may ask another engine for them.
        """
        ...


class Hypothesis(Protocol):
    """One of the best translations of a sentence."""

    @property
    def text(self) -> str: ...


@runtime_checkable
class AlternativesTranslator(Translator, Protocol):
    """A translator that can return its n best translations of a sentence."""

    def alternatives(self, sentence: str, *, source: str, target: str, count: int) -> Sequence[Hypothesis]:
        """Different translations, best first; empty if there is only one."""
        ...
