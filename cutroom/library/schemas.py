"""API schemas of videos, folders, characters, brand voices and the library itself."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints

from cutroom.accounts.plans import PlanName
from cutroom.library.rules import folder_name_error
from cutroom.web.schema import ApiModel, LanguageCode, Omittable, RequestModel, Uri

State = Literal["queued", "processing", "ready", "failed"]

_ID = "01j9z3k4m5n6p7q8r9s0t1v2w3"


class Progress(ApiModel):
    """The status of one ingest stage."""

    status: State
    language: Omittable[LanguageCode] = None


class Video(ApiModel):
    """A video or audio file in a library."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": _ID,
                    "status": "ready",
                    "title": "How a lens sees",
                    "duration": 192.4,
                    "mediaType": "video",
                    "defaultLanguageCode": "en",
                    "createdAt": "2026-11-02T09:30:00Z",
                    "import": {"status": "ready"},
                    "transcript": {"status": "ready", "language": "en"},
                }
            ]
        },
    )

    id: str = Field(description="The video's id in the library.")
    status: State = Field(description="Overall processing status.")
    title: Omittable[str] = None
    description: Omittable[str] = None
    duration: Annotated[Omittable[float], Field(description="Duration in seconds.")] = None
    poster_url: Omittable[Uri] = None
    provider: Annotated[Omittable[str], Field(description="The provider of the source.")] = None
    media_type: Omittable[Literal["video", "audio"]] = None
    default_language_code: Annotated[
        Omittable[LanguageCode], Field(description="The language of the source, specified or detected.")
    ] = None
    url: Annotated[Omittable[Uri], Field(description="Playback URL.")] = None
    url_multi: Annotated[Omittable[dict[str, Uri]], Field(description="Playback URLs by language code.")] = None
    workspace_id: Annotated[Omittable[str], Field(description="The workspace that owns the video, if any.")] = None
    folder_ids: Omittable[list[str]] = None
    created_at: Omittable[datetime] = None
    import_: Annotated[Omittable[Progress], Field(alias="import")] = None
    transcript: Omittable[Progress] = None


class VideoPage(ApiModel):
    """Videos, newest first."""

    videos: list[Video]
    next_page_token: Annotated[
        Omittable[str], Field(description="Pass it as `pageToken` for the next page; omitted on the last page.")
    ] = None


def _validate_name(name: str) -> str:
    if problem := folder_name_error(name):
        raise ValueError(problem)
    return name


class NewFolder(RequestModel):
    """A folder to create."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "Interviews"}]},
    )

    name: Annotated[
        str,
        StringConstraints(strip_whitespace=True),
        AfterValidator(_validate_name),
        Field(description="`All Videos` is reserved.", json_schema_extra={"minLength": 1, "maxLength": 120}),
    ]
    parent_id: Annotated[
        Omittable[Annotated[str, Field(min_length=1)]], Field(description="The parent folder; omit for the root.")
    ] = None


class Folder(ApiModel):
    """A folder. Folders nest up to three levels deep."""

    id: str
    name: str
    parent_id: str | None = Field(description="null at the root.")
    path: list[str] = Field(description="Names from the root through this folder.")
    workspace_id: Omittable[str] = None


class FolderList(ApiModel):
    """All folders of the library."""

    folders: list[Folder]


class ReferenceImage(ApiModel):
    """A reference image of a character."""

    id: str
    url: Uri = Field(description="Signed URL, valid for one hour.")


class Character(ApiModel):
    """A saved character that thumbnails can show."""

    id: str
    name: str
    reference_images: list[ReferenceImage]
    created_at: datetime
    workspace_id: Omittable[str] = None


class CharacterList(ApiModel):
    """All characters of the library."""

    characters: list[Character]


class BrandVoice(ApiModel):
    """Branding guidelines for thumbnails and descriptions. Not an audio voice."""

    id: str
    name: str
    guidelines: str
    colors: Omittable[list[str]] = None
    created_at: datetime
    workspace_id: Omittable[str] = None


class BrandVoiceList(ApiModel):
    """All brand voices of the library."""

    brand_voices: list[BrandVoice]


class PlanLimits(ApiModel):
    """What the plan allows. The first three apply to each API key."""

    requests_per_minute: int
    concurrent_requests: int
    unfinished_jobs: int
    speech: Annotated[bool, Field(description="Whether the speech operations can be used.")]
    hosting: Annotated[bool, Field(description="Whether professional hosting can be activated.")]
    downloads: Annotated[
        Literal["full", "sample", "none"], Field(description="`sample` downloads hold the first minute.")
    ]


class LibraryUsage(ApiModel):
    """What the library uses."""

    storage_bytes: Annotated[int, Field(ge=0, description="Size of the original files.")]
    imported_minutes: Annotated[float, Field(ge=0, description="Duration of all imported media.")]
    processed_minutes: Annotated[
        float,
        Field(ge=0, description="Media in finished transcripts, captions and dubs; each language counts."),
    ]
    unfinished_jobs: Annotated[int, Field(ge=0, description="Of the API key that sends the request.")]


class LibraryCredits(ApiModel):
    """The library's credits."""

    balance: Annotated[float, Field(description="Credits that can be spent, without those in escrow.")]
    in_escrow: Annotated[float, Field(description="Held for jobs and reservations.")]
    usage_billing_active: Annotated[bool, Field(description="Whether the balance may go below zero.")]
    overdraft: Annotated[float, Field(description="How far the balance may go below zero.")]


class LibrarySummary(ApiModel):
    """The library of the API key: its plan, limits and use."""

    id: str
    name: str
    kind: Literal["personal", "workspace"]
    workspace_id: Omittable[str] = None
    plan: PlanName
    suspended: bool
    limits: PlanLimits
    usage: LibraryUsage
    credits: LibraryCredits
