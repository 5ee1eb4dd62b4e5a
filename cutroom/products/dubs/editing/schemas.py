"""Request and response bodies of the lines of a dub."""

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, model_validator

from cutroom.products.dubs.editing.changes import MAX_SPELLING, MAX_TEXT, LineChange
from cutroom.products.dubs.editing.staleness import LineStaleReason
from cutroom.products.dubs.editing.wordings import WordingOrigin
from cutroom.products.transcripts.editing.schemas import MAX_REVISION
from cutroom.web.schema import (
    ApiModel,
    ClosedModel,
    Omittable,
    PatchRequest,
    PricedRequest,
    RequestModel,
    changes_of,
    unique,
)

MAX_CHANGES = 200  # lines of one request
MAX_LINES = 20_000  # of one regeneration
MAX_WORDS = 50  # with a pronunciation, of one line
MIN_SPEED, MAX_SPEED = 0.7, 1.4
MIN_GAIN_DB, MAX_GAIN_DB = -24.0, 12.0
MAX_OFFSET = 5.0

LineId = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9]+$", description="The id of a line.")]
Revision = Annotated[
    int,
    Field(ge=1, le=MAX_REVISION, description="The revision of the dub. If there is a newer one, this is a conflict."),
]
Speed = Annotated[
    float,
    Field(
        ge=MIN_SPEED,
        le=MAX_SPEED,
        allow_inf_nan=False,
        description="How fast the voice speaks, relative to its natural speed. By default, it fits the line.",
    ),
]
StartOffset = Annotated[
    float,
    Field(
        ge=-MAX_OFFSET,
        le=MAX_OFFSET,
        allow_inf_nan=False,
        description="Seconds by which the line starts later, or earlier if negative, between its neighbors.",
    ),
]
Gain = Annotated[
    float,
    Field(ge=MIN_GAIN_DB, le=MAX_GAIN_DB, allow_inf_nan=False, description="How much louder the line is, in dB."),
]
Spelling = Annotated[str, Field(min_length=1, max_length=MAX_SPELLING)]
Pronunciation = Annotated[
    dict[Spelling, Spelling],
    Field(max_length=MAX_WORDS, description="Words of the text, spelled as they are to be spoken."),
]


class DubSegmentChange(PatchRequest):
    """What to set for a line. Null returns to what is automatic; a field that is absent stays as it is."""

    id: LineId
    text: Annotated[
        str | None,
        Field(min_length=1, max_length=MAX_TEXT, description="What the line says, instead of the translation."),
    ] = None
    voice: Annotated[
        str | None,
        Field(min_length=1, max_length=64, description="The id of a stock voice that speaks the language of the dub."),
    ] = None
    speed: Speed | None = None
    start_offset: StartOffset | None = None
    gain_db: Gain | None = None
    keep_original: Annotated[bool | None, Field(description="Plays the original sound instead of a voice.")] = None
    mute: Annotated[bool | None, Field(description="Leaves out the line, so that only the background is heard.")] = None
    pronunciation: Pronunciation | None = None
    take: Annotated[
        str | None,
        Field(min_length=1, max_length=64, description="The id of a take: a regeneration uses exactly its audio."),
    ] = None

    @model_validator(mode="after")
    def _require_a_value(self) -> "DubSegmentChange":
        if self.model_fields_set <= {"id"}:
            raise ValueError("Send at least one field to change.")
        return self

    def to_change(self) -> LineChange:
        return LineChange(self.id, {name: value for name, value in changes_of(self).items() if name != "id"})


class DubSegmentsPatch(ClosedModel):
    """Changes of lines, made all or none."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"revision": 1, "changes": [{"id": "l1f0c9a8b7d6e5f43", "text": "Bom dia!", "gainDb": -3}]}]
        }
    )

    revision: Revision
    changes: Annotated[list[DubSegmentChange], Field(min_length=1, max_length=MAX_CHANGES)]

    @model_validator(mode="after")
    def _require_unique_ids(self) -> "DubSegmentsPatch":
        unique([each.id for each in self.changes])
        return self


class DubRegenerationRequest(PricedRequest):
    """Which lines to make again."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"revision": 1}]})

    revision: Revision
    transcript_revision: Annotated[
        Omittable[int],
        Field(
            ge=1,
            le=MAX_REVISION,
            description="The revision of the transcript. If there is a newer one, this is a conflict.",
        ),
    ] = None
    segment_ids: Annotated[
        Omittable[list[LineId]],
        Field(min_length=1, max_length=MAX_LINES, description="Ids of lines; by default, all stale lines."),
    ] = None


class DubSegmentEdits(ApiModel):
    """What people have set for a line."""

    text: Omittable[str] = None
    voice: Omittable[str] = None
    speed: Omittable[float] = None
    start_offset: Omittable[float] = None
    gain_db: Omittable[float] = None
    keep_original: Omittable[bool] = None
    mute: Omittable[bool] = None
    pronunciation: Omittable[dict[str, str]] = None
    take: Annotated[Omittable[str], Field(description="The chosen take, while the line says what it says.")] = None


class PublishedSpeech(ApiModel):
    """What the published audio says; times are in seconds."""

    text: str
    start: float
    duration: float
    tempo: Annotated[float, Field(description="How much the speech was sped up to fit its time.")]


class DubLineFit(ApiModel):
    """How much text fits: a text fits if its characters times `secondsPerCharacter` are at most `availableSeconds`."""

    available_seconds: Annotated[
        float, Field(description="From the start of the line to where the next one begins, or 3 s after its own end.")
    ]
    seconds_per_character: Annotated[
        float, Field(description="How long the voice takes for a character on average, at the speed of the line.")
    ]


class DubSegment(ApiModel):
    """A line of a dub: one or more segments of the transcript, spoken by one voice."""

    id: Annotated[str, Field(description="Stays the same in later versions of the dub.")]
    segment_ids: Annotated[list[str], Field(description="The segments of the transcript that it is made of.")]
    start: Annotated[float, Field(description="When the original line starts.")]
    end: Annotated[float, Field(description="When the original line ends.")]
    speaker: str
    source: Annotated[str, Field(description="What the original line says.")]
    text: Annotated[
        Omittable[str], Field(description="What the line says; omitted while it has yet to be translated.")
    ] = None
    voice: Annotated[
        Omittable[str], Field(description="The id of the stock voice, or `clone`; omitted until one is assigned.")
    ] = None
    edits: DubSegmentEdits
    published: Annotated[
        Omittable[PublishedSpeech], Field(description="Omitted if the published audio says nothing here.")
    ] = None
    fit: Annotated[Omittable[DubLineFit], Field(description="How much text fits; omitted if the line was removed.")] = (
        None
    )
    stale: Annotated[
        list[LineStaleReason], Field(description="Why the published audio is outdated; empty if it is not.")
    ]
    review: Annotated[
        bool, Field(description="Whether the original was changed after the text of the line was written.")
    ]


class LineRegenerationQuote(ApiModel):
    """What it costs to make stale lines again."""

    revision: int
    transcript_revision: int
    segment_ids: Annotated[list[str], Field(description="The lines that are made again.")]
    seconds: Annotated[float, Field(description="How long a voice has to speak, in the time of the original lines.")]
    credits: Annotated[float, Field(description="The exact price.")]
    estimated_seconds: Annotated[float, Field(description="About how long it takes.")]


class LineRegenerationJob(ApiModel):
    """The last regeneration."""

    id: str
    status: Literal["queued", "processing", "ready", "failed"]
    progress: Annotated[int, Field(description="In percent.")]
    error: Annotated[Omittable[dict[str, Any]], Field(description="Why it failed; it was not charged then.")] = None


class DubSegments(ApiModel):
    """The lines of a dub in the order of time, with what is outdated."""

    video_id: str
    language: str
    product: str
    revision: Annotated[int, Field(description="Of the edits; send it with a change.")]
    transcript_revision: Annotated[int, Field(description="Of the transcript that the lines are compared with.")]
    published_transcript_revision: Annotated[
        int, Field(description="Of the transcript that the published audio was made from.")
    ]
    segments: list[DubSegment]
    regeneration: Annotated[LineRegenerationQuote, Field(description="Of all stale lines.")]
    job: Omittable[LineRegenerationJob] = None


class DubSegmentsChange(ApiModel):
    """The changed lines, and what regenerating the dub costs now."""

    revision: int
    segments: list[DubSegment]
    regeneration: LineRegenerationQuote


class LineRegeneration(ApiModel):
    """A regeneration that was started; the published audio stays until it is ready."""

    video_id: str
    language: str
    product: str
    job: LineRegenerationJob
    quote: LineRegenerationQuote
    balance: float


class WordingsRequest(RequestModel):
    """The text to shorten."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": "Na verdade, nós vamos em seguida."}]})

    text: Annotated[
        Omittable[str],
        Field(min_length=1, max_length=MAX_TEXT, description="By default, what the line says."),
    ] = None


class LineWording(ApiModel):
    """A shorter wording."""

    text: str
    seconds: Annotated[float, Field(description="About how long the voice speaks.")]
    origin: Annotated[WordingOrigin, Field(description="Whether it was made with the dub, by rules, or by the model.")]


class ModelAnswer(StrEnum):
    """Whether wordings of a language model are among those of a response."""

    NONE = "none"  # no model is configured, or the caller may not start work
    PENDING = "pending"
    LATE = "late"  # it has not answered in time
    READY = "ready"
    FAILED = "failed"


class LineWordings(ApiModel):
    """Shorter wordings of a line that fit its time."""

    id: Annotated[
        Omittable[str], Field(description="Get the wordings by it while `model` is `pending`; omitted without a model.")
    ] = None
    segment_id: str
    text: Annotated[str, Field(description="The text that they shorten.")]
    seconds: Annotated[float, Field(description="About how long the voice speaks the text.")]
    fit: DubLineFit
    model: Annotated[
        ModelAnswer,
        Field(
            description="Whether the language model has answered: `none` if it was not asked, `late` if it takes more "
            "than 30 seconds. The other wordings are there in any case."
        ),
    ]
    wordings: Annotated[list[LineWording], Field(description="The longest one first; empty if there is none.")]
