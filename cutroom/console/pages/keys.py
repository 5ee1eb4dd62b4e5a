"""The API keys page: create with selected scopes, shown once, revoke."""

from starlette.responses import Response

from cutroom.accounts.principals import Role
from cutroom.accounts.scopes import SPEECH_SCOPES, Scope
from cutroom.accounts.service import KeyIssuer, NewKey, list_keys, revoke_key
from cutroom.accounts.sessions import normalize_name
from cutroom.console.framework.page_context import PageContext, error_text, page, redirect
from cutroom.console.framework.scopes import SCOPE_DESCRIPTIONS
from cutroom.errors import CutroomError, invalid_field, not_found

_ADMIN_ROLES = frozenset({Role.OWNER, Role.ADMIN})


async def _page(
    context: PageContext, *, created: NewKey | None = None, error: str | None = None, status: int = 200
) -> Response:
    """Owners and admins see the keys of all members; other members see their own."""
    principal = context.me.principal
    owner_id = None if principal.role in _ADMIN_ROLES else context.me.user_id
    keys = await list_keys(context.call.connection, principal.library_id, user_id=owner_id)
    scopes = [(scope.value, description, scope in SPEECH_SCOPES) for scope, description in SCOPE_DESCRIPTIONS.items()]
    base_url = context.runtime.settings.base_url
    return context.page(
        "keys.html",
        status=status,
        keys=keys,
        created=created,
        error=error,
        scopes=scopes,
        count=len(Scope),
        base_url=base_url,
    )


async def show_keys(context: PageContext) -> Response:
    return await _page(context)


async def create(context: PageContext) -> Response:
    """Renders the page instead of redirecting, because the secret is shown only in this response."""
    call, form = context.call, context.form
    issuer = KeyIssuer(secret_box=context.runtime.secret_box, plans=context.runtime.authenticator.plans)
    try:
        created = await issuer.create_key(
            call.connection,
            call.principal.library_id,
            user_id=context.me.user_id,
            name=normalize_name(form.text("name")),
            scopes=_scopes(form.all("scope")),
            now=call.now,
        )
    except CutroomError as error:
        message = error_text(error)
        if error.details.get("reason") == "plan_required":
            message = "This library's plan does not include speech."
        return await _page(context, error=message, status=error.status)
    context.record("key.create", targets={"keyId": created.key_id}, after={"scopes": sorted(created.scopes)})
    return await _page(context, created=created)


def _scopes(names: list[str]) -> list[Scope]:
    try:
        return [Scope(name) for name in names]
    except ValueError as error:
        raise invalid_field("scope", "Unknown scope.") from error


async def revoke(context: PageContext) -> Response:
    """Members can revoke their own keys, owners and admins all keys."""
    call, key_id = context.call, context.request.path_params["key_id"]
    owner_id = None if call.principal.role in _ADMIN_ROLES else context.me.user_id
    known = await list_keys(call.connection, call.principal.library_id, user_id=owner_id)
    if key_id not in {key.id for key in known}:
        raise not_found()
    await revoke_key(call.connection, key_id, now=call.now)
    context.record("key.revoke", targets={"keyId": key_id})
    return redirect("/keys", notice="revoked")


ROUTES = [
    page("/keys", show_keys),
    page("/keys", create, method="POST"),
    page("/keys/{key_id}/revoke", revoke, method="POST"),
]
