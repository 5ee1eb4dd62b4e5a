"""Libraries with credits and videos, and connections as application and as schema owner."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import asyncpg

from cutroom.accounts.plans import PlanName, load_plans
from cutroom.accounts.principals import Authenticator, Principal
from cutroom.credits import ledger
from cutroom.credits.service import is_subscriber
from cutroom.engines.translation.port import Quality
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Database, register_json_codec
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.settings import Settings
from dev.scratch import Accounts, Keyring, scratch
from proofs.stage.price_model import DRAFT_LANGUAGES, LANGUAGES, random_seconds
from tests.support.transcribed_videos import advertise_languages, insert_video

POOL = 32  # one connection per concurrent operation
OWNERS = 4
NO_LIMIT = 1_000_000  # of unfinished jobs, which this proof does not test


@dataclass(frozen=True, slots=True)
class Tenant:
    """A library with an API key."""

    principal: Principal
    key: Keyring
    overdraft: int = 0  # in milli-credits

    @property
    def library_id(self) -> str:
        return self.principal.library_id

    @property
    def is_subscriber(self) -> bool:
        return is_subscriber(self.principal)


@dataclass(frozen=True, slots=True)
class Stage:
    """A scratch database with application and owner connections."""

    settings: Settings
    accounts: Accounts
    database: Database
    owner: "asyncpg.Pool[asyncpg.Record]"

    async def tenant(self, *, millicredits: int, overdraft: int = 0, plan: PlanName = PlanName.BUSINESS) -> Tenant:
        person = await self.accounts.person(plan)
        key = await self.accounts.key(person)
        secret_box = SecretBox(self.settings.secret_key.get_secret_value())
        authenticator = Authenticator(secret_box=secret_box, plans=load_plans(self.settings.plans_file))
        async with self.database.connection() as connection:
            principal = await authenticator.authenticate(connection, key.secret, now=system_clock(), speech=False)
        unlimited = replace(principal.plan, unfinished_jobs=NO_LIMIT)
        tenant = Tenant(replace(principal, plan=unlimited), key, overdraft)
        await self.grant(tenant, millicredits, reference="first")
        async with self.owner.acquire() as connection:
            await connection.execute(
                "UPDATE ledger_balances SET overdraft = $2 WHERE library_id = $1", tenant.library_id, overdraft
            )
        return tenant

    async def grant(self, tenant: Tenant, millicredits: int, *, reference: str) -> None:
        async with self.owner.acquire() as connection:
            await ledger.grant(
                connection, tenant.library_id, millicredits=millicredits, reference=reference, now=system_clock()
            )

    async def video(self, tenant: Tenant, seconds: float | None, *, transcript: str | None = "processing") -> str:
        """Insert a video; a transcript that never ends claims no reserved line."""
        async with self.owner.acquire() as connection:
            return await insert_video(connection, tenant.library_id, duration_seconds=seconds, transcript=transcript)

    async def videos(self, tenant: Tenant, rng: random.Random, *, count: int) -> dict[str, float | None]:
        """Videos of random durations; the last one's is unknown."""
        seconds = [random_seconds(rng) for _ in range(count - 1)]
        return {await self.video(tenant, each): each for each in [*seconds, None]}


@asynccontextmanager
async def open_stage(name: str, **changes: Any) -> AsyncIterator[Stage]:  # noqa: ANN401 (settings)
    settings = (await scratch(name)).model_copy(update=changes)
    assert settings.owner_database_url is not None
    accounts = await Accounts.open(settings)
    database = await Database.connect(settings.database_url.get_secret_value(), POOL, application="proof")
    owner = await asyncpg.create_pool(
        settings.owner_database_url.get_secret_value(), min_size=1, max_size=OWNERS, init=register_json_codec
    )
    await advertise_languages(accounts.connection, [code for code in LANGUAGES if code not in DRAFT_LANGUAGES])
    await advertise_languages(accounts.connection, sorted(DRAFT_LANGUAGES), quality=Quality.DRAFT)
    try:
        yield Stage(settings, accounts, database, owner)
    finally:
        await owner.close()
        await database.close()
        await accounts.close()
