"""API schemas of downloads."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from cutroom.jobs.states import JobState
from cutroom.products.downloads.rules import Artifact, Tier
from cutroom.web.schema import ApiModel, LanguageCode, Omittable, RequestModel, Uri


class NewDownload(RequestModel):
    """What to prepare."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"artifact": "source"}]})

    artifact: Annotated[
        Artifact,
        Field(
            description="`language_video`: a video with audio in the language; `source`: the original file; "
            "`bundle`: an archive of all files."
        ),
    ]
    language: Annotated[Omittable[LanguageCode], Field(description="Required for `language_video`.")] = None
    uncut: Annotated[
        bool, Field(description="Keep deleted words in a `language_video`, which leaves them out by default.")
    ] = False


class DownloadAsked(ApiModel):
    """A download that is being prepared."""

    download_request_id: str
    job_id: str
    artifact: Artifact
    language: LanguageCode
    tier: Tier
    status: JobState


class Download(ApiModel):
    """A download; failed ones have the same shape."""

    id: str
    status: JobState
    tier: Tier
    truncated: Annotated[bool, Field(description="Whether only a sample is provided.")]
    max_duration_seconds: Annotated[
        float | None, Field(description="Maximum length of a sample; null for the full tier.")
    ]
    url: Annotated[
        Uri | None, Field(description="URL of the file, valid for an hour and named after the title; null until ready.")
    ]
    error: Annotated[dict[str, Any] | None, Field(description="The error; null unless failed.")]
    job_id: str
