"""API schemas of professional hosting."""

from typing import Annotated

from pydantic import ConfigDict, Field

from cutroom.products.hosting.rules import Provider, Reason, State
from cutroom.web.schema import ApiModel, Omittable, RequestModel


class NewHosting(RequestModel):
    """An empty request body."""

    model_config = ConfigDict(json_schema_extra={"examples": [{}]})


class Hosting(ApiModel):
    """Hosting status of a video."""

    video_id: str
    status: Annotated[
        State,
        Field(
            description="`inactive`: packaged by Cutroom; `queued`, `processing`: being sent to the hosting provider."
        ),
    ]
    can_activate: Annotated[
        bool, Field(description="Whether the plan allows hosting, a source file exists and a provider is configured.")
    ]
    packaging_provider: Provider
    reason: Annotated[
        Omittable[Reason],
        Field(description="Why hosting cannot be activated; present whenever `canActivate` is false."),
    ] = None
    message: Annotated[Omittable[str], Field(description="The reason in words.")] = None
