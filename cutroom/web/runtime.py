"""Dependencies of the HTTP process, opened once and shared by all requests."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from temporalio.client import Client

from cutroom.accounts.keys import LastUsedRecorder
from cutroom.accounts.plans import load_plans
from cutroom.accounts.principals import Authenticator
from cutroom.engines.translation.port import Quality
from cutroom.events.hub import EventHub
from cutroom.platform.clock import Clock, system_clock
from cutroom.platform.db import Database
from cutroom.platform.key_ring import REFRESH_SECONDS, followed_key_ring
from cutroom.platform.messages.broadcast import Broadcaster
from cutroom.platform.messages.changes import ChangeHub
from cutroom.platform.presence.present_people import Presence
from cutroom.platform.process.health import PostgresCheck, Readiness
from cutroom.platform.redis import BatchingRedis
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.settings import Settings
from cutroom.platform.slots import Slots
from cutroom.platform.storage.gcs import Gcs
from cutroom.platform.storage.multipart import Multipart
from cutroom.platform.storage.objects import Storage
from cutroom.platform.temporal import connect_lazily
from cutroom.web.idempotency import IdempotencyStore
from cutroom.web.limits import DAY_SECONDS, AccountLimits, RateLimit, RateLimiter
from cutroom.web.paging import PageTokens
from cutroom.web.products import JobHooks, ProductInfo

# Takes a library, a video if it is about one, and when a URL was signed; returns whether the URL may be served.
VideoCheck = Callable[[str, str | None, int], Awaitable[bool]]


async def never_live(_library_id: str, _video_id: str | None, _issued_at: int) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Runtime:
    """Shared dependencies; handlers reach them through their call."""

    settings: Settings
    clock: Clock
    database: Database
    storage: Storage
    secret_box: SecretBox
    authenticator: Authenticator
    limits: RateLimiter
    slots: Slots
    presence: Presence
    idempotency: IdempotencyStore
    page_tokens: PageTokens
    last_use: LastUsedRecorder
    temporal: Client
    multipart: Multipart
    readiness: Readiness
    events: EventHub
    changes: ChangeHub
    gcs: Gcs | None  # set if objects are stored in GCS, which receives uploads directly
    products: tuple[ProductInfo, ...] = ()
    # `credits.service.BundleCheck` of each product
    bundle_checks: tuple[Callable[..., Awaitable[Mapping[str, Quality]]], ...] = ()
    job_hooks: JobHooks = field(default_factory=JobHooks)
    is_live_video: VideoCheck = never_live
    monotonic: Callable[[], float] = time.monotonic  # for how long values are cached


@asynccontextmanager
async def open_runtime(
    settings: Settings, clock: Clock = system_clock, *, key_refresh_seconds: float = REFRESH_SECONDS
) -> AsyncIterator[Runtime]:
    """Open all connections, and close them on exit."""
    secret_box = SecretBox(settings.secret_key.get_secret_value(), clock)
    database = await Database.connect(
        settings.api_database,
        settings.database_pool_size,
        application="cutroom-api",
        pooler=settings.database_pooler,
    )
    redis = BatchingRedis(settings.redis_url.get_secret_value())
    broadcaster = Broadcaster(settings.redis_url.get_secret_value())
    database.announcer = broadcaster.send_all
    changes = ChangeHub(settings.api_database)
    events = EventHub(database, settings.redis_url.get_secret_value())
    multipart = Multipart.connect(settings)
    gcs = _open_gcs(settings)
    postgres = PostgresCheck(settings.api_database)
    # Redis, Temporal and the object store are not checked: without them, most requests still succeed.
    readiness = Readiness({"postgres": postgres})
    readiness.start()
    try:
        async with (
            followed_key_ring(database, secret_box, refresh_seconds=key_refresh_seconds),
            events.running(),
            changes.running(),
        ):
            yield Runtime(
                settings=settings,
                clock=clock,
                database=database,
                storage=Storage.connect(settings, clock, secret_box=secret_box),
                secret_box=secret_box,
                authenticator=Authenticator(
                    secret_box=secret_box, plans=load_plans(settings.plans_file), refuses_drafts=settings.drafts_refused
                ),
                limits=RateLimiter(
                    redis, failures_per_minute=settings.failed_credentials_per_minute, account=_account_limits(settings)
                ),
                slots=Slots(redis),
                presence=Presence(redis),
                idempotency=IdempotencyStore(secret_box),
                page_tokens=PageTokens(secret_box),
                last_use=LastUsedRecorder(database),
                temporal=await connect_lazily(settings, database=database, secret_box=secret_box),
                multipart=multipart,
                readiness=readiness,
                events=events,
                changes=changes,
                gcs=gcs,
            )
    finally:
        postgres.close()
        if gcs is not None:
            await gcs.close()
        await multipart.close()
        await redis.close()
        await broadcaster.close()
        await database.close()


def _account_limits(settings: Settings) -> AccountLimits:
    return AccountLimits(
        requests=RateLimit(settings.account_requests_per_minute),
        free_work=RateLimit(settings.account_free_work_per_day, DAY_SECONDS),
    )


def _open_gcs(settings: Settings) -> Gcs | None:
    if settings.gcs_account_file is None:
        return None
    return Gcs(settings.gcs_account_file, bucket=settings.s3_bucket, endpoint=settings.gcs_endpoint)
