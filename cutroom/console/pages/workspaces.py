"""Workspaces: founding one, inviting people, their roles."""

from starlette.responses import Response

from cutroom.accounts import teams
from cutroom.accounts.plans import PlanName
from cutroom.accounts.principals import Role
from cutroom.accounts.sessions import create_workspace
from cutroom.console.framework.page_context import PageContext, go, page, sentence
from cutroom.errors import CutroomError, invalid_field

_LEADING = frozenset({Role.OWNER, Role.ADMIN})


async def _page(
    visit: PageContext, *, link: str | None = None, fault: str | None = None, status: int = 200
) -> Response:
    principal = visit.me.principal
    if principal.workspace_id is None:
        return visit.page("workspace_new.html", fault=fault, status=status)
    connection = visit.call.connection
    leads = principal.role in _LEADING
    invitations = await teams.list_invitations(connection, principal, now=visit.call.now) if leads else []
    return visit.page(
        "workspace.html",
        status=status,
        members=await teams.list_members(connection, principal),
        invitations=invitations,
        leads=leads,
        roles=[role.value for role in Role if role is not Role.OWNER or principal.role is Role.OWNER],
        link=link,
        fault=fault,
    )


async def show_workspace(visit: PageContext) -> Response:
    return await _page(visit)


async def show_new(visit: PageContext) -> Response:
    return visit.page("workspace_new.html")


async def create(visit: PageContext) -> Response:
    call = visit.call
    plan = PlanName(visit.runtime.settings.new_library_plan)
    try:
        made = await create_workspace(
            call.connection, visit.form.text("name"), owner_id=visit.me.user_id, plan=plan, now=call.now
        )
    except CutroomError as error:
        return visit.page("workspace_new.html", fault=sentence(error), status=error.status)
    await visit.session_service.switch_library(call.connection, visit.cookie, made)
    return go("/workspace", said="made")


async def invite(visit: PageContext) -> Response:
    call = visit.call
    try:
        secret = await teams.invite(
            call.connection,
            call.principal,
            visit.form.text("email"),
            role=_role(visit.form.text("role")),
            secret_box=visit.runtime.secret_box,
            now=call.now,
        )
    except CutroomError as error:
        return await _page(visit, fault=sentence(error), status=error.status)
    return await _page(visit, link=f"{visit.runtime.settings.base_url}/invitations/{secret}")


def _role(text: str) -> Role:
    try:
        return Role(text)
    except ValueError as error:
        raise invalid_field("role", "There is no such role.") from error


async def take_back(visit: PageContext) -> Response:
    call = visit.call
    await teams.revoke_invitation(call.connection, call.principal, visit.request.path_params["invitation_id"], now=call.now)
    return go("/workspace", said="taken-back")


async def change(visit: PageContext) -> Response:
    """A member's role, or their going."""
    call, user_id = visit.call, visit.request.path_params["user_id"]
    try:
        async with call.connection.transaction():
            if visit.form.text("role") == "remove":
                await teams.remove_member(call.connection, call.principal, user_id)
            else:
                role = _role(visit.form.text("role"))
                await teams.change_role(call.connection, call.principal, user_id, role=role, now=call.now)
    except CutroomError as error:
        return await _page(visit, fault=sentence(error), status=error.status)
    return go("/library" if user_id == visit.me.user_id else "/workspace", said="changed")


async def show_invitation(visit: PageContext) -> Response:
    secret = visit.request.path_params["secret"]
    async with visit.runtime.database.connection() as connection:
        offered = await teams.find_invitation(connection, secret, secret_box=visit.runtime.secret_box, now=visit.call.now)
    return visit.page("invitation.html", offered=offered, secret=secret)


async def accept(visit: PageContext) -> Response:
    secret, now = visit.request.path_params["secret"], visit.call.now
    async with visit.runtime.database.connection() as connection, connection.transaction():
        offered = await teams.find_invitation(connection, secret, secret_box=visit.runtime.secret_box, now=now)
        await teams.accept_invitation(connection, offered, user_id=visit.me.user_id, email=visit.me.email, now=now)
        await visit.session_service.switch_library(connection, visit.cookie, offered.library_id)
    return go("/library")


ROUTES = [
    page("/workspace", show_workspace),
    page("/workspace/new", show_new),
    page("/workspace", create, method="POST"),
    page("/workspace/invitations", invite, method="POST"),
    page("/workspace/invitations/{invitation_id}/end", take_back, method="POST"),
    page("/workspace/members/{user_id}", change, method="POST"),
    page("/invitations/{secret}", show_invitation),
    page("/invitations/{secret}", accept, method="POST"),
]
