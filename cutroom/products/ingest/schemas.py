"""What POST /videos takes and gives."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, Tag, field_validator, model_validator

from cutroom.engines.writing.port import DescriptionKind, TitleStyle
from cutroom.jobs.ids import DubProduct
from cutroom.jobs.schemas import Job
from cutroom.library.schemas import State, Video
from cutroom.products.ingest.rules import (
    DEFAULT_FILE_NAME,
    SourceType,
    fault_in_content_type,
    fault_in_file_name,
    fault_in_source,
)
from cutroom.products.thumbnails.schemas import ThumbnailBase
from cutroom.web.schema import ApiModel, Languages, Omittable, Uri

MAX_DUB_RECIPES = 4


def _file_name(name: str) -> str:
    if fault := fault_in_file_name(name):
        raise ValueError(fault)
    return name


def _content_type(value: str) -> str:
    if fault := fault_in_content_type(value):
        raise ValueError(fault)
    return value


FileName = Annotated[str, Field(min_length=1, max_length=255), AfterValidator(_file_name)]
ContentType = Annotated[str, AfterValidator(_content_type)]


class UrlSource(ApiModel):
    """A share link, a watch page, or media that anybody can fetch."""

    type: Literal[SourceType.YOUTUBE, SourceType.DROPBOX, SourceType.GOOGLE_DRIVE, SourceType.HTTPS]
    url: Annotated[Uri, Field(description="Must belong to the provider in `type`.")]

    @model_validator(mode="after")
    def _belongs_to_its_provider(self) -> "UrlSource":
        if fault := fault_in_source(self.type, self.url):
            raise ValueError(fault)
        return self


class UploadSource(ApiModel):
    """A file that the caller will send."""

    type: Literal[SourceType.UPLOAD]
    file_name: FileName = DEFAULT_FILE_NAME
    content_type: Annotated[Omittable[ContentType], Field(description="`audio/*` selects the audio lane.")] = None


class DubRecipe(ApiModel):
    """Dubs to make once there is a transcript."""

    languages: Languages
    product: DubProduct = DubProduct.PLUS


class ShortsRecipe(ApiModel):
    """Shorts, a promo or clips to make once there is a transcript."""

    kind: Literal["shorts", "promo", "clips"] = "shorts"
    num_clips: Omittable[Annotated[int, Field(ge=1, le=10)]] = None
    min_duration: Omittable[Annotated[float, Field(ge=15, le=180)]] = None
    max_duration: Omittable[Annotated[float, Field(ge=15, le=180)]] = None
    aspect_ratio: Omittable[Literal["9:16", "16:9", "1:1"]] = None
    caption_style: Omittable[
        Literal["default", "karaoke", "modern", "impact", "subtle", "highlight", "pro_highlight"]
    ] = None
    clip_selection_prompt: Omittable[Annotated[str, Field(max_length=2000)]] = None

    @field_validator("num_clips", mode="before")
    @classmethod
    def _rounded(cls, value: Any) -> Any:  # noqa: ANN401 (whatever JSON gave)
        return round(value) if isinstance(value, float) and value == value and abs(value) < 1e6 else value  # noqa: PLR0124

    @model_validator(mode="after")
    def _consistent(self) -> "ShortsRecipe":
        if self.min_duration and self.max_duration and self.min_duration > self.max_duration:
            raise ValueError("minDuration is greater than maxDuration.")
        if self.kind == "promo" and self.aspect_ratio == "1:1":
            raise ValueError("A promo is 9:16 or 16:9.")
        return self


class TitleRecipe(ApiModel):
    """A title to write, in place of one that came with the source."""

    style: TitleStyle


class DescriptionRecipe(ApiModel):
    """A description to write."""

    type: DescriptionKind


class ThumbnailRecipe(ThumbnailBase):
    """A thumbnail to draw out of the film."""

    enabled: bool = True


class PackagingRecipe(ApiModel):
    """What to write and draw; presence of a field asks for it."""

    title: Omittable[TitleRecipe] = None
    description: Omittable[DescriptionRecipe] = None
    thumbnail: Omittable[Literal[True] | ThumbnailRecipe] = None


class Recipes(ApiModel):
    """Products that are staged now and start when what they need is ready."""

    dubs: Omittable[Annotated[list[DubRecipe], Field(max_length=MAX_DUB_RECIPES)]] = None
    shorts: Omittable[ShortsRecipe] = None
    packaging: Omittable[PackagingRecipe] = None


class NewVideo(ApiModel):
    """A video to put into the library."""

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
    """Where an upload goes."""

    storage_path: str
    session_path: str = Field(description="POST here for a session URL; relative to the version prefix.")


class CreatedVideo(ApiModel):
    """A video that is on its way in."""

    video_id: str
    status: State
    video: Omittable[Video] = None
    upload: Omittable[UploadInstructions] = None
    jobs: list[Job]


class NewUploadSession(ApiModel):
    """The file that is about to be sent."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"fileName": "lens.mp4", "contentType": "video/mp4"}]})

    file_name: FileName
    content_type: Omittable[ContentType] = None


class UploadSession(ApiModel):
    """A signed URL that starts a resumable upload; good for 30 minutes."""

    url: Uri
    video_id: str
    storage_path: str
    job_id: str
