"""The webhooks pages: endpoints, deliveries, test events, redelivery, recovery and secrets."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

from starlette.responses import Response

from cutroom.console.framework.editing import EditField, Editor, show_editor, submit, submit_deletion
from cutroom.console.framework.page_context import PageContext, error_text, page, parse, redirect
from cutroom.errors import Code, CutroomError, invalid_field
from cutroom.events.rules import DEFAULT_TYPES, EVENT_TYPES
from cutroom.web.operation import operation_of
from cutroom.webhooks import log, routes
from cutroom.webhooks.rules import MAX_URL_LENGTH
from cutroom.webhooks.schemas import (
    CreatedWebhookEndpoint,
    DeliveryRecovery,
    NewWebhookEndpoint,
    RotatedWebhookSecret,
    SecretRotation,
    WebhookEndpoint,
    WebhookEndpointPatch,
)

SHOWN_DELIVERIES = 100
RECOVERY_HOURS = {"1": "last hour", "24": "last 24 hours", "168": "last 7 days", "720": "last 30 days"}
OVERLAP_HOURS = {"24": "24 hours", "72": "3 days", "168": "7 days", "0": "no time: the old one is leaked"}


async def _page(
    context: PageContext,
    *,
    created: CreatedWebhookEndpoint | None = None,
    error: str | None = None,
    url: str = "",
    chosen: list[str] | None = None,
    status: int = 200,
) -> Response:
    listed = await context.call_operation(routes.list_webhook_endpoints)
    call = context.call
    endpoints = [await log.find_endpoint(call.connection, call.principal, each.id) for each in listed.webhook_endpoints]
    return context.page(
        "webhooks.html",
        status=status,
        endpoints=endpoints,
        created=created,
        error=error,
        url=url,
        all_events=EVENT_TYPES,
        chosen=DEFAULT_TYPES if chosen is None else chosen,
    )


async def show_endpoints(context: PageContext) -> Response:
    return await _page(context)


async def create(context: PageContext) -> Response:
    url, chosen = context.form.text("url"), context.form.all("events")
    try:
        async with context.call.connection.transaction():
            endpoint = parse(NewWebhookEndpoint, {"url": url, "events": chosen})
            created = await context.call_operation(routes.create_webhook_endpoint, endpoint)
    except CutroomError as error:
        return await _page(context, error=error_text(error), url=url, chosen=chosen, status=error.status)
    return await _page(context, created=created)


async def show_endpoint(context: PageContext) -> Response:
    """The endpoint with its delivery log; the log reloads as a fragment."""
    return await _endpoint_page(context)


async def _endpoint_page(
    context: PageContext, *, rotated: RotatedWebhookSecret | None = None, error: CutroomError | None = None
) -> Response:
    _authorize_read(context)
    call, endpoint_id = context.call, _endpoint_id(context)
    endpoint = await log.find_endpoint(call.connection, call.principal, endpoint_id)
    _, revision = await context.call_revised(routes.get_webhook_endpoint, endpoint_id)
    deliveries, _ = await log.list_deliveries(call.connection, call.principal, endpoint_id, limit=SHOWN_DELIVERIES)
    return context.page(
        "webhook_log.html" if context.is_fragment else "webhook.html",
        status=200 if error is None else error.status,
        endpoint=endpoint,
        revision=revision,
        deliveries=deliveries,
        rotated=rotated,
        error=None if error is None else error_text(error),
        recovery_hours=RECOVERY_HOURS,
        overlap_hours=OVERLAP_HOURS,
    )


async def show_delivery(context: PageContext) -> Response:
    """One delivery: its body, and the request and response of each attempt."""
    event_id = context.request.path_params["event_id"]
    delivery = await context.call_operation(routes.get_webhook_delivery, _endpoint_id(context), event_id)
    call = context.call
    endpoint = await log.find_endpoint(call.connection, call.principal, _endpoint_id(context))
    return context.page("webhook_delivery.html", endpoint=endpoint, delivery=delivery)


def _endpoint_id(context: PageContext) -> str:
    found: str = context.request.path_params["endpoint_id"]
    return found


async def _load_editor(context: PageContext) -> Editor:
    _authorize_write(context)
    endpoint_id = _endpoint_id(context)
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
    endpoint_id = _endpoint_id(context)

    async def save(revision: str | None) -> WebhookEndpoint:
        document = {"url": context.form.text("url"), "events": context.form.all("events")}
        patch = parse(WebhookEndpointPatch, document)
        return await context.call_operation(routes.update_webhook_endpoint, endpoint_id, patch, if_match=revision)

    rejected = await submit(context, lambda: _load_editor(context), save)
    return rejected or redirect(f"/webhooks/{endpoint_id}", notice="changed")


async def delete(context: PageContext) -> Response:
    async def remove(revision: str | None) -> None:
        endpoint_id = _endpoint_id(context)
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
    patch, endpoint_id = WebhookEndpointPatch(enabled=enabled), _endpoint_id(context)
    await context.call_operation(routes.update_webhook_endpoint, endpoint_id, patch)


async def test(context: PageContext) -> Response:
    return await _act(context, routes.send_test_webhook, notice="test")


async def resend(context: PageContext) -> Response:
    event_id = context.request.path_params["event_id"]
    return await _act(context, routes.redeliver_webhook_event, event_id, notice="resent")


async def recover(context: PageContext) -> Response:
    """Starts the failed deliveries of a time again."""
    hours = context.form.text("hours")
    if hours not in RECOVERY_HOURS:
        raise invalid_field("hours", "Choose one of the listed times.")
    recovery = DeliveryRecovery(since=context.call.now - timedelta(hours=int(hours)))
    return await _act(context, routes.recover_webhook_deliveries, recovery, notice="recovered")


async def _act(
    context: PageContext,
    endpoint: Callable[..., Awaitable[object]],
    *arguments: object,
    notice: str,
) -> Response:
    """Calls an operation on the endpoint and shows its page, with what went wrong if it was refused."""
    try:
        async with context.call.connection.transaction():
            await context.call_operation(endpoint, _endpoint_id(context), *arguments)
    except CutroomError as error:
        if error.code is not Code.FAILED_PRECONDITION:
            raise
        return await _endpoint_page(context, error=error)
    return redirect(f"/webhooks/{_endpoint_id(context)}", notice=notice)


async def rotate(context: PageContext) -> Response:
    """Replaces the signing secret and shows the new one, once."""
    rotation = parse(SecretRotation, {"overlapHours": _hours(context)})
    try:
        async with context.call.connection.transaction():
            rotated = await context.call_operation(routes.rotate_webhook_secret, _endpoint_id(context), rotation)
    except CutroomError as error:
        if error.code is not Code.FAILED_PRECONDITION:
            raise
        return await _endpoint_page(context, error=error)
    return await _endpoint_page(context, rotated=rotated)


def _hours(context: PageContext) -> int | None:
    text = context.form.text("hours")
    return int(text) if text in OVERLAP_HOURS else None


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
    page("/webhooks/{endpoint_id}/recover", recover, method="POST"),
    page("/webhooks/{endpoint_id}/rotate", rotate, method="POST"),
    page("/webhooks/{endpoint_id}/deliveries/{event_id}", show_delivery),
    page("/webhooks/{endpoint_id}/deliveries/{event_id}/redeliver", resend, method="POST"),
]
