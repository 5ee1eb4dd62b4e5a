"""What the HTTP process is made of, built once and passed to every request."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from temporalio.client import Client

from cutroom.accounts.keys import LastUse
from cutroom.accounts.plans import load_plans
from cutroom.accounts.principals import Authenticator
from cutroom.platform.clock import Clock, system_clock
from cutroom.platform.db import Database
from cutroom.platform.redis import BatchingRedis
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.settings import Settings
from cutroom.platform.storage.gcs import Gcs, ServiceAccount
from cutroom.platform.storage.multipart import Multipart
from cutroom.platform.storage.objects import Storage
from cutroom.platform.temporal import connect_lazily
from cutroom.web.idempotency import IdempotencyStore
from cutroom.web.limits import Limits
from cutroom.web.paging import PageTokens


@dataclass(frozen=True, slots=True)
class Runtime:
    """The parts; handlers reach them through their call."""

    settings: Settings
    clock: Clock
    database: Database
    storage: Storage
    secrecy: SecretBox
    doorkeeper: Authenticator
    limits: Limits
    replays: IdempotencyStore
    page_tokens: PageTokens
    last_use: LastUse
    temporal: Client
    multipart: Multipart
    gcs: Gcs | None  # set where the store is Google's own, and uploads go there directly


@asynccontextmanager
async def open_runtime(settings: Settings, clock: Clock = system_clock) -> AsyncIterator[Runtime]:
    """Connect to everything, and close it again."""
    secrecy = SecretBox(settings.secret_key.get_secret_value())
    database = await Database.connect(
        settings.database_url.get_secret_value(), settings.database_pool_size, application="cutroom-api"
    )
    redis = BatchingRedis(settings.redis_url.get_secret_value())
    multipart = Multipart.connect(settings)
    gcs = _open_gcs(settings, clock)
    try:
        yield Runtime(
            settings=settings,
            clock=clock,
            database=database,
            storage=Storage.connect(settings),
            secrecy=secrecy,
            doorkeeper=Authenticator(secrecy=secrecy, plans=load_plans(settings.plans_file)),
            limits=Limits(redis, failures_per_minute=settings.failed_credentials_per_minute),
            replays=IdempotencyStore(secrecy),
            page_tokens=PageTokens(secrecy),
            last_use=LastUse(database),
            temporal=await connect_lazily(settings),
            multipart=multipart,
            gcs=gcs,
        )
    finally:
        if gcs is not None:
            await gcs.close()
        await multipart.close()
        await redis.close()
        await database.close()


def _open_gcs(settings: Settings, clock: Clock) -> Gcs | None:
    if settings.gcs_account_file is None:
        return None
    account = ServiceAccount.read(settings.gcs_account_file)
    return Gcs(account, bucket=settings.s3_bucket, endpoint=settings.gcs_endpoint, clock=clock)
