"""Videos, folders, characters and brand voices on the wire."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints

from cutroom.library.rules import fault_in_name
from cutroom.web.schema import ApiModel, LanguageCode, Omittable, Uri

State = Literal["queued", "processing", "ready", "failed"]

_ID = "01j9z3k4m5n6p7q8r9s0t1v2w3"


class Progress(ApiModel):
    """How far one stage of ingest has come."""

    status: State
    language: Omittable[LanguageCode] = None


class Video(ApiModel):
    """A video or a piece of audio in a library."""

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
    status: State = Field(description="How far processing has come as a whole.")
    title: Omittable[str] = None
    description: Omittable[str] = None
    duration: Annotated[Omittable[float], Field(description="In seconds.")] = None
    poster_url: Omittable[Uri] = None
    provider: Annotated[Omittable[str], Field(description="Where the source came from.")] = None
    media_type: Omittable[Literal["video", "audio"]] = None
    default_language_code: Annotated[
        Omittable[LanguageCode], Field(description="The source's language, chosen or heard.")
    ] = None
    url: Annotated[Omittable[Uri], Field(description="Primary playback.")] = None
    url_multi: Annotated[Omittable[dict[str, Uri]], Field(description="Playback by language code.")] = None
    workspace_id: Annotated[Omittable[str], Field(description="Set when a workspace owns the video.")] = None
    folder_ids: Omittable[list[str]] = None
    created_at: Omittable[datetime] = None
    import_: Annotated[Omittable[Progress], Field(alias="import")] = None
    transcript: Omittable[Progress] = None


class VideoPage(ApiModel):
    """Videos, newest first."""

    videos: list[Video]
    next_page_token: Annotated[
        Omittable[str], Field(description="Send it as `pageToken` to go on; left out on the last page.")
    ] = None


def _acceptable(name: str) -> str:
    if fault := fault_in_name(name):
        raise ValueError(fault)
    return name


class NewFolder(ApiModel):
    """A folder to create."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "Interviews"}]},
    )

    name: Annotated[
        str,
        StringConstraints(strip_whitespace=True),
        AfterValidator(_acceptable),
        Field(description="`All Videos` is reserved.", json_schema_extra={"minLength": 1, "maxLength": 120}),
    ]
    parent_id: Annotated[
        Omittable[Annotated[str, Field(min_length=1)]], Field(description="An existing folder; left out for the root.")
    ] = None


class Folder(ApiModel):
    """A folder of the library; folders nest three levels deep."""

    id: str
    name: str
    parent_id: str | None = Field(description="null at the root.")
    path: list[str] = Field(description="Names from the root through this folder.")
    workspace_id: Omittable[str] = None


class FolderList(ApiModel):
    """All folders of the library."""

    folders: list[Folder]


class ReferenceImage(ApiModel):
    """A picture of a character."""

    id: str
    url: Uri = Field(description="Good for an hour.")


class Character(ApiModel):
    """A saved figure that thumbnails may show."""

    id: str
    name: str
    reference_images: list[ReferenceImage]
    created_at: datetime
    workspace_id: Omittable[str] = None


class CharacterList(ApiModel):
    """All characters of the library."""

    characters: list[Character]


class BrandVoice(ApiModel):
    """Branding guidelines for thumbnails and descriptions; not a voice one can hear."""

    id: str
    name: str
    guidelines: str
    colors: Omittable[list[str]] = None
    created_at: datetime
    workspace_id: Omittable[str] = None


class BrandVoiceList(ApiModel):
    """All brand voices of the library."""

    brand_voices: list[BrandVoice]
