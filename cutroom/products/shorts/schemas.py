"""Shorts, promos and clips on the wire."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Discriminator, Field, Tag, model_validator

from cutroom.products.shorts.captions.looks import Look
from cutroom.products.shorts.captions.zones import Position
from cutroom.products.shorts.rules import MAX_PROMPT, MAX_SECONDS, MAX_SHORTS, MAX_SHOWN, MIN_SECONDS, Aspect, Kind
from cutroom.web.schema import ApiModel, Omittable, Uri

State = Literal["pending", "queued", "processing", "complete", "partial_failed", "failed"]


def _trimmed(text: str | None) -> str | None:
    return (text or "").strip() or None


Prompt = Annotated[
    Omittable[Annotated[str, Field(max_length=MAX_PROMPT)]],
    AfterValidator(_trimmed),
    Field(description="What the chosen moments should be about."),
]
Seconds = Annotated[float, Field(ge=MIN_SECONDS, le=MAX_SECONDS)]
CaptionStyle = Annotated[Look, Field(description="How the burnt-in captions look.")]
CaptionPosition = Annotated[Position, Field(description="Where captions stand; they make room for faces.")]
ReservationId = Annotated[Omittable[str], Field(description="A reservation that pays.")]


class NewShorts(ApiModel):
    """Short clips of the best moments."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"kind": "shorts", "numClips": 3, "captionStyle": "karaoke"}]}
    )

    kind: Literal[Kind.SHORTS] = Kind.SHORTS
    num_clips: Annotated[int, Field(ge=1, le=MAX_SHORTS)] = 3
    min_duration: Seconds = MIN_SECONDS
    max_duration: Seconds = MAX_SECONDS
    aspect_ratio: Aspect = Aspect.PORTRAIT
    caption_style: CaptionStyle = Look.DEFAULT
    caption_position: CaptionPosition = Position.BOTTOM
    clip_selection_prompt: Prompt = None
    reservation_id: ReservationId = None

    @model_validator(mode="after")
    def _consistent(self) -> "NewShorts":
        if self.min_duration > self.max_duration:
            raise ValueError("minDuration is greater than maxDuration.")
        return self


class NewPromo(ApiModel):
    """One edit of 45 to 60 seconds, out of several moments."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"kind": "promo", "includeSoundtrack": True}]})

    kind: Literal[Kind.PROMO]
    aspect_ratio: Annotated[Literal[Aspect.PORTRAIT, Aspect.LANDSCAPE], Field(description="`9:16` or `16:9`.")] = (
        Aspect.PORTRAIT
    )
    caption_style: CaptionStyle = Look.DEFAULT
    caption_position: CaptionPosition = Position.BOTTOM
    clip_selection_prompt: Prompt = None
    include_soundtrack: Annotated[bool, Field(description="Music under what is said.")] = False
    reservation_id: ReservationId = None


class NewClips(ApiModel):
    """Landscape excerpts of 5 to 25 minutes."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"kind": "clips", "numClips": 2}]})

    kind: Literal[Kind.CLIPS]
    num_clips: Annotated[int, Field(description="Brought into 1 to 4.")] = 1
    clip_selection_prompt: Prompt = None
    include_generated_thumbnail: Annotated[bool, Field(description="A thumbnail made for each clip.")] = False
    reservation_id: ReservationId = None


def _kind(body: Any) -> Any:  # noqa: ANN401 (whatever JSON gave)
    """Whoever names no kind asks for shorts."""
    return body.get("kind", Kind.SHORTS.value) if isinstance(body, dict) else getattr(body, "kind", None)


NewRequest = Annotated[
    Annotated[NewShorts, Tag("shorts")] | Annotated[NewPromo, Tag("promo")] | Annotated[NewClips, Tag("clips")],
    Discriminator(
        _kind,
        custom_error_type="kind",
        custom_error_message="`kind` is `shorts`, `promo` or `clips`.",
        custom_error_context={"discriminator": "kind"},
    ),
]


class ShortsAsked(ApiModel):
    """A request that was taken on."""

    shorts_request_id: str
    job_id: str
    credits_spent: Annotated[float, Field(description="What is held for it now, or was taken from its reservation.")]
    balance: float


class Output(ApiModel):
    """One short, promo or clip."""

    output_id: str
    type: Kind
    video_url: Omittable[Uri] = None
    thumbnail_url: Omittable[Uri] = None
    duration: Omittable[float] = None
    title: Omittable[str] = None
    description: Omittable[str] = None


class ShortsRequest(ApiModel):
    """A request with what has been made so far."""

    shorts_request_id: str
    status: State
    clips_expected: int
    job_id: str
    outputs: Annotated[list[Output], Field(max_length=MAX_SHOWN)]


class ShortsItem(ApiModel):
    """A request in a list."""

    id: str
    status: State
    output_type: Kind
    job_id: str


class ShortsRequests(ApiModel):
    """Every request of a video, newest first."""

    requests: list[ShortsItem]
