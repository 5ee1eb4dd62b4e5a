"""JSON bodies of the retention policy."""

from datetime import datetime
from typing import Annotated

from pydantic import ConfigDict, Field

from cutroom.retention.policy.rules import MAX_DAYS, MIN_DAYS
from cutroom.web.schema import ApiModel, Omittable, PatchRequest

Days = Annotated[int, Field(ge=MIN_DAYS, le=MAX_DAYS)]


class RetentionPolicy(ApiModel):
    """How long the library keeps what it stores."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"originalsDays": 365, "intermediatesDays": 30, "outputsDays": 730}]},
    )

    originals_days: Annotated[
        Days | None, Field(description="Days to keep original files, from the import; null keeps them for ever.")
    ]
    intermediates_days: Annotated[
        Days | None, Field(description="Days to keep what is made again from the original when it is needed.")
    ]
    outputs_days: Annotated[
        Days | None, Field(description="Days to keep dubs, shorts and streams of a video after the last change of any.")
    ]


class RetentionPolicyPatch(PatchRequest):
    """Changes to the retention policy; null keeps a kind for ever."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"originalsDays": 365}]})

    originals_days: Days | None = None
    intermediates_days: Days | None = None
    outputs_days: Days | None = None


class StoredAmount(ApiModel):
    """A number of objects with their size."""

    objects: Annotated[int, Field(ge=0)] = 0
    bytes: Annotated[int, Field(ge=0)] = 0


class VideoAmount(ApiModel):
    """What is deleted of one video."""

    video_id: str
    title: Omittable[str] = None
    originals_bytes: Annotated[int, Field(ge=0)]
    intermediates_bytes: Annotated[int, Field(ge=0)]
    outputs_bytes: Annotated[int, Field(ge=0)]


class RetentionAmounts(ApiModel):
    """What is deleted by kind, and the videos that it frees the most space of."""

    originals: StoredAmount
    intermediates: StoredAmount
    outputs: StoredAmount
    videos: Annotated[list[VideoAmount], Field(description="Largest first, at most 20.")]


class RetentionPreview(RetentionAmounts):
    """What the policy would delete now."""

    measured_at: Annotated[
        Omittable[datetime], Field(description="The scan that this is computed from; absent before the first one.")
    ] = None


class RetentionReport(RetentionAmounts):
    """What the last daily run that deleted something has deleted."""

    run_at: Annotated[Omittable[datetime], Field(description="Absent if nothing has been deleted yet.")] = None
