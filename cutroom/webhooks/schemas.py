"""API schemas of webhook endpoints."""

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field

from cutroom.events.rules import EventType
from cutroom.web.schema import ApiModel, Omittable, PatchRequest, RequestModel, Unique, Uri
from cutroom.webhooks.rules import MAX_URL_LENGTH, url_error


def _validate_url(url: str) -> str:
    if problem := url_error(url):
        raise ValueError(problem)
    return url


Destination = Annotated[
    str,
    AfterValidator(_validate_url),
    Field(
        description="A public HTTPS URL.",
        json_schema_extra={"format": "uri", "maxLength": MAX_URL_LENGTH, "pattern": "^https://"},
    ),
]


class NewWebhookEndpoint(RequestModel):
    """An endpoint to register."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"url": "https://hooks.example.com/cutroom"}]},
    )

    url: Destination


class WebhookEndpointPatch(PatchRequest):
    """Changes to an endpoint."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"events": ["job.ready", "job.failed"], "enabled": True}]},
    )

    url: Destination = ""
    events: Annotated[
        list[EventType], Field(min_length=1, description="The event types to send to this endpoint."), Unique()
    ] = Field(default_factory=list)
    enabled: Annotated[bool, Field(description="false stops deliveries, true resumes them with later events.")] = True


class WebhookEndpoint(ApiModel):
    """A registered webhook endpoint."""

    id: str
    url: Uri
    events: list[EventType] = Field(description="The event types sent to this endpoint.")
    enabled: bool = Field(description="Whether events are sent. A 410 response disables an endpoint.")
    disabled_reason: Annotated[Omittable[str], Field(description="Why the endpoint is disabled.")] = None


class CreatedWebhookEndpoint(WebhookEndpoint):
    """A new endpoint with its signing secret, which is not shown again."""

    secret: str = Field(description="Used to sign deliveries. Store it; it is not shown again.")


class WebhookEndpointList(ApiModel):
    """The webhook endpoints of the library."""

    webhook_endpoints: list[WebhookEndpoint]
