"""The apps page: OAuth apps connected to the library, and apps registered by the user."""

from starlette.responses import Response

from cutroom.accounts.oauth import (
    ConnectedApp,
    disconnect,
    find_client,
    list_clients,
    list_connections,
    register_client,
    revoke_client,
)
from cutroom.audit.rules import recordable_url
from cutroom.console.framework.page_context import PageContext, error_text, page, redirect
from cutroom.errors import CutroomError


async def _page(context: PageContext, *, status: int = 200, error: str | None = None) -> Response:
    call = context.call
    connected: list[tuple[str, ConnectedApp]] = []
    for each in await list_connections(call.connection, call.principal.library_id, context.me.user_id):
        client = await find_client(call.connection, each.client_id)
        if client is not None:
            connected.append((client.name, each))
    clients = await list_clients(call.connection, context.me.user_id)
    issuer = context.runtime.settings.base_url
    return context.page("apps.html", status=status, error=error, connected=connected, clients=clients, issuer=issuer)


async def show_apps(context: PageContext) -> Response:
    return await _page(context)


async def register(context: PageContext) -> Response:
    form, call = context.form, context.call
    uris = form.text("redirects").split()
    try:
        client = await register_client(
            call.connection, form.text("name"), uris, owner_id=context.me.user_id, now=call.now
        )
    except CutroomError as error:
        return await _page(context, status=error.status, error=error_text(error))
    after = {"name": client.name, "redirectUris": [recordable_url(uri) for uri in client.redirect_uris]}
    context.record("oauth.client.create", targets={"clientId": client.id}, after=after)
    return redirect("/apps", notice="registered")


async def remove(context: PageContext) -> Response:
    client_id = context.request.path_params["client_id"]
    await revoke_client(context.call.connection, client_id, owner_id=context.me.user_id, now=context.call.now)
    context.record("oauth.client.revoke", targets={"clientId": client_id})
    return redirect("/apps", notice="removed")


async def disconnect_app(context: PageContext) -> Response:
    call = context.call
    grant_id = context.request.path_params["grant_id"]
    await disconnect(call.connection, call.principal.library_id, grant_id, user_id=context.me.user_id, now=call.now)
    context.record("oauth.revoke", targets={"grantId": grant_id})
    return redirect("/apps", notice="disconnected")


ROUTES = [
    page("/apps", show_apps),
    page("/apps", register, method="POST"),
    page("/apps/{client_id}/remove", remove, method="POST"),
    page("/apps/connections/{grant_id}/end", disconnect_app, method="POST"),
]
