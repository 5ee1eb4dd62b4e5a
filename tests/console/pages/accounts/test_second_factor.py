"""Tests two-step sign-in: no session without a code, and no code twice."""

import asyncio
import base64
import re
from dataclasses import dataclass
from datetime import timedelta

import httpx
import pytest

from cutroom.accounts.second_factor.rules import MAX_FAILURES, RECOVERY_CODES, STEP_SECONDS, step_at, totp
from cutroom.console.framework.sign_in_throttle import ATTEMPTS_PER_ACCOUNT_AND_ADDRESS
from cutroom.console.pages.accounts import second_factor
from cutroom.web.limits import RateLimit
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.conftest import MovableClock
from tests.console.conftest import PASSWORD, Browser, NewBrowser, SignIn

SESSION = "cutroom-session"
_SECRET = re.compile(r'<code class="break">([A-Z2-7 ]+)</code>')
_CODES = re.compile(r'<code id="recovery-codes">([^<]+)</code>')
_PENDING = re.compile(r'name="pending" value="([^"]+)"')


@pytest.fixture(autouse=True)
def _no_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests enter more codes than a person; one test below has the real limit."""
    monkeypatch.setattr(second_factor, "CODES_PER_ACCOUNT", RateLimit(600))


@dataclass
class Authenticator:
    """An authenticator app, and the recovery codes."""

    secret: bytes
    recovery_codes: list[str]
    clock: MovableClock

    def code(self, steps: int = 0) -> str:
        return totp(self.secret, step_at(self.clock()) + steps)

    def next_code(self) -> str:
        """The code after a while: the last one has been used."""
        self.clock.shift += timedelta(seconds=2 * STEP_SECONDS)
        return self.code()

    def wrong_code(self) -> str:
        used = {self.code(steps) for steps in range(-2, 3)}
        return next(code for code in (f"{number:06}" for number in range(10)) if code not in used)


async def enroll(browser: Browser, clock: MovableClock) -> Authenticator:
    page = (await browser.post("/account/second-factor/setup", {"password": PASSWORD})).text
    found = _SECRET.search(page)
    assert found is not None
    assert "data:image/svg+xml" in page
    text = found[1].replace(" ", "")
    secret = base64.b32decode(text + "=" * (-len(text) % 8))
    app = Authenticator(secret, [], clock)
    shown = await browser.post("/account/second-factor/enable", {"code": app.code()})
    codes = _CODES.search(shown.text)
    assert codes is not None, shown.text
    app.recovery_codes = codes[1].split()
    return app


@pytest.fixture
async def app(browser: Browser, clock: MovableClock) -> Authenticator:
    return await enroll(browser, clock)


async def begin(browser: Browser, person: Person) -> str:
    """The first step of signing in; returns what its form carries to the second."""
    response = await browser.sign_in(person)
    assert response.status_code == 200
    assert SESSION not in browser.client.cookies
    found = _PENDING.search(response.text)
    assert found is not None
    return found[1]


async def enter(browser: Browser, pending: str, code: str) -> httpx.Response:
    return await browser.post("/sign-in/code", {"pending": pending, "code": code})


async def actions(accounts: Accounts, person: Person) -> list[str]:
    rows = await accounts.connection.fetch(
        "SELECT action FROM audit_entries WHERE library_id = $1 ORDER BY sequence", person.library_id
    )
    return [row["action"] for row in rows]


async def test_password_alone_does_not_sign_in(app: Authenticator, person: Person, new_browser: NewBrowser) -> None:
    browser = new_browser()
    pending = await begin(browser, person)
    assert (await browser.get("/account")).status_code == 303
    assert (await enter(browser, pending, app.wrong_code())).status_code == 401
    assert SESSION not in browser.client.cookies
    done = await enter(browser, pending, app.next_code())
    assert (done.status_code, done.headers["location"]) == (303, "/account")
    assert (await browser.get("/account")).status_code == 200


async def test_code_cannot_be_replayed_within_its_window(
    app: Authenticator, person: Person, new_browser: NewBrowser
) -> None:
    owner, thief = new_browser(), new_browser()
    code = app.next_code()
    assert (await enter(owner, await begin(owner, person), code)).status_code == 303
    assert (await enter(thief, await begin(thief, person), code)).status_code == 401
    earlier = app.code(-1)  # still inside the window, but before the accepted one
    assert (await enter(thief, await begin(thief, person), earlier)).status_code == 401


async def test_code_of_the_enrollment_cannot_be_replayed(
    app: Authenticator, person: Person, new_browser: NewBrowser
) -> None:
    thief = new_browser()
    assert (await enter(thief, await begin(thief, person), app.code())).status_code == 401


async def test_concurrent_requests_cannot_share_a_code(
    app: Authenticator, person: Person, new_browser: NewBrowser
) -> None:
    browsers = [new_browser() for _ in range(4)]
    steps = [(browser, await begin(browser, person)) for browser in browsers]
    code = app.next_code()
    responses = await asyncio.gather(*(enter(browser, pending, code) for browser, pending in steps))
    assert sorted(each.status_code for each in responses) == [303, 401, 401, 401]


async def test_recovery_code_works_once(
    app: Authenticator, person: Person, new_browser: NewBrowser, accounts: Accounts
) -> None:
    browser, code = new_browser(), app.recovery_codes[0]
    assert len(app.recovery_codes) == RECOVERY_CODES
    assert (await enter(browser, await begin(browser, person), code.upper())).status_code == 303
    assert f"{RECOVERY_CODES - 1} recovery codes are left" in (await browser.get("/account/second-factor")).text
    again = new_browser()
    assert (await enter(again, await begin(again, person), code)).status_code == 401
    assert "recoveryCode.use" in await actions(accounts, person)
    stored = await accounts.connection.fetch("SELECT hash FROM recovery_codes WHERE library_id = $1", person.library_id)
    assert code.replace("-", "").encode() not in {row["hash"] for row in stored}


async def test_recovery_codes_of_another_account_are_refused(
    app: Authenticator, accounts: Accounts, sign_in: SignIn, new_browser: NewBrowser, clock: MovableClock
) -> None:
    victim = await accounts.person()
    await enroll(await sign_in(victim), clock)
    thief = new_browser()
    assert (await enter(thief, await begin(thief, victim), app.recovery_codes[0])).status_code == 401


async def test_second_step_is_bound_to_the_browser_of_the_first(
    app: Authenticator, person: Person, new_browser: NewBrowser
) -> None:
    pending = await begin(new_browser(), person)
    thief = new_browser()
    response = await enter(thief, pending, app.next_code())
    assert response.headers["location"] == "/sign-in?notice=expired"
    assert SESSION not in thief.client.cookies


@pytest.mark.parametrize("change", ["", "x", "AAAA", "é", "forged"])
async def test_forged_second_step_is_refused(
    app: Authenticator, person: Person, new_browser: NewBrowser, change: str
) -> None:
    browser = new_browser()
    pending = await begin(browser, person)
    forged = pending[:-8] + "AAAAAAA=" if change == "forged" else change
    response = await enter(browser, forged, app.next_code())
    assert response.headers["location"] == "/sign-in?notice=expired"


async def test_second_step_expires(
    app: Authenticator, person: Person, new_browser: NewBrowser, clock: MovableClock
) -> None:
    browser = new_browser()
    pending = await begin(browser, person)
    clock.shift += timedelta(minutes=6)
    assert (await enter(browser, pending, app.code())).headers["location"] == "/sign-in?notice=expired"


async def test_password_change_ends_a_half_finished_sign_in(
    app: Authenticator, browser: Browser, person: Person, new_browser: NewBrowser
) -> None:
    thief = new_browser()
    pending = await begin(thief, person)
    changed = await browser.post("/account/password", {"current": PASSWORD, "password": "another long phrase"})
    assert changed.status_code == 303
    assert (await enter(thief, pending, app.next_code())).headers["location"] == "/sign-in?notice=expired"


async def test_guesses_are_blocked_but_recovery_codes_still_work(
    app: Authenticator, person: Person, new_browser: NewBrowser, clock: MovableClock
) -> None:
    guesses = ATTEMPTS_PER_ACCOUNT_AND_ADDRESS.requests // 2
    for _ in range(MAX_FAILURES // guesses):  # each address has few tries
        browser = new_browser()
        pending = await begin(browser, person)
        for _ in range(guesses):
            assert (await enter(browser, pending, app.wrong_code())).status_code == 401
    owner = new_browser()
    pending = await begin(owner, person)
    blocked = await enter(owner, pending, app.next_code())
    assert blocked.status_code == 401
    assert "Too many wrong codes" in blocked.text
    assert (await enter(owner, pending, app.recovery_codes[0])).status_code == 303
    clock.shift += timedelta(minutes=61)
    later = new_browser()
    assert (await enter(later, await begin(later, person), app.code())).status_code == 303


async def test_codes_are_throttled_per_account(
    app: Authenticator, person: Person, new_browser: NewBrowser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(second_factor, "CODES_PER_ACCOUNT", RateLimit(2, seconds=24 * 3600))
    statuses = []
    for _ in range(3):
        browser = new_browser()  # at an address of its own
        statuses.append((await enter(browser, await begin(browser, person), app.wrong_code())).status_code)
    assert statuses == [401, 401, 429]


async def test_stolen_session_can_neither_enroll_nor_turn_off(
    app: Authenticator, browser: Browser, accounts: Accounts, sign_in: SignIn
) -> None:
    stolen = await sign_in(await accounts.person())
    assert (await stolen.post("/account/second-factor/setup", {"password": "guess"})).status_code == 403
    assert (await stolen.post("/account/second-factor/enable", {"code": "000000"})).status_code == 303
    for path in ("disable", "recovery-codes"):
        no_password = {"password": "guess", "code": app.next_code()}
        assert (await browser.post(f"/account/second-factor/{path}", no_password)).status_code == 403
        no_code = {"password": PASSWORD, "code": app.wrong_code()}
        assert (await browser.post(f"/account/second-factor/{path}", no_code)).status_code == 403
    assert (await browser.post("/account/second-factor/setup", {"password": PASSWORD})).status_code == 409


async def test_wrong_code_does_not_finish_the_enrollment(
    browser: Browser, person: Person, new_browser: NewBrowser
) -> None:
    await browser.post("/account/second-factor/setup", {"password": PASSWORD})
    assert (await browser.post("/account/second-factor/enable", {"code": "abc"})).status_code == 400
    assert (await new_browser().sign_in(person)).status_code == 303  # not asked for a code


async def test_enrollment_ends_other_sessions(
    browser: Browser, person: Person, new_browser: NewBrowser, clock: MovableClock
) -> None:
    thief = new_browser()
    await thief.sign_in(person)
    await enroll(browser, clock)
    assert [(await each.get("/account")).status_code for each in (thief, browser)] == [303, 200]


async def test_new_recovery_codes_replace_the_old_ones(
    app: Authenticator, browser: Browser, person: Person, new_browser: NewBrowser
) -> None:
    fields = {"password": PASSWORD, "code": app.next_code()}
    shown = await browser.post("/account/second-factor/recovery-codes", fields)
    codes = _CODES.search(shown.text)
    assert codes is not None
    other = new_browser()
    assert (await enter(other, await begin(other, person), app.recovery_codes[0])).status_code == 401
    other = new_browser()
    assert (await enter(other, await begin(other, person), codes[1].split()[0])).status_code == 303


async def test_it_is_turned_off_and_logged(
    app: Authenticator, browser: Browser, person: Person, new_browser: NewBrowser, accounts: Accounts
) -> None:
    fields = {"password": PASSWORD, "code": app.next_code()}
    done = await browser.post("/account/second-factor/disable", fields)
    assert done.headers["location"] == "/account/second-factor?notice=off"
    assert (await new_browser().sign_in(person)).status_code == 303
    expected = ["secondFactor.setUp", "secondFactor.enable", "secondFactor.disable", "session.create"]
    assert await actions(accounts, person) == expected
    left = await accounts.connection.fetchval(
        "SELECT count(*) FROM recovery_codes WHERE library_id = $1", person.library_id
    )
    assert left == 0


async def test_secret_is_stored_sealed(
    app: Authenticator, accounts: Accounts, person: Person, runtime: Runtime
) -> None:
    sql = "SELECT totp_secret FROM account_security WHERE library_id = $1"
    sealed = await accounts.connection.fetchval(sql, person.library_id)
    assert app.secret not in sealed
    assert runtime.secret_box.unseal("totp-secret", sealed, person.library_id) == app.secret
    with pytest.raises(ValueError, match="sealed"):
        runtime.secret_box.unseal("totp-secret", sealed, "another library")
