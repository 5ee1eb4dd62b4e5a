"""Fixtures for the account pages."""

from collections.abc import AsyncIterator

import pytest

from cutroom.platform.settings import Settings
from dev.scratch import Accounts
from tests.conftest import MovableClock
from tests.console.mail_stage import MailStage, open_mail_stage


@pytest.fixture
async def stage(settings: Settings, accounts: Accounts, clock: MovableClock) -> AsyncIterator[MailStage]:
    """The web app with a mail server."""
    async with open_mail_stage(settings, accounts, clock) as opened:
        yield opened
