"""Where clients exchange, renew and revoke tokens, and read how; no cookies and no pages here."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from cutroom.accounts.oauth import ACCESS_LIFETIME, GRANTABLE, OAuthError, OAuthTokenService, TokenPair, find_client
from cutroom.console.framework.forms import Form, read_fields
from cutroom.errors import Code, CutroomError
from cutroom.platform.db import Connection
from cutroom.web.error_responses import error_response
from cutroom.web.runtime import Runtime

_NEVER_KEPT = {"Cache-Control": "no-store", "Pragma": "no-cache", "X-Content-Type-Options": "nosniff"}
_ONCE = ("grant_type", "code", "redirect_uri", "client_id", "code_verifier", "refresh_token", "scope", "token")


async def give_tokens(request: Request) -> Response:
    """The token endpoint."""
    return await _answer(request, _tokens)


async def take_token(request: Request) -> Response:
    """The revocation endpoint: it says the same whether there was such a token."""
    return await _answer(request, _revoke)


Work = Callable[[Runtime, Connection, Form], Awaitable[Response]]


async def _answer(request: Request, work: Work) -> Response:
    runtime: Runtime = request.app.state.runtime
    try:
        form = await _read(request)
        # Committed whatever the answer: a refusal may have ended a family.
        async with runtime.database.connection() as connection, connection.transaction():
            try:
                return await work(runtime, connection, form)
            except OAuthError as error:
                refusal = error
        client = request.client
        await runtime.limits.count_failure(client.host if client else "unknown")
        return _refused(refusal)
    except OAuthError as error:
        return _refused(error)
    except CutroomError as error:
        if error.code is Code.INVALID_ARGUMENT:
            return _refused(OAuthError("invalid_request", "The request cannot be read."))
        return error_response(error)


async def _read(request: Request) -> Form:
    form = await read_fields(request)
    if not form.pairs:
        raise OAuthError("invalid_request", "Send a form: application/x-www-form-urlencoded.")
    if any(len(form.all(name)) > 1 for name in _ONCE):
        raise OAuthError("invalid_request", "A parameter occurs twice.")
    if "authorization" in request.headers or form.has("client_secret"):
        raise OAuthError("invalid_client", "Clients here are public: send a client_id, and no secret.")
    return form


async def _client_id(connection: Connection, form: Form) -> str:
    client = await find_client(connection, form.text("client_id")[:100])
    if client is None:
        raise OAuthError("invalid_client", "The client is not known.")
    return client.id


async def _tokens(runtime: Runtime, connection: Connection, form: Form) -> Response:
    granter, now = OAuthTokenService(runtime.secret_box), runtime.clock()
    client_id = await _client_id(connection, form)
    match form.text("grant_type"):
        case "authorization_code":
            made = await granter.exchange(
                connection,
                form.text("code"),
                client_id=client_id,
                redirect_uri=form.text("redirect_uri"),
                verifier=form.text("code_verifier"),
                now=now,
            )
        case "refresh_token":
            made = await granter.refresh(
                connection, form.text("refresh_token"), client_id=client_id, scope=form.text("scope"), now=now
            )
        case "":
            raise OAuthError("invalid_request", "A grant_type is required.")
        case _:
            raise OAuthError("unsupported_grant_type", "Use authorization_code or refresh_token.")
    return _given(made)


def _given(made: TokenPair) -> Response:
    body = {
        "access_token": made.access,
        "token_type": "Bearer",
        "expires_in": int(ACCESS_LIFETIME.total_seconds()),
        "refresh_token": made.refresh,
        "scope": " ".join(made.scopes),
    }
    return JSONResponse(body, headers=_NEVER_KEPT)


async def _revoke(runtime: Runtime, connection: Connection, form: Form) -> Response:
    client_id = await _client_id(connection, form)
    if not form.text("token"):
        raise OAuthError("invalid_request", "A token is required.")
    await OAuthTokenService(runtime.secret_box).revoke(connection, form.text("token"), client_id=client_id, now=runtime.clock())
    return Response(status_code=200, headers=_NEVER_KEPT)


def _refused(error: OAuthError) -> Response:
    body = {"error": error.error, "error_description": error.description}
    status = 401 if error.error == "invalid_client" else 400
    return JSONResponse(body, status_code=status, headers=_NEVER_KEPT)


async def show_metadata(request: Request) -> Response:
    """RFC 8414: how to speak with this server."""
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
    Route("/oauth/token", give_tokens, methods=["POST"]),
    Route("/oauth/revoke", take_token, methods=["POST"]),
    Route("/.well-known/oauth-authorization-server", show_metadata, methods=["GET"]),
]
