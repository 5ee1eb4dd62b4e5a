"""API schemas of webhook endpoints."""

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field

from cutroom.events.rules import DEFAULT_TYPES, EventType
from cutroom.web.schema import ApiModel, Instant, Omittable, PatchRequest, RequestModel, Unique, Uri
from cutroom.webhooks.rules import (
    MAX_RESPONSE_EXCERPT_BYTES,
    MAX_SECRET_OVERLAP_HOURS,
    MAX_URL_LENGTH,
    SECRET_OVERLAP_HOURS,
    DeliveryOutcome,
    DeliveryState,
    url_error,
)


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
    events: Annotated[
        list[EventType], Field(min_length=1, description="The event types to send to this endpoint."), Unique()
    ] = Field(default_factory=lambda: list(DEFAULT_TYPES))


class SecretRotation(RequestModel):
    """How to replace a signing secret."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"overlapHours": 24}]})

    overlap_hours: Annotated[
        int,
        Field(ge=0, le=MAX_SECRET_OVERLAP_HOURS, description="How long the previous secret signs deliveries too."),
    ] = SECRET_OVERLAP_HOURS


class DeliveryRecovery(RequestModel):
    """Which deliveries to start again."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"since": "2026-11-15T00:00:00Z"}]})

    since: Annotated[Instant, Field(description="Only events that happened at or after this time.")]


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
    enabled: bool = Field(
        description="Whether events are sent. A 410 response or days of failures disable an endpoint."
    )
    disabled_reason: Annotated[Omittable[str], Field(description="Why the endpoint is disabled.")] = None
    previous_secret_until: Annotated[
        Omittable[datetime], Field(description="Until then, deliveries are signed with the previous secret too.")
    ] = None


class CreatedWebhookEndpoint(WebhookEndpoint):
    """A new endpoint with its signing secret, which is not shown again."""

    secret: str = Field(description="Used to sign deliveries. Store it; it is not shown again.")


class WebhookEndpointList(ApiModel):
    """The webhook endpoints of the library."""

    webhook_endpoints: list[WebhookEndpoint]


class RotatedWebhookSecret(ApiModel):
    """A new signing secret, which is not shown again."""

    secret: str = Field(description="Used to sign deliveries. Store it; it is not shown again.")
    previous_secret_until: datetime = Field(description="Until then, the previous secret signs deliveries too.")


class DeliveryRequest(ApiModel):
    """The request of an attempt."""

    url: Uri
    headers: dict[str, str] = Field(description="The headers, without the signature.")


class DeliveryResponse(ApiModel):
    """The response to an attempt."""

    status: int
    body: Annotated[
        Omittable[str], Field(description=f"At most the first {MAX_RESPONSE_EXCERPT_BYTES:,} bytes, as text.")
    ] = None
    truncated: bool = Field(description="Whether the body may have been longer.")


class LoggedAttempt(ApiModel):
    """One attempt to deliver an event."""

    number: int = Field(description="Rises with every attempt; a redelivery may leave numbers out.")
    at: datetime
    outcome: DeliveryOutcome
    duration_ms: int
    request: DeliveryRequest
    response: Annotated[Omittable[DeliveryResponse], Field(description="Absent if there was none in time.")] = None


class WebhookDeliverySummary(ApiModel):
    """The delivery of one event to one endpoint."""

    event_id: str = Field(description="The event's id, which is also the `webhook-id` of every attempt.")
    type: str = Field(description="The event's type; `endpoint.test` for test events.")
    status: DeliveryState
    created_at: datetime = Field(description="When the event happened.")
    next_attempt_at: Annotated[Omittable[datetime], Field(description="When it is sent again.")] = None
    attempt_count: int
    last_attempt_at: Omittable[datetime] = None
    last_status: Annotated[Omittable[int], Field(description="The HTTP status of the last response.")] = None
    last_outcome: Omittable[DeliveryOutcome] = None


class WebhookDeliveryPage(ApiModel):
    """A page of deliveries."""

    deliveries: list[WebhookDeliverySummary]
    next_page_token: Omittable[str] = None


class WebhookDelivery(ApiModel):
    """The delivery of one event to one endpoint, with its attempts."""

    event_id: str = Field(description="The event's id, which is also the `webhook-id` of every attempt.")
    type: str = Field(description="The event's type; `endpoint.test` for test events.")
    status: DeliveryState
    created_at: datetime = Field(description="When the event happened.")
    next_attempt_at: Annotated[Omittable[datetime], Field(description="When it is sent again.")] = None
    body: Annotated[
        Omittable[str], Field(description="The body of every attempt; absent once the event has expired.")
    ] = None
    attempts: list[LoggedAttempt] = Field(description="Newest first.")


class RecoveredDeliveries(ApiModel):
    """What a recovery has started."""

    recovered: int = Field(description="How many deliveries were started again.")
    has_more: bool = Field(description="Whether there may be more; send the request again.")
