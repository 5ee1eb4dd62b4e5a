"""Packaging on the wire."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, model_validator

from cutroom.engines.writing.port import DescriptionKind, TitleStyle
from cutroom.jobs.ids import AutomationType
from cutroom.jobs.schemas import Job, JobError
from cutroom.products.packaging.rules import Overwrite
from cutroom.products.thumbnails.schemas import BrandVoiceId, Pictured
from cutroom.web.schema import ApiModel, Omittable, Uri

MAX_PICKS = 10
OverwriteMode = Annotated[
    Overwrite,
    Field(description="`fill-if-empty` writes where nothing is, `always` replaces, `never` records that it skipped."),
]


class GenerateTitle(ApiModel):
    """A title to write."""

    enabled: bool
    title_type: TitleStyle
    overwrite_mode: OverwriteMode = Overwrite.FILL


class GenerateDescription(ApiModel):
    """A description to write."""

    enabled: bool
    description_type: DescriptionKind
    overwrite_mode: OverwriteMode = Overwrite.FILL
    brand_voice_id: Omittable[BrandVoiceId] = None


class ZeroPromptThumbnail(Pictured):
    """A thumbnail to draw out of the film."""

    enabled: bool


class AutomationOptions(ApiModel):
    """What to run."""

    brand_voice_id: Annotated[
        Omittable[BrandVoiceId], Field(description="For the description and the thumbnail, where they name none.")
    ] = None
    generate_title: Omittable[GenerateTitle] = None
    generate_description: Omittable[GenerateDescription] = None
    zero_prompt_thumbnail: Omittable[ZeroPromptThumbnail] = None


class NewPackaging(AutomationOptions):
    """What to run, under `automationOptions` or beside it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "automationOptions": {
                        "generateTitle": {"enabled": True, "titleType": "informational", "overwriteMode": "always"},
                        "generateDescription": {"enabled": True, "descriptionType": "youtube-description"},
                    }
                }
            ]
        }
    )

    automation_options: Annotated[
        Omittable[AutomationOptions],
        Field(description="The recommended place for the fields above.", json_schema_extra={"minProperties": 1}),
    ] = None

    @model_validator(mode="after")
    def _one_place(self) -> "NewPackaging":
        beside = self.model_fields_set - {"automation_options"}
        if self.automation_options is None and not beside:
            raise ValueError("Send automationOptions with at least one automation.")
        if self.automation_options is not None:
            if not self.automation_options.model_fields_set:
                raise ValueError("automationOptions must not be empty.")
            if beside:
                raise ValueError("Send the fields under automationOptions or directly, not both.")
        return self

    @property
    def options(self) -> AutomationOptions:
        return self.automation_options or self


class PackagingAsked(ApiModel):
    """What was begun, and what is still going on."""

    registered: Annotated[bool, Field(description="Whether at least one new run was created.")]
    already_pending: list[AutomationType]
    jobs: Annotated[list[Job], Field(description="The runs that are new.")]


class Detected(ApiModel):
    """Something that was found in the film for a thumbnail."""

    id: str
    kind: Literal["character", "content"]
    url: Uri
    time: Annotated[Omittable[float], Field(description="Where in the film, in seconds.")] = None


class PackagedThumbnail(ApiModel):
    """The thumbnail of packaging as it stands."""

    thumbnail_request_id: str
    output_image_urls: list[Uri]
    detected: Annotated[
        Omittable[list[Detected]], Field(description="What was found in the film, to be approved in a review.")
    ] = None


class Automation(ApiModel):
    """One run as it stands."""

    type: AutomationType
    status: Literal["queued", "processing", "review", "ready", "skipped", "failed"]
    job_id: str
    overwrite_mode: Omittable[Overwrite] = None
    error: Omittable[JobError] = None


class PackagingState(ApiModel):
    """What packaging has done for a video."""

    video_id: str
    automations: list[Automation]
    title: Omittable[str] = None
    description: Omittable[str] = None
    thumbnail: Omittable[PackagedThumbnail] = None


class Decision(ApiModel):
    """What somebody who looked at the detected pictures says."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"approved": True}]})

    approved: bool
    detected_ids: Annotated[
        Omittable[Annotated[list[str], Field(min_length=1, max_length=MAX_PICKS)]],
        Field(description="Which of them to use; all where left out."),
    ] = None
