"""Webhook endpoints on the wire."""

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field

from cutroom.web.schema import ApiModel, Uri
from cutroom.webhooks.rules import MAX_URL_LENGTH, Event, fault_in_url


def _acceptable(url: str) -> str:
    if fault := fault_in_url(url):
        raise ValueError(fault)
    return url


Destination = Annotated[
    str,
    AfterValidator(_acceptable),
    Field(
        description="A public HTTPS destination.",
        json_schema_extra={"format": "uri", "maxLength": MAX_URL_LENGTH, "pattern": "^https://"},
    ),
]


class NewWebhookEndpoint(ApiModel):
    """An endpoint to register."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"url": "https://hooks.example.com/cutroom"}]},
    )

    url: Destination


class WebhookEndpoint(ApiModel):
    """A registered destination of events."""

    id: str
    url: Uri
    events: list[Event] = Field(description="The events that are sent to it.")


class CreatedWebhookEndpoint(WebhookEndpoint):
    """A new endpoint, with the secret that is never shown again."""

    secret: str = Field(description="Signs every delivery; store it now.")


class WebhookEndpointList(ApiModel):
    """The library's endpoints."""

    webhook_endpoints: list[WebhookEndpoint]
