"""Keys: made with chosen scopes, shown once, revoked."""

from starlette.responses import Response

from cutroom.accounts.principals import Role
from cutroom.accounts.scopes import SPEECH_SCOPES, Scope
from cutroom.accounts.service import KeyIssuer, NewKey, list_keys, revoke_key
from cutroom.accounts.sessions import normalize_name
from cutroom.console.framework.page_context import PageContext, go, page, sentence
from cutroom.console.framework.scopes import SCOPE_WORDS
from cutroom.errors import CutroomError, invalid_field, not_found

_LEADING = frozenset({Role.OWNER, Role.ADMIN})


async def _page(
    visit: PageContext, *, made: NewKey | None = None, fault: str | None = None, status: int = 200
) -> Response:
    """Owners and admins see the keys of all members; everybody else sees their own."""
    principal = visit.me.principal
    whose = None if principal.role in _LEADING else visit.me.user_id
    keys = await list_keys(visit.call.connection, principal.library_id, user_id=whose)
    scopes = [(scope.value, words, scope in SPEECH_SCOPES) for scope, words in SCOPE_WORDS.items()]
    base_url = visit.runtime.settings.base_url
    return visit.page(
        "keys.html",
        status=status,
        keys=keys,
        made=made,
        fault=fault,
        scopes=scopes,
        count=len(Scope),
        base_url=base_url,
    )


async def show_keys(visit: PageContext) -> Response:
    return await _page(visit)


async def create(visit: PageContext) -> Response:
    """The secret is in this answer and in no other, so there is nothing to be sent on to."""
    call, form = visit.call, visit.form
    minter = KeyIssuer(secret_box=visit.runtime.secret_box, plans=visit.runtime.authenticator.plans)
    try:
        made = await minter.create_key(
            call.connection,
            call.principal.library_id,
            user_id=visit.me.user_id,
            name=normalize_name(form.text("name")),
            scopes=_scopes(form.all("scope")),
            now=call.now,
        )
    except CutroomError as error:
        words = sentence(error)
        if error.details.get("reason") == "plan_required":
            words = "The plan of this library does not include speech."
        return await _page(visit, fault=words, status=error.status)
    return await _page(visit, made=made)


def _scopes(names: list[str]) -> list[Scope]:
    try:
        return [Scope(name) for name in names]
    except ValueError as error:
        raise invalid_field("scope", "There is no such scope.") from error


async def revoke(visit: PageContext) -> Response:
    """One's own, or as owner or admin anybody's."""
    call, key_id = visit.call, visit.request.path_params["key_id"]
    whose = None if call.principal.role in _LEADING else visit.me.user_id
    known = await list_keys(call.connection, call.principal.library_id, user_id=whose)
    if key_id not in {key.id for key in known}:
        raise not_found()
    await revoke_key(call.connection, key_id, now=call.now)
    return go("/keys", said="revoked")


ROUTES = [
    page("/keys", show_keys),
    page("/keys", create, method="POST"),
    page("/keys/{key_id}/revoke", revoke, method="POST"),
]
