"""The page on which a person lets a client in: what it asks for, and into which library."""

from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from starlette.responses import RedirectResponse, Response

from cutroom.accounts.oauth import (
    Consent,
    OAuthClientInfo,
    OAuthError,
    OAuthTokenService,
    find_client,
    is_challenge,
    parse_scopes,
)
from cutroom.accounts.scopes import Scope
from cutroom.accounts.sessions import LibraryChoice
from cutroom.console.framework.page_context import PageContext, page
from cutroom.console.framework.scopes import SCOPE_WORDS
from cutroom.console.framework.security import policy
from cutroom.errors import Code, CutroomError, invalid_field

MAX_STATE = 1_000
_FIELDS = ("client_id", "redirect_uri", "response_type", "scope", "state", "code_challenge", "code_challenge_method")


@dataclass(frozen=True, slots=True)
class Asked:
    """A request for consent that can be answered at its client's own address."""

    client: OAuthClientInfo
    redirect_uri: str
    state: str
    fields: dict[str, str]


async def _read(visit: PageContext, pairs: list[tuple[str, str]]) -> Asked:
    """Until client and address are known to belong together, nobody is sent anywhere."""
    given = [(name, value) for name, value in pairs if name in _FIELDS]
    fields = dict(given)
    if len(given) != len(fields):
        raise invalid_field("request", "The program that sent you here named something twice.")
    client = await find_client(visit.call.connection, fields.get("client_id", "")[:100])
    if client is None:
        raise invalid_field("client_id", "The program that sent you here is not known.")
    redirect_uri = fields.get("redirect_uri", "")
    if redirect_uri not in client.redirect_uris:
        raise invalid_field("redirect_uri", "The address to go back to is not one that this program registered.")
    return Asked(client, redirect_uri, fields.get("state", ""), fields)


def _scopes(asked: Asked) -> frozenset[Scope]:
    """What is asked for; whatever is wrong from here on is told to the client."""
    fields = asked.fields
    if fields.get("response_type") != "code":
        raise OAuthError("unsupported_response_type", "Only codes are given out.")
    if fields.get("code_challenge_method") != "S256" or not is_challenge(fields.get("code_challenge", "")):
        raise OAuthError("invalid_request", "A code_challenge of the method S256 is required.")
    if len(asked.state) > MAX_STATE:
        raise OAuthError("invalid_request", f"A state has at most {MAX_STATE} characters.")
    return parse_scopes(fields.get("scope", ""))


def _back(visit: PageContext, asked: Asked, **answer: str) -> Response:
    """To the client, with who it was that answered (RFC 9207)."""
    state = {"state": asked.state} if asked.state and len(asked.state) <= MAX_STATE else {}
    query = urlencode({**answer, **state, "iss": visit.runtime.settings.base_url})
    joint = "&" if urlsplit(asked.redirect_uri).query else "?"
    return RedirectResponse(f"{asked.redirect_uri}{joint}{query}", status_code=303)


async def show_consent(visit: PageContext) -> Response:
    asked = await _read(visit, visit.request.query_params.multi_items())
    try:
        scopes = _scopes(asked)
    except OAuthError as error:
        return _back(visit, asked, error=error.error, error_description=error.description)
    response = visit.page(
        "consent.html",
        client=asked.client,
        fields=asked.fields,
        host=urlsplit(asked.redirect_uri).netloc,
        scopes=[(scope.value, SCOPE_WORDS[scope]) for scope in sorted(scopes)],
    )
    parts = urlsplit(asked.redirect_uri)
    target = (f"{parts.scheme}://{parts.netloc}",)
    response.headers["Content-Security-Policy"] = policy(visit.runtime.settings, form_targets=target)
    return response


async def answer_consent(visit: PageContext) -> Response:
    asked = await _read(visit, list(visit.form.pairs))
    try:
        scopes = _scopes(asked)
    except OAuthError as error:
        return _back(visit, asked, error=error.error, error_description=error.description)
    if visit.form.text("answer") != "allow":
        return _back(visit, asked, error="access_denied", error_description="The person said no.")
    library = _chosen(visit)
    consent = Consent(
        client_id=asked.client.id,
        user_id=visit.me.user_id,
        library_id=library.id,
        scopes=scopes,
        redirect_uri=asked.redirect_uri,
        challenge=asked.fields["code_challenge"],
    )
    async with visit.runtime.database.transaction(library.id) as connection:
        code = await OAuthTokenService(visit.runtime.secret_box).issue_code(connection, consent, now=visit.call.now)
    return _back(visit, asked, code=code)


def _chosen(visit: PageContext) -> LibraryChoice:
    wanted = visit.form.text("library")
    for each in visit.libraries:
        if each.id == wanted:
            if not each.plan.speech:
                raise CutroomError(Code.PERMISSION_DENIED, message="The plan of this library does not include speech.")
            return each
    raise invalid_field("library", "Choose one of your libraries.")


ROUTES = [
    page("/oauth/authorize", show_consent),
    page("/oauth/authorize", answer_consent, method="POST"),
]
