"""OAuth: the authorization code flow works with a standard client, and every misuse gets the error the RFCs specify."""

import sys
from collections.abc import Awaitable, Callable

import httpx
from authlib.integrations.httpx_client import AsyncOAuth2Client  # type: ignore[import-untyped]
from rich.markup import escape

from cutroom.accounts.oauth import register_client
from cutroom.accounts.plans import PlanName
from cutroom.accounts.principals import Role
from cutroom.platform.clock import system_clock
from cutroom.web.runtime import open_runtime
from dev.scratch import Accounts, Person, environment_of, scratch
from dev.server import Server
from proofs.stage.oauth_client import (
    CALLBACK,
    AuthorizationRequest,
    BrowserUser,
    OAuthClient,
    OAuthStage,
    Tally,
    error_of,
    redirect_params,
)
from proofs.stage.report import Report, prove


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001, ARG001 (both forms are the same: it is quick)
    settings = (await scratch("proof_oauth")).model_copy(update={"failed_credentials_per_minute": 1_000_000})
    accounts, server, tally = await Accounts.open(settings), Server(environment_of(settings)), Tally()
    server.start()
    try:
        async with open_runtime(settings) as runtime, httpx.AsyncClient(base_url=server.url, timeout=60) as client:
            person = await accounts.person()
            clients = [
                await register_client(accounts.connection, name, [CALLBACK], owner_id=None, now=system_clock())
                for name in ("Reader", "Other app")
            ]
            stage = OAuthStage(
                accounts,
                await BrowserUser.sign_in(runtime, server.url, person),
                await accounts.workspace(person),
                OAuthClient(client, clients[0].id),
                OAuthClient(client, clients[1].id),
                tally,
                client,
            )
            valid = await _valid_flow(stage, server.url)
            for check in CHECKS:
                await check(stage)
            await stage.user.client.aclose()
    finally:
        server.stop()
        await accounts.close()
    for failure in tally.wrong:
        report.note(escape(failure))
    report.claim(
        "Authlib authorizes, calls, refreshes and revokes", expected="works", measured=valid, holds=valid == "works"
    )
    wrong = len(tally.wrong)
    measured = f"{wrong} wrong of {tally.cases}"
    report.claim("misuse is rejected", expected="0 wrong of 30 or more", measured=measured, holds=not wrong)
    report.claim("cases", expected="30 or more", measured=tally.cases, holds=tally.cases >= 30)
    report.figures(cases=tally.cases, wrong=wrong)


async def _valid_flow(stage: OAuthStage, url: str) -> str:
    """Run the complete flow with Authlib, a third-party client library."""
    metadata = (await stage.anonymous.get("/.well-known/oauth-authorization-server")).json()
    async with AsyncOAuth2Client(
        stage.app.id,
        redirect_uri=CALLBACK,
        scope="tts:read",
        code_challenge_method="S256",
        token_endpoint=f"{url}/oauth/token",
        token_endpoint_auth_method="none",  # noqa: S106 (the name of a method)
        revocation_endpoint_auth_method="none",
    ) as client:
        verifier = AuthorizationRequest("").verifier
        address, state = client.create_authorization_url(metadata["authorization_endpoint"], code_verifier=verifier)
        fields = dict(httpx.URL(address).params)
        shown = await stage.user.authorize(fields)
        consented = await stage.user.submit_consent(fields, stage.workspace_id)
        token = await client.fetch_token(
            metadata["token_endpoint"],
            authorization_response=consented.headers["location"],
            code_verifier=verifier,
            state=state,
        )
        called = await stage.app.voices(token["access_token"])
        renewed = await client.refresh_token(metadata["token_endpoint"], refresh_token=token["refresh_token"])
        again = await stage.app.voices(renewed["access_token"])
        revoked = await client.revoke_token(metadata["revocation_endpoint"], token=renewed["refresh_token"])
        after = await stage.app.voices(renewed["access_token"])
    found = (shown.status_code, called, again, revoked.status_code, after)
    return "works" if found == (200, 200, 200, 200, 401) else str(found)


async def _consent(stage: OAuthStage) -> None:
    """Authorization errors: without a valid client and redirect URI they are only displayed, otherwise redirected."""
    tally, user, request = stage.tally, stage.user, stage.request()
    foreign: dict[str, dict[str, str | None]] = {
        "no client": {"client_id": None},
        "an unknown client": {"client_id": "unknown"},
        "no redirect URI": {"redirect_uri": None},
        "an unregistered redirect URI": {"redirect_uri": "https://evil.example/callback"},
        "a redirect URI with a longer path": {"redirect_uri": f"{CALLBACK}/more"},
        "a redirect URI with a query": {"redirect_uri": f"{CALLBACK}?a=b"},
        "a redirect URI in upper case": {"redirect_uri": CALLBACK.upper()},
        "another port": {"redirect_uri": CALLBACK.replace(":9/", ":10/")},
    }
    for name, changes in foreign.items():
        shown = await user.authorize(request.fields(**changes))
        tally.check(
            f"{name} is displayed, not redirected", (shown.status_code, "location" in shown.headers), (400, False)
        )
    twice = await user.client.get("/oauth/authorize", params=[*request.fields().items(), ("client_id", "x")])
    tally.check("a repeated parameter", (twice.status_code, "location" in twice.headers), (400, False))
    faulty: list[tuple[str, dict[str, str | None], str]] = [
        ("the implicit flow", {"response_type": "token"}, "unsupported_response_type"),
        ("no challenge", {"code_challenge": None, "code_challenge_method": None}, "invalid_request"),
        ("the plain challenge method", {"code_challenge_method": "plain"}, "invalid_request"),
        ("no challenge method, which means plain", {"code_challenge_method": None}, "invalid_request"),
        ("a malformed challenge", {"code_challenge": "short"}, "invalid_request"),
        ("a scope beyond speech", {"scope": "videos:read"}, "invalid_scope"),
        ("an unknown scope", {"scope": "tts:read everything"}, "invalid_scope"),
        ("an oversized state", {"state": "s" * 1500}, "invalid_request"),
    ]
    for name, changes, error in faulty:
        params = redirect_params(await user.authorize(request.fields(**changes)))
        tally.check(name, params.get("error"), error)
        posted = redirect_params(await user.submit_consent(request.fields(**changes), stage.workspace_id))
        tally.check(f"{name}, posted directly", posted.get("error"), error)
    denied = redirect_params(await user.submit_consent(request.fields(), stage.workspace_id, decision="deny"))
    tally.check("consent is denied", (denied.get("error"), denied.get("state")), ("access_denied", request.state))


async def _consent_forged(stage: OAuthStage) -> None:
    """Consent cannot be forged, nor given for another user's library."""
    tally, user, request = stage.tally, stage.user, stage.request()
    form = {**request.fields(), "library": stage.workspace_id, "answer": "allow"}
    forged = await user.client.post("/oauth/authorize", data=form)
    tally.check("consent without a CSRF token", forged.status_code, 403)
    headers = {"Origin": "https://evil.example"}
    crossed = await user.client.post("/oauth/authorize", data={**form, "csrf": await user.csrf()}, headers=headers)
    tally.check("consent from another site", crossed.status_code, 403)
    signed_out = await stage.anonymous.get("/oauth/authorize", params=request.fields())
    tally.check("a signed-out user is sent to sign in", signed_out.headers.get("location", "")[:13], "/sign-in?next")
    foreign = await stage.accounts.workspace(await stage.accounts.person())
    refused = await user.submit_consent(request.fields(), foreign)
    tally.check("another user's library", (refused.status_code, redirect_params(refused)), (400, {}))
    free = await stage.accounts.workspace(user.person, plan=PlanName.FREE)
    tally.check(
        "a library whose plan has no speech API", (await user.submit_consent(request.fields(), free)).status_code, 403
    )
    framed = await user.authorize(request.fields())
    policy = framed.headers["content-security-policy"].split("; ")
    tally.check("the consent page cannot be framed", policy.count("frame-ancestors 'none'"), 1)


async def _exchange(stage: OAuthStage) -> None:
    """Authorization codes are single-use, expire after a minute, and are bound to client, redirect URI and verifier."""
    tally, app = stage.tally, stage.app
    refused = (400, "invalid_grant")
    misuses: list[tuple[str, dict[str, str | None], tuple[int, str]]] = [
        ("a wrong verifier", {"code_verifier": AuthorizationRequest("").verifier}, refused),
        ("no verifier", {"code_verifier": None}, refused),
        ("a verifier that is too short", {"code_verifier": "abc"}, refused),
        ("another redirect URI", {"redirect_uri": f"{CALLBACK}x"}, refused),
        ("no redirect URI", {"redirect_uri": None}, refused),
        ("an unknown code", {"code": "oac_nothing"}, refused),
        ("no code", {"code": None}, refused),
        ("no client", {"client_id": None}, (401, "invalid_client")),
        ("an unknown client", {"client_id": "unknown"}, (401, "invalid_client")),
        ("another client", {"client_id": stage.other_app.id}, refused),
        ("a client secret from a public client", {"client_secret": "x"}, (401, "invalid_client")),
        ("the password grant", {"grant_type": "password"}, (400, "unsupported_grant_type")),
        ("no grant type", {"grant_type": None}, (400, "invalid_request")),
    ]
    for name, changes, expected in misuses:
        request = stage.request()
        code = await stage.user.code(request, stage.workspace_id)
        tally.check(f"exchange: {name}", error_of(await app.exchange(request, code, changes)), expected)
    request = stage.request()
    code = await stage.user.code(request, stage.workspace_id)
    first = (await app.exchange(request, code)).json()
    tally.check("exchange: a code used twice", error_of(await app.exchange(request, code)), refused)
    tally.check("exchange: reuse revokes the access token", await app.voices(first["access_token"]), 401)
    tally.check(
        "exchange: reuse revokes the refresh token", error_of(await app.refresh(first["refresh_token"])), refused
    )
    request = stage.request()
    code = await stage.user.code(request, stage.workspace_id)
    await stage.accounts.connection.execute("UPDATE oauth_grants SET code_expires_at = now() - interval '1 second'")
    tally.check("exchange: an expired code", error_of(await app.exchange(request, code)), refused)
    json_body = await stage.anonymous.post("/oauth/token", json={"grant_type": "refresh_token"})
    tally.check("exchange: a JSON body", error_of(json_body), (400, "invalid_request"))
    by_get = await stage.anonymous.get("/oauth/token")
    tally.check("exchange: by GET", by_get.status_code, 405)


async def _refresh(stage: OAuthStage) -> None:
    """Refresh tokens rotate; reuse revokes the whole token family."""
    tally, app = stage.tally, stage.app
    refused = (400, "invalid_grant")
    access, refresh = await stage.tokens()
    tally.check("refresh: another client", error_of(await stage.other_app.refresh(refresh)), refused)
    tally.check(
        "refresh: a wider scope than granted",
        error_of(await app.refresh(refresh, scope="tts:write")),
        (400, "invalid_scope"),
    )
    tally.check("refresh: with an access token", error_of(await app.refresh(access)), refused)
    second = (await app.refresh(refresh)).json()
    tally.check("refresh: the new access token works", await app.voices(second["access_token"]), 200)
    tally.check("refresh: a token used twice", error_of(await app.refresh(refresh)), refused)
    tally.check("refresh: reuse revokes the new access token", await app.voices(second["access_token"]), 401)
    tally.check(
        "refresh: reuse revokes the new refresh token", error_of(await app.refresh(second["refresh_token"])), refused
    )
    _, late = await stage.tokens()
    await stage.accounts.connection.execute("UPDATE oauth_refresh_tokens SET expires_at = now() - interval '1 second'")
    tally.check("refresh: an expired token", error_of(await app.refresh(late)), refused)


async def _use(stage: OAuthStage) -> None:
    """Tokens work only within their scope, and stop when revoked, expired or disconnected."""
    tally, app, connection = stage.tally, stage.app, stage.accounts.connection
    access, refresh = await stage.tokens()
    headers = {"Authorization": f"Bearer {access}"}
    elsewhere = await stage.anonymous.get("/v1/videos", headers=headers)
    tally.check("use: outside the speech API", elsewhere.status_code, 401)
    written = await stage.anonymous.post(
        "/v1/voices/add", headers=headers, json={"name": "a", "sample_url": "https://a.b"}
    )
    code = written.json()["error"]["code"]
    tally.check("use: without the required scope", (written.status_code, code), (403, "INSUFFICIENT_SCOPE"))
    tally.check("revoke: by another client", (await stage.other_app.revoke(access)).status_code, 200)
    tally.check("revoke: by another client has no effect", await app.voices(access), 200)
    tally.check("revoke: no token", error_of(await app.revoke("")), (400, "invalid_request"))
    tally.check("revoke: an unknown token", (await app.revoke("oat_nothing")).status_code, 200)
    await app.revoke(access)
    tally.check("revoke: an access token", await app.voices(access), 401)
    tally.check(
        "revoke: its refresh token is revoked too", error_of(await app.refresh(refresh)), (400, "invalid_grant")
    )
    access, _ = await stage.tokens()
    await connection.execute("UPDATE oauth_tokens SET expires_at = now() - interval '1 second'")
    tally.check("use: an expired access token", await app.voices(access), 401)
    access, refresh = await stage.tokens()
    grant = await connection.fetchval("SELECT id FROM oauth_grants ORDER BY id DESC LIMIT 1")
    await stage.user.client.post("/switch", data={"csrf": await stage.user.csrf(), "library": stage.workspace_id})
    await stage.user.client.post(f"/apps/connections/{grant}/end", data={"csrf": await stage.user.csrf()})
    tally.check("use: after the user disconnected the app", await app.voices(access), 401)
    tally.check(
        "refresh: after the user disconnected the app", error_of(await app.refresh(refresh)), (400, "invalid_grant")
    )


async def _membership(stage: OAuthStage) -> None:
    """Removing a member revokes their tokens for the workspace; deleting a client revokes all of its tokens."""
    tally, app, connection = stage.tally, stage.app, stage.accounts.connection
    owner: Person = await stage.accounts.person()
    team = await stage.accounts.workspace(owner)
    await stage.accounts.member(team, stage.user.person, role=Role.EDITOR)
    request = stage.request()
    tokens = (await app.exchange(request, await stage.user.code(request, team))).json()
    pending = stage.request()
    pending_code = await stage.user.code(pending, team)
    tally.check("a member's token", await app.voices(tokens["access_token"]), 200)
    sql = "DELETE FROM members WHERE library_id = $1 AND user_id = $2"
    await connection.execute(sql, team, stage.user.person.user_id)
    tally.check("a removed member's token", await app.voices(tokens["access_token"]), 403)
    tally.check(
        "a removed member's refresh", error_of(await app.refresh(tokens["refresh_token"])), (400, "invalid_grant")
    )
    tally.check("a removed member's code", error_of(await app.exchange(pending, pending_code)), (400, "invalid_grant"))
    access, refresh = await stage.tokens()
    await connection.fetchval("SELECT revoke_oauth_client($1, NULL, now())", app.id)
    tally.check("a deleted client's token", await app.voices(access), 401)
    tally.check("a deleted client's refresh", error_of(await app.refresh(refresh)), (401, "invalid_client"))
    tally.check("a deleted client's authorization", (await stage.user.authorize(request.fields())).status_code, 400)


CHECKS: tuple[Callable[[OAuthStage], Awaitable[None]], ...] = (
    _consent,
    _consent_forged,
    _exchange,
    _refresh,
    _use,
    _membership,  # last: it deletes the client
)


if __name__ == "__main__":
    sys.exit(prove("OAuth flow and misuse", proof))
