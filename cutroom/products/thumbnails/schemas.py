"""Request and response bodies of thumbnails."""

from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field

from cutroom.engines.thumbnails.port import Pipeline
from cutroom.platform.egress.client import MAX_URL_LENGTH, url_error
from cutroom.products.thumbnails.rules import (
    MAX_BRAND_VOICE_ID,
    MAX_CHARACTERS,
    MAX_IMAGE_URLS,
    MAX_LISTED,
    MAX_OVERLAY,
    MAX_PLATES,
    MAX_REFERENCE_IDS,
    MAX_TEXT,
    ApprovalMode,
    ThumbnailMode,
)
from cutroom.web.schema import ApiModel, LanguageCode, Omittable, PricedRequest, Unique, Uri

Status = Literal["queued", "processing", "complete", "failed"]


def _fetchable(url: str) -> str:
    fault = url_error(url)
    if fault is not None:
        raise ValueError(fault)
    return url


ImageUrl = Annotated[Uri, Field(max_length=MAX_URL_LENGTH), AfterValidator(_fetchable)]
ShortText = Annotated[str, Field(max_length=MAX_OVERLAY)]
BrandVoiceId = Annotated[str, Field(max_length=MAX_BRAND_VOICE_ID)]
PROMPT_FIELDS = frozenset({"mode", "prompt"})  # not of thumbnails that are always made from the video
TranslationLanguages = Annotated[list[LanguageCode], Field(max_length=50), Unique()]


class CharacterReference(PricedRequest):
    """A character to show: a saved one, image URLs, or a description."""

    character_id: Annotated[Omittable[str], Field(description="A saved character of the library.")] = None
    reference_image_ids: Annotated[
        Omittable[Annotated[list[str], Field(max_length=MAX_REFERENCE_IDS)]],
        Field(description="Which of the character's images to use; all by default."),
    ] = None
    image_url: Omittable[ImageUrl] = None
    image_urls: Omittable[Annotated[list[ImageUrl], Field(max_length=MAX_IMAGE_URLS)]] = None
    name: Omittable[ShortText] = None
    position: Annotated[Omittable[ShortText], Field(description="Where in the image, such as `left`.")] = None
    action: Omittable[ShortText] = None


class ThumbnailBase(PricedRequest):
    """Fields shared by all thumbnail requests."""

    character_count: Annotated[
        Omittable[Annotated[int, Field(ge=0, le=MAX_CHARACTERS)]],
        Field(description="Must equal the number of `characters`; with detection, how many to look for."),
    ] = None
    characters: Annotated[
        Omittable[Annotated[list[CharacterReference], Field(max_length=MAX_CHARACTERS)]],
        Field(description="Creative only."),
    ] = None
    promote_to_primary: Annotated[bool, Field(description="Make the first image the video's poster.")] = False
    reference_schema_version: Annotated[Literal[1, 2], Field(description="2 for Precision.")] = 1
    pipeline_mode: Annotated[
        Pipeline, Field(description="`thumbnail-v2` is Creative, `thumbnail-precision` shows content plates.")
    ] = Pipeline.CREATIVE
    content_reference_image_url: Omittable[ImageUrl] = None
    content_reference_image_urls: Omittable[Annotated[list[ImageUrl], Field(min_length=1, max_length=MAX_PLATES)]] = (
        None
    )
    design_influence_image_url: Omittable[ImageUrl] = None
    style_reference_image_url: Omittable[ImageUrl] = None
    brand_reference_image_url: Omittable[ImageUrl] = None
    brand_influence: Annotated[
        Omittable[Annotated[float, Field(allow_inf_nan=False)]],
        Field(description="Weight of the brand image, 0 to 1; not with Precision."),
    ] = None
    auto_detect_characters: Annotated[bool, Field(description="Detect people in the video; Creative only.")] = False
    character_detect_approval_mode: ApprovalMode = ApprovalMode.AUTO
    auto_detect_content_references: Annotated[
        bool, Field(description="Detect content plates in the video; Precision only.")
    ] = False
    content_slot_count: Annotated[int, Field(ge=1, le=MAX_PLATES)] = 1
    content_detect_approval_mode: Annotated[
        ApprovalMode, Field(description="`review` waits for approval before rendering.")
    ] = ApprovalMode.AUTO
    content_detect_prompt: Omittable[Annotated[str, Field(max_length=MAX_TEXT)]] = None
    text_overlay: Annotated[
        Omittable[ShortText], Field(description="The headline; generated from the transcript by default.")
    ] = None
    omit_text_overlay: Annotated[bool, Field(description="Render no headline.")] = False
    auto_translate_thumbnail: bool = False
    thumbnail_translation_language_codes: Annotated[
        Omittable[TranslationLanguages], Field(description="Used with `autoTranslateThumbnail`.")
    ] = None
    brand_voice_id: Omittable[BrandVoiceId] = None


class NewThumbnail(ThumbnailBase):
    """A thumbnail from a prompt, or from the video itself."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"mode": "prompt", "prompt": 'Close-up of the lens with the words "See more"'}]}
    )

    mode: Annotated[
        Omittable[ThumbnailMode], Field(description="`prompt` by default; `zero_prompt` if a detection flag is set.")
    ] = None
    prompt: Annotated[
        Omittable[Annotated[str, Field(max_length=MAX_TEXT)]],
        Field(description="What to show; quoted text becomes the headline."),
    ] = None
    reservation_id: Annotated[
        Omittable[str], Field(description="The credit reservation to charge; not for thumbnails from a prompt.")
    ] = None


class ThumbnailCreated(ApiModel):
    """A thumbnail request that was accepted."""

    thumbnail_request_id: str
    job_id: str
    output_image_urls: Annotated[Omittable[list[Uri]], Field(description="Rendered so far; prompt mode only.")] = None
    balance: float


class DetectionQueued(ApiModel):
    """Detection in the video runs first; poll the packaging job."""

    job_id: str
    status: Literal["queued"] = "queued"
    registered: Annotated[bool, Field(description="Whether a new run was created.")]


class OutputImage(ApiModel):
    """A rendered image."""

    thumbnail_id: str
    url: Uri
    language: Annotated[Omittable[LanguageCode], Field(description="The language of a translation.")] = None


class ThumbnailRequest(ApiModel):
    """A request with the images rendered so far."""

    id: str
    status: Status
    output_image_urls: list[Uri]
    output_images: Annotated[list[OutputImage], Field(description="The same images in the same order, with their ids.")]
    job_id: str


class ThumbnailRequestList(ApiModel):
    """Requests of a video, newest first."""

    thumbnails: Annotated[list[ThumbnailRequest], Field(max_length=MAX_LISTED)]
