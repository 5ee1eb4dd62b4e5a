"""Ports of text generation, text embedding and ranking."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from cutroom.text.sentences import SpokenSegment

if TYPE_CHECKING:
    from cutroom.engines.types import Vector

TITLE_CHARACTERS = 70
POST_CHARACTERS = 280
HEADLINE_WORDS = 5
MAX_CANDIDATES = 3  # texts to choose from


class TitleStyle(StrEnum):
    """Tone of a title; no style may claim what was not said."""

    FUNNY = "funny"
    SCARY = "scary"
    INFORMATIONAL = "informational"
    MYSTERIOUS = "mysterious"
    CLICKBAIT = "clickbait"


class DescriptionKind(StrEnum):
    """Purpose and format of a description."""

    YOUTUBE_DESCRIPTION = "youtube-description"
    SOCIAL_POST = "social-post"
    HOW_TO_GUIDE = "how-to-guide"
    BLOG_POST = "blog-post"
    VIDEO_SUMMARY = "video-summary"


@dataclass(frozen=True, slots=True)
class WritingInput:
    """Everything a writer knows about a video; `language` is a BCP 47 code, `guidelines` come from a brand voice.

    `names` are terms with the spelling that a text has to use.
    """

    language: str
    segments: tuple[SpokenSegment, ...]
    duration_seconds: float
    guidelines: str | None = None
    title: str | None = None  # that the video has
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WrittenText:
    """A text, the engine that wrote it, an optional note for the user, and other texts to choose from."""

    text: str
    engine: str
    note: str | None = None
    alternatives: tuple[str, ...] = ()


class Writer(Protocol):
    """Writes about a video from its transcript, in its language, without unsupported claims.

    Raises EngineError if the transcript is too short. Output is deterministic as far as the engine allows.
    """

    @property
    def name(self) -> str: ...

    def title(self, source: WritingInput, *, style: TitleStyle) -> WrittenText:
        """One line of at most TITLE_CHARACTERS."""
        ...

    def description(self, source: WritingInput, *, kind: DescriptionKind) -> WrittenText:
        """Plain text; a blog post is Markdown, a social post has at most POST_CHARACTERS."""
        ...

    def headline(self, source: WritingInput) -> WrittenText:
        """Two to HEADLINE_WORDS words for a thumbnail, or a few characters in scripts without spaces."""
        ...


class TextEmbedder(Protocol):
    """Maps texts to embeddings."""

    name: str

    def embed(self, texts: Sequence[str]) -> "Vector":
        """One unit-length row per text; cosine similarity measures similarity of meaning."""
        ...


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text to rank, identified by the caller."""

    id: str
    text: str


class Ranker(Protocol):
    """Orders candidate texts."""

    @property
    def name(self) -> str: ...

    def rank(self, candidates: Sequence[Candidate], *, prompt: str | None) -> list[str]:
        """Every candidate id once, best first: by relevance to the prompt, or by general interest without one."""
        ...
