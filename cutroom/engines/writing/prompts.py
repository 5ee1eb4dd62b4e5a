"""Tasks for a language model: instructions, response schemas, and limits of each text."""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from cutroom.engines.writing.port import (
    HEADLINE_WORDS,
    MAX_CANDIDATES,
    POST_CHARACTERS,
    TITLE_CHARACTERS,
    DescriptionKind,
    TitleStyle,
)

SUMMARY_CHARACTERS = 1_200
HEADLINE_CHARACTERS = 40
SENTENCE_CHARACTERS = POST_CHARACTERS - 80  # leaves room for hashtags
PARAGRAPH_CHARACTERS = 1_500
STEP_CHARACTERS = 300
HEADING_CHARACTERS = 80
MAX_STEPS = 25
MAX_SECTIONS = 10
MIN_TOKENS = 60
MAX_TOKENS = 4_000


class TextResponse(BaseModel):
    """A single text: one of the candidates."""

    model_config = ConfigDict(extra="forbid", strict=True)
    text: str


class CandidatesResponse(BaseModel):
    """Texts to choose from."""

    model_config = ConfigDict(extra="forbid", strict=True)
    candidates: list[str]


def _line(max_characters: int) -> Any:  # noqa: ANN401 - typed like Pydantic's own function
    """A length limit for constrained decoding, because small models may not stop; the length is also checked later."""
    return Field(json_schema_extra={"pattern": rf'^[^"\\\n]{{1,{max_characters}}}$'})


_SEVERAL = Field(json_schema_extra={"minItems": 1, "maxItems": MAX_CANDIDATES})


class TitleResponse(CandidatesResponse):
    """One-line titles."""

    candidates: list[Annotated[str, _line(TITLE_CHARACTERS)]] = _SEVERAL


class HeadlineResponse(CandidatesResponse):
    """Headlines of a few words."""

    candidates: list[Annotated[str, _line(HEADLINE_CHARACTERS)]] = _SEVERAL


class PostResponse(CandidatesResponse):
    """Posts of one or two sentences."""

    candidates: list[Annotated[str, _line(SENTENCE_CHARACTERS)]] = _SEVERAL


class SummaryResponse(CandidatesResponse):
    """Summaries of a few sentences."""

    candidates: list[str] = _SEVERAL


class StepsResponse(BaseModel):
    """A list of steps."""

    model_config = ConfigDict(extra="forbid", strict=True)
    steps: list[str]


class ArticleSection(BaseModel):
    """A heading with its paragraph."""

    model_config = ConfigDict(extra="forbid", strict=True)
    heading: str
    text: str


class ArticleResponse(BaseModel):
    """An article in sections."""

    model_config = ConfigDict(extra="forbid", strict=True)
    sections: list[ArticleSection]


@dataclass(frozen=True, slots=True)
class WritingTask:
    """One text to write: the instruction, the response schema, and the limits of each text in the response."""

    instruction: str
    response_model: type[BaseModel]
    max_characters: int
    min_words: int = 1
    max_words: int = 10_000
    one_line: bool = False
    min_support: float = 0.6

    @property
    def is_short(self) -> bool:
        return self.max_characters <= POST_CHARACTERS and issubclass(self.response_model, CandidatesResponse)

    @property
    def limits(self) -> str:
        """The limits of a response, for the instructions."""
        if not issubclass(self.response_model, CandidatesResponse):
            return f"No text may exceed {self.max_characters} characters."
        return (
            f"Give {MAX_CANDIDATES} candidates that differ in what they tell first, the best first. "
            f"Each has at most {self.max_characters} characters; shorter is better."
        )

    @property
    def max_tokens(self) -> int:
        """Stops runaway generation; no script needs more than one token per character."""
        count = {StepsResponse: MAX_STEPS, ArticleResponse: MAX_SECTIONS}.get(self.response_model, MAX_CANDIDATES)
        return min(MAX_TOKENS, MIN_TOKENS + self.max_characters * count)


_STYLES = {
    TitleStyle.FUNNY: "funny, with dry humor; do not invent a joke that is not there",
    TitleStyle.SCARY: "scary; use the dangers in the transcript, and claim none that is not there",
    TitleStyle.INFORMATIONAL: "informational: it says plainly what the video is about",
    TitleStyle.MYSTERIOUS: "mysterious; leave open what the transcript leaves open or answers late",
    TitleStyle.CLICKBAIT: "clickbait that arouses curiosity and keeps what it promises",
}
_SUMMARY = WritingTask(
    "Write summaries of the video in three to five sentences each, for viewers who decide whether to watch it.",
    SummaryResponse, SUMMARY_CHARACTERS, min_words=12, one_line=True,
)  # fmt: skip
HEADLINE_TASK = WritingTask(
    f"Write headlines of two to {HEADLINE_WORDS} words each for the video's thumbnail.",
    HeadlineResponse, HEADLINE_CHARACTERS, min_words=2, max_words=HEADLINE_WORDS, one_line=True, min_support=0.5,
)  # fmt: skip
STEPS_TASK = WritingTask(
    "Write the steps that the video tells its viewers to take, in order.", StepsResponse, STEP_CHARACTERS
)
DESCRIPTION_TASKS = {
    DescriptionKind.YOUTUBE_DESCRIPTION: _SUMMARY,
    DescriptionKind.VIDEO_SUMMARY: _SUMMARY,
    DescriptionKind.SOCIAL_POST: WritingTask(
        "Write social media posts about the video: one or two sentences each, without hashtags.",
        PostResponse, SENTENCE_CHARACTERS, min_words=5, one_line=True,
    ),
    DescriptionKind.HOW_TO_GUIDE: STEPS_TASK,
    DescriptionKind.BLOG_POST: WritingTask(
        "Write a short article about the video in two to six sections, each with a short heading and one paragraph.",
        ArticleResponse, PARAGRAPH_CHARACTERS,
    ),
}  # fmt: skip


def title_task(style: TitleStyle) -> WritingTask:
    instruction = f"Write titles for the video. Their style is {_STYLES[style]}."
    return WritingTask(instruction, TitleResponse, TITLE_CHARACTERS, min_words=2, one_line=True, min_support=0.5)


def split_candidates(response: BaseModel) -> list[BaseModel]:
    """The candidates of a response, each to be checked and used on its own."""
    if not isinstance(response, CandidatesResponse):
        return [response]
    return [TextResponse(text=text) for text in response.candidates[:MAX_CANDIDATES]]


def response_texts(response: BaseModel) -> list[tuple[str, bool]]:
    """The texts of a response, each with whether it is a heading."""
    if isinstance(response, StepsResponse):
        return [(step, False) for step in response.steps]
    if isinstance(response, ArticleResponse):
        return [text for each in response.sections for text in ((each.heading, True), (each.text, False))]
    return [(response.text, False)] if isinstance(response, TextResponse) else []
