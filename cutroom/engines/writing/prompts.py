"""What a language model is asked to write, in which shape it answers, and how long each text may be."""

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from cutroom.engines.writing.port import (
    HEADLINE_WORDS,
    POST_CHARACTERS,
    TITLE_CHARACTERS,
    DescriptionKind,
    TitleStyle,
)

SUMMARY_CHARACTERS = 1_200
HEADLINE_CHARACTERS = 40
SENTENCE_CHARACTERS = POST_CHARACTERS - 80  # hashtags stand behind them
PARAGRAPH_CHARACTERS = 1_500
STEP_CHARACTERS = 300
HEADING_CHARACTERS = 80
MAX_STEPS = 25
MAX_PARTS = 10
LEAST_TOKENS = 60
MOST_TOKENS = 3_000


class Text(BaseModel):
    """One text."""

    model_config = ConfigDict(extra="forbid", strict=True)
    text: str


def _line(most_characters: int) -> Any:  # noqa: ANN401 (as what Pydantic's own function is typed)
    """A field whose length servers can hold a model to; small ones know no end. We check it in our own words."""
    return Field(json_schema_extra={"pattern": rf'^[^"\\\n]{{1,{most_characters}}}$'})


class Title(Text):
    """A text of one line."""

    text: str = _line(TITLE_CHARACTERS)


class Headline(Text):
    """A few words."""

    text: str = _line(HEADLINE_CHARACTERS)


class Post(Text):
    """A text of one or two sentences."""

    text: str = _line(SENTENCE_CHARACTERS)


class Steps(BaseModel):
    """A list of steps."""

    model_config = ConfigDict(extra="forbid", strict=True)
    steps: list[str]


class Part(BaseModel):
    """A heading with what stands under it."""

    model_config = ConfigDict(extra="forbid", strict=True)
    heading: str
    text: str


class Parts(BaseModel):
    """An article in parts."""

    model_config = ConfigDict(extra="forbid", strict=True)
    parts: list[Part]


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to write: what the model is told, how it answers, and the bounds of each piece of the answer."""

    told: str
    shape: type[BaseModel]
    most_characters: int
    least_words: int = 1
    most_words: int = 10_000
    one_line: bool = False
    least_support: float = 0.6

    @property
    def is_short(self) -> bool:
        return self.most_characters <= POST_CHARACTERS and issubclass(self.shape, Text)

    @property
    def most_tokens(self) -> int:
        """Of the answer: in no script has a text of this size more, and a model that runs away is stopped."""
        pieces = {Steps: MAX_STEPS, Parts: MAX_PARTS}.get(self.shape, 1)
        return min(MOST_TOKENS, LEAST_TOKENS + self.most_characters * pieces)


_STYLES = {
    TitleStyle.FUNNY: "funny, in a dry way; do not make up a joke that is not there",
    TitleStyle.SCARY: "scary; use what is dangerous in the transcript, and claim no danger that is not there",
    TitleStyle.INFORMATIONAL: "informational: it says plainly what the film is about",
    TitleStyle.MYSTERIOUS: "mysterious; leave open what the transcript leaves open or answers late",
    TitleStyle.CLICKBAIT: "one that makes curious, and keeps what it promises",
}
_SUMMARY = Task(
    "Write a summary of the film in three to five sentences.", Text, SUMMARY_CHARACTERS, least_words=12, one_line=True
)
HEADLINE = Task(
    f"Write a headline of two to {HEADLINE_WORDS} words for the film's thumbnail.",
    Headline, HEADLINE_CHARACTERS, least_words=2, most_words=HEADLINE_WORDS, one_line=True, least_support=0.5,
)  # fmt: skip
STEPS = Task("Write the steps that the film tells its viewers to take, in order.", Steps, STEP_CHARACTERS)
DESCRIPTIONS = {
    DescriptionKind.YOUTUBE_DESCRIPTION: _SUMMARY,
    DescriptionKind.VIDEO_SUMMARY: _SUMMARY,
    DescriptionKind.SOCIAL_POST: Task(
        "Write a post for social media about the film: one or two sentences, without hashtags.",
        Post, SENTENCE_CHARACTERS, least_words=5, one_line=True,
    ),
    DescriptionKind.HOW_TO_GUIDE: STEPS,
    DescriptionKind.BLOG_POST: Task(
        "Write a short article about the film in two to six parts, each with a heading of a few words and a paragraph.",
        Parts, PARAGRAPH_CHARACTERS,
    ),
}  # fmt: skip


def title_task(style: TitleStyle) -> Task:
    told = f"Write one title for the film of at most {TITLE_CHARACTERS - 5} characters. Its style is {_STYLES[style]}."
    return Task(told, Title, TITLE_CHARACTERS, least_words=2, one_line=True, least_support=0.5)


def pieces(answer: BaseModel) -> list[tuple[str, bool]]:
    """The texts of an answer, each with whether it is a heading, whose bounds are others."""
    if isinstance(answer, Steps):
        return [(step, False) for step in answer.steps]
    if isinstance(answer, Parts):
        return [piece for part in answer.parts for piece in ((part.heading, True), (part.text, False))]
    return [(answer.text, False)] if isinstance(answer, Text) else []
