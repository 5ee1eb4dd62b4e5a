"""API schemas of the timeline of a job."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import ConfigDict, Field

from cutroom.jobs.ids import JobType
from cutroom.jobs.states import JobState
from cutroom.web.schema import ApiModel, Omittable


class TimelineKind(StrEnum):
    """What happened."""

    REQUESTED = "requested"
    CREDITS_HELD = "creditsHeld"
    QUEUED = "queued"  # what it depends on is ready
    STARTED = "started"
    STEP = "step"
    READY = "ready"
    FAILED = "failed"
    CANCELED = "canceled"
    CREDITS_CHARGED = "creditsCharged"
    CREDITS_RETURNED = "creditsReturned"
    DELIVERY = "delivery"  # an attempt to deliver its event to a webhook endpoint
    OUTPUT_DELETED = "outputDeleted"


class TimelineEntry(ApiModel):
    """One thing that happened to a job."""

    at: datetime
    kind: TimelineKind
    attempt: Annotated[int, Field(ge=1, description="Which run of the job, from 1: a failed job can be run again.")]
    text: Annotated[str, Field(description="What happened, in a sentence.")]
    duration_seconds: Annotated[
        Omittable[float], Field(ge=0, description="How long a step took, or a job waited before it started.")
    ] = None
    step: Annotated[Omittable[str], Field(description="The name of the step, as in the job's `stage`.")] = None
    retries: Annotated[Omittable[int], Field(ge=0, description="How often parts of the step were repeated.")] = None
    credits: Annotated[Omittable[float], Field(ge=0, description="Credits held, charged or returned.")] = None
    code: Annotated[Omittable[str], Field(description="The error code of a failure.")] = None
    event_id: Annotated[Omittable[str], Field(description="The delivered event.")] = None
    endpoint_id: Annotated[Omittable[str], Field(description="The webhook endpoint of a delivery.")] = None


class JobTimeline(ApiModel):
    """What happened to a job, oldest first."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "jobId": "import_01j9z3k4m5n6p7q8r9s0t1v2w3",
                    "type": "import",
                    "status": "ready",
                    "summary": "Ready after 14 s.",
                    "attempts": 1,
                    "charged": 0,
                    "entries": [
                        {
                            "at": "2026-05-04T12:03:00Z",
                            "kind": "requested",
                            "attempt": 1,
                            "text": "The import was requested.",
                        },
                        {
                            "at": "2026-05-04T12:03:02Z",
                            "kind": "started",
                            "attempt": 1,
                            "text": "It started after 2 s in the queue.",
                            "durationSeconds": 2,
                        },
                        {
                            "at": "2026-05-04T12:03:02Z",
                            "kind": "step",
                            "attempt": 1,
                            "text": "Encoding audio: 11 s, repeated once.",
                            "durationSeconds": 11,
                            "step": "encoding audio",
                            "retries": 1,
                        },
                        {"at": "2026-05-04T12:03:14Z", "kind": "ready", "attempt": 1, "text": "The import is ready."},
                    ],
                }
            ]
        }
    )

    job_id: str
    type: JobType
    status: JobState
    summary: Annotated[str, Field(description="The state of the job, how long it took and what it cost, in words.")]
    attempts: Annotated[int, Field(ge=1, description="How often the job has been run. The latest eleven are listed.")]
    charged: Annotated[float, Field(ge=0, description="Credits charged for the listed attempts.")]
    entries: list[TimelineEntry]
