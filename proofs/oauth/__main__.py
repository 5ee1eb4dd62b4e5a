"""OAuth as a program meets it: the honest way works, and every misuse is refused in the words of the RFCs."""

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
            made = [
                await register_client(accounts.connection, name, [CALLBACK], owner_id=None, now=system_clock())
                for name in ("Reader", "Stranger")
            ]
            stage = OAuthStage(
                accounts,
                await BrowserUser.sign_in(runtime, server.url, person),
                await accounts.workspace(person),
                OAuthClient(client, made[0].id),
                OAuthClient(client, made[1].id),
                tally,
                client,
            )
            valid = await _valid_flow(stage, server.url)
            for part in PARTS:
                await part(stage)
            await stage.user.client.aclose()
    finally:
        server.stop()
        await accounts.close()
    for words in tally.wrong:
        report.note(escape(words))
    report.claim(
        "Authlib connects, calls, renews and revokes", expected="works", measured=valid, holds=valid == "works"
    )
    wrong = len(tally.wrong)
    measured = f"{wrong} wrong of {tally.cases}"
    report.claim("misuse is refused", expected="0 wrong of 30 or more", measured=measured, holds=not wrong)
    report.claim("cases", expected="30 or more", measured=tally.cases, holds=tally.cases >= 30)
    report.figures(cases=tally.cases, wrong=wrong)


async def _valid_flow(stage: OAuthStage, url: str) -> str:
    """The whole way with somebody else's client library."""
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
        sent = await stage.user.submit_consent(fields, stage.workspace_id)
        token = await client.fetch_token(
            metadata["token_endpoint"],
            authorization_response=sent.headers["location"],
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
    """Before anybody agrees: errors for people stay with us, errors for programs go to the program."""
    tally, user, request = stage.tally, stage.user, stage.request()
    foreign: dict[str, dict[str, str | None]] = {
        "no client": {"client_id": None},
        "an unknown client": {"client_id": "nobody"},
        "no address": {"redirect_uri": None},
        "a foreign address": {"redirect_uri": "https://evil.example/callback"},
        "an address with more path": {"redirect_uri": f"{CALLBACK}/more"},
        "an address with a query": {"redirect_uri": f"{CALLBACK}?a=b"},
        "an address in capitals": {"redirect_uri": CALLBACK.upper()},
        "another port": {"redirect_uri": CALLBACK.replace(":9/", ":10/")},
    }
    for name, changes in foreign.items():
        shown = await user.authorize(request.fields(**changes))
        tally.check(
            f"{name} is told to the person only", (shown.status_code, "location" in shown.headers), (400, False)
        )
    twice = await user.client.get("/oauth/authorize", params=[*request.fields().items(), ("client_id", "x")])
    tally.check("a parameter that occurs twice", (twice.status_code, "location" in twice.headers), (400, False))
    faulty: list[tuple[str, dict[str, str | None], str]] = [
        ("the implicit way", {"response_type": "token"}, "unsupported_response_type"),
        ("no challenge", {"code_challenge": None, "code_challenge_method": None}, "invalid_request"),
        ("the plain method", {"code_challenge_method": "plain"}, "invalid_request"),
        ("no method, which means plain", {"code_challenge_method": None}, "invalid_request"),
        ("a challenge that is none", {"code_challenge": "short"}, "invalid_request"),
        ("a scope beyond speech", {"scope": "videos:read"}, "invalid_scope"),
        ("a scope that does not exist", {"scope": "tts:read everything"}, "invalid_scope"),
        ("a boundless state", {"state": "s" * 1500}, "invalid_request"),
    ]
    for name, changes, error in faulty:
        params = redirect_params(await user.authorize(request.fields(**changes)))
        tally.check(name, params.get("error"), error)
        posted = redirect_params(await user.submit_consent(request.fields(**changes), stage.workspace_id))
        tally.check(f"{name}, sent past the page", posted.get("error"), error)
    denied = redirect_params(await user.submit_consent(request.fields(), stage.workspace_id, decision="deny"))
    tally.check("the person says no", (denied.get("error"), denied.get("state")), ("access_denied", request.state))


async def _consent_forged(stage: OAuthStage) -> None:
    """Nobody agrees for somebody else, or for a library that is not theirs."""
    tally, user, request = stage.tally, stage.user, stage.request()
    form = {**request.fields(), "library": stage.workspace_id, "answer": "allow"}
    forged = await user.client.post("/oauth/authorize", data=form)
    tally.check("consent without the page's token", forged.status_code, 403)
    headers = {"Origin": "https://evil.example"}
    crossed = await user.client.post("/oauth/authorize", data={**form, "csrf": await user.csrf()}, headers=headers)
    tally.check("consent from another site", crossed.status_code, 403)
    nobody = await stage.anonymous.get("/oauth/authorize", params=request.fields())
    tally.check("a stranger is asked to sign in", nobody.headers.get("location", "")[:13], "/sign-in?next")
    foreign = await stage.accounts.workspace(await stage.accounts.person())
    refused = await user.submit_consent(request.fields(), foreign)
    tally.check("a library of somebody else", (refused.status_code, redirect_params(refused)), (400, {}))
    free = await stage.accounts.workspace(user.person, plan=PlanName.FREE)
    tally.check("a library without speech", (await user.submit_consent(request.fields(), free)).status_code, 403)
    framed = await user.authorize(request.fields())
    policy = framed.headers["content-security-policy"].split("; ")
    tally.check("the page cannot be framed", policy.count("frame-ancestors 'none'"), 1)


async def _exchange(stage: OAuthStage) -> None:
    """Codes are good once, for a minute, for whom they were given to."""
    tally, app = stage.tally, stage.app
    refused = (400, "invalid_grant")
    misuses: list[tuple[str, dict[str, str | None], tuple[int, str]]] = [
        ("a wrong verifier", {"code_verifier": AuthorizationRequest("").verifier}, refused),
        ("no verifier", {"code_verifier": None}, refused),
        ("a verifier that is too short", {"code_verifier": "abc"}, refused),
        ("another address", {"redirect_uri": f"{CALLBACK}x"}, refused),
        ("no address", {"redirect_uri": None}, refused),
        ("a code that is none", {"code": "oac_nothing"}, refused),
        ("no code", {"code": None}, refused),
        ("no client", {"client_id": None}, (401, "invalid_client")),
        ("an unknown client", {"client_id": "nobody"}, (401, "invalid_client")),
        ("another client", {"client_id": stage.other_app.id}, refused),
        ("a client that sends a secret", {"client_secret": "x"}, (401, "invalid_client")),
        ("a password", {"grant_type": "password"}, (400, "unsupported_grant_type")),
        ("no kind of grant", {"grant_type": None}, (400, "invalid_request")),
    ]
    for name, changes, expected in misuses:
        request = stage.request()
        code = await stage.user.code(request, stage.workspace_id)
        tally.check(f"exchange: {name}", error_of(await app.exchange(request, code, changes)), expected)
    request = stage.request()
    code = await stage.user.code(request, stage.workspace_id)
    first = (await app.exchange(request, code)).json()
    tally.check("exchange: a code that comes twice", error_of(await app.exchange(request, code)), refused)
    tally.check("and ends what it began", await app.voices(first["access_token"]), 401)
    tally.check("for good", error_of(await app.refresh(first["refresh_token"])), refused)
    request = stage.request()
    code = await stage.user.code(request, stage.workspace_id)
    await stage.accounts.connection.execute("UPDATE oauth_grants SET code_expires_at = now() - interval '1 second'")
    tally.check("exchange: a code of yesterday", error_of(await app.exchange(request, code)), refused)
    json_body = await stage.anonymous.post("/oauth/token", json={"grant_type": "refresh_token"})
    tally.check("a body that is no form", error_of(json_body), (400, "invalid_request"))
    got = await stage.anonymous.get("/oauth/token")
    tally.check("a token asked for by GET", got.status_code, 405)


async def _renewal(stage: OAuthStage) -> None:
    """Refresh tokens rotate, and one that is used twice ends its family."""
    tally, app = stage.tally, stage.app
    refused = (400, "invalid_grant")
    access, refresh = await stage.tokens()
    tally.check("renew: another client", error_of(await stage.other_app.refresh(refresh)), refused)
    tally.check(
        "renew: more than was granted", error_of(await app.refresh(refresh, scope="tts:write")), (400, "invalid_scope")
    )
    tally.check("renew: an access token", error_of(await app.refresh(access)), refused)
    second = (await app.refresh(refresh)).json()
    tally.check("a renewed token opens speech", await app.voices(second["access_token"]), 200)
    tally.check("renew: a token that comes twice", error_of(await app.refresh(refresh)), refused)
    tally.check("and ends the new access token", await app.voices(second["access_token"]), 401)
    tally.check("and the new refresh token", error_of(await app.refresh(second["refresh_token"])), refused)
    _, late = await stage.tokens()
    await stage.accounts.connection.execute("UPDATE oauth_refresh_tokens SET expires_at = now() - interval '1 second'")
    tally.check("renew: after its time", error_of(await app.refresh(late)), refused)


async def _use(stage: OAuthStage) -> None:
    """What a token opens, and when it stops."""
    tally, app, connection = stage.tally, stage.app, stage.accounts.connection
    access, refresh = await stage.tokens()
    headers = {"Authorization": f"Bearer {access}"}
    elsewhere = await stage.anonymous.get("/v1/videos", headers=headers)
    tally.check("a token beside the speech API", elsewhere.status_code, 401)
    written = await stage.anonymous.post(
        "/v1/voices/add", headers=headers, json={"name": "a", "sample_url": "https://a.b"}
    )
    code = written.json()["error"]["code"]
    tally.check("a token without the scope", (written.status_code, code), (403, "INSUFFICIENT_SCOPE"))
    tally.check("revoke: by another client", (await stage.other_app.revoke(access)).status_code, 200)
    tally.check("which changes nothing", await app.voices(access), 200)
    tally.check("revoke: nothing", error_of(await app.revoke("")), (400, "invalid_request"))
    tally.check("revoke: what is no token", (await app.revoke("oat_nothing")).status_code, 200)
    await app.revoke(access)
    tally.check("revoke: an access token", await app.voices(access), 401)
    tally.check("takes its refresh token along", error_of(await app.refresh(refresh)), (400, "invalid_grant"))
    access, _ = await stage.tokens()
    await connection.execute("UPDATE oauth_tokens SET expires_at = now() - interval '1 second'")
    tally.check("an access token after its hour", await app.voices(access), 401)
    access, refresh = await stage.tokens()
    grant = await connection.fetchval("SELECT id FROM oauth_grants ORDER BY id DESC LIMIT 1")
    await stage.user.client.post("/switch", data={"csrf": await stage.user.csrf(), "library": stage.workspace_id})
    await stage.user.client.post(f"/apps/connections/{grant}/end", data={"csrf": await stage.user.csrf()})
    tally.check("a connection that the person ended", await app.voices(access), 401)
    tally.check("for good", error_of(await app.refresh(refresh)), (400, "invalid_grant"))


async def _membership(stage: OAuthStage) -> None:
    """Whoever is taken out of a workspace takes their tokens along, and a client that is gone all of its own."""
    tally, app, connection = stage.tally, stage.app, stage.accounts.connection
    owner: Person = await stage.accounts.person()
    team = await stage.accounts.workspace(owner)
    await stage.accounts.member(team, stage.user.person, role=Role.EDITOR)
    request = stage.request()
    made = (await app.exchange(request, await stage.user.code(request, team))).json()
    late = stage.request()
    late_code = await stage.user.code(late, team)
    tally.check("a member's token", await app.voices(made["access_token"]), 200)
    sql = "DELETE FROM members WHERE library_id = $1 AND user_id = $2"
    await connection.execute(sql, team, stage.user.person.user_id)
    tally.check("a removed member's token", await app.voices(made["access_token"]), 403)
    tally.check("renewed", error_of(await app.refresh(made["refresh_token"])), (400, "invalid_grant"))
    tally.check("their code", error_of(await app.exchange(late, late_code)), (400, "invalid_grant"))
    access, refresh = await stage.tokens()
    await connection.fetchval("SELECT revoke_oauth_client($1, NULL, now())", app.id)
    tally.check("a token of a client that is gone", await app.voices(access), 401)
    tally.check("renewed by it", error_of(await app.refresh(refresh)), (401, "invalid_client"))
    tally.check("asking once more", (await stage.user.authorize(request.fields())).status_code, 400)


PARTS: tuple[Callable[[OAuthStage], Awaitable[None]], ...] = (
    _consent,
    _consent_forged,
    _exchange,
    _renewal,
    _use,
    _membership,  # last: it ends the client
)


if __name__ == "__main__":
    sys.exit(prove("OAuth: honest programs and misuse", proof))
