"""A signed-in browser user and a public OAuth client."""

import base64
import hashlib
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

import httpx

from cutroom.accounts.sessions import AuthenticatedUser, SessionService
from cutroom.platform.clock import system_clock
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person

CALLBACK = "http://127.0.0.1:9/callback"  # nothing listens there: the proof reads the redirect
_CSRF = re.compile(r'name="csrf" value="([0-9a-f]+)"')


def code_challenge(verifier: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


@dataclass(frozen=True)
class AuthorizationRequest:
    """An authorization request with PKCE."""

    client_id: str
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))
    state: str = field(default_factory=lambda: secrets.token_urlsafe(8))

    def fields(self, **changes: str | None) -> dict[str, str]:
        """The fields of a valid request with changes; None omits a field."""
        valid: dict[str, str | None] = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": CALLBACK,
            "scope": "tts:read tts:synthesize",
            "state": self.state,
            "code_challenge": code_challenge(self.verifier),
            "code_challenge_method": "S256",
        }
        return {name: value for name, value in {**valid, **changes}.items() if value is not None}


@dataclass(frozen=True)
class BrowserUser:
    """A signed-in user."""

    client: httpx.AsyncClient
    person: Person

    @classmethod
    async def sign_in(cls, runtime: Runtime, url: str, person: Person) -> "BrowserUser":
        session_service = SessionService(secret_box=runtime.secret_box, plans=runtime.authenticator.plans)
        async with runtime.database.connection() as connection:
            known = AuthenticatedUser(person.user_id, person.library_id)
            token = await session_service.create(connection, known, now=system_clock())
        return cls(httpx.AsyncClient(base_url=url, cookies={"cutroom-session": token}, timeout=60), person)

    async def authorize(self, fields: Mapping[str, str]) -> httpx.Response:
        return await self.client.get("/oauth/authorize", params=dict(fields))

    async def csrf(self) -> str:
        found = _CSRF.search((await self.client.get("/account")).text)
        assert found is not None
        return found[1]

    async def submit_consent(
        self, fields: Mapping[str, str], library_id: str, *, decision: str = "allow"
    ) -> httpx.Response:
        form = {**fields, "csrf": await self.csrf(), "library": library_id, "answer": decision}
        return await self.client.post("/oauth/authorize", data=form)

    async def code(self, request: AuthorizationRequest, library_id: str) -> str:
        """Approve a valid request; returns the authorization code."""
        sent = await self.submit_consent(request.fields(), library_id)
        return redirect_params(sent)["code"]


def redirect_params(response: httpx.Response) -> dict[str, str]:
    """Query parameters of the redirect to the client; empty if the user was not redirected there."""
    target = response.headers.get("location", "")
    return dict(parse_qsl(urlsplit(target).query)) if target.startswith(CALLBACK) else {}


@dataclass(frozen=True)
class OAuthClient:
    """A public client at the token endpoint."""

    client: httpx.AsyncClient
    id: str

    async def exchange(
        self, request: AuthorizationRequest, code: str, changes: Mapping[str, str | None] | None = None
    ) -> httpx.Response:
        fields: dict[str, str | None] = {
            "grant_type": "authorization_code",
            "client_id": self.id,
            "code": code,
            "redirect_uri": CALLBACK,
            "code_verifier": request.verifier,
            **(changes or {}),
        }
        return await self._send("/oauth/token", fields)

    async def refresh(self, refresh: str, **changes: str | None) -> httpx.Response:
        fields = {"grant_type": "refresh_token", "client_id": self.id, "refresh_token": refresh, **changes}
        return await self._send("/oauth/token", fields)

    async def revoke(self, token: str, **changes: str | None) -> httpx.Response:
        return await self._send("/oauth/revoke", {"client_id": self.id, "token": token, **changes})

    async def _send(self, path: str, fields: Mapping[str, str | None]) -> httpx.Response:
        return await self.client.post(path, data={key: value for key, value in fields.items() if value is not None})

    async def voices(self, token: str) -> int:
        """Status of a speech API request with a token."""
        return (await self.client.get("/v1/voices", headers={"Authorization": f"Bearer {token}"})).status_code


@dataclass
class Tally:
    """Counts cases and collects wrong responses."""

    cases: int = 0
    wrong: list[str] = field(default_factory=list)

    def check(self, name: str, found: object, expected: object) -> None:
        self.cases += 1
        if found != expected:
            self.wrong.append(f"{name}: {found}, expected {expected}")


@dataclass(frozen=True)
class OAuthStage:
    """A user, two clients, and the tally of cases."""

    accounts: Accounts
    user: BrowserUser
    workspace_id: str
    app: OAuthClient
    other_app: OAuthClient
    tally: Tally
    anonymous: httpx.AsyncClient

    def request(self) -> AuthorizationRequest:
        return AuthorizationRequest(self.app.id)

    async def tokens(self) -> tuple[str, str]:
        """An access and a refresh token from a valid exchange."""
        request = self.request()
        code = await self.user.code(request, self.workspace_id)
        tokens = (await self.app.exchange(request, code)).json()
        return tokens["access_token"], tokens["refresh_token"]


def error_of(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json().get("error", "")
