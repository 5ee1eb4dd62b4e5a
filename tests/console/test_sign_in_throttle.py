"""Tests that floods of sign-ins lock no one out."""

import asyncio
import threading
from collections.abc import Callable, Iterator

import httpx
import pytest

from cutroom.accounts import passwords
from cutroom.accounts.passwords import HashQueue
from cutroom.console.framework import forms, sign_in_throttle
from cutroom.console.framework.sign_in_throttle import (
    ATTEMPTS_PER_ACCOUNT,
    ATTEMPTS_PER_ACCOUNT_AND_ADDRESS,
    ATTEMPTS_PER_ADDRESS,
)
from cutroom.platform.ids import new_id
from cutroom.web.limits import RateLimit, client_network
from cutroom.web.outer_middleware import RequestMiddleware
from cutroom.web.pacer import Pacer
from cutroom.web.runtime import Runtime
from dev.scratch import Person
from tests.console.conftest import PASSWORD, Browser, NewBrowser, SignIn, new_address

pytestmark = pytest.mark.usefixtures("slow_refill")
At = Callable[[str], Browser]


@pytest.fixture
def at(service: RequestMiddleware) -> At:
    """A browser at an address."""

    def make(address: str) -> Browser:
        transport = httpx.ASGITransport(app=service, client=(address, 4000))
        return Browser(httpx.AsyncClient(transport=transport, base_url="http://cutroom.test"))

    return make


@pytest.fixture
def quick_guesses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guesses are not hashed, so that many can be made."""
    verify = passwords._verify
    monkeypatch.setattr(
        passwords, "_verify", lambda password, hashed: password == PASSWORD and verify(password, hashed)
    )


@pytest.fixture
def slowed(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waiting times in the responses to attempts."""
    delays: list[float] = []

    async def sleep(seconds: float) -> None:
        delays.append(seconds)

    monkeypatch.setattr(sign_in_throttle.slow_lane, "sleep", sleep)
    return delays


async def guess(browser: Browser, email: str) -> httpx.Response:
    return await browser.post("/sign-in", {"email": email, "password": "guess"})


@pytest.mark.usefixtures("quick_guesses")
async def test_owner_signs_in_while_many_addresses_guess(
    sign_in: SignIn, person: Person, at: At, slowed: list[float]
) -> None:
    await sign_in(person)
    tries = ATTEMPTS_PER_ACCOUNT_AND_ADDRESS.requests
    statuses = []
    for _ in range(ATTEMPTS_PER_ACCOUNT.requests // tries + 2):
        attacker = at(new_address())
        statuses += [(await guess(attacker, person.email)).status_code for _ in range(tries)]
    assert set(statuses) == {401}
    assert slowed  # the guesses above the rate of the account
    assert (await at(new_address()).sign_in(person)).status_code == 303


@pytest.mark.usefixtures("quick_guesses")
async def test_one_address_has_few_tries_at_an_account(person: Person, at: At) -> None:
    attacker = at(new_address())
    for _ in range(ATTEMPTS_PER_ACCOUNT_AND_ADDRESS.requests):
        assert (await guess(attacker, person.email)).status_code == 401
    refused = await guess(attacker, person.email)
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) >= 1
    assert (await guess(attacker, f"{new_id()}@example.com")).status_code == 401


@pytest.mark.usefixtures("quick_guesses")
async def test_known_and_unknown_accounts_have_the_same_limits(person: Person, at: At) -> None:
    tries = range(ATTEMPTS_PER_ACCOUNT_AND_ADDRESS.requests + 1)
    answers = []
    for email in (person.email, f"{new_id()}@example.com"):
        attacker = at(new_address())
        responses = [await guess(attacker, email) for _ in tries]
        answers.append([(each.status_code, len(each.text.replace(email, ""))) for each in responses])
    assert answers[0] == answers[1]


@pytest.mark.usefixtures("quick_guesses")
async def test_one_address_cannot_try_many_accounts(at: At) -> None:
    address = new_address()
    statuses = []
    for number in range(ATTEMPTS_PER_ADDRESS.requests + 1):
        neighbor = at(address.replace("::1", f"::{number + 1:x}"))  # in the same /64
        statuses.append((await guess(neighbor, f"{new_id()}@example.com")).status_code)
    assert statuses == [401] * ATTEMPTS_PER_ADDRESS.requests + [429]


async def test_attempts_beyond_the_slow_lane_are_rejected(
    monkeypatch: pytest.MonkeyPatch, person: Person, at: At, runtime: Runtime
) -> None:
    for _ in range(ATTEMPTS_PER_ACCOUNT.requests):
        await runtime.limits.is_within(f"sign-in:{person.email}", sign_in_throttle.ATTEMPTS_PER_ACCOUNT)
    monkeypatch.setattr(sign_in_throttle, "MAX_SLOWED", 0)
    refused = await guess(at(new_address()), person.email)
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "3")


@pytest.fixture
def hashing(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Password checks take until the event is set."""
    may_end, verify = threading.Event(), passwords._verify

    def wait(password: str, hashed: str | None) -> bool:
        may_end.wait()
        return verify(password, hashed)

    monkeypatch.setattr(passwords, "_verify", wait)
    yield may_end
    may_end.set()


async def test_waiting_sign_ins_hold_no_connection(
    monkeypatch: pytest.MonkeyPatch, hashing: threading.Event, runtime: Runtime, browser: Browser, at: At
) -> None:
    pool = runtime.database.pool
    waiting = pool.get_max_size() * 2
    queue = HashQueue(1, max_waiting=waiting)
    monkeypatch.setattr(passwords, "_queue", queue)
    tasks = [asyncio.create_task(guess(at(new_address()), f"{new_id()}@example.com")) for _ in range(waiting + 1)]
    await queue_length(queue, waiting)
    assert pool.get_idle_size() == pool.get_size()
    assert (await browser.get("/account")).status_code == 200
    full = await guess(at(new_address()), f"{new_id()}@example.com")
    assert (full.status_code, full.headers["retry-after"]) == (429, "2")
    hashing.set()
    assert {each.status_code for each in await asyncio.gather(*tasks)} == {401}


async def queue_length(queue: HashQueue, length: int) -> None:
    async with asyncio.timeout(60):
        while queue.waiting < length:
            await asyncio.sleep(0)


async def test_password_change_holds_no_transaction_while_it_waits(
    monkeypatch: pytest.MonkeyPatch, hashing: threading.Event, runtime: Runtime, browser: Browser
) -> None:
    queue = HashQueue(1, max_waiting=1)
    monkeypatch.setattr(passwords, "_queue", queue)
    blocker = asyncio.create_task(passwords.verify_password("any", None))
    fields = {"current": PASSWORD, "password": "another long phrase"}
    change = asyncio.create_task(browser.post("/account/password", dict(fields)))
    await queue_length(queue, 1)
    pool = runtime.database.pool
    assert pool.get_idle_size() == pool.get_size()
    hashing.set()
    assert not await blocker
    assert (await change).headers["location"] == "/account?notice=password"


async def test_canceled_wait_leaves_the_queue(hashing: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = HashQueue(1, max_waiting=1)
    monkeypatch.setattr(passwords, "_queue", queue)
    blocker = asyncio.create_task(passwords.verify_password("any", None))
    gone = asyncio.create_task(passwords.verify_password("any", None))
    await queue_length(queue, 1)
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    assert queue.waiting == 0
    hashing.set()
    assert not await blocker
    assert not await passwords.verify_password("any", None)


def test_unknown_user_is_checked_against_a_hash_of_the_same_cost() -> None:
    cost = passwords.hash_password(PASSWORD).rsplit("$", 2)[0]
    assert passwords._UNMATCHED.rsplit("$", 2)[0] == cost
    assert not passwords._verify("", None)


@pytest.mark.parametrize(
    ("host", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("unknown", "unknown"),
    ],
)
def test_attempts_are_counted_by_network(host: str, network: str) -> None:
    assert client_network(host) == network


async def test_rates_can_be_exceeded_without_an_error(runtime: Runtime) -> None:
    subject = f"test:{new_id()}"
    assert await runtime.limits.is_within(subject, RateLimit(1))
    assert not await runtime.limits.is_within(subject, RateLimit(1))


async def test_forms_of_an_address_that_sends_too_many_are_refused(
    new_browser: NewBrowser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forms, "_anonymous", Pacer(0.001))
    monkeypatch.setattr(forms, "MAX_WAIT_SECONDS", 0.0)
    flooding, other = new_browser(), new_browser()
    first, second = [await flooding.client.post("/sign-in", data={"email": "a"}) for _ in range(2)]
    assert (first.status_code, second.status_code) == (403, 429)  # without a CSRF token
    assert int(second.headers["retry-after"]) > 2
    assert (await other.client.post("/sign-in", data={"email": "a"})).status_code == 403
