"""Downloads on the wire."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from cutroom.jobs.states import JobState
from cutroom.products.downloads.rules import Artifact, Tier
from cutroom.web.schema import ApiModel, LanguageCode, Omittable, Uri


class NewDownload(ApiModel):
    """What to prepare."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"artifact": "source"}]})

    artifact: Annotated[
        Artifact,
        Field(
            description="`language_video`: a video that speaks the language; `source`: what was sent in; "
            "`bundle`: an archive of all there is."
        ),
    ]
    language: Annotated[Omittable[LanguageCode], Field(description="Needed for `language_video`.")] = None


class DownloadAsked(ApiModel):
    """A download that is being prepared."""

    download_request_id: str
    job_id: str
    artifact: Artifact
    language: LanguageCode
    tier: Tier
    status: JobState


class Download(ApiModel):
    """A download as it stands. One that failed is told in the same shape."""

    id: str
    status: JobState
    tier: Tier
    truncated: Annotated[bool, Field(description="Whether only a sample is given.")]
    max_duration_seconds: Annotated[float | None, Field(description="How long a sample is at most; null when full.")]
    url: Annotated[Uri | None, Field(description="Where the file is, for an hour; null until it is ready.")]
    error: Annotated[dict[str, Any] | None, Field(description="Why it failed; null unless it did.")]
    job_id: str
