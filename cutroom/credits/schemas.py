"""API schemas of quotes and reservations. Amounts are credits; internally they are integer milli-credits."""

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, ValidationInfo, WithJsonSchema, field_validator, model_validator

from cutroom.credits.pricing import MAX_SHORTS, UNBUNDLED, Action
from cutroom.engines.translation.port import Quality
from cutroom.web.schema import (
    MAX_LANGUAGES,
    ApiModel,
    LanguageCode,
    Languages,
    Omittable,
    PricedRequest,
    Unique,
    unique,
)

MAX_BILLED_SECONDS = 10_000_000  # about four months
MAX_DUBS = 20
MAX_REFERENCE_PRODUCTS = 100

ActionKey = Annotated[
    Action, WithJsonSchema({"type": "string", "enum": [action.value for action in Action if action not in UNBUNDLED]})
]
AcceptDraft = Annotated[
    bool, Field(description="Accepts translations of `draft` quality in a library that refuses them otherwise.")
]
TranslationQuality = Annotated[
    Omittable[Quality],
    Field(description="The class of the translation; a `draft` has its own price. Omitted until it is known."),
]
NoneOrMoreLanguages = Annotated[list[LanguageCode], Field(max_length=MAX_LANGUAGES), Unique()]


class DubWork(PricedRequest):
    """Dubs into one or more languages, priced per minute and language."""

    product: Literal["plus", "premium"] = "plus"
    languages: Languages
    source_voiceover: Annotated[
        Literal["original", "optimized"], Field(description="The transcript to dub; does not change the price.")
    ] = "original"


class ShortsWork(PricedRequest):
    """Short clips, a promo, or long clips."""

    kind: Literal["shorts", "promo", "clips"]
    num_clips: Annotated[
        int, Field(ge=1, description="At most 10 shorts; a promo is one, and clips are at most 4.")
    ] = 1
    min_duration: Annotated[
        Omittable[Annotated[float, Field(ge=15, le=180)]],
        Field(description="The shortest short, in seconds; does not change the price."),
    ] = None
    include_watermark: Annotated[bool, Field(description="Watermarked clips cost less.")] = False
    is_subscriber: Annotated[bool, Field(description="Ignored; the discount depends on the library's plan.")] = False
    include_soundtrack: Annotated[bool, Field(description="Adds a soundtrack to a promo.")] = False
    include_generated_thumbnail: Annotated[bool, Field(description="Adds a thumbnail to each long clip.")] = False

    @field_validator("num_clips")
    @classmethod
    def _limit_shorts(cls, number: int, info: ValidationInfo) -> int:
        if info.data.get("kind") == "shorts" and number > MAX_SHORTS:
            raise ValueError(f"At most {MAX_SHORTS} shorts can be made at once.")
        return number


class ThumbnailWork(PricedRequest):
    """A thumbnail generated without a prompt."""

    enabled: Annotated[bool, Field(description="Priced only if `true`.")]
    reference_products: Annotated[
        list[str], Field(max_length=MAX_REFERENCE_PRODUCTS, description="One entry for each reference image.")
    ] = Field(default_factory=list)
    character_count: Annotated[int, Field(ge=0, le=3)] = 0
    translate_language_codes: NoneOrMoreLanguages = Field(default_factory=list)
    auto_detect_content_moments: bool = False


class CreditBundle(PricedRequest):
    """Products to price together."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"dubs": [{"product": "plus", "languages": ["pt-BR", "es"]}], "captionLanguageCodes": ["fr"]}]
        }
    )

    duration_seconds: Annotated[
        Omittable[Annotated[float, Field(gt=0, le=MAX_BILLED_SECONDS, allow_inf_nan=False)]],
        Field(description="The duration to bill; defaults to the video's duration."),
    ] = None
    dubs: Annotated[list[DubWork], Field(max_length=MAX_DUBS)] = Field(default_factory=list)
    caption_language_codes: NoneOrMoreLanguages = Field(default_factory=list)
    transcript_only: Annotated[bool, Field(description="A transcript only.")] = False
    shorts: Omittable[ShortsWork] = None
    zero_prompt_thumbnail: Omittable[ThumbnailWork] = None
    accept_draft: AcceptDraft = False

    @classmethod
    def of(cls, bundles: Iterable["CreditBundle"], *, duration_seconds: float | None = None) -> "CreditBundle":
        """One bundle of several products; of shorts and thumbnails, the first."""
        bundles = list(bundles)
        thumbnails = (bundle.zero_prompt_thumbnail for bundle in bundles)
        return cls(
            duration_seconds=duration_seconds,
            dubs=[work for bundle in bundles for work in bundle.dubs],
            caption_language_codes=[code for bundle in bundles for code in bundle.caption_language_codes],
            shorts=next((bundle.shorts for bundle in bundles if bundle.shorts is not None), None),
            zero_prompt_thumbnail=next((work for work in thumbnails if work is not None), None),
            accept_draft=any(bundle.accept_draft for bundle in bundles),
        )

    @model_validator(mode="after")
    def _reject_duplicate_dubs(self) -> "CreditBundle":
        unique([(dub.product, language) for dub in self.dubs for language in dub.languages])
        return self


class QuoteLine(ApiModel):
    """One priced item."""

    action_key: ActionKey
    product: str
    target_language_code: Omittable[LanguageCode] = None
    credits: float
    quality: TranslationQuality = None
    description: Omittable[str] = None


class Quote(ApiModel):
    """The exact price of a bundle, and whether the balance covers it."""

    total: float
    duration_seconds: Annotated[float, Field(description="The billed duration; 0 if it is unknown and not needed.")]
    pricing_version: Annotated[str, Field(description="The version of the price list.")]
    balance: Annotated[float, Field(description="The wallet balance, excluding credits in escrow.")]
    usage_billing_active: Annotated[
        bool, Field(description="Whether usage billing covers this bundle: the balance may then go below zero.")
    ]
    shortfall: Annotated[float, Field(description="The credits missing for this bundle; 0 with usage billing.")]
    sufficient: Annotated[bool, Field(description="Whether the bundle could be reserved now.")]
    breakdown: list[QuoteLine]


class ReservationLine(ApiModel):
    """A line in escrow, consumed by one product request."""

    line_item_id: str
    action_key: ActionKey
    product: str
    target_language_code: Omittable[LanguageCode] = None
    credits: float
    quality: TranslationQuality = None


class Reservation(ApiModel):
    """A bundle whose price is held in escrow. Unused credits return to the balance after 24 hours."""

    reservation_id: str
    total: float
    duration_seconds: float
    line_items: Annotated[list[ReservationLine], Field(min_length=1)]
