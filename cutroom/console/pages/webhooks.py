"""The webhooks pages: endpoints, deliveries, test events, redelivery."""

from starlette.responses import Response

from cutroom.console.framework.editing import EditField, Editor, show_editor, submit, submit_deletion
from cutroom.console.framework.page_context import PageContext, error_text, page, parse, redirect
from cutroom.errors import CutroomError
from cutroom.events.rules import EVENT_TYPES
from cutroom.web.operation import operation_of
from cutroom.webhooks import log, routes
from cutroom.webhooks.rules import MAX_URL_LENGTH
from cutroom.webhooks.schemas import (
    CreatedWebhookEndpoint,
    NewWebhookEndpoint,
    WebhookEndpoint,
    WebhookEndpointPatch,
)


async def _page(
    context: PageContext,
    *,
    created: CreatedWebhookEndpoint | None = None,
    error: str | None = None,
    url: str = "",
    status: int = 200,
) -> Response:
    listed = await context.call_operation(routes.list_webhook_endpoints)
    call = context.call
    endpoints = [await log.find_endpoint(call.connection, call.principal, each.id) for each in listed.webhook_endpoints]
    return context.page("webhooks.html", status=status, endpoints=endpoints, created=created, error=error, url=url)


async def show_endpoints(context: PageContext) -> Response:
    return await _page(context)


async def create(context: PageContext) -> Response:
    url = context.form.text("url")
    try:
        async with context.call.connection.transaction():
            created = await context.call_operation(
                routes.create_webhook_endpoint, parse(NewWebhookEndpoint, {"url": url})
            )
    except CutroomError as error:
        return await _page(context, error=error_text(error), url=url, status=error.status)
    return await _page(context, created=created)


async def show_endpoint(context: PageContext) -> Response:
    """The endpoint with its delivery log; the log reloads as a fragment."""
    _authorize_read(context)
    call, endpoint_id = context.call, context.request.path_params["endpoint_id"]
    endpoint = await log.find_endpoint(call.connection, call.principal, endpoint_id)
    _, revision = await context.call_revised(routes.get_webhook_endpoint, endpoint_id)
    deliveries = await log.list_deliveries(call.connection, call.principal, endpoint_id)
    template = "webhook_log.html" if context.is_fragment else "webhook.html"
    return context.page(template, endpoint=endpoint, revision=revision, deliveries=deliveries)


async def _load_editor(context: PageContext) -> Editor:
    _authorize_write(context)
    endpoint_id = context.request.path_params["endpoint_id"]
    endpoint, revision = await context.call_revised(routes.get_webhook_endpoint, endpoint_id)
    fields = (
        EditField("url", "URL", endpoint.url, max_length=MAX_URL_LENGTH, input_type="url"),
        EditField("events", "Events", " ".join(endpoint.events), choices=EVENT_TYPES),
    )
    back = f"/webhooks/{endpoint_id}"
    return Editor("Edit endpoint", f"/webhooks/{endpoint_id}/edit", back, fields, revision)


async def show_editor_of_endpoint(context: PageContext) -> Response:
    return show_editor(context, await _load_editor(context))


async def change(context: PageContext) -> Response:
    endpoint_id = context.request.path_params["endpoint_id"]

    async def save(revision: str | None) -> WebhookEndpoint:
        document = {"url": context.form.text("url"), "events": context.form.all("events")}
        patch = parse(WebhookEndpointPatch, document)
        return await context.call_operation(routes.update_webhook_endpoint, endpoint_id, patch, if_match=revision)

    rejected = await submit(context, lambda: _load_editor(context), save)
    return rejected or redirect(f"/webhooks/{endpoint_id}", notice="changed")


async def delete(context: PageContext) -> Response:
    async def remove(revision: str | None) -> None:
        endpoint_id = context.request.path_params["endpoint_id"]
        await context.call_operation(routes.delete_webhook_endpoint, endpoint_id, if_match=revision)

    rejected = await submit_deletion(context, lambda: _load_editor(context), remove)
    return rejected or redirect("/webhooks", notice="deleted")


async def enable(context: PageContext) -> Response:
    await _set_enabled(context, enabled=True)
    return redirect(f"/webhooks/{context.request.path_params['endpoint_id']}", notice="enabled")


async def disable(context: PageContext) -> Response:
    await _set_enabled(context, enabled=False)
    return redirect(f"/webhooks/{context.request.path_params['endpoint_id']}", notice="changed")


async def _set_enabled(context: PageContext, *, enabled: bool) -> None:
    """Enables or disables the endpoint, whatever else has been changed."""
    patch, endpoint_id = WebhookEndpointPatch(enabled=enabled), context.request.path_params["endpoint_id"]
    await context.call_operation(routes.update_webhook_endpoint, endpoint_id, patch)


async def test(context: PageContext) -> Response:
    _authorize_write(context)
    endpoint_id = context.request.path_params["endpoint_id"]
    await log.send_test_event(context.call.connection, context.me.principal, endpoint_id, now=context.call.now)
    context.record("webhook.test", targets={"endpointId": endpoint_id})
    return redirect(f"/webhooks/{endpoint_id}", notice="test")


async def resend(context: PageContext) -> Response:
    _authorize_write(context)
    params = context.request.path_params
    endpoint_id, event_id = params["endpoint_id"], params["event_id"]
    await log.redeliver(context.call.connection, context.me.principal, endpoint_id, event_id, now=context.call.now)
    context.record("webhook.redeliver", targets={"endpointId": endpoint_id, "eventId": event_id})
    return redirect(f"/webhooks/{endpoint_id}", notice="resent")


def _authorize_read(context: PageContext) -> None:
    operation_of(routes.list_webhook_endpoints).authorize(context.me.principal)


def _authorize_write(context: PageContext) -> None:
    operation_of(routes.create_webhook_endpoint).authorize(context.me.principal)


ROUTES = [
    page("/webhooks", show_endpoints),
    page("/webhooks", create, method="POST"),
    page("/webhooks/{endpoint_id}", show_endpoint),
    page("/webhooks/{endpoint_id}/edit", show_editor_of_endpoint),
    page("/webhooks/{endpoint_id}/edit", change, method="POST"),
    page("/webhooks/{endpoint_id}/delete", delete, method="POST"),
    page("/webhooks/{endpoint_id}/enable", enable, method="POST"),
    page("/webhooks/{endpoint_id}/disable", disable, method="POST"),
    page("/webhooks/{endpoint_id}/test", test, method="POST"),
    page("/webhooks/{endpoint_id}/events/{event_id}/resend", resend, method="POST"),
]
