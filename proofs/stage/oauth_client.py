"""A person at a browser and a program that wants in, for the proof of OAuth."""

import base64
import hashlib
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

import httpx

from cutroom.accounts.sessions import Known, SessionService
from cutroom.platform.clock import system_clock
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person

CALLBACK = "http://127.0.0.1:9/callback"  # nobody listens there: the proof reads where it is sent
_CSRF = re.compile(r'name="csrf" value="([0-9a-f]+)"')


def challenge_of(verifier: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


@dataclass(frozen=True)
class Request:
    """What a program sends a person with."""

    client_id: str
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))
    state: str = field(default_factory=lambda: secrets.token_urlsafe(8))

    def fields(self, **changes: str | None) -> dict[str, str]:
        """The honest request, changed as given; what is None is left out."""
        honest: dict[str, str | None] = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": CALLBACK,
            "scope": "tts:read tts:synthesize",
            "state": self.state,
            "code_challenge": challenge_of(self.verifier),
            "code_challenge_method": "S256",
        }
        return {name: value for name, value in {**honest, **changes}.items() if value is not None}


@dataclass(frozen=True)
class Visitor:
    """A person who is signed in."""

    client: httpx.AsyncClient
    person: Person

    @classmethod
    async def sign_in(cls, runtime: Runtime, url: str, person: Person) -> "Visitor":
        reception = SessionService(secrecy=runtime.secrecy, plans=runtime.doorkeeper.plans)
        async with runtime.database.connection() as connection:
            known = Known(person.user_id, person.library_id)
            token = await reception.begin(connection, known, now=system_clock())
        return cls(httpx.AsyncClient(base_url=url, cookies={"cutroom-session": token}, timeout=60), person)

    async def ask(self, fields: Mapping[str, str]) -> httpx.Response:
        return await self.client.get("/oauth/authorize", params=dict(fields))

    async def csrf(self) -> str:
        found = _CSRF.search((await self.client.get("/account")).text)
        assert found is not None
        return found[1]

    async def agree(self, fields: Mapping[str, str], library_id: str, *, answer: str = "allow") -> httpx.Response:
        form = {**fields, "csrf": await self.csrf(), "library": library_id, "answer": answer}
        return await self.client.post("/oauth/authorize", data=form)

    async def code(self, request: Request, library_id: str) -> str:
        """As far as the code that an honest program gets."""
        sent = await self.agree(request.fields(), library_id)
        return answer_of(sent)["code"]


def answer_of(response: httpx.Response) -> dict[str, str]:
    """What a program reads at its own address; nothing when nobody was sent there."""
    target = response.headers.get("location", "")
    return dict(parse_qsl(urlsplit(target).query)) if target.startswith(CALLBACK) else {}


@dataclass(frozen=True)
class Program:
    """A public client at the token endpoint."""

    client: httpx.AsyncClient
    id: str

    async def exchange(
        self, request: Request, code: str, changes: Mapping[str, str | None] | None = None
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

    async def renew(self, refresh: str, **changes: str | None) -> httpx.Response:
        fields = {"grant_type": "refresh_token", "client_id": self.id, "refresh_token": refresh, **changes}
        return await self._send("/oauth/token", fields)

    async def revoke(self, token: str, **changes: str | None) -> httpx.Response:
        return await self._send("/oauth/revoke", {"client_id": self.id, "token": token, **changes})

    async def _send(self, path: str, fields: Mapping[str, str | None]) -> httpx.Response:
        return await self.client.post(path, data={key: value for key, value in fields.items() if value is not None})

    async def voices(self, token: str) -> int:
        """What the speech API says to a token."""
        answer = await self.client.get("/v1/voices", headers={"Authorization": f"Bearer {token}"})
        return answer.status_code


@dataclass
class Tally:
    """Cases, and those that were not answered as they must be."""

    cases: int = 0
    wrong: list[str] = field(default_factory=list)

    def check(self, name: str, found: object, wanted: object) -> None:
        self.cases += 1
        if found != wanted:
            self.wrong.append(f"{name}: {found} instead of {wanted}")


@dataclass(frozen=True)
class Scene:
    """Everybody who plays."""

    accounts: Accounts
    visitor: Visitor
    workspace_id: str
    program: Program
    other: Program
    tally: Tally
    spare: httpx.AsyncClient

    def request(self) -> Request:
        return Request(self.program.id)

    async def tokens(self) -> tuple[str, str]:
        """A pair that was got honestly."""
        request = self.request()
        code = await self.visitor.code(request, self.workspace_id)
        answer = (await self.program.exchange(request, code)).json()
        return answer["access_token"], answer["refresh_token"]


def fault(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json().get("error", "")
