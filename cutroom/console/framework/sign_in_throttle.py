"""Limits attempts to sign in, before a password is hashed."""

import asyncio
from collections.abc import Awaitable, Callable

from starlette.requests import Request

from cutroom.accounts.sessions import MAX_EMAIL
from cutroom.errors import Code, CutroomError
from cutroom.web.limits import RateLimit, client_network
from cutroom.web.runtime import Runtime

ATTEMPTS_PER_ADDRESS = RateLimit(30)
ATTEMPTS_PER_ACCOUNT_AND_ADDRESS = RateLimit(10)
ATTEMPTS_PER_ACCOUNT = RateLimit(60)  # above it attempts are slowed, not rejected: the owner can still sign in
SLOWED_SECONDS = 3.0
MAX_SLOWED = 500  # in this process
PAIR_PURPOSE = "sign-in-attempts"


class SlowLane:
    """Delays attempts; they hold neither a connection nor a hash slot meanwhile."""

    def __init__(self, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self.sleep = sleep
        self.waiting = 0

    async def wait(self) -> None:
        if self.waiting >= MAX_SLOWED:
            raise CutroomError(
                Code.RATE_LIMITED, details={"limit": "concurrency"}, headers={"Retry-After": f"{SLOWED_SECONDS:.0f}"}
            )
        self.waiting += 1
        try:
            await self.sleep(SLOWED_SECONDS)
        finally:
            self.waiting -= 1


slow_lane = SlowLane()


async def throttle(runtime: Runtime, request: Request, email: str) -> None:
    """Count an attempt, also a successful one, or raise RATE_LIMITED.

    Addresses without an account are counted like any other, so that limits do not reveal which exist.
    """
    network = client_network(request.client.host) if request.client else "unknown"
    account = email[:MAX_EMAIL]
    pair = runtime.secret_box.keyed_hash(PAIR_PURPOSE, f"{network} {account}").hex()
    await runtime.limits.count(f"sign-in:{network}", ATTEMPTS_PER_ADDRESS)
    await runtime.limits.count(f"sign-in:{pair}", ATTEMPTS_PER_ACCOUNT_AND_ADDRESS)
    if not await runtime.limits.is_within(f"sign-in:{account}", ATTEMPTS_PER_ACCOUNT):
        await slow_lane.wait()
