"""Fixtures for console tests: HTTP clients that keep cookies and submit forms with CSRF tokens."""

import re
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

import httpx
import pytest

from cutroom.accounts.passwords import hash_password
from cutroom.accounts.sessions import AuthenticatedUser, SessionService
from cutroom.console.framework import sign_in_throttle
from cutroom.web.outer_middleware import RequestMiddleware
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person

PASSWORD = "a long enough phrase"
_CSRF = re.compile(r'name="csrf" value="([0-9a-f]{40})"')


@dataclass
class Browser:
    """One browser, signed in or not."""

    client: httpx.AsyncClient
    address: str | None = None

    async def get(self, path: str, **options: object) -> httpx.Response:
        return await self.client.get(path, **options)  # type: ignore[arg-type]  # passed to httpx

    async def token(self, path: str = "/account") -> str:
        """The CSRF token of a page."""
        found = _CSRF.search((await self.client.get(path)).text)
        assert found is not None, path
        return found[1]

    async def post(self, path: str, fields: Mapping[str, str | list[str]] | None = None) -> httpx.Response:
        signed_in = "cutroom-session" in self.client.cookies
        csrf = await self.token("/account" if signed_in else "/sign-in")
        return await self.client.post(path, data={"csrf": csrf, **(fields or {})})

    async def send(self, path: str, fields: Mapping[str, str], *files: tuple[str, str, bytes]) -> httpx.Response:
        """Submits a multipart form; each file is (field, file name, content)."""
        sent = [(field, (name, data)) for field, name, data in files]
        return await self.client.post(path, data={"csrf": await self.token(), **fields}, files=sent)

    async def sign_in(self, person: Person, password: str = PASSWORD) -> httpx.Response:
        return await self.post("/sign-in", {"email": person.email, "password": password, "next": "/account"})


def new_address() -> str:
    """A client address that no other test uses: attempts to sign in are counted per address."""
    return f"2001:db8:{secrets.token_hex(2)}:{secrets.token_hex(2)}::1"


NewBrowser = Callable[[], Browser]
SignIn = Callable[[Person], Awaitable[Browser]]


@pytest.fixture
async def new_browser(service: RequestMiddleware) -> AsyncIterator[NewBrowser]:
    opened: list[httpx.AsyncClient] = []

    def make() -> Browser:
        address = new_address()
        transport = httpx.ASGITransport(app=service, client=(address, 4000))
        client = httpx.AsyncClient(transport=transport, base_url="http://cutroom.test")
        opened.append(client)
        return Browser(client, address)

    yield make
    for client in opened:
        await client.aclose()


@pytest.fixture
def slow_refill(monkeypatch: pytest.MonkeyPatch) -> None:
    """No attempt is added to a limit while a test runs, however slow the machine is."""
    for name in ("ATTEMPTS_PER_ADDRESS", "ATTEMPTS_PER_ACCOUNT_AND_ADDRESS", "ATTEMPTS_PER_ACCOUNT"):
        limit = getattr(sign_in_throttle, name)
        monkeypatch.setattr(sign_in_throttle, name, replace(limit, seconds=24 * 3600))


@pytest.fixture
def outsider(new_browser: NewBrowser) -> Browser:
    return new_browser()


@pytest.fixture(scope="session")
def hashed() -> str:
    """Session-scoped, because password hashing is slow by design."""
    return hash_password(PASSWORD)


@pytest.fixture
def sign_in(new_browser: NewBrowser, accounts: Accounts, hashed: str, runtime: Runtime) -> SignIn:
    """Returns a browser with a session of the given user."""

    async def sign_in(person: Person) -> Browser:
        await accounts.connection.execute("SELECT set_password($1, $2, now())", person.user_id, hashed)
        session_service = SessionService(secret_box=runtime.secret_box, plans=runtime.authenticator.plans)
        async with runtime.database.connection() as connection:
            user = AuthenticatedUser(person.user_id, person.library_id)
            token = await session_service.create(connection, user, now=runtime.clock())
        browser = new_browser()
        browser.client.cookies.set("cutroom-session", token)
        return browser

    return sign_in


@pytest.fixture
async def browser(sign_in: SignIn, person: Person) -> Browser:
    return await sign_in(person)
