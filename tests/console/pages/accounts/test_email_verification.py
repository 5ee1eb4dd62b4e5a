"""Tests sign-up with a mail server: accounts are confirmed before they are used, and nothing reveals which exist."""

from datetime import timedelta

import pytest

from cutroom.accounts import passwords
from cutroom.accounts.sessions import is_email
from cutroom.platform.ids import new_id
from dev.scratch import Accounts, Person
from tests.conftest import MovableClock
from tests.console.conftest import PASSWORD
from tests.console.mail_stage import MailStage
from tests.support.servers.smtp_server import link_in

SESSION = "cutroom-session"


@pytest.fixture
def email() -> str:
    return f"{new_id()}@example.com"


async def sign_up(stage: MailStage, email: str, password: str = PASSWORD) -> str:
    response = await stage.browser().post("/sign-up", {"email": email, "name": "Ada", "password": password})
    assert response.status_code == 200
    return response.text


async def enter(stage: MailStage, email: str, password: str = PASSWORD) -> int:
    fields = {"email": email, "password": password}
    return (await stage.browser().post("/sign-in", fields)).status_code


async def test_new_account_is_used_only_after_it_is_confirmed(stage: MailStage, email: str) -> None:
    browser = stage.browser()
    await browser.post("/sign-up", {"email": email, "name": "Ada", "password": PASSWORD})
    assert SESSION not in browser.client.cookies
    assert await enter(stage, email) == 403  # which sends the link again
    first, second = [link_in(mail) for mail in await stage.mails_to(email)]
    assert (await browser.get(second)).status_code == 200
    assert (await browser.post(second, {"password": "a wrong phrase"})).status_code == 401
    assert (await browser.post(second, {"password": PASSWORD})).headers["location"] == "/library"
    assert "confirmed" in (await browser.get("/account")).text
    assert (await stage.browser().get(second)).status_code == 404
    assert (await stage.browser().get(first)).status_code == 404
    assert await enter(stage, email) == 303


async def test_sign_up_does_not_reveal_whether_an_account_exists(stage: MailStage, person: Person, email: str) -> None:
    taken, free = await sign_up(stage, person.email), await sign_up(stage, email)
    assert taken.replace(person.email, "") == free.replace(email, "")
    assert "already have an account" in (await stage.mails_to(person.email))[-1]["Subject"]
    assert await enter(stage, person.email) == 401  # the password of the other account is unchanged


async def test_owner_of_an_address_cannot_be_made_to_confirm_an_attackers_account(
    stage: MailStage, accounts: Accounts, email: str
) -> None:
    await sign_up(stage, email, "the attacker's phrase")
    owner = stage.browser()
    link = link_in((await stage.mails_to(email))[-1])
    assert (await owner.post(link, {"password": PASSWORD})).status_code == 401  # opening the link is not enough
    assert await enter(stage, email, "the attacker's phrase") == 403
    await owner.post("/forgot-password", {"email": email})
    reset = next(link_in(mail) for mail in await stage.mails_to(email) if "new password" in mail["Subject"])
    assert (await owner.post(reset, {"password": PASSWORD})).status_code == 303
    assert await enter(stage, email, "the attacker's phrase") == 401
    assert await enter(stage, email) == 303
    verified = await accounts.connection.fetchval(
        """SELECT s.email_verified_at IS NOT NULL FROM account_security s
           JOIN members m ON m.library_id = s.library_id JOIN users u ON u.id = m.user_id WHERE u.email = $1""",
        email,
    )
    assert verified


async def test_verification_link_expires(stage: MailStage, email: str, clock: MovableClock) -> None:
    await sign_up(stage, email)
    link = link_in((await stage.mails_to(email))[-1])
    clock.shift = timedelta(hours=25)
    assert (await stage.browser().get(link)).status_code == 404
    assert await enter(stage, email) == 403
    assert (await stage.browser().get(link_in((await stage.mails_to(email))[-1]))).status_code == 200


async def test_password_guesses_at_a_link_are_throttled(
    stage: MailStage, email: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await sign_up(stage, email)
    monkeypatch.setattr(passwords, "_verify", lambda *_: False)  # hashing takes longer than a limit lasts
    link, browser = link_in((await stage.mails_to(email))[-1]), stage.browser()
    statuses = [(await browser.post(link, {"password": f"guess number {n}"})).status_code for n in range(11)]
    assert statuses == [401] * 10 + [429]


async def test_existing_user_confirms_their_address(stage: MailStage, accounts: Accounts, hashed: str) -> None:
    person = await accounts.person()
    await accounts.connection.execute("SELECT set_password($1, $2, now())", person.user_id, hashed)
    browser = stage.browser()
    assert (await browser.sign_in(person)).status_code == 303  # accounts of an operator need no confirmation
    assert "not confirmed" in (await browser.get("/account")).text
    assert (await browser.post("/account/verification")).status_code == 200
    link = link_in((await stage.mails_to(person.email))[-1])
    assert (await browser.post(link, {"password": PASSWORD})).headers["location"] == "/account?notice=verified"
    assert "not confirmed" not in (await browser.get("/account")).text
    rows = await accounts.connection.fetch(
        "SELECT action FROM audit_entries WHERE library_id = $1 ORDER BY sequence", person.library_id
    )
    assert [row["action"] for row in rows] == ["session.create", "email.requestVerification", "email.verify"]


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("ada@example.com", True),
        ("ada+tag@example.com", True),
        ("ada@example.com,eve@example.com", False),
        ("ada@example.com\nbcc:eve@example.com", False),
        ("ada <ada@example.com>", False),
        ("ada;eve@example.com", False),
        ("@example.com", False),
        ("ada@", False),
        ("ada@b@example.com", False),
    ],
)
def test_mail_goes_to_one_address(address: str, *, expected: bool) -> None:
    assert is_email(address) is expected
