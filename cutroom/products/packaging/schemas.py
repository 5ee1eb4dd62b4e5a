"""Request and response bodies of packaging."""

from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field, model_validator

from cutroom.engines.writing.port import DescriptionKind, TitleStyle
from cutroom.jobs.ids import AutomationType
from cutroom.jobs.schemas import Job, JobError
from cutroom.products.packaging.rules import OverwriteMode
from cutroom.products.thumbnails.schemas import PROMPT_FIELDS, BrandVoiceId, ThumbnailBase
from cutroom.web.schema import ApiModel, Omittable, PricedRequest, RequestModel, Uri

MAX_PICKS = 10
OverwriteModeField = Annotated[
    OverwriteMode,
    Field(description="`fill-if-empty` writes only to empty fields, `always` replaces, `never` records a skip."),
]


class GenerateTitle(PricedRequest):
    """A title to generate."""

    enabled: bool
    title_type: TitleStyle
    overwrite_mode: OverwriteModeField = OverwriteMode.FILL


class GenerateDescription(PricedRequest):
    """A description to generate."""

    enabled: bool
    description_type: DescriptionKind
    overwrite_mode: OverwriteModeField = OverwriteMode.FILL
    brand_voice_id: Omittable[BrandVoiceId] = None


class ZeroPromptThumbnail(ThumbnailBase):
    """A thumbnail to render from the video."""

    sibling_fields: ClassVar = PROMPT_FIELDS

    enabled: bool


class AutomationOptions(PricedRequest):
    """Automations to run."""

    brand_voice_id: Annotated[
        Omittable[BrandVoiceId], Field(description="Default for the description and the thumbnail.")
    ] = None
    generate_title: Omittable[GenerateTitle] = None
    generate_description: Omittable[GenerateDescription] = None
    zero_prompt_thumbnail: Omittable[ZeroPromptThumbnail] = None


class NewPackaging(AutomationOptions):
    """Automations to run, under `automationOptions` or at the top level."""

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
        Field(description="Recommended instead of the top-level fields.", json_schema_extra={"minProperties": 1}),
    ] = None

    reservation_id: Annotated[
        Omittable[str], Field(description="The credit reservation to charge for the thumbnail.")
    ] = None

    @model_validator(mode="after")
    def _one_place(self) -> "NewPackaging":
        top_level = self.model_fields_set - {"automation_options", "reservation_id"}
        if self.automation_options is None and not top_level:
            raise ValueError("Send automationOptions with at least one automation.")
        if self.automation_options is not None:
            if not self.automation_options.model_fields_set:
                raise ValueError("automationOptions must not be empty.")
            if top_level:
                raise ValueError("Send the fields under automationOptions or directly, not both.")
        return self

    @property
    def options(self) -> AutomationOptions:
        return self.automation_options or self


class PackagingCreated(ApiModel):
    """Runs that were created, and those already pending."""

    registered: Annotated[bool, Field(description="Whether at least one new run was created.")]
    already_pending: list[AutomationType]
    jobs: Annotated[list[Job], Field(description="The new runs.")]


class DetectedImage(ApiModel):
    """Something detected in the video for a thumbnail."""

    id: str
    kind: Literal["character", "content"]
    url: Uri
    time: Annotated[Omittable[float], Field(description="Time in the video, in seconds.")] = None


class PackagedThumbnail(ApiModel):
    """The current thumbnail request of a video."""

    thumbnail_request_id: str
    output_image_urls: list[Uri]
    detected: Annotated[
        Omittable[list[DetectedImage]], Field(description="What was detected in the video, for review.")
    ] = None


class AutomationState(ApiModel):
    """The current state of a run."""

    type: AutomationType
    status: Literal["queued", "processing", "review", "ready", "skipped", "failed"]
    job_id: str
    overwrite_mode: Omittable[OverwriteMode] = None
    error: Omittable[JobError] = None


class PackagingState(ApiModel):
    """Packaging runs and results of a video."""

    video_id: str
    automations: list[AutomationState]
    title: Omittable[str] = None
    description: Omittable[str] = None
    thumbnail: Omittable[PackagedThumbnail] = None


class ReviewDecision(RequestModel):
    """A review decision on the detections."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"approved": True}]})

    approved: bool
    detected_ids: Annotated[
        Omittable[Annotated[list[str], Field(min_length=1, max_length=MAX_PICKS)]],
        Field(description="Which of them to use; all by default."),
    ] = None
