"""The workspace pages: create a workspace, invite members, change roles."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from cutroom.accounts import teams
from cutroom.accounts.plans import PlanName
from cutroom.accounts.principals import Role
from cutroom.accounts.sessions import create_workspace
from cutroom.console.framework.page_context import PageContext, error_text, page, redirect
from cutroom.errors import CutroomError, invalid_field
from cutroom.platform.db import enter_library
from cutroom.webhooks.service import DISABLE_ACTION, MEMBER_REMOVED, disable_endpoints_of

_ADMIN_ROLES = frozenset({Role.OWNER, Role.ADMIN})


async def _page(
    context: PageContext, *, link: str | None = None, error: str | None = None, status: int = 200
) -> Response:
    principal = context.me.principal
    if principal.workspace_id is None:
        return context.page("workspace_new.html", error=error, status=status)
    connection = context.call.connection
    is_admin = principal.role in _ADMIN_ROLES
    invitations = await teams.list_invitations(connection, principal, now=context.call.now) if is_admin else []
    return context.page(
        "workspace.html",
        status=status,
        members=await teams.list_members(connection, principal),
        invitations=invitations,
        is_admin=is_admin,
        roles=[role.value for role in Role if role is not Role.OWNER or principal.role is Role.OWNER],
        link=link,
        error=error,
    )


async def show_workspace(context: PageContext) -> Response:
    return await _page(context)


async def show_new(context: PageContext) -> Response:
    return context.page("workspace_new.html")


async def create(context: PageContext) -> Response:
    call = context.call
    settings = context.runtime.settings
    plan = PlanName(settings.new_library_plan)
    try:
        workspace_id = await create_workspace(
            call.connection,
            context.form.text("name"),
            owner_id=context.me.user_id,
            plan=plan,
            now=call.now,
            at_most=settings.workspaces_per_account,
        )
    except CutroomError as error:
        return context.page("workspace_new.html", error=error_text(error), status=error.status)
    await context.session_service.switch_library(call.connection, context.cookie, workspace_id)
    await enter_library(call.connection, workspace_id)
    event = context.audit_event("workspace.create", library_id=workspace_id, after={"plan": plan.value})
    await context.append_event(call.connection, event)
    return redirect("/workspace", notice="created")


async def invite(context: PageContext) -> Response:
    call = context.call
    try:
        role = _role(context.form.text("role"))
        invitation = await teams.invite(
            call.connection,
            call.principal,
            context.form.text("email"),
            role=role,
            secret_box=context.runtime.secret_box,
            now=call.now,
        )
    except CutroomError as error:
        return await _page(context, error=error_text(error), status=error.status)
    context.record("member.invite", targets={"invitationId": invitation.id}, after={"role": role.value})
    return await _page(context, link=f"{context.runtime.settings.base_url}/invitations/{invitation.secret}")


def _role(text: str) -> Role:
    try:
        return Role(text)
    except ValueError as error:
        raise invalid_field("role", "Unknown role.") from error


async def revoke_invitation(context: PageContext) -> Response:
    call, invitation_id = context.call, context.request.path_params["invitation_id"]
    await teams.revoke_invitation(call.connection, call.principal, invitation_id, now=call.now)
    context.record("invitation.revoke", targets={"invitationId": invitation_id})
    return redirect("/workspace", notice="revoked")


async def change(context: PageContext) -> Response:
    """Changes a member's role, or removes the member."""
    call, user_id = context.call, context.request.path_params["user_id"]
    disabled: list[str] = []
    after: Mapping[str, Any] | None
    try:
        async with call.connection.transaction():
            if context.form.text("role") == "remove":
                removed = await teams.remove_member(call.connection, call.principal, user_id, now=call.now)
                disabled = await disable_endpoints_of(
                    call.connection, call.principal.library_id, user_id=user_id, now=call.now
                )
                action, before, after = "member.remove", removed.role, removed.revoked.recordable or None
            else:
                role = _role(context.form.text("role"))
                action, after = "member.change", {"role": role.value}
                before = await teams.change_role(call.connection, call.principal, user_id, role=role, now=call.now)
    except CutroomError as error:
        return await _page(context, error=error_text(error), status=error.status)
    context.record(action, targets={"userId": user_id}, before={"role": before.value}, after=after)
    for endpoint_id in disabled:
        context.record(DISABLE_ACTION, targets={"endpointId": endpoint_id}, after={"disabledReason": MEMBER_REMOVED})
    return redirect("/library" if user_id == context.me.user_id else "/workspace", notice="changed")


async def show_invitation(context: PageContext) -> Response:
    secret = context.request.path_params["secret"]
    async with context.runtime.database.connection() as connection:
        invitation = await teams.find_invitation(
            connection, secret, secret_box=context.runtime.secret_box, now=context.call.now
        )
    return context.page("invitation.html", invitation=invitation, secret=secret)


async def accept(context: PageContext) -> Response:
    secret, now = context.request.path_params["secret"], context.call.now
    async with context.runtime.database.connection() as connection, connection.transaction():
        invitation = await teams.find_invitation(connection, secret, secret_box=context.runtime.secret_box, now=now)
        await teams.accept_invitation(
            connection, invitation, user_id=context.me.user_id, email=context.me.email, now=now
        )
        await context.session_service.switch_library(connection, context.cookie, invitation.library_id)
        event = context.audit_event(
            "invitation.accept",
            library_id=invitation.library_id,
            targets={"invitationId": invitation.invitation_id, "userId": context.me.user_id},
            after={"role": invitation.role.value},
        )
        await context.append_event(connection, event)
    return redirect("/library")


ROUTES = [
    page("/workspace", show_workspace),
    page("/workspace/new", show_new),
    page("/workspace", create, method="POST"),
    page("/workspace/invitations", invite, method="POST"),
    page("/workspace/invitations/{invitation_id}/end", revoke_invitation, method="POST"),
    page("/workspace/members/{user_id}", change, method="POST"),
    page("/invitations/{secret}", show_invitation),
    page("/invitations/{secret}", accept, method="POST"),
]
