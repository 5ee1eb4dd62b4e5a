"""Jobs on the wire."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from cutroom.jobs.ids import AutomationType, DubProduct, JobType
from cutroom.jobs.states import JobState
from cutroom.web.schema import ApiModel, LanguageCode, Omittable

Percent = Annotated[int, Field(ge=0, le=100)]


class JobError(ApiModel):
    """Why a job failed."""

    code: str = Field(description="What to branch on.")
    message: str = Field(description="A sentence for a person.")
    details: dict[str, Any] = Field(default_factory=dict)


class Job(ApiModel):
    """A piece of work that can be asked about by an id which follows from what it is about."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": "import_01j9z3k4m5n6p7q8r9s0t1v2w3",
                    "type": "import",
                    "status": "processing",
                    "videoId": "01j9z3k4m5n6p7q8r9s0t1v2w3",
                    "progress": 40,
                    "stage": "reading",
                }
            ]
        }
    )

    id: str
    type: JobType
    status: JobState
    video_id: Annotated[Omittable[str], Field(description="The video it works on.")] = None
    language: Annotated[Omittable[LanguageCode], Field(description="The target language of a dub or of captions.")] = (
        None
    )
    product: Annotated[Omittable[DubProduct], Field(description="How a dub's voices are made.")] = None
    automation_type: Annotated[Omittable[AutomationType], Field(description="What a packaging job writes.")] = None
    progress: Annotated[Omittable[Percent], Field(description="While it is processing.")] = None
    stage: Annotated[Omittable[str], Field(description="What it is doing, while it is processing.")] = None
    result: Annotated[Omittable[dict[str, Any]], Field(description="What it made, once it is ready.")] = None
    error: Annotated[Omittable[JobError], Field(description="Why it failed, once it has.")] = None


class JobList(ApiModel):
    """A video's jobs, newest first."""

    jobs: list[Job]
