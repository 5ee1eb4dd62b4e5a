"""API schemas of videos, folders, characters, brand voices and the library itself."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints

from cutroom.accounts.plans import PlanName
from cutroom.library.rules import (
    MAX_COLORS,
    MAX_DESCRIPTION,
    MAX_FOLDER_NAME,
    MAX_GUIDELINES,
    MAX_LABEL,
    MAX_LABELS,
    MAX_NAME,
    MAX_TITLE,
    MAX_VIDEO_FOLDERS,
    folder_name_error,
    is_color,
)
from cutroom.web.schema import (
    ApiModel,
    LanguageCode,
    Omittable,
    PatchRequest,
    RequestModel,
    Unique,
    Uri,
)

State = Literal["queued", "processing", "ready", "failed"]
FolderId = Annotated[str, Field(min_length=1)]

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
    labels: Omittable[list[str]] = None
    created_at: Omittable[datetime] = None
    original_deleted_at: Annotated[
        Omittable[datetime],
        Field(description="When the retention policy of the library deleted the original file, if it has."),
    ] = None
    import_: Annotated[Omittable[Progress], Field(alias="import")] = None
    transcript: Omittable[Progress] = None


Label = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_LABEL)]


class VideoPatch(PatchRequest):
    """Changes to a video."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"title": "How a lens sees", "labels": ["optics", "season 2"]}]},
    )

    title: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_TITLE)] | None = None
    description: Annotated[str, StringConstraints(min_length=1, max_length=MAX_DESCRIPTION)] | None = None
    default_language_code: Annotated[
        LanguageCode | None, Field(description="null selects the detected language again.")
    ] = None
    folder_ids: Annotated[
        Annotated[list[FolderId], Field(max_length=MAX_VIDEO_FOLDERS), Unique()] | None,
        Field(description="Replaces all folders of the video."),
    ] = None
    labels: Annotated[
        Annotated[list[Label], Field(max_length=MAX_LABELS), Unique()] | None,
        Field(description="Replaces all labels of the video."),
    ] = None


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


FolderName = Annotated[
    str,
    StringConstraints(strip_whitespace=True),
    AfterValidator(_validate_name),
    Field(description="`All Videos` is reserved.", json_schema_extra={"minLength": 1, "maxLength": MAX_FOLDER_NAME}),
]


class NewFolder(RequestModel):
    """A folder to create."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "Interviews"}]},
    )

    name: FolderName
    parent_id: Annotated[Omittable[FolderId], Field(description="The parent folder; omit for the root.")] = None


class FolderPatch(PatchRequest):
    """Changes to a folder."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "Interviews"}]},
    )

    name: FolderName = ""
    parent_id: Annotated[FolderId | None, Field(description="The new parent; null moves the folder to the root.")] = (
        None
    )


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


Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_NAME)]


class Character(ApiModel):
    """A saved character that thumbnails can show."""

    id: str
    name: str
    reference_images: list[ReferenceImage]
    created_at: datetime
    workspace_id: Omittable[str] = None


class CharacterInput(ApiModel):
    """The editable fields of a character."""

    name: Name


class CharacterPatch(PatchRequest):
    """Changes to a character."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "Ada"}]},
    )

    name: Name = ""


class CharacterList(ApiModel):
    """All characters of the library."""

    characters: list[Character]


def _validate_color(code: str) -> str:
    if not is_color(code):
        raise ValueError(f"{code} is not a hex color such as #12ab9f.")
    return code.lower()


Guidelines = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_GUIDELINES)]
Color = Annotated[str, AfterValidator(_validate_color), Field(json_schema_extra={"pattern": "^#[0-9a-fA-F]{6}$"})]
Colors = Annotated[list[Color], Field(max_length=MAX_COLORS)]


class BrandVoiceInput(ApiModel):
    """The editable fields of a brand voice."""

    name: Name
    guidelines: Guidelines
    colors: Colors = Field(default_factory=list)


class BrandVoicePatch(PatchRequest):
    """Changes to a brand voice."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"guidelines": "Short sentences, no slang.", "colors": ["#12ab9f"]}]},
    )

    name: Name = ""
    guidelines: Guidelines = ""
    colors: Colors | None = None


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
    """What the plan allows. The first three apply to each API key, the others to the library."""

    requests_per_minute: int
    concurrent_requests: int
    unfinished_jobs: int
    library_requests_per_minute: int
    library_concurrent_requests: int
    library_free_work_per_day: Annotated[
        int, Field(description="Requests that start work which may cost nothing, such as imports and downloads.")
    ]
    library_failed_jobs_per_day: Annotated[
        int, Field(description="Jobs that may fail or be canceled; then no more can be created on that day (UTC).")
    ]
    library_waits: Annotated[int, Field(description="Long polls and event streams at once.")]
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


class Quota(ApiModel):
    """What the library may use and what it uses; `used` can exceed a limit that was lowered."""

    limit: Annotated[int, Field(ge=0)]
    used: Annotated[int, Field(ge=0)]


class LibraryQuotas(ApiModel):
    """Quotas of the library, for all its API keys together. A request beyond one returns 409 with `reason: quota`."""

    storage_bytes: Annotated[Quota, Field(description="Originals, and outputs as of the last daily scan.")]
    media_minutes: Annotated[Quota, Field(description="Media imported in this calendar month (UTC), in full minutes.")]
    unfinished_jobs: Annotated[Quota, Field(description="Jobs that are queued or processing.")]


class LibraryCredits(ApiModel):
    """The library's credits."""

    balance: Annotated[float, Field(description="Credits that can be spent, without those in escrow.")]
    in_escrow: Annotated[float, Field(description="Held for jobs and reservations.")]
    usage_billing_active: Annotated[bool, Field(description="Whether the balance may go below zero.")]
    overdraft: Annotated[float, Field(description="How far the balance may go below zero.")]


class StorageUsage(ApiModel):
    """What is stored for the library by kind, as of the last daily scan."""

    originals_bytes: Annotated[int, Field(ge=0, description="Size of the original files.")]
    intermediates_bytes: Annotated[int, Field(ge=0, description="What is made again from the originals when needed.")]
    outputs_bytes: Annotated[int, Field(ge=0, description="What requests have made, and what editing it needs.")]
    measured_at: Annotated[Omittable[datetime], Field(description="Absent before the first scan.")] = None


class LibrarySummary(ApiModel):
    """The library of the API key: its plan, limits and use."""

    id: str
    name: str
    kind: Literal["personal", "workspace"]
    workspace_id: Omittable[str] = None
    plan: PlanName
    suspended: bool
    limits: PlanLimits
    quotas: LibraryQuotas
    usage: LibraryUsage
    storage: StorageUsage
    credits: LibraryCredits
