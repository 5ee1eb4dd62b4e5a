"""Floods of sign-ins, while the owner of the account signs in."""

import asyncio
import math
import re
import time
from collections import Counter
from dataclasses import dataclass

from cutroom.accounts.passwords import hash_password
from cutroom.platform.ids import new_id
from proofs.hardening.attacks import Scene, Tenant, client_at

FAMILY = "sign-ins"
PASSWORD = "a long enough phrase"  # noqa: S105 (of a scratch user)
WRONG = "a wrong guess"
TOO_LONG = "x" * 300  # refused without hashing, but counted: it tests limits without a load
PER_ADDRESS, PER_ACCOUNT_AND_ADDRESS = 30, 10
TRIES = 30  # of the owner, each after the wait that the response asks for
_CSRF = re.compile(r'name="csrf" value="([0-9a-f]+)"')


async def attack_sign_ins(scene: Scene) -> None:
    log, owner = scene.log, await scene.tenant("127.0.5.1")
    async with scene.lock:
        hashed = await asyncio.to_thread(hash_password, PASSWORD)
        await scene.accounts.connection.execute("SELECT set_password($1, $2, now())", owner.person.user_id, hashed)
    email, tries = owner.person.email, 2 * PER_ACCOUNT_AND_ADDRESS
    one = await _guess(scene, "127.0.5.2", [email] * tries)
    log.add(FAMILY, "guesses at one account from one address", one, succeeded=one.exceeds(PER_ACCOUNT_AND_ADDRESS))
    unknown = await _guess(scene, "127.0.5.3", [f"{new_id()}@example.com"] * tries)
    differs = set(one.statuses) != set(unknown.statuses)
    log.add(FAMILY, "which accounts exist, by their limits", f"{one} and {unknown}", succeeded=differs)
    emails = [f"{new_id()}@example.com" for _ in range(2 * PER_ADDRESS)]
    many = await _guess(scene, "127.0.5.4", emails)
    log.add(FAMILY, "one address tries many accounts", many, succeeded=many.exceeds(PER_ADDRESS))
    forwarded = await _guess(scene, "127.0.5.4", emails[:10], headers={"X-Forwarded-For": "192.0.2.7"})
    tried = "a limited address claims another in X-Forwarded-For"
    log.add(FAMILY, tried, forwarded, succeeded=forwarded.exceeds(0, per_minute=PER_ADDRESS))
    await _attack_owner(scene, owner)
    async with client_at(scene.stage.api.url, "127.0.5.6") as client:
        crossed = await client.post("/sign-in", data={"email": email, "password": PASSWORD})
        log.expect(FAMILY, "a sign-in form without its CSRF token", crossed, 403)
        page = await client.get("/sign-in", params={"next": "//evil.example.com/"})
        log.add(FAMILY, "a redirect to another site after the sign-in", page.status_code, succeeded="evil" in page.text)
    await owner.client.aclose()


async def _attack_owner(scene: Scene, owner: Tenant) -> None:
    """Many addresses guess at one account; its owner signs in meanwhile."""
    addresses = 4 if scene.short else 12
    async with scene.reads.during("sign-ins", scene.log.ratios):
        guesses = [
            asyncio.create_task(_guess(scene, f"127.0.6.{number + 1}", [owner.person.email] * 6, password=WRONG))
            for number in range(addresses)
        ]
        status, attempts = await _sign_in(scene, owner)
        found = sum([(await guess).statuses for guess in guesses], Counter[int]())
    scene.log.add(FAMILY, f"{addresses} addresses guess at one account", dict(found), succeeded=found[303] > 0)
    happened = f"{status} with attempt {attempts}"
    scene.log.add(FAMILY, "… to keep its owner from signing in", happened, succeeded=status != 303)


@dataclass(frozen=True, slots=True)
class Guesses:
    """The statuses of guesses, and how long they took: meanwhile a limit admits some more."""

    statuses: Counter[int]
    seconds: float

    def exceeds(self, limit: int, *, per_minute: int | None = None) -> bool:
        """Whether a password was right, or more were checked than the limit admits."""
        refilled = math.ceil(self.seconds * (per_minute or limit) / 60) + 1
        return self.statuses[303] > 0 or self.statuses[401] > limit + refilled

    def __str__(self) -> str:
        return str(dict(self.statuses))


async def _guess(
    scene: Scene,
    address: str,
    emails: list[str],
    *,
    password: str = TOO_LONG,
    headers: dict[str, str] | None = None,
) -> Guesses:
    """Try a wrong password for each, a few at a time."""
    started = time.monotonic()
    async with client_at(scene.stage.api.url, address, headers) as client:
        csrf = _csrf((await client.get("/sign-in")).text)
        slots = asyncio.Semaphore(4)

        async def guess(email: str) -> int:
            async with slots:
                form = {"csrf": csrf, "next": "/account", "email": email, "password": password}
                return (await client.post("/sign-in", data=form)).status_code

        statuses = Counter(await asyncio.gather(*(guess(each) for each in emails)))
    return Guesses(statuses, time.monotonic() - started)


async def _sign_in(scene: Scene, owner: Tenant) -> tuple[int, int]:
    """The owner at an address of their own, with the right password; waits as the response asks."""
    async with client_at(scene.stage.api.url, "127.0.5.5") as client:
        form = {"csrf": _csrf((await client.get("/sign-in")).text), "next": "/account"}
        form |= {"email": owner.person.email, "password": PASSWORD}
        status = 0
        for attempt in range(1, TRIES + 1):
            response = await client.post("/sign-in", data=form)
            status = response.status_code
            if status != 429:
                return status, attempt
            await asyncio.sleep(int(response.headers["retry-after"]))
    return status, TRIES


def _csrf(page: str) -> str:
    found = _CSRF.search(page)
    assert found is not None
    return found[1]
