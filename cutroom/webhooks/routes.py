"""Routes for webhook endpoints."""

from typing import Annotated

from fastapi import APIRouter, Path

from cutroom.accounts.scopes import Scope
from cutroom.audit.rules import recordable_url
from cutroom.errors import Code
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation
from cutroom.web.revisions import IfMatch
from cutroom.webhooks import service
from cutroom.webhooks.schemas import (
    CreatedWebhookEndpoint,
    NewWebhookEndpoint,
    WebhookEndpoint,
    WebhookEndpointList,
    WebhookEndpointPatch,
)

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Webhooks"])

EndpointId = Annotated[str, Path(alias="endpointId", min_length=1, description="The endpoint's id.")]


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
