"""Tests the sessions page: users see and end their own sessions only."""

import re

import pytest

from cutroom.accounts.sessions import AuthenticatedUser, SessionService
from cutroom.console.framework.browsers import UNKNOWN, describe_browser
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.console.conftest import Browser, NewBrowser, SignIn

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
_END = re.compile(r'action="(/account/sessions/\w+/end)"')


@pytest.fixture
async def elsewhere(person: Person, new_browser: NewBrowser, browser: Browser) -> Browser:  # noqa: ARG001 (signed in first)
    """A second session of the same user."""
    there = new_browser()
    there.client.headers["User-Agent"] = FIREFOX
    assert (await there.sign_in(person)).status_code == 303
    return there


async def logged(accounts: Accounts, person: Person, action: str) -> list[dict[str, list[str]]]:
    rows = await accounts.connection.fetch(
        "SELECT targets FROM audit_entries WHERE library_id = $1 AND action = $2 ORDER BY sequence",
        person.library_id,
        action,
    )
    return [row["targets"] for row in rows]


async def test_sessions_are_listed_with_browser_and_address(browser: Browser, elsewhere: Browser) -> None:
    page = (await browser.get("/account/sessions")).text
    assert "Firefox on Linux" in page
    assert f">{elsewhere.address}<" in page
    assert page.count("this session") == 1
    assert len(_END.findall(page)) == 1  # this session is ended by signing out


async def test_another_session_is_ended_and_logged(
    browser: Browser, elsewhere: Browser, accounts: Accounts, person: Person
) -> None:
    [action] = _END.findall((await browser.get("/account/sessions")).text)
    assert (await browser.post(action)).headers["location"] == "/account/sessions?notice=ended"
    assert (await elsewhere.get("/account")).status_code == 303
    assert (await browser.get("/account")).status_code == 200
    assert await logged(accounts, person, "session.end") == [{"sessionIds": [action.split("/")[3]]}]
    assert (await browser.post(action)).status_code == 404


async def test_all_other_sessions_are_ended(
    browser: Browser, elsewhere: Browser, person: Person, new_browser: NewBrowser
) -> None:
    third = new_browser()
    await third.sign_in(person)
    await browser.post("/account/sessions/end-others")
    assert [(await each.get("/account")).status_code for each in (elsewhere, third, browser)] == [303, 303, 200]


async def test_sessions_of_another_user_cannot_be_ended(browser: Browser, accounts: Accounts, sign_in: SignIn) -> None:
    victim = await accounts.person()
    theirs = await sign_in(victim)
    rows = await accounts.connection.fetch("SELECT id FROM sessions WHERE user_id = $1", victim.user_id)
    assert (await browser.post(f"/account/sessions/{rows[0]['id']}/end")).status_code == 404
    await browser.post("/account/sessions/end-others")
    assert (await theirs.get("/account")).status_code == 200
    assert rows[0]["id"] not in (await browser.get("/account/sessions")).text
    assert await logged(accounts, victim, "session.end") == []


async def test_session_is_ended_from_within_a_workspace(
    browser: Browser, elsewhere: Browser, accounts: Accounts, person: Person
) -> None:
    workspace_id = await accounts.workspace(person)
    await browser.post("/switch", {"library": workspace_id})
    await browser.post("/account/sessions/end-others")
    assert (await elsewhere.get("/account")).status_code == 303
    assert len(await logged(accounts, person, "session.end")) == 1  # in the personal library


async def test_a_user_has_a_bounded_number_of_sessions(runtime: Runtime, accounts: Accounts, person: Person) -> None:
    sessions = SessionService(secret_box=runtime.secret_box, plans=runtime.authenticator.plans)
    user = AuthenticatedUser(person.user_id, person.library_id)
    async with runtime.database.connection() as connection:
        tokens = [await sessions.create(connection, user, now=runtime.clock()) for _ in range(53)]
        assert len(await sessions.list_sessions(connection, tokens[-1], now=runtime.clock())) == 50
        assert await sessions.load(connection, tokens[0], now=runtime.clock()) is None
        assert await sessions.list_sessions(connection, new_id(), now=runtime.clock()) == []
    count = await accounts.connection.fetchval("SELECT count(*) FROM sessions WHERE user_id = $1", person.user_id)
    assert count == 50


@pytest.mark.parametrize(
    ("user_agent", "expected"),
    [
        (FIREFOX, "Firefox on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537 Chrome/140.0 Safari/537 Edg/140.0", "Edge on Windows"),
        ("Mozilla/5.0 (Linux; Android 16) AppleWebKit/537 Chrome/140.0 Mobile Safari/537", "Chrome on Android"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 15) Version/19 Safari/605", "Safari on macOS"),
        ("Firefox/1", "Firefox"),
        ("curl/8", UNKNOWN),
        (None, UNKNOWN),
    ],
)
def test_browsers_are_named(user_agent: str | None, expected: str) -> None:
    assert describe_browser(user_agent) == expected
