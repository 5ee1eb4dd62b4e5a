"""Tests the notifications page and unsubscribe links."""

import httpx

from cutroom.notifications.unsubscribing import Unsubscription
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.console.conftest import Browser, SignIn
from tests.support.servers.push_service import TestBrowser

ONE_CLICK = {"List-Unsubscribe": "One-Click"}


async def preferences(accounts: Accounts, person: Person) -> dict[tuple[str, str], str]:
    rows = await accounts.connection.fetch(
        "SELECT kind, channel, frequency FROM notification_preferences WHERE library_id = $1 AND user_id = $2",
        person.library_id,
        person.user_id,
    )
    return {(row["kind"], row["channel"]): row["frequency"] for row in rows}


async def test_frequencies_are_chosen_per_kind(browser: Browser, accounts: Accounts, person: Person) -> None:
    page = (await browser.get("/notifications")).text
    assert page.count("<select") == 10
    chosen = {"ready.mail": "hourly", "ready.browser": "never", "failed.mail": "daily"}
    assert (await browser.post("/notifications", chosen)).status_code == 303
    assert await preferences(accounts, person) == {
        ("ready", "mail"): "hourly",
        ("ready", "browser"): "never",
        ("failed", "mail"): "daily",
    }
    page = (await browser.get("/notifications")).text
    assert page.count("selected") == 10
    for wrong in ({"ready.mail": "yearly"}, {"ready.browser": "hourly"}, {"other.mail": "daily"}, {}):
        assert (await browser.post("/notifications", wrong)).status_code == 400


async def test_link_unsubscribes_with_one_click(
    viewer: httpx.AsyncClient, browser: Browser, accounts: Accounts, person: Person, runtime: Runtime
) -> None:
    await browser.post("/notifications", {"ready.mail": "hourly", "failed.mail": "daily"})
    path = Unsubscription(person.library_id, person.user_id, "ready").path(runtime.secret_box)
    shown = await viewer.get(path)
    assert shown.status_code == 200
    assert "Something is ready" in shown.text
    assert (await preferences(accounts, person))["ready", "mail"] == "hourly"  # opening the link changes nothing
    done = await viewer.post(path, data=ONE_CLICK)  # neither a cookie nor a token of a form
    assert done.status_code == 200
    assert "no more mails" in done.text
    assert await preferences(accounts, person) == {("ready", "mail"): "never", ("failed", "mail"): "daily"}
    every = Unsubscription(person.library_id, person.user_id, "all").path(runtime.secret_box)
    assert (await viewer.post(every, data=ONE_CLICK)).status_code == 200
    assert set((await preferences(accounts, person)).values()) == {"never"}
    assert (await viewer.post(every, data=ONE_CLICK)).status_code == 200
    logged = await accounts.connection.fetch(
        """SELECT user_id, details FROM audit_entries
           WHERE library_id = $1 AND action = 'notifications.change' ORDER BY sequence""",
        person.library_id,
    )
    assert [row["user_id"] for row in logged] == [person.user_id] * 3  # by hand, and by two of the three clicks
    assert logged[1]["details"]["after"] == {"ready.mail": "never"}


async def test_changed_link_is_not_found(viewer: httpx.AsyncClient, accounts: Accounts, runtime: Runtime) -> None:
    person, other = await accounts.person(), await accounts.person()
    path = Unsubscription(person.library_id, person.user_id, "ready").path(runtime.secret_box)
    changed = (
        path.replace(person.user_id, other.user_id),
        path.replace(person.library_id, other.library_id),
        path.replace("/ready/", "/all/"),
        path.replace("/ready/", "/nothing/"),
        path[:-1],
        path[:-1] + ("0" if path[-1] != "0" else "1"),
        path[:-1] + "é",
    )
    for each in changed:
        assert (await viewer.get(each)).status_code == 404
        assert (await viewer.post(each, data=ONE_CLICK)).status_code == 404
    assert await preferences(accounts, person) == await preferences(accounts, other) == {}


async def test_link_of_a_former_member_changes_nothing(
    viewer: httpx.AsyncClient, accounts: Accounts, person: Person, runtime: Runtime
) -> None:
    outsider = await accounts.person()
    path = Unsubscription(person.library_id, outsider.user_id, "ready").path(runtime.secret_box)
    assert (await viewer.post(path, data=ONE_CLICK)).status_code == 200
    assert await preferences(accounts, person) == {}


async def test_browser_is_added_and_removed(
    browser: Browser, sign_in: SignIn, accounts: Accounts, person: Person
) -> None:
    added = TestBrowser("https://push.example.com/secret-path")
    for _ in range(2):  # the same browser again replaces itself
        assert (await browser.post("/notifications/browsers", added.form)).status_code == 303
    sql = "SELECT id FROM push_subscriptions WHERE library_id = $1"
    [row] = await accounts.connection.fetch(sql, person.library_id)
    page = (await browser.get("/notifications")).text
    assert "Unknown browser" in page
    assert "secret-path" not in page
    path = f"/notifications/browsers/{row['id']}/delete"
    assert (await (await sign_in(await accounts.person())).post(path)).status_code == 404
    assert (await browser.post(path)).status_code == 303
    assert await accounts.connection.fetch(sql, person.library_id) == []
    for wrong in ({**added.form, "endpoint": "https://10.0.0.1/"}, {**added.form, "auth": "x"}, {}):
        assert (await browser.post("/notifications/browsers", wrong)).status_code == 400


async def test_browsers_of_a_person_are_limited(browser: Browser) -> None:
    for number in range(10):
        form = TestBrowser(f"https://push.example.com/{number}").form
        assert (await browser.post("/notifications/browsers", form)).status_code == 303
    more = await browser.post("/notifications/browsers", TestBrowser("https://push.example.com/more").form)
    assert more.status_code == 409
    assert "Remove a browser first." in more.text


async def test_script_that_shows_notifications_is_served_uncached(viewer: httpx.AsyncClient) -> None:
    script = await viewer.get("/notifications/worker.js")
    assert script.headers["content-type"].startswith("text/javascript")
    assert "no-store" in script.headers["cache-control"]
    assert "showNotification" in script.text
