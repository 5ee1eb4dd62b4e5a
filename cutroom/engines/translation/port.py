"""Ports of translation and language identification.

Calls block, so activities run them in threads; every adapter passes the conformance suite.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from cutroom.engines.types import OnProgress


@dataclass(frozen=True, slots=True)
class LanguageGuess:
    """The detected language of a text, with a confidence from 0 to 1."""

    language: str
    confidence: float


class Quality(StrEnum):
    """Class of a translation, by the share of lines right in meaning on held-out talks; best first."""

    PUBLISHABLE = "publishable"
    REVIEW = "review"  # check before publishing
    DRAFT = "draft"  # below that, or never measured

    @classmethod
    def of_share(cls, share: float) -> "Quality":
        """The class of a measured share from 0 to 1."""
        return next(each for each in cls if share >= each.least_share)

    @property
    def least_share(self) -> float:
        return _LEAST_SHARES[self]


_LEAST_SHARES = {Quality.PUBLISHABLE: 0.95, Quality.REVIEW: 0.65, Quality.DRAFT: 0.0}


@dataclass(frozen=True, slots=True)
class Route:
    """A translation from one language to another; `via` lists intermediate languages."""

    source: str
    target: str
    quality: Quality
    via: tuple[str, ...] = ()
    share: float | None = None  # of lines right in meaning, if measured
    is_rule_based: bool = False

    @property
    def expected_share(self) -> float:
        """The measured share, or the least of a class that an operator set."""
        return self.quality.least_share if self.share is None else self.share


class LanguageIdentifier(Protocol):
    """Identifies the language of a text."""

    name: str

    def identify(self, text: str) -> LanguageGuess | None:
        """The most likely language, or None if the text is too short to tell."""
        ...


class Translator(Protocol):
    """Translates sentences from one language to another."""

    @property
    def name(self) -> str: ...

    def routes(self) -> Sequence[Route]:
        """Every language pair supported by the installed models."""
        ...

    def translate(
        self, sentences: Sequence[str], *, source: str, target: str, on_progress: OnProgress | None = None
    ) -> list[str]:
        """Returns one translation per sentence; consecutive sentences are context for each other.

        Raises EngineError rather than return an empty translation for a sentence that has words.
        """
        ...
