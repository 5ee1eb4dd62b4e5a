"""Tests that no secret of a link is written to the access log."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from starlette.routing import Route

from cutroom.console.app import console_routes
from cutroom.platform.settings import Settings
from cutroom.platform.telemetry import AccessLog
from dev.scratch import Accounts, Person
from tests.conftest import MovableClock
from tests.console.conftest import Browser
from tests.console.mail_stage import MailStage, open_mail_stage
from tests.console.pages.test_workspaces import LINK
from tests.support.servers.smtp_server import link_in

LINKS = {"/invitations/{secret}", "/reset-password/{secret}", "/review/{secret}", "/verify-email/{secret}"}


@pytest.fixture
async def stage(settings: Settings, accounts: Accounts, clock: MovableClock) -> AsyncIterator[MailStage]:
    async with open_mail_stage(settings, accounts, clock) as opened:
        opened.service._access_log = AccessLog("INFO")
        yield opened


@pytest.fixture
async def person(accounts: Accounts, hashed: str) -> Person:
    """A user with a password."""
    made = await accounts.person()
    await accounts.connection.execute("SELECT set_password($1, $2, now())", made.user_id, hashed)
    return made


def requests(printed: str) -> list[dict[str, Any]]:
    """The lines of the access log."""
    lines = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    return [line for line in lines if line.get("logger") == "cutroom.access"]


async def check_redaction(capsys: pytest.CaptureFixture[str], browser: Browser, link: str, *, logged_as: str) -> None:
    """Opens a link and submits its form, signed in or not, and with the secret in the query of another page."""
    secret = link.rpartition("/")[2]
    capsys.readouterr()
    opened = await browser.get(link)
    if opened.status_code == 303:
        assert (await browser.get(opened.headers["location"])).status_code == 200  # the sign-in page, which returns
    await browser.get(f"{link}/", params={"secret": secret})
    await browser.post(link, {"password": "short"})
    printed = capsys.readouterr().out
    assert secret[-16:] not in printed
    lines = [line for line in requests(printed) if line["path"].startswith(logged_as.rpartition("/")[0] + "/")]
    assert {line["method"] for line in lines} == {"GET", "POST"}
    assert {line["path"] for line in lines} == {logged_as}
    assert {line["route"] for line in lines if line["method"] == "POST"} <= LINKS


@pytest.mark.parametrize("is_signed_in", [True, False])
async def test_invitation(
    stage: MailStage, person: Person, capsys: pytest.CaptureFixture[str], *, is_signed_in: bool
) -> None:
    owner = stage.browser()
    assert (await owner.sign_in(person)).status_code == 303
    await owner.post("/workspace", {"name": "Team"})
    invited = await owner.post("/workspace/invitations", {"email": "guest@example.com", "role": "viewer"})
    link = LINK.search(invited.text)
    assert link is not None
    browser = owner if is_signed_in else stage.browser()
    await check_redaction(capsys, browser, link[1], logged_as="/invitations/inv_…")


async def test_password_reset(stage: MailStage, person: Person, capsys: pytest.CaptureFixture[str]) -> None:
    browser = stage.browser()
    await browser.post("/forgot-password", {"email": person.email})
    link = link_in((await stage.mails_to(person.email))[-1])
    await check_redaction(capsys, browser, link, logged_as="/reset-password/ml_…")


async def test_email_verification(stage: MailStage, person: Person, capsys: pytest.CaptureFixture[str]) -> None:
    browser = stage.browser()
    assert (await browser.sign_in(person)).status_code == 303
    await browser.post("/account/verification")
    link = link_in((await stage.mails_to(person.email))[-1])
    await check_redaction(capsys, browser, link, logged_as="/verify-email/ml_…")


def test_there_are_no_other_pages_with_a_secret() -> None:
    paths = {route.path for route in console_routes() if isinstance(route, Route)}
    assert {path for path in paths if "{secret}" in path or "{token}" in path} == LINKS
