"""Tests sign-in, sessions, CSRF protection and security headers."""

from datetime import timedelta

import pytest

from cutroom.console.framework.signing_in import HOME, safe_next
from cutroom.platform.ids import new_id
from dev.scratch import Accounts, Person
from tests.conftest import MovableClock
from tests.console.conftest import PASSWORD, Browser, NewBrowser, SignIn

SESSION = "cutroom-session"


async def test_signed_out_user_is_redirected_to_sign_in(outsider: Browser) -> None:
    response = await outsider.get("/account?x=1")
    assert (response.status_code, response.headers["location"]) == (303, "/sign-in?next=%2Faccount%3Fx%3D1")


async def test_sign_in_redirects_to_the_requested_page(browser: Browser, person: Person) -> None:
    page = await browser.get("/account")
    assert page.status_code == 200
    assert person.email in page.text


async def test_wrong_password_and_unknown_user_are_indistinguishable(
    sign_in: SignIn, person: Person, outsider: Browser
) -> None:
    await sign_in(person)
    wrong = await outsider.post("/sign-in", {"email": person.email, "password": "not this one"})
    unknown = await outsider.post("/sign-in", {"email": f"{new_id()}@example.com", "password": "not this one"})
    assert wrong.status_code == unknown.status_code == 401
    assert "Wrong email address or password" in wrong.text
    assert "Wrong email address or password" in unknown.text
    assert SESSION not in outsider.client.cookies


async def test_sign_out_ends_the_session_on_the_server(browser: Browser) -> None:
    token = browser.client.cookies[SESSION]
    assert (await browser.post("/sign-out")).headers["location"] == "/sign-in"
    browser.client.cookies.set(SESSION, token)
    assert (await browser.get("/account")).status_code == 303


@pytest.mark.parametrize(("away", "status"), [(timedelta(days=6), 200), (timedelta(days=8), 303)])
async def test_session_expires_after_a_week_of_inactivity(
    clock: MovableClock, browser: Browser, away: timedelta, status: int
) -> None:
    clock.shift = away
    assert (await browser.get("/account")).status_code == status


async def test_session_expires_after_a_month(clock: MovableClock, browser: Browser) -> None:
    for days in range(5, 30, 5):
        clock.shift = timedelta(days=days)
        assert (await browser.get("/account")).status_code == 200
    clock.shift = timedelta(days=31)
    assert (await browser.get("/account")).status_code == 303


async def test_password_change_ends_all_other_sessions(
    sign_in: SignIn, person: Person, new_browser: NewBrowser
) -> None:
    here = await sign_in(person)
    there = new_browser()
    await there.sign_in(person)
    refused = await here.post("/account/password", {"current": "wrong", "password": "another long phrase"})
    assert refused.status_code == 403
    short = await here.post("/account/password", {"current": PASSWORD, "password": "short"})
    assert short.status_code == 400
    changed = await here.post("/account/password", {"current": PASSWORD, "password": "another long phrase"})
    assert changed.headers["location"] == "/account?notice=password"
    assert (await here.get("/account")).status_code == 200
    assert (await there.get("/account")).status_code == 303
    assert (await new_browser().sign_in(person)).status_code == 401
    assert (await new_browser().sign_in(person, "another long phrase")).status_code == 303


async def test_form_without_csrf_token_is_rejected(browser: Browser) -> None:
    for data in ({}, {"csrf": ""}, {"csrf": "0" * 40}):
        assert (await browser.client.post("/sign-out", data=data)).status_code == 403
    assert (await browser.get("/account")).status_code == 200


@pytest.mark.parametrize(
    "headers", [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}]
)
async def test_cross_site_form_is_rejected_even_with_the_token(browser: Browser, headers: dict[str, str]) -> None:
    data = {"csrf": await browser.token()}
    assert (await browser.client.post("/sign-out", data=data, headers=headers)).status_code == 403
    assert (await browser.get("/account")).status_code == 200


async def test_csrf_token_of_another_session_is_rejected(browser: Browser, accounts: Accounts, sign_in: SignIn) -> None:
    other = await sign_in(await accounts.person())
    data = {"csrf": await other.token()}
    assert (await browser.client.post("/sign-out", data=data)).status_code == 403


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ("/library", "/library"),
        ("/oauth/authorize?client_id=a&state=b", "/oauth/authorize?client_id=a&state=b"),
        ("//evil.example", HOME),
        ("/\\evil.example", HOME),
        ("/a\\b", HOME),
        ("https://evil.example", HOME),
        ("javascript:alert(1)", HOME),
        ("", HOME),
        ("/a\nb", HOME),
        ("/" + "a" * 3000, HOME),
    ],
)
def test_redirect_after_sign_in_stays_on_this_host(given: str, taken: str) -> None:
    assert safe_next(given) == taken


async def test_sign_up_is_disabled_by_default(outsider: Browser) -> None:
    assert (await outsider.get("/sign-up")).status_code == 404
    fields = {"email": f"{new_id()}@example.com", "password": PASSWORD}
    assert (await outsider.post("/sign-up", fields)).status_code == 404
    assert "/sign-up" not in (await outsider.get("/sign-in")).text


async def test_pages_have_security_headers(browser: Browser) -> None:
    for path in ("/account", "/sign-up"):
        response = await browser.get(path)
        policy = dict(rule.split(" ", 1) for rule in response.headers["content-security-policy"].split("; "))
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == "'self'"
        assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["cache-control"] == "no-store"


async def test_session_cookie_attributes(sign_in: SignIn, person: Person, new_browser: NewBrowser) -> None:
    await sign_in(person)
    response = await new_browser().sign_in(person)
    assert response.headers["location"] == "/account"
    cookie = next(each for each in response.headers.get_list("set-cookie") if each.startswith(SESSION))
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Path=/" in cookie


async def test_static_files_are_immutable(outsider: Browser) -> None:
    response = await outsider.get("/static/console.css")
    assert response.status_code == 200
    assert "immutable" in response.headers["cache-control"]
    assert (await outsider.get("/static/../page.py")).status_code == 404
