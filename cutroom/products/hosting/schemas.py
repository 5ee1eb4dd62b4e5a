"""Professional hosting on the wire."""

from typing import Annotated

from pydantic import ConfigDict, Field

from cutroom.products.hosting.rules import Provider, Reason, State
from cutroom.web.schema import ApiModel, Omittable


class NewHosting(ApiModel):
    """Nothing has to be said."""

    model_config = ConfigDict(json_schema_extra={"examples": [{}]})


class Hosting(ApiModel):
    """How a video's hosting stands."""

    video_id: str
    status: Annotated[
        State, Field(description="`inactive`: packaged by ourselves; `queued`, `processing`: on its way to the host.")
    ]
    can_activate: Annotated[bool, Field(description="Whether the plan allows it and there is a file to send.")]
    packaging_provider: Provider
    reason: Annotated[Omittable[Reason], Field(description="Why it cannot be activated, while it is inactive.")] = None
