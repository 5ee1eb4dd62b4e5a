"""Tests password resets by mail: links are secret, expire, work once, and reveal nothing about accounts."""

from datetime import timedelta

import pytest

from cutroom.accounts.mails.rules import MAX_PER_HOUR
from cutroom.platform.ids import new_id
from dev.scratch import Accounts, Person
from tests.conftest import MovableClock
from tests.console.conftest import PASSWORD, Browser
from tests.console.mail_stage import PUBLIC_URL, MailStage
from tests.support.servers.smtp_server import link_in

NEW_PASSWORD = "another long phrase"


@pytest.fixture
async def person(accounts: Accounts, hashed: str) -> Person:
    """A user with a password."""
    made = await accounts.person()
    await accounts.connection.execute("SELECT set_password($1, $2, now())", made.user_id, hashed)
    return made


async def request_link(stage: MailStage, email: str) -> str:
    """The path of a new link."""
    assert (await stage.browser().post("/forgot-password", {"email": email})).status_code == 200
    return link_in((await stage.mails_to(email))[-1])


async def actions(accounts: Accounts, person: Person) -> list[str]:
    rows = await accounts.connection.fetch(
        "SELECT action FROM audit_entries WHERE library_id = $1 ORDER BY sequence", person.library_id
    )
    return [row["action"] for row in rows]


async def test_reset_sets_the_password_and_ends_all_sessions(
    stage: MailStage, person: Person, accounts: Accounts
) -> None:
    thief = stage.browser()
    assert (await thief.sign_in(person)).status_code == 303
    link = await request_link(stage, person.email)
    owner = stage.browser()
    assert (await owner.get(link)).status_code == 200
    assert (await owner.get(link)).status_code == 200  # opening it does not use it
    done = await owner.post(link, {"password": NEW_PASSWORD})
    assert done.headers["location"] == "/sign-in?notice=password"
    assert (await thief.get("/account")).status_code == 303
    assert (await stage.browser().sign_in(person)).status_code == 401
    assert (await stage.browser().sign_in(person, NEW_PASSWORD)).status_code == 303
    assert (await actions(accounts, person))[1:3] == ["password.requestReset", "password.reset"]
    assert "password was changed" in (await stage.mails_to(person.email))[-1]["Subject"]


async def test_reset_link_works_once(stage: MailStage, person: Person) -> None:
    link = await request_link(stage, person.email)
    browser = stage.browser()
    assert (await browser.post(link, {"password": NEW_PASSWORD})).status_code == 303
    assert (await browser.post(link, {"password": PASSWORD})).status_code == 404
    assert (await browser.get(link)).status_code == 404
    assert (await stage.browser().sign_in(person, NEW_PASSWORD)).status_code == 303


async def test_reset_ends_earlier_links(stage: MailStage, person: Person) -> None:
    first, second = await request_link(stage, person.email), await request_link(stage, person.email)
    assert first != second
    assert (await stage.browser().post(second, {"password": NEW_PASSWORD})).status_code == 303
    assert (await stage.browser().get(first)).status_code == 404


async def test_password_change_ends_reset_links(stage: MailStage, person: Person) -> None:
    link = await request_link(stage, person.email)
    browser = stage.browser()
    await browser.sign_in(person)
    changed = await browser.post("/account/password", {"current": PASSWORD, "password": NEW_PASSWORD})
    assert changed.status_code == 303
    assert (await stage.browser().get(link)).status_code == 404


async def test_reset_link_expires(stage: MailStage, person: Person, clock: MovableClock) -> None:
    link = await request_link(stage, person.email)
    clock.shift = timedelta(minutes=61)
    assert (await stage.browser().get(link)).status_code == 404
    assert (await stage.browser().post(link, {"password": NEW_PASSWORD})).status_code == 404


@pytest.mark.parametrize("change", [lambda link: link[:-1], lambda link: link + "0", lambda _: "/reset-password/ml_0"])
async def test_forged_link_is_not_found(stage: MailStage, person: Person, change: object) -> None:
    assert callable(change)
    forged = change(await request_link(stage, person.email))
    assert (await stage.browser().post(forged, {"password": NEW_PASSWORD})).status_code == 404


async def test_reset_link_does_not_confirm_as_another_kind(stage: MailStage, person: Person) -> None:
    link = await request_link(stage, person.email)
    assert (await stage.browser().get(link.replace("reset-password", "verify-email"))).status_code == 404


async def test_short_password_keeps_the_link(stage: MailStage, person: Person) -> None:
    link = await request_link(stage, person.email)
    assert (await stage.browser().post(link, {"password": "short"})).status_code == 400
    assert (await stage.browser().post(link, {"password": NEW_PASSWORD})).status_code == 303


async def test_response_does_not_reveal_whether_an_account_exists(
    stage: MailStage, person: Person, accounts: Accounts
) -> None:
    unknown = f"{new_id()}@example.com"
    answers = [await stage.browser().post("/forgot-password", {"email": email}) for email in (person.email, unknown)]
    assert answers[0].status_code == answers[1].status_code == 200
    assert answers[0].text == answers[1].text
    left = {key for key, _ in answers[0].headers.items()} ^ {key for key, _ in answers[1].headers.items()}
    assert left == set()
    await stage.deliver()
    assert len(stage.smtp.sent_to(person.email)) == 1
    assert stage.smtp.sent_to(unknown) == []
    assert not await accounts.connection.fetchval("SELECT count(*) FROM account_mails WHERE recipient = $1", unknown)


async def test_mails_to_one_address_are_limited(stage: MailStage, person: Person, clock: MovableClock) -> None:
    texts = {
        (await stage.browser().post("/forgot-password", {"email": person.email})).text for _ in range(MAX_PER_HOUR + 2)
    }
    assert len(texts) == 1
    assert len(await stage.mails_to(person.email)) == MAX_PER_HOUR
    clock.shift = timedelta(hours=2)
    await request_link(stage, person.email)


@pytest.mark.usefixtures("slow_refill")
async def test_requests_are_throttled(stage: MailStage) -> None:
    browser, email = stage.browser(), f"{new_id()}@example.com"
    statuses = [(await browser.post("/forgot-password", {"email": email})).status_code for _ in range(11)]
    assert statuses == [200] * 10 + [429]


async def test_secret_is_stored_only_as_a_hash_once_the_mail_is_sent(
    stage: MailStage, person: Person, accounts: Accounts
) -> None:
    link = await request_link(stage, person.email)
    row = await accounts.connection.fetchrow("SELECT * FROM account_mails WHERE recipient = $1", person.email)
    assert row is not None
    assert (row["outcome"], row["sealed_secret"]) == ("sent", None)
    assert link.rpartition("_")[2].encode() not in repr(dict(row)).encode()
    history = await stage.client.get_workflow_handle(f"mail_{row['id']}").fetch_history()
    recorded = history.to_json()
    assert person.email not in recorded
    assert link.rpartition("_")[2] not in recorded


async def test_link_uses_the_configured_address_and_not_that_of_the_request(stage: MailStage, person: Person) -> None:
    browser = stage.browser()
    csrf = await browser.token("/forgot-password")
    await browser.client.post(
        "/forgot-password",
        data={"csrf": csrf, "email": person.email},
        headers={"Host": "evil.example", "X-Forwarded-Host": "evil.example"},
    )
    [mail] = await stage.mails_to(person.email)
    assert f"{PUBLIC_URL}/reset-password/" in mail.get_content()
    assert "evil.example" not in mail.get_content()


async def test_mail_survives_a_server_that_is_down(stage: MailStage, person: Person) -> None:
    stage.smtp.recipient_responses = ["451 Try again later"]
    assert await request_link(stage, person.email)
    assert len(stage.smtp.sent_to(person.email)) == 1


async def test_refused_recipient_ends_the_mail(stage: MailStage, person: Person, accounts: Accounts) -> None:
    stage.smtp.recipient_responses = ["550 No such user"]
    await stage.browser().post("/forgot-password", {"email": person.email})
    await stage.deliver()
    sql = "SELECT outcome FROM account_mails WHERE recipient = $1"
    assert await accounts.connection.fetchval(sql, person.email) == "refused"
    assert stage.smtp.sent_to(person.email) == []


async def test_pages_do_not_exist_without_a_mail_server(outsider: Browser) -> None:
    assert (await outsider.get("/forgot-password")).status_code == 404
    assert (await outsider.post("/forgot-password", {"email": "ada@example.com"})).status_code == 404
    assert "/forgot-password" not in (await outsider.get("/sign-in")).text
