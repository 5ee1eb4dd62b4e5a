"""Programs that a person connected to a library, and those that they registered themselves."""

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
from cutroom.console.framework.page_context import PageContext, go, page, sentence
from cutroom.errors import CutroomError


async def _page(visit: PageContext, *, status: int = 200, fault: str | None = None) -> Response:
    call = visit.call
    connected: list[tuple[str, ConnectedApp]] = []
    for each in await list_connections(call.connection, call.principal.library_id, visit.me.user_id):
        client = await find_client(call.connection, each.client_id)
        if client is not None:
            connected.append((client.name, each))
    clients = await list_clients(call.connection, visit.me.user_id)
    issuer = visit.runtime.settings.base_url
    return visit.page("apps.html", status=status, fault=fault, connected=connected, clients=clients, issuer=issuer)


async def show_apps(visit: PageContext) -> Response:
    return await _page(visit)


async def register(visit: PageContext) -> Response:
    form, call = visit.form, visit.call
    uris = form.text("redirects").split()
    try:
        await register_client(call.connection, form.text("name"), uris, owner_id=visit.me.user_id, now=call.now)
    except CutroomError as error:
        return await _page(visit, status=error.status, fault=sentence(error))
    return go("/apps", said="registered")


async def remove(visit: PageContext) -> Response:
    client_id = visit.request.path_params["client_id"]
    await revoke_client(visit.call.connection, client_id, owner_id=visit.me.user_id, now=visit.call.now)
    return go("/apps", said="removed")


async def cut_off(visit: PageContext) -> Response:
    call = visit.call
    grant_id = visit.request.path_params["grant_id"]
    await disconnect(call.connection, call.principal.library_id, grant_id, user_id=visit.me.user_id, now=call.now)
    return go("/apps", said="disconnected")


ROUTES = [
    page("/apps", show_apps),
    page("/apps", register, method="POST"),
    page("/apps/{client_id}/remove", remove, method="POST"),
    page("/apps/connections/{grant_id}/end", cut_off, method="POST"),
]
