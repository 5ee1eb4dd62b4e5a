"""Webhook endpoints, and what was sent to them."""

from starlette.responses import Response

from cutroom.console.framework.page_context import PageContext, go, page, parse, sentence
from cutroom.errors import CutroomError
from cutroom.web.operation import operation_of
from cutroom.webhooks import log, routes
from cutroom.webhooks.schemas import CreatedWebhookEndpoint, NewWebhookEndpoint


async def _page(
    visit: PageContext,
    *,
    made: CreatedWebhookEndpoint | None = None,
    fault: str | None = None,
    url: str = "",
    status: int = 200,
) -> Response:
    listed = await visit.perform(routes.list_webhook_endpoints)
    call = visit.call
    endpoints = [await log.find_endpoint(call.connection, call.principal, each.id) for each in listed.webhook_endpoints]
    return visit.page("webhooks.html", status=status, endpoints=endpoints, made=made, fault=fault, url=url)


async def show_endpoints(visit: PageContext) -> Response:
    return await _page(visit)


async def create(visit: PageContext) -> Response:
    url = visit.form.text("url")
    try:
        async with visit.call.connection.transaction():
            made = await visit.perform(routes.create_webhook_endpoint, parse(NewWebhookEndpoint, {"url": url}))
    except CutroomError as error:
        return await _page(visit, fault=sentence(error), url=url, status=error.status)
    return await _page(visit, made=made)


async def show_endpoint(visit: PageContext) -> Response:
    """The log; the part that changes asks for itself again."""
    _check_reads(visit)
    call, endpoint_id = visit.call, visit.request.path_params["endpoint_id"]
    endpoint = await log.find_endpoint(call.connection, call.principal, endpoint_id)
    deliveries = await log.list_deliveries(call.connection, call.principal, endpoint_id)
    part = visit.request.headers.get("hx-request") is not None
    template = "webhook_log.html" if part else "webhook.html"
    return visit.page(template, endpoint=endpoint, deliveries=deliveries)


async def delete(visit: PageContext) -> Response:
    await visit.perform(routes.delete_webhook_endpoint, visit.request.path_params["endpoint_id"])
    return go("/webhooks", said="deleted")


async def test(visit: PageContext) -> Response:
    _check_writes(visit)
    endpoint_id = visit.request.path_params["endpoint_id"]
    await log.send_test_event(visit.call.connection, visit.me.principal, endpoint_id, now=visit.call.now)
    return go(f"/webhooks/{endpoint_id}", said="test")


async def replay(visit: PageContext) -> Response:
    _check_writes(visit)
    places = visit.request.path_params
    endpoint_id, event_id = places["endpoint_id"], places["event_id"]
    await log.redeliver(visit.call.connection, visit.me.principal, endpoint_id, event_id, now=visit.call.now)
    return go(f"/webhooks/{endpoint_id}", said="again")


def _check_reads(visit: PageContext) -> None:
    operation_of(routes.list_webhook_endpoints).authorize(visit.me.principal)


def _check_writes(visit: PageContext) -> None:
    operation_of(routes.create_webhook_endpoint).authorize(visit.me.principal)


ROUTES = [
    page("/webhooks", show_endpoints),
    page("/webhooks", create, method="POST"),
    page("/webhooks/{endpoint_id}", show_endpoint),
    page("/webhooks/{endpoint_id}/delete", delete, method="POST"),
    page("/webhooks/{endpoint_id}/test", test, method="POST"),
    page("/webhooks/{endpoint_id}/events/{event_id}/again", replay, method="POST"),
]
