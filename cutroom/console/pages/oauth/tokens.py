"""OAuth endpoints for clients: token exchange, refresh, revocation, metadata."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from cutroom.accounts.command_line import exchange_for_key, is_command_line, revoke_login
from cutroom.accounts.oauth import (
    ACCESS_LIFETIME,
    GRANTABLE,
    OAuthError,
    OAuthTokenService,
    RevokedGrant,
    TokenPair,
    find_client,
)
from cutroom.accounts.principals import PrincipalKind
from cutroom.accounts.service import KeyIssuer
from cutroom.audit import service as audit
from cutroom.audit.service import AuditActor, AuditEvent
from cutroom.console.framework.forms import Form, read_fields
from cutroom.errors import Code, CutroomError
from cutroom.platform.db import Connection
from cutroom.retention.revocations.log import log_revocations
from cutroom.web.error_responses import error_response
from cutroom.web.middleware import origin_of
from cutroom.web.runtime import Runtime

_NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache", "X-Content-Type-Options": "nosniff"}
_SINGLE_FIELDS = (
    "grant_type", "code", "redirect_uri", "client_id", "code_verifier", "refresh_token", "scope", "token", "device_name"
)  # fmt: skip


async def issue_tokens(request: Request) -> Response:
    """The token endpoint."""
    return await _respond(request, _tokens)


async def revoke_token(request: Request) -> Response:
    """The revocation endpoint; the response is the same for unknown tokens."""
    return await _respond(request, _revoke)


TokenHandler = Callable[[Request, Connection, Form], Awaitable[Response]]


async def _respond(request: Request, handler: TokenHandler) -> Response:
    runtime: Runtime = request.app.state.runtime
    try:
        form = await _read(request)
        # Committed even on errors: reuse of a refresh token revokes its whole grant.
        async with runtime.database.connection() as connection, connection.transaction():
            try:
                return await handler(request, connection, form)
            except OAuthError as error:
                rejected = error
                await _append_revocation(request, connection, error.revoked)
        client = request.client
        await runtime.limits.count_failure(client.host if client else "unknown")
        return _error(rejected)
    except OAuthError as error:
        return _error(error)
    except CutroomError as error:
        if error.code is Code.INVALID_ARGUMENT:
            return _error(OAuthError("invalid_request", "The request could not be parsed."))
        return error_response(error)


async def _read(request: Request) -> Form:
    form = await read_fields(request)
    if not form.pairs:
        raise OAuthError("invalid_request", "The body must be application/x-www-form-urlencoded.")
    if any(len(form.all(name)) > 1 for name in _SINGLE_FIELDS):
        raise OAuthError("invalid_request", "A parameter is repeated.")
    if "authorization" in request.headers or form.has("client_secret"):
        raise OAuthError("invalid_client", "Clients are public: send client_id without a client secret.")
    return form


async def _client_id(connection: Connection, form: Form) -> str:
    given = form.text("client_id")[:100]
    if is_command_line(given):
        return given
    client = await find_client(connection, given)
    if client is None:
        raise OAuthError("invalid_client", "Unknown client.")
    return client.id


async def _append_revocation(request: Request, connection: Connection, revoked: RevokedGrant | None) -> None:
    """Logs the revocation of a grant; the connection is already scoped to its library."""
    if revoked is None:
        return
    targets = {"clientId": revoked.client_id}
    if is_command_line(revoked.client_id):  # its key has the id of the grant
        action, targets = "key.revoke", {**targets, "keyId": revoked.grant_id}
    else:
        action, targets = "oauth.revoke", {**targets, "grantId": revoked.grant_id}
    event = _event(request, action, revoked.library_id, actor=revoked.client_id, targets=targets)
    runtime: Runtime = request.app.state.runtime
    await audit.append(connection, event, secret_box=runtime.secret_box)
    await log_revocations(runtime.settings, [event])


def _event(request: Request, action: str, library_id: str, *, actor: str, targets: dict[str, str]) -> AuditEvent:
    runtime: Runtime = request.app.state.runtime
    return AuditEvent(
        library_id=library_id,
        action=action,
        actor=AuditActor(PrincipalKind.TOKEN, actor),
        at=runtime.clock(),
        origin=origin_of(request),
        targets=targets,
    )


async def _tokens(request: Request, connection: Connection, form: Form) -> Response:
    runtime: Runtime = request.app.state.runtime
    service, now = OAuthTokenService(runtime.secret_box), runtime.clock()
    client_id = await _client_id(connection, form)
    match form.text("grant_type"):
        case "authorization_code" if is_command_line(client_id):
            return await _key_response(request, connection, form)
        case "authorization_code":
            pair = await service.exchange(
                connection,
                form.text("code"),
                client_id=client_id,
                redirect_uri=form.text("redirect_uri"),
                verifier=form.text("code_verifier"),
                now=now,
            )
        case "refresh_token":
            pair = await service.refresh(
                connection, form.text("refresh_token"), client_id=client_id, scope=form.text("scope"), now=now
            )
        case "":
            raise OAuthError("invalid_request", "grant_type is required.")
        case _:
            raise OAuthError("unsupported_grant_type", "Use authorization_code or refresh_token.")
    return _tokens_response(pair)


async def _key_response(request: Request, connection: Connection, form: Form) -> Response:
    """The command line gets an API key, which does not expire, in place of tokens."""
    runtime: Runtime = request.app.state.runtime
    login = await exchange_for_key(
        connection,
        form.text("code"),
        redirect_uri=form.text("redirect_uri"),
        verifier=form.text("code_verifier"),
        device=form.text("device_name"),
        issuer=KeyIssuer(secret_box=runtime.secret_box, plans=runtime.authenticator.plans),
        now=runtime.clock(),
    )
    client_id, scopes = form.text("client_id"), sorted(login.key.scopes)
    targets = {"keyId": login.key.key_id, "clientId": client_id}
    event = _event(request, "key.create", login.library_id, actor=client_id, targets=targets)
    event = replace(event, after={"scopes": scopes})
    await audit.append(connection, event, secret_box=runtime.secret_box)
    body = {"access_token": login.key.secret, "token_type": "Bearer", "scope": " ".join(scopes)}
    return JSONResponse(body, headers=_NO_STORE)


def _tokens_response(pair: TokenPair) -> Response:
    body = {
        "access_token": pair.access,
        "token_type": "Bearer",
        "expires_in": int(ACCESS_LIFETIME.total_seconds()),
        "refresh_token": pair.refresh,
        "scope": " ".join(pair.scopes),
    }
    return JSONResponse(body, headers=_NO_STORE)


async def _revoke(request: Request, connection: Connection, form: Form) -> Response:
    runtime: Runtime = request.app.state.runtime
    client_id = await _client_id(connection, form)
    if not form.text("token"):
        raise OAuthError("invalid_request", "token is required.")
    service, token, now = OAuthTokenService(runtime.secret_box), form.text("token"), runtime.clock()
    if is_command_line(client_id):
        revoked = await revoke_login(connection, token, service=service, now=now)
    else:
        revoked = await service.revoke(connection, token, client_id=client_id, now=now)
    await _append_revocation(request, connection, revoked)
    return Response(status_code=200, headers=_NO_STORE)


def _error(error: OAuthError) -> Response:
    body = {"error": error.error, "error_description": error.description}
    status = 401 if error.error == "invalid_client" else 400
    return JSONResponse(body, status_code=status, headers=_NO_STORE)


async def show_metadata(request: Request) -> Response:
    """Authorization server metadata (RFC 8414)."""
    runtime: Runtime = request.app.state.runtime
    issuer = runtime.settings.base_url
    document = {
        "issuer": issuer,
        "authorization_endpoint": f"{issuer}/oauth/authorize",
        "token_endpoint": f"{issuer}/oauth/token",
        "revocation_endpoint": f"{issuer}/oauth/revoke",
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "scopes_supported": sorted(GRANTABLE),
        "authorization_response_iss_parameter_supported": True,
    }
    return JSONResponse(document, headers={"Cache-Control": "public, max-age=300"})


ROUTES = [
    Route("/oauth/token", issue_tokens, methods=["POST"]),
    Route("/oauth/revoke", revoke_token, methods=["POST"]),
    Route("/.well-known/oauth-authorization-server", show_metadata, methods=["GET"]),
]
