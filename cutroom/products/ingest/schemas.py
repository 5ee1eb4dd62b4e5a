"""Request and response models of POST /videos."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, ConfigDict, Discriminator, Field, Tag, field_validator, model_validator

from cutroom.credits.schemas import AcceptDraft
from cutroom.engines.writing.port import DescriptionKind, TitleStyle
from cutroom.jobs.ids import DubProduct
from cutroom.jobs.schemas import Job
from cutroom.library.schemas import State, Video
from cutroom.products.ingest.rules import (
    DEFAULT_FILE_NAME,
    SourceType,
    content_type_error,
    file_name_error,
    source_url_error,
)
from cutroom.products.thumbnails.schemas import PROMPT_FIELDS, ThumbnailBase
from cutroom.web.schema import ApiModel, Languages, Omittable, PricedRequest, RequestModel, Uri

MAX_DUB_RECIPES = 4


def _file_name(name: str) -> str:
    if error := file_name_error(name):
        raise ValueError(error)
    return name


def _content_type(value: str) -> str:
    if error := content_type_error(value):
        raise ValueError(error)
    return value


FileName = Annotated[str, Field(min_length=1, max_length=255), AfterValidator(_file_name)]
ContentType = Annotated[str, AfterValidator(_content_type)]


class UrlSource(PricedRequest):
    """A share link, a YouTube page, or a public media URL."""

    sibling_fields: ClassVar = frozenset({"fileName", "contentType"})

    type: Literal[SourceType.YOUTUBE, SourceType.DROPBOX, SourceType.GOOGLE_DRIVE, SourceType.HTTPS]
    url: Annotated[Uri, Field(description="Must belong to the provider in `type`.")]

    @model_validator(mode="after")
    def _validate_url(self) -> "UrlSource":
        if error := source_url_error(self.type, self.url):
            raise ValueError(error)
        return self


class UploadSource(PricedRequest):
    """A file the caller will upload."""

    sibling_fields: ClassVar = frozenset({"url"})

    type: Literal[SourceType.UPLOAD]
    file_name: FileName = DEFAULT_FILE_NAME
    content_type: Annotated[Omittable[ContentType], Field(description="`audio/*` imports the file as audio.")] = None


class DubRecipe(PricedRequest):
    """Dubs to create when the transcript is ready."""

    languages: Languages
    product: DubProduct = DubProduct.PLUS
    accept_draft: AcceptDraft = False


class ShortsRecipe(PricedRequest):
    """Shorts, a promo or clips to create when the transcript is ready."""

    kind: Literal["shorts", "promo", "clips"] = "shorts"
    num_clips: Omittable[Annotated[int, Field(ge=1, le=10)]] = None
    min_duration: Omittable[Annotated[float, Field(ge=15, le=180)]] = None
    max_duration: Omittable[Annotated[float, Field(ge=15, le=180)]] = None
    aspect_ratio: Omittable[Literal["9:16", "16:9", "1:1"]] = None
    caption_style: Omittable[
        Literal["default", "karaoke", "modern", "impact", "subtle", "highlight", "pro_highlight"]
    ] = None
    clip_selection_prompt: Omittable[Annotated[str, Field(max_length=2000)]] = None
    include_watermark: Annotated[bool, Field(description="Watermarked shorts cost less.")] = False

    @field_validator("num_clips", mode="before")
    @classmethod
    def _rounded(cls, value: Any) -> Any:  # noqa: ANN401 - any JSON value
        return round(value) if isinstance(value, float) and value == value and abs(value) < 1e6 else value  # noqa: PLR0124

    @model_validator(mode="after")
    def _consistent(self) -> "ShortsRecipe":
        if self.min_duration and self.max_duration and self.min_duration > self.max_duration:
            raise ValueError("minDuration is greater than maxDuration.")
        if self.kind == "promo" and self.aspect_ratio == "1:1":
            raise ValueError("A promo is 9:16 or 16:9.")
        return self


class TitleRecipe(PricedRequest):
    """A generated title that replaces the title of the source."""

    style: TitleStyle


class DescriptionRecipe(PricedRequest):
    """A generated description."""

    type: DescriptionKind


class ThumbnailRecipe(ThumbnailBase):
    """A thumbnail generated from the video."""

    sibling_fields: ClassVar = PROMPT_FIELDS

    enabled: bool = True


class PackagingRecipe(PricedRequest):
    """Title, description and thumbnail to generate; each is generated if present."""

    title: Omittable[TitleRecipe] = None
    description: Omittable[DescriptionRecipe] = None
    thumbnail: Omittable[
        Annotated[
            Annotated[Literal[True], Tag("default")] | Annotated[ThumbnailRecipe, Tag("options")],
            Discriminator(lambda value: "default" if isinstance(value, bool) else "options"),
        ]
    ] = None


class Recipes(PricedRequest):
    """Products that start when the transcript is ready."""

    dubs: Omittable[Annotated[list[DubRecipe], Field(max_length=MAX_DUB_RECIPES)]] = None
    shorts: Omittable[ShortsRecipe] = None
    packaging: Omittable[PackagingRecipe] = None


class NewVideo(PricedRequest):
    """A video to create."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"source": {"type": "upload", "fileName": "lens.mp4"}}]})

    source: Annotated[
        Annotated[UrlSource, Tag("url")] | Annotated[UploadSource, Tag("upload")], Field(discriminator="type")
    ]
    workspace_id: Annotated[Omittable[str], Field(description="The key's own workspace; may be left out.")] = None
    folder_id: Annotated[
        Omittable[Annotated[str, Field(min_length=1)]], Field(description="An existing folder of the library.")
    ] = None
    products: Omittable[Recipes] = None


class UploadInstructions(ApiModel):
    """How to upload the file."""

    storage_path: str
    session_path: str = Field(description="POST here for a session URL; relative to the version prefix.")


class CreatedVideo(ApiModel):
    """The created video and its jobs."""

    video_id: str
    status: State
    video: Omittable[Video] = None
    upload: Omittable[UploadInstructions] = None
    jobs: list[Job]


class NewUploadSession(RequestModel):
    """The file to upload."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"fileName": "lens.mp4", "contentType": "video/mp4"}]})

    file_name: FileName
    content_type: Omittable[ContentType] = None


class UploadSession(ApiModel):
    """A signed URL that starts a resumable upload; valid for 30 minutes."""

    url: Uri
    video_id: str
    storage_path: str
    job_id: str
