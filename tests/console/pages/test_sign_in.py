"""Signing in and out, and what keeps others from doing it in somebody's name."""

import asyncio
from datetime import timedelta

import pytest

from cutroom.console.pages.sign_in import ATTEMPTS_PER_EMAIL, HOME, safe_next
from cutroom.platform.ids import new_id
from dev.scratch import Accounts, Person
from tests.conftest import MovableClock
from tests.console.conftest import PASSWORD, Browser, NewBrowser, SignIn

SESSION = "cutroom-session"


async def test_a_page_sends_strangers_to_sign_in_and_back(stranger: Browser) -> None:
    answer = await stranger.get("/account?x=1")
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in?next=%2Faccount%3Fx%3D1")


async def test_the_right_password_opens_the_page_that_was_asked_for(browser: Browser, person: Person) -> None:
    page = await browser.get("/account")
    assert page.status_code == 200
    assert person.email in page.text


async def test_wrong_passwords_and_unknown_people_look_the_same(
    sign_in: SignIn, person: Person, stranger: Browser
) -> None:
    await sign_in(person)
    wrong = await stranger.post("/sign-in", {"email": person.email, "password": "not this one"})
    nobody = await stranger.post("/sign-in", {"email": f"{new_id()}@example.com", "password": "not this one"})
    assert wrong.status_code == nobody.status_code == 401
    assert "are not right" in wrong.text
    assert "are not right" in nobody.text
    assert SESSION not in stranger.client.cookies


async def test_guessing_one_address_is_stopped_however_many_browsers_guess(
    person: Person, new_browser: NewBrowser
) -> None:
    fields: dict[str, str | list[str]] = {"email": person.email, "password": "guess"}
    guesses = [new_browser().post("/sign-in", fields) for _ in range(ATTEMPTS_PER_EMAIL.per_minute + 2)]
    statuses = {answer.status_code for answer in await asyncio.gather(*guesses)}
    assert statuses == {401, 429}


async def test_signing_out_ends_the_session_and_not_only_the_cookie(browser: Browser) -> None:
    token = browser.client.cookies[SESSION]
    assert (await browser.post("/sign-out")).headers["location"] == "/sign-in"
    browser.client.cookies.set(SESSION, token)
    assert (await browser.get("/account")).status_code == 303


@pytest.mark.parametrize(("away", "status"), [(timedelta(days=6), 200), (timedelta(days=8), 303)])
async def test_a_session_ends_when_nobody_has_been_there_for_a_week(
    clock: MovableClock, browser: Browser, away: timedelta, status: int
) -> None:
    clock.shift = away
    assert (await browser.get("/account")).status_code == status


async def test_a_session_ends_after_a_month_however_busy(clock: MovableClock, browser: Browser) -> None:
    for days in range(5, 30, 5):
        clock.shift = timedelta(days=days)
        assert (await browser.get("/account")).status_code == 200
    clock.shift = timedelta(days=31)
    assert (await browser.get("/account")).status_code == 303


async def test_a_new_password_ends_all_other_sessions(sign_in: SignIn, person: Person, new_browser: NewBrowser) -> None:
    here = await sign_in(person)
    there = new_browser()
    await there.sign_in(person)
    refused = await here.post("/account/password", {"current": "wrong", "password": "another long phrase"})
    assert refused.status_code == 403
    short = await here.post("/account/password", {"current": PASSWORD, "password": "short"})
    assert short.status_code == 400
    changed = await here.post("/account/password", {"current": PASSWORD, "password": "another long phrase"})
    assert changed.headers["location"] == "/account?said=password"
    assert (await here.get("/account")).status_code == 200
    assert (await there.get("/account")).status_code == 303
    assert (await new_browser().sign_in(person)).status_code == 401
    assert (await new_browser().sign_in(person, "another long phrase")).status_code == 303


async def test_a_form_without_the_page_s_token_does_nothing(browser: Browser) -> None:
    for data in ({}, {"csrf": ""}, {"csrf": "0" * 40}):
        assert (await browser.client.post("/sign-out", data=data)).status_code == 403
    assert (await browser.get("/account")).status_code == 200


@pytest.mark.parametrize(
    "headers", [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}]
)
async def test_a_form_from_another_site_does_nothing_even_with_the_token(
    browser: Browser, headers: dict[str, str]
) -> None:
    data = {"csrf": await browser.token()}
    assert (await browser.client.post("/sign-out", data=data, headers=headers)).status_code == 403
    assert (await browser.get("/account")).status_code == 200


async def test_the_token_of_one_person_is_not_another_s(browser: Browser, accounts: Accounts, sign_in: SignIn) -> None:
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
def test_after_signing_in_only_pages_of_ours_are_gone_to(given: str, taken: str) -> None:
    assert safe_next(given) == taken


async def test_nobody_can_sign_up_unless_it_is_switched_on(stranger: Browser) -> None:
    assert (await stranger.get("/sign-up")).status_code == 404
    fields = {"email": f"{new_id()}@example.com", "password": PASSWORD}
    assert (await stranger.post("/sign-up", fields)).status_code == 404
    assert "/sign-up" not in (await stranger.get("/sign-in")).text


async def test_every_page_carries_the_headers_that_keep_scripts_and_frames_out(browser: Browser) -> None:
    for path in ("/account", "/sign-up"):
        answer = await browser.get(path)
        policy = dict(rule.split(" ", 1) for rule in answer.headers["content-security-policy"].split("; "))
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == "'self'"
        assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"


async def test_the_session_cookie_is_out_of_reach_of_scripts_and_other_sites(
    sign_in: SignIn, person: Person, new_browser: NewBrowser
) -> None:
    await sign_in(person)
    answer = await new_browser().sign_in(person)
    assert answer.headers["location"] == "/account"
    cookie = next(each for each in answer.headers.get_list("set-cookie") if each.startswith(SESSION))
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Path=/" in cookie


async def test_the_files_of_pages_are_served_and_kept(stranger: Browser) -> None:
    answer = await stranger.get("/static/console.css")
    assert answer.status_code == 200
    assert "immutable" in answer.headers["cache-control"]
    assert (await stranger.get("/static/../page.py")).status_code == 404
