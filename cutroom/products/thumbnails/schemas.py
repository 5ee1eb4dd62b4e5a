"""Thumbnails on the wire."""

from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field

from cutroom.engines.thumbnails.port import Pipeline
from cutroom.platform.egress.client import MAX_URL_LENGTH, fault_in_url
from cutroom.products.thumbnails.rules import (
    MAX_BRAND_VOICE_ID,
    MAX_CHARACTERS,
    MAX_IMAGE_URLS,
    MAX_LISTED,
    MAX_OVERLAY,
    MAX_PLATES,
    MAX_REFERENCE_IDS,
    MAX_TEXT,
    Approval,
    Mode,
)
from cutroom.web.schema import ApiModel, LanguageCode, Omittable, Unique, Uri

Status = Literal["queued", "processing", "complete", "failed"]


def _fetchable(url: str) -> str:
    fault = fault_in_url(url)
    if fault is not None:
        raise ValueError(fault)
    return url


ImageUrl = Annotated[Uri, Field(max_length=MAX_URL_LENGTH), AfterValidator(_fetchable)]
ShortText = Annotated[str, Field(max_length=MAX_OVERLAY)]
BrandVoiceId = Annotated[str, Field(max_length=MAX_BRAND_VOICE_ID)]
TranslationLanguages = Annotated[list[LanguageCode], Field(max_length=50), Unique()]


class CharacterReference(ApiModel):
    """A figure to show: a saved character, pictures of somebody, or words about them."""

    character_id: Annotated[Omittable[str], Field(description="A saved character of the library.")] = None
    reference_image_ids: Annotated[
        Omittable[Annotated[list[str], Field(max_length=MAX_REFERENCE_IDS)]],
        Field(description="Which of the character's pictures; all where left out."),
    ] = None
    image_url: Omittable[ImageUrl] = None
    image_urls: Omittable[Annotated[list[ImageUrl], Field(max_length=MAX_IMAGE_URLS)]] = None
    name: Omittable[ShortText] = None
    position: Annotated[Omittable[ShortText], Field(description="Where in the picture, such as `left`.")] = None
    action: Omittable[ShortText] = None


class Pictured(ApiModel):
    """What thumbnails have in common, whoever asks for them."""

    character_count: Annotated[
        Omittable[Annotated[int, Field(ge=0, le=MAX_CHARACTERS)]],
        Field(description="As many as `characters`; with detection, how many to look for."),
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
        Field(description="How much of the brand picture shows, 0 to 1; not with Precision."),
    ] = None
    auto_detect_characters: Annotated[bool, Field(description="Find the people of the film; Creative only.")] = False
    character_detect_approval_mode: Approval = Approval.AUTO
    auto_detect_content_references: Annotated[
        bool, Field(description="Find content plates in the film; Precision only.")
    ] = False
    content_slot_count: Annotated[int, Field(ge=1, le=MAX_PLATES)] = 1
    content_detect_approval_mode: Annotated[
        Approval, Field(description="`review` waits for an approval before anything is drawn.")
    ] = Approval.AUTO
    content_detect_prompt: Omittable[Annotated[str, Field(max_length=MAX_TEXT)]] = None
    text_overlay: Annotated[
        Omittable[ShortText], Field(description="The headline; out of the transcript where left out.")
    ] = None
    omit_text_overlay: Annotated[bool, Field(description="No words in the picture.")] = False
    auto_translate_thumbnail: bool = False
    thumbnail_translation_language_codes: Annotated[
        Omittable[TranslationLanguages], Field(description="Counts with `autoTranslateThumbnail`.")
    ] = None
    brand_voice_id: Omittable[BrandVoiceId] = None


class NewThumbnail(Pictured):
    """A thumbnail by a prompt, or out of the film itself."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"mode": "prompt", "prompt": 'Close-up of the lens with the words "See more"'}]}
    )

    mode: Annotated[Omittable[Mode], Field(description="`prompt` unless a flag to detect something is set.")] = None
    prompt: Annotated[
        Omittable[Annotated[str, Field(max_length=MAX_TEXT)]],
        Field(description="What to show; words in quotation marks become the headline."),
    ] = None


class ThumbnailAsked(ApiModel):
    """A thumbnail that is being made."""

    thumbnail_request_id: str
    job_id: str
    output_image_urls: Annotated[Omittable[list[Uri]], Field(description="Made so far; with a prompt.")] = None
    balance: float


class DetectionQueued(ApiModel):
    """Something has to be found in the film first; poll the packaging job."""

    job_id: str
    status: Literal["queued"] = "queued"
    registered: Annotated[bool, Field(description="Whether this began a new run.")]


class ThumbnailRequest(ApiModel):
    """A request with the images made so far."""

    id: str
    status: Status
    output_image_urls: list[Uri]
    job_id: str


class ThumbnailRequests(ApiModel):
    """Requests of a video, newest first."""

    thumbnails: Annotated[list[ThumbnailRequest], Field(max_length=MAX_LISTED)]
