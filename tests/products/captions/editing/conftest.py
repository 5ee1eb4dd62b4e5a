"""Captions that tests edit."""

import httpx
import pytest

from cutroom.capabilities.rules import AdvertisedTranslator
from cutroom.capabilities.service import publish_routes
from cutroom.credits import ledger
from cutroom.platform.clock import system_clock
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.products.captions.editing.track_stage import ROUTE, CaptionTrackStage, CountingTranslator
from tests.products.conftest import TranscribedVideo


@pytest.fixture
async def track(
    runtime: Runtime, api: httpx.AsyncClient, transcribed: TranscribedVideo, accounts: Accounts
) -> CaptionTrackStage:
    await accounts.connection.execute("DELETE FROM translation_routes")
    async with runtime.database.connection() as connection, connection.transaction():
        await publish_routes(connection, [AdvertisedTranslator("one", (ROUTE,))], now=system_clock())
    await ledger.grant(
        accounts.connection, transcribed.library_id, millicredits=10_000, reference="tests", now=system_clock()
    )
    stage = CaptionTrackStage(runtime, api, transcribed, CountingTranslator("one", ROUTE, []))
    await stage.make()
    return stage
