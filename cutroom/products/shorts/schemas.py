"""API schemas of shorts, promos and clips."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, ConfigDict, Discriminator, Field, Tag, model_validator

from cutroom.credits.pricing import MAX_SHORTS
from cutroom.products.shorts.captions.safe_zones import CaptionPosition
from cutroom.products.shorts.captions.styles import CaptionStyle
from cutroom.products.shorts.rules import (
    MAX_LISTED_OUTPUTS,
    MAX_PROMPT,
    MAX_SECONDS,
    MIN_SECONDS,
    AspectRatio,
    ShortsKind,
)
from cutroom.web.schema import ApiModel, Omittable, PricedRequest, Uri

State = Literal["pending", "queued", "processing", "complete", "partial_failed", "failed"]


def _trimmed(text: str | None) -> str | None:
    return (text or "").strip() or None


Prompt = Annotated[
    Omittable[Annotated[str, Field(max_length=MAX_PROMPT)]],
    AfterValidator(_trimmed),
    Field(description="What the chosen moments should be about."),
]
Seconds = Annotated[float, Field(ge=MIN_SECONDS, le=MAX_SECONDS)]
CaptionStyleField = Annotated[CaptionStyle, Field(description="Style of the burned-in captions.")]
CaptionPositionField = Annotated[CaptionPosition, Field(description="Position of the captions, which avoid faces.")]
ReservationId = Annotated[Omittable[str], Field(description="A reservation to charge.")]


class NewShorts(PricedRequest):
    """Short clips of the best moments."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"kind": "shorts", "numClips": 3, "captionStyle": "karaoke"}]}
    )

    sibling_fields: ClassVar = frozenset({"includeSoundtrack", "includeGeneratedThumbnail"})

    kind: Literal[ShortsKind.SHORTS] = ShortsKind.SHORTS
    num_clips: Annotated[int, Field(ge=1, le=MAX_SHORTS)] = 3
    min_duration: Seconds = MIN_SECONDS
    max_duration: Seconds = MAX_SECONDS
    aspect_ratio: AspectRatio = AspectRatio.PORTRAIT
    caption_style: CaptionStyleField = CaptionStyle.DEFAULT
    caption_position: CaptionPositionField = CaptionPosition.BOTTOM
    clip_selection_prompt: Prompt = None
    include_watermark: Annotated[bool, Field(description="Watermarked shorts cost less.")] = False
    reservation_id: ReservationId = None

    @model_validator(mode="after")
    def _consistent(self) -> "NewShorts":
        if self.min_duration > self.max_duration:
            raise ValueError("minDuration is greater than maxDuration.")
        return self


class NewPromo(PricedRequest):
    """One edit of 45 to 60 seconds, made of several moments."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"kind": "promo", "includeSoundtrack": True}]})

    sibling_fields: ClassVar = frozenset(
        {"numClips", "minDuration", "maxDuration", "includeWatermark", "includeGeneratedThumbnail"}
    )

    kind: Literal[ShortsKind.PROMO]
    aspect_ratio: Annotated[
        Literal[AspectRatio.PORTRAIT, AspectRatio.LANDSCAPE], Field(description="`9:16` or `16:9`.")
    ] = AspectRatio.PORTRAIT
    caption_style: CaptionStyleField = CaptionStyle.DEFAULT
    caption_position: CaptionPositionField = CaptionPosition.BOTTOM
    clip_selection_prompt: Prompt = None
    include_soundtrack: Annotated[bool, Field(description="Adds background music.")] = False
    reservation_id: ReservationId = None


class NewClips(PricedRequest):
    """Landscape excerpts of 5 to 25 minutes."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"kind": "clips", "numClips": 2}]})

    sibling_fields: ClassVar = frozenset(
        {
            "minDuration",
            "maxDuration",
            "aspectRatio",
            "captionStyle",
            "captionPosition",
            "includeWatermark",
            "includeSoundtrack",
        }
    )

    kind: Literal[ShortsKind.CLIPS]
    num_clips: Annotated[int, Field(description="Clamped to 1 to 4.")] = 1
    clip_selection_prompt: Prompt = None
    include_generated_thumbnail: Annotated[bool, Field(description="Generates a thumbnail for each clip.")] = False
    reservation_id: ReservationId = None


def _kind(body: Any) -> Any:  # noqa: ANN401 (whatever JSON gave)
    """The kind defaults to shorts."""
    kind = body.get("kind") if isinstance(body, dict) else getattr(body, "kind", None)
    return ShortsKind.SHORTS.value if kind is None else kind


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
    """An accepted request."""

    shorts_request_id: str
    job_id: str
    credits_spent: Annotated[float, Field(description="Credits held for it, or taken from its reservation.")]
    balance: float


class Output(ApiModel):
    """One short, promo or clip."""

    output_id: str
    type: ShortsKind
    video_url: Omittable[Uri] = None
    thumbnail_url: Omittable[Uri] = None
    duration: Omittable[float] = None
    title: Omittable[str] = None
    description: Omittable[str] = None


class ShortsRequest(ApiModel):
    """A request and its finished outputs."""

    shorts_request_id: str
    status: State
    clips_expected: int
    job_id: str
    outputs: Annotated[list[Output], Field(max_length=MAX_LISTED_OUTPUTS)]


class ShortsItem(ApiModel):
    """A request in a list."""

    id: str
    status: State
    output_type: ShortsKind
    job_id: str


class ShortsRequests(ApiModel):
    """Every request of a video, newest first."""

    requests: list[ShortsItem]
