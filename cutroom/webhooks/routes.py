"""Routes for webhook endpoints."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Path, Query

from cutroom.accounts.scopes import Scope
from cutroom.audit.rules import recordable_url
from cutroom.errors import Code
from cutroom.web.limits import RateLimit
from cutroom.web.middleware import CurrentCall, OperationRoute, RequestCall
from cutroom.web.operation import Access, operation
from cutroom.web.paging import DEFAULT_PAGE, MAX_PAGE
from cutroom.web.revisions import IfMatch
from cutroom.webhooks import log, resending, service
from cutroom.webhooks.rules import DeliveryState
from cutroom.webhooks.schemas import (
    CreatedWebhookEndpoint,
    DeliveryRecovery,
    NewWebhookEndpoint,
    RecoveredDeliveries,
    RotatedWebhookSecret,
    SecretRotation,
    WebhookDelivery,
    WebhookDeliveryPage,
    WebhookEndpoint,
    WebhookEndpointList,
    WebhookEndpointPatch,
)
from cutroom.webhooks.secret_rotation import rotate_own_secret

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Webhooks"])

EndpointId = Annotated[str, Path(alias="endpointId", min_length=1, description="The endpoint's id.")]
EventId = Annotated[str, Path(alias="eventId", min_length=1, description="The event's id.")]


@router.get("/webhook-endpoints", summary="List webhook endpoints")
@operation(scope=Scope.WEBHOOKS_WRITE, access=Access.READ)
async def list_webhook_endpoints(call: CurrentCall) -> WebhookEndpointList:
    """Returns the webhook endpoints of the library, newest first."""
    return WebhookEndpointList(webhook_endpoints=await service.list_endpoints(call.connection, call.principal))


@router.post("/webhook-endpoints", status_code=201, summary="Register a webhook endpoint")
@operation(scope=Scope.WEBHOOKS_WRITE, access=Access.WRITE, errors=(Code.ALREADY_EXISTS,))
async def create_webhook_endpoint(call: CurrentCall, endpoint: NewWebhookEndpoint) -> CreatedWebhookEndpoint:
    """Registers a public HTTPS endpoint for events. The signing secret is returned only in this response."""
    created = await service.create_endpoint(
        call.connection, call.principal, endpoint, secret_box=call.runtime.secret_box, now=call.now
    )
    call.record_change(after={"url": recordable_url(created.url), "events": created.events})
    return created


@router.get("/webhook-endpoints/{endpointId}", summary="Get a webhook endpoint")
@operation(scope=Scope.WEBHOOKS_WRITE, access=Access.READ, has_revisions=True)
async def get_webhook_endpoint(call: CurrentCall, endpoint_id: EndpointId) -> WebhookEndpoint:
    """Retrieves a webhook endpoint, without its signing secret."""
    return call.with_etag(await service.get_endpoint(call.connection, call.principal, endpoint_id))


@router.patch("/webhook-endpoints/{endpointId}", summary="Update a webhook endpoint")
@operation(scope=Scope.WEBHOOKS_WRITE, access=Access.WRITE, errors=(Code.ALREADY_EXISTS,), has_revisions=True)
async def update_webhook_endpoint(
    call: CurrentCall, endpoint_id: EndpointId, patch: WebhookEndpointPatch, if_match: IfMatch = None
) -> WebhookEndpoint:
    """Changes the URL or event types, or enables or disables the endpoint. The signing secret stays the same."""
    before = await service.get_endpoint(call.connection, call.principal, endpoint_id)
    updated = await service.update_endpoint(
        call.connection, call.principal, endpoint_id, patch, if_match=if_match, now=call.now
    )
    call.record_update(patch, before=_recordable(before.resource), after=_recordable(updated.resource))
    return call.with_etag(updated)


def _recordable(endpoint: WebhookEndpoint) -> WebhookEndpoint:
    """The endpoint as the audit log shows it; a URL may carry a credential."""
    return endpoint.model_copy(update={"url": recordable_url(endpoint.url)})


@router.delete("/webhook-endpoints/{endpointId}", status_code=204, summary="Delete a webhook endpoint")
@operation(scope=Scope.WEBHOOKS_WRITE, access=Access.WRITE, has_revisions=True)
async def delete_webhook_endpoint(call: CurrentCall, endpoint_id: EndpointId, if_match: IfMatch = None) -> None:
    """Deletes a webhook endpoint. No further events are sent to it."""
    url = await service.delete_endpoint(call.connection, call.principal, endpoint_id, if_match=if_match, now=call.now)
    call.record_change(before={"url": recordable_url(url)})


@router.post("/webhook-endpoints/{endpointId}/rotate-secret", summary="Replace the signing secret")
@operation(scope=Scope.WEBHOOKS_WRITE, access=Access.WRITE, errors=(Code.FAILED_PRECONDITION,))
async def rotate_webhook_secret(
    call: CurrentCall, endpoint_id: EndpointId, rotation: SecretRotation
) -> RotatedWebhookSecret:
    """Returns a new signing secret, only in this response. Until the overlap ends, deliveries carry two signatures.

    While an overlap lasts, the secret can only be replaced with `overlapHours` 0, which ends all earlier secrets.
    """
    rotated = await rotate_own_secret(
        call.connection,
        call.principal,
        endpoint_id,
        secret_box=call.runtime.secret_box,
        overlap=timedelta(hours=rotation.overlap_hours),
        now=call.now,
    )
    call.record_change(after={"overlapHours": rotation.overlap_hours})
    return RotatedWebhookSecret(secret=rotated.secret, previous_secret_until=rotated.previous_until)


@router.get("/webhook-endpoints/{endpointId}/deliveries", summary="List deliveries")
@operation(scope=Scope.WEBHOOKS_WRITE, access=Access.READ, errors=(Code.INVALID_ARGUMENT,))
async def list_webhook_deliveries(
    call: CurrentCall,
    endpoint_id: EndpointId,
    status: Annotated[DeliveryState | None, Query(description="Only deliveries with this status.")] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE, description="Maximum number of deliveries.")] = DEFAULT_PAGE,
    page_token: Annotated[
        str | None, Query(alias="pageToken", description="The `nextPageToken` of the previous page.")
    ] = None,
) -> WebhookDeliveryPage:
    """Returns what was sent to an endpoint in the last 30 days, newest event first."""
    tokens, library_id, listing = call.runtime.page_tokens, call.principal.library_id, f"deliveries-{endpoint_id}"
    before = tokens.read(page_token, listing=listing, library_id=library_id) if page_token is not None else None
    found, more = await log.list_deliveries(
        call.connection, call.principal, endpoint_id, limit=limit, state=status, before=before
    )
    token = tokens.after(found[-1].event_id, listing=listing, library_id=library_id) if more else None
    return WebhookDeliveryPage(deliveries=found, next_page_token=token)


@router.get("/webhook-endpoints/{endpointId}/deliveries/{eventId}", summary="Get a delivery")
@operation(scope=Scope.WEBHOOKS_WRITE, access=Access.READ)
async def get_webhook_delivery(call: CurrentCall, endpoint_id: EndpointId, event_id: EventId) -> WebhookDelivery:
    """Retrieves a delivery with its body, and with the request, response and duration of each attempt."""
    return await log.get_delivery(call.connection, call.principal, endpoint_id, event_id)


@router.post(
    "/webhook-endpoints/{endpointId}/deliveries/{eventId}/redeliver", status_code=202, summary="Redeliver an event"
)
@operation(scope=Scope.WEBHOOKS_WRITE, access=Access.WRITE, errors=(Code.FAILED_PRECONDITION,), free_work=True)
async def redeliver_webhook_event(call: CurrentCall, endpoint_id: EndpointId, event_id: EventId) -> WebhookDelivery:
    """Sends an event again, with the same `webhook-id` and body, and with all retries.

    Any event of the last 30 days can be sent, including those that the endpoint was not registered for at the time.
    """
    await _count(call, "sends", resending.SENDS_PER_HOUR)
    await resending.redeliver(call.connection, call.principal, endpoint_id, event_id, now=call.now)
    return await log.get_delivery(call.connection, call.principal, endpoint_id, event_id)


@router.post("/webhook-endpoints/{endpointId}/recover", status_code=202, summary="Redeliver failed events")
@operation(scope=Scope.WEBHOOKS_WRITE, access=Access.WRITE, errors=(Code.FAILED_PRECONDITION,), free_work=True)
async def recover_webhook_deliveries(
    call: CurrentCall, endpoint_id: EndpointId, recovery: DeliveryRecovery
) -> RecoveredDeliveries:
    """Sends every event since a time again whose delivery has failed, oldest first, up to 1,000 in one request."""
    await _count(call, "recoveries", resending.RECOVERIES_PER_HOUR)
    recovered, has_more = await resending.recover(
        call.connection, call.principal, endpoint_id, since=recovery.since, now=call.now
    )
    call.record_change(after={"since": recovery.since.isoformat(), "recovered": recovered})
    return RecoveredDeliveries(recovered=recovered, has_more=has_more)


@router.post("/webhook-endpoints/{endpointId}/test", status_code=202, summary="Send a test event")
@operation(scope=Scope.WEBHOOKS_WRITE, access=Access.WRITE, errors=(Code.FAILED_PRECONDITION,), free_work=True)
async def send_test_webhook(call: CurrentCall, endpoint_id: EndpointId) -> WebhookDelivery:
    """Sends an event of type `endpoint.test` to this endpoint only, once. It is signed like any other."""
    await _count(call, "sends", resending.SENDS_PER_HOUR)
    event_id = await resending.send_test_event(call.connection, call.principal, endpoint_id, now=call.now)
    return await log.get_delivery(call.connection, call.principal, endpoint_id, event_id)


async def _count(call: RequestCall, what: str, rate: RateLimit) -> None:
    await call.runtime.limits.count(f"webhook-{what}:library:{call.principal.library_id}", rate)
