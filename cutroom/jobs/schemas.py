"""API schemas of jobs."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from cutroom.jobs.ids import AutomationType, DubProduct, JobType
from cutroom.jobs.states import JobState
from cutroom.web.schema import ApiModel, LanguageCode, Omittable

Percent = Annotated[int, Field(ge=0, le=100)]


class JobError(ApiModel):
    """Why a job failed."""

    code: str = Field(description="Error code to branch on.")
    message: str = Field(description="Human-readable message.")
    details: dict[str, Any] = Field(default_factory=dict)


class Job(ApiModel):
    """An asynchronous task with a deterministic id."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": "import_01j9z3k4m5n6p7q8r9s0t1v2w3",
                    "type": "import",
                    "status": "processing",
                    "videoId": "01j9z3k4m5n6p7q8r9s0t1v2w3",
                    "progress": 40,
                    "stage": "encoding audio",
                    "estimatedReadyAt": "2026-05-04T12:03:25Z",
                }
            ]
        }
    )

    id: str
    type: JobType
    status: JobState
    video_id: Annotated[Omittable[str], Field(description="The video the job belongs to.")] = None
    language: Annotated[Omittable[LanguageCode], Field(description="The target language of a dub or of captions.")] = (
        None
    )
    product: Annotated[Omittable[DubProduct], Field(description="The quality tier of a dub.")] = None
    automation_type: Annotated[Omittable[AutomationType], Field(description="The output of a packaging job.")] = None
    progress: Annotated[
        Omittable[Percent],
        Field(description="Whole percent, which never decreases; present while the job is processing."),
    ] = None
    stage: Annotated[Omittable[str], Field(description="The current step; present while the job is processing.")] = None
    estimated_ready_at: Annotated[
        Omittable[datetime],
        Field(
            description="When the job will probably be ready, estimated from its progress and from earlier jobs. "
            "Present while the job is processing, once there is something to go by; absent while it waits for a person."
        ),
    ] = None
    result: Annotated[Omittable[dict[str, Any]], Field(description="The job's output; present once it is ready.")] = (
        None
    )
    output_deleted_at: Annotated[
        Omittable[datetime],
        Field(
            description="When the output was deleted. The result then holds only the receipt, and requesting the same "
            "product again runs the job again, at its price."
        ),
    ] = None
    error: Annotated[Omittable[JobError], Field(description="Why the job failed; present once it has failed.")] = None


class JobList(ApiModel):
    """The jobs of a video, newest first."""

    jobs: list[Job]
