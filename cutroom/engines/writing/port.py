"""What a writer can be asked for, and what it is given: the port of titles, descriptions and headlines."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

TITLE_CHARACTERS = 70
POST_CHARACTERS = 280
HEADLINE_WORDS = 5


class TitleStyle(StrEnum):
    """How a title sounds; none of them claims what was not said."""

    FUNNY = "funny"
    SCARY = "scary"
    INFORMATIONAL = "informational"
    MYSTERIOUS = "mysterious"
    CLICKBAIT = "clickbait"


class DescriptionKind(StrEnum):
    """What a description is for."""

    YOUTUBE_DESCRIPTION = "youtube-description"
    SOCIAL_POST = "social-post"
    HOW_TO_GUIDE = "how-to-guide"
    BLOG_POST = "blog-post"
    VIDEO_SUMMARY = "video-summary"


@dataclass(frozen=True, slots=True)
class SpokenSegment:
    """A sentence or segment of a transcript."""

    text: str
    start_seconds: float
    end_seconds: float
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class WritingInput:
    """All that a writer knows of a film; the language is a BCP 47 code, the guidelines are those of a brand voice."""

    language: str
    said: tuple[SpokenSegment, ...]
    duration_seconds: float
    guidelines: str | None = None


@dataclass(frozen=True, slots=True)
class WrittenText:
    """A text, who wrote it, and what a reader of the result should know about that."""

    text: str
    engine: str
    note: str | None = None


class Writer(Protocol):
    """Writes about a film from what is said in it, in its language, and states nothing else.

    A film in which too little is said raises EngineError. The same material gives the same text, as far as the
    engine allows.
    """

    @property
    def name(self) -> str: ...

    def title(self, material: WritingInput, *, style: TitleStyle) -> WrittenText:
        """One line of at most TITLE_CHARACTERS."""
        ...

    def description(self, material: WritingInput, *, kind: DescriptionKind) -> WrittenText:
        """Plain text; a blog post is Markdown, a social post has at most POST_CHARACTERS."""
        ...

    def headline(self, material: WritingInput) -> WrittenText:
        """Two to HEADLINE_WORDS words to stand on a thumbnail, or a few signs in scripts without blanks."""
        ...
