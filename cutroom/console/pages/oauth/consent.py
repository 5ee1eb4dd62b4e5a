"""The OAuth authorization page: requested scopes, choice of library, consent."""

from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from starlette.responses import RedirectResponse, Response

from cutroom.accounts.command_line import COMMAND_LINE, is_command_line, is_loopback_redirect, parse_key_scopes
from cutroom.accounts.oauth import (
    Consent,
    OAuthClientInfo,
    OAuthError,
    OAuthTokenService,
    find_client,
    is_challenge,
    parse_scopes,
)
from cutroom.accounts.scopes import ALL_SCOPES, SPEECH_SCOPES, Scope
from cutroom.accounts.sessions import LibraryChoice
from cutroom.console.framework.page_context import PageContext, page
from cutroom.console.framework.scopes import SCOPE_DESCRIPTIONS
from cutroom.console.framework.security import policy
from cutroom.errors import Code, CutroomError, invalid_field

MAX_STATE = 1_000
_FIELDS = ("client_id", "redirect_uri", "response_type", "scope", "state", "code_challenge", "code_challenge_method")


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    """An authorization request with a known client and a registered redirect URI."""

    client: OAuthClientInfo
    redirect_uri: str
    state: str
    fields: dict[str, str]


async def _read(context: PageContext, pairs: list[tuple[str, str]]) -> AuthorizationRequest:
    """Validates client and redirect URI first; errors before that must not redirect."""
    given = [(name, value) for name, value in pairs if name in _FIELDS]
    fields = dict(given)
    if len(given) != len(fields):
        raise invalid_field("request", "The app sent a parameter twice.")
    client_id, redirect_uri = fields.get("client_id", "")[:100], fields.get("redirect_uri", "")
    client = COMMAND_LINE if is_command_line(client_id) else await find_client(context.call.connection, client_id)
    if client is None:
        raise invalid_field("client_id", "The app that sent you here is not registered.")
    known = is_loopback_redirect(redirect_uri) if client is COMMAND_LINE else redirect_uri in client.redirect_uris
    if not known:
        raise invalid_field("redirect_uri", "The redirect URI is not registered for this app.")
    return AuthorizationRequest(client, redirect_uri, fields.get("state", ""), fields)


def _scopes(request: AuthorizationRequest) -> frozenset[Scope]:
    """The requested scopes; errors from here on are sent to the client."""
    fields = request.fields
    if fields.get("response_type") != "code":
        raise OAuthError("unsupported_response_type", "Only the response type code is supported.")
    if fields.get("code_challenge_method") != "S256" or not is_challenge(fields.get("code_challenge", "")):
        raise OAuthError("invalid_request", "A code_challenge with the method S256 is required.")
    if len(request.state) > MAX_STATE:
        raise OAuthError("invalid_request", f"state must have at most {MAX_STATE} characters.")
    if request.client is COMMAND_LINE:
        if not request.state:
            raise OAuthError("invalid_request", "state is required.")
        return parse_key_scopes(fields.get("scope", ""))
    return parse_scopes(fields.get("scope", ""))


def _redirect_to_client(context: PageContext, request: AuthorizationRequest, **params: str) -> Response:
    """Redirects to the client with the issuer (RFC 9207)."""
    state = {"state": request.state} if request.state and len(request.state) <= MAX_STATE else {}
    query = urlencode({**params, **state, "iss": context.runtime.settings.base_url})
    separator = "&" if urlsplit(request.redirect_uri).query else "?"
    return RedirectResponse(f"{request.redirect_uri}{separator}{query}", status_code=303)


async def show_consent(context: PageContext) -> Response:
    request = await _read(context, context.request.query_params.multi_items())
    try:
        scopes = _scopes(request)
    except OAuthError as error:
        return _redirect_to_client(context, request, error=error.error, error_description=error.description)
    response = context.page(
        "consent_key.html" if request.client is COMMAND_LINE else "consent.html",
        client=request.client,
        fields=request.fields,
        host=urlsplit(request.redirect_uri).netloc,
        scopes=[(scope.value, text) for scope, text in SCOPE_DESCRIPTIONS.items() if scope in scopes],
    )
    parts = urlsplit(request.redirect_uri)
    target = (f"{parts.scheme}://{parts.netloc}",)
    response.headers["Content-Security-Policy"] = policy(context.runtime.settings, form_targets=target)
    return response


async def answer_consent(context: PageContext) -> Response:
    request = await _read(context, list(context.form.pairs))
    try:
        scopes = _scopes(request)
    except OAuthError as error:
        return _redirect_to_client(context, request, error=error.error, error_description=error.description)
    if context.form.text("answer") != "allow":
        return _redirect_to_client(context, request, error="access_denied", error_description="The user denied access.")
    if request.client is COMMAND_LINE:
        library = _chosen_library(context)
        scopes = _chosen_scopes(context, scopes, library)
    else:
        library = _chosen(context)
    consent = Consent(
        client_id=request.client.id,
        user_id=context.me.user_id,
        library_id=library.id,
        scopes=scopes,
        redirect_uri=request.redirect_uri,
        challenge=request.fields["code_challenge"],
    )
    async with context.runtime.database.transaction(library.id) as connection:
        service = OAuthTokenService(context.runtime.secret_box)
        issued = await service.issue_code(connection, consent, now=context.call.now)
        event = context.audit_event(
            "oauth.grant",
            library_id=library.id,
            targets={"grantId": issued.grant_id, "clientId": request.client.id},
            after={"scopes": sorted(scopes)},
        )
        await context.append_event(connection, event)
    return _redirect_to_client(context, request, code=issued.code)


def _chosen_scopes(context: PageContext, requested: frozenset[Scope], library: LibraryChoice) -> frozenset[Scope]:
    """The requested scopes that are ticked; all of them on a plan without speech include those of speech, unused."""
    ticked = frozenset(context.form.all("scope_granted"))
    chosen = frozenset(scope for scope in requested if scope.value in ticked)
    if chosen != ALL_SCOPES and not library.plan.speech:
        chosen -= SPEECH_SCOPES
    if not chosen:
        raise invalid_field("scope_granted", "Choose at least one thing that the command line may do.")
    return chosen


def _chosen(context: PageContext) -> LibraryChoice:
    library = _chosen_library(context)
    if not library.plan.speech:
        raise CutroomError(Code.PERMISSION_DENIED, message="This library's plan does not include speech.")
    return library


def _chosen_library(context: PageContext) -> LibraryChoice:
    library_id = context.form.text("library")
    for each in context.libraries:
        if each.id == library_id:
            return each
    raise invalid_field("library", "Choose one of your libraries.")


ROUTES = [
    page("/oauth/authorize", show_consent),
    page("/oauth/authorize", answer_consent, method="POST"),
]
