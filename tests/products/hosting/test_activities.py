"""Deleting hosted assets of a library that is being erased."""

import pytest
from temporalio.testing import ActivityEnvironment

from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.products.hosting.activities import HostingActivities
from cutroom.products.hosting.mux import Mux
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.support.servers.mux_server import MuxServer, mux_server


async def hosted(accounts: Accounts, person: Person, asset_id: str | None) -> None:
    row = {"library_id": person.library_id, "video_id": new_id(), "attempt": 1, "updated_at": system_clock()}
    await insert(accounts.connection, "hostings", {**row, "asset_id": asset_id})


def activities(runtime: Runtime, host: Mux | None) -> HostingActivities:
    return HostingActivities(
        database=runtime.database, storage=runtime.storage, secret_box=runtime.secret_box, host=host, clock=system_clock
    )


@pytest.mark.parametrize("is_configured", [True, False])
async def test_assets_are_deleted_or_counted(
    accounts: Accounts, person: Person, runtime: Runtime, *, is_configured: bool
) -> None:
    other = await accounts.person()
    await hosted(accounts, person, "asset1")
    await hosted(accounts, person, None)
    await hosted(accounts, other, "asset2")
    async with mux_server() as server:
        mux = Mux(runtime.settings.model_copy(update=server.settings)) if is_configured else None
        step = activities(runtime, mux).delete_hosted_assets
        found = await ActivityEnvironment().run(step, person.library_id)
        calls = _deletions(server)
    assert found == ({"deleted": 1, "left": 0} if is_configured else {"deleted": 0, "left": 1})
    assert calls == (1 if is_configured else 0)


def _deletions(server: MuxServer) -> int:
    return sum(call.startswith("DELETE") for call in server.calls)
