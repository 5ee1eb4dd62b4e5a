"""Ports of translation and language identification.

Calls block, so activities run them in threads; every adapter passes the conformance suite.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


@dataclass(frozen=True, slots=True)
class LanguageGuess:
    """Which language a text is in, and how sure that is from 0 to 1."""

    language: str
    confidence: float


class Quality(StrEnum):
    """What can be expected of a translation."""

    GOOD = "good"
    DRAFT = "draft"  # to be read over by a person before it is published


@dataclass(frozen=True, slots=True)
class Route:
    """A way from one language to another; `via` names the languages on the way."""

    source: str
    target: str
    quality: Quality
    via: tuple[str, ...] = ()


class LanguageIdentifier(Protocol):
    """Tells the language of a text."""

    name: str

    def identify(self, text: str) -> LanguageGuess | None:
        """The likeliest language, or nothing where the text says too little."""
        ...


class Translator(Protocol):
    """Turns sentences of one language into another."""

    @property
    def name(self) -> str: ...

    def routes(self) -> Sequence[Route]:
        """Every pair that can be translated now, with the models that are there."""
        ...

    def translate(self, sentences: Sequence[str], *, source: str, target: str) -> list[str]:
        """One translation for each sentence. They follow each other, so each is context for its neighbours.

        An engine that gives nothing for a sentence that has words raises EngineError; it never returns less.
        """
        ...
