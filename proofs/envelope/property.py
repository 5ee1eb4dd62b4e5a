"""Idempotency against a model: Hypothesis walks through requests, spellings, callers, refusals, errors and time."""

import asyncio
import json
import logging
import threading
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import httpx
from fastapi import APIRouter
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from prometheus_client import CollectorRegistry
from redis.asyncio import Redis

from cutroom.accounts.scopes import ALL_SCOPES, Scope
from cutroom.entrypoints.api import ROUTERS
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.platform.telemetry import AccessLog
from cutroom.web.app import create_app
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation
from cutroom.web.outer_middleware import RequestMiddleware
from cutroom.web.runtime import open_runtime
from dev.scratch import Accounts, Keyring, Person, write_plans
from proofs.stage.report import Report

T = TypeVar("T")
DAY = timedelta(hours=24)
STEPS_A_WALK = 50

explosive = APIRouter(prefix="/v1", route_class=OperationRoute)


@explosive.post("/explosions", status_code=201)
@operation(scope=Scope.VIDEOS_WRITE, access=Access.WRITE)
async def explode(call: CurrentCall) -> dict[str, str]:
    """Does some work, and then fails as nobody foresaw: the work must be undone and the 500 retained."""
    await call.connection.execute(
        "INSERT INTO brand_voices (library_id, id, name, guidelines, created_at) VALUES ($1, $2, '', '', $3)",
        call.principal.library_id,
        new_id(),
        call.now,
    )
    raise RuntimeError("as planned")


# Each meaning with its spellings: one canonical JSON, so one request.
BODIES = {
    "a": (b'{"name": "a"}', b' {"name":"\\u0061"}\n', b'{ "name" : "a" }'),
    "b with an extra": (b'{"name": "b", "x": [1, 2.0]}', b'{"x":[1.0,2],"name":"b"}'),
    "bad name": (b'{"name": ""}', b'{"name":""}'),
    "missing parent": (b'{"name": "c", "parentId": "none"}', b'{"parentId":"none","name":"c"}'),
    "broken": (b"{",),
}
FRESH_STATUS = {"a": 201, "b with an extra": 201, "bad name": 400, "missing parent": 404, "broken": 400}
PATHS = {"/folders": ("/v1/folders", "/v1/folders/"), "/explosions": ("/v1/explosions", "/v1/explosions/")}
KEYS = ("k1", "k2")
ABOUT_A_DAY = (timedelta(hours=23, minutes=59, seconds=59), timedelta(hours=24, seconds=1))


class World:
    """The API inside this process on a loop of its own, with a clock that the walk moves."""

    def __init__(self, accounts: Accounts) -> None:
        self.accounts = accounts
        self.now = system_clock()
        self.steps = 0
        self.replayed = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._stack = AsyncExitStack()
        self.run(self._open())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=60)

    async def _open(self) -> None:
        folder = Path(self._stack.enter_context(TemporaryDirectory()))
        plans = write_plans(folder / "plans.toml", free={"requests_at_once": 1})
        changed = self.accounts.settings.model_copy(update={"plans_file": plans})
        app = create_app(lambda: open_runtime(changed, lambda: self.now), [*ROUTERS, explosive])
        await self._stack.enter_async_context(app.router.lifespan_context(app))
        edge = RequestMiddleware(app, registry=CollectorRegistry(), tracer=None, access_log=AccessLog("WARNING"))
        transport = httpx.ASGITransport(app=edge)
        self.client = await self._stack.enter_async_context(
            httpx.AsyncClient(transport=transport, base_url="http://cutroom.test")
        )
        self.operator = await Accounts.open(self.accounts.settings)
        self._stack.push_async_callback(self.operator.close)
        self.redis = Redis.from_url(changed.redis_url.get_secret_value())
        self._stack.push_async_callback(self.redis.aclose)

    def close(self) -> None:
        self.run(self._stack.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=10)


@dataclass(frozen=True)
class Remembered:
    """What the model expects to hear again."""

    path: str
    meaning: str
    status: int
    content: bytes
    at: datetime


@dataclass
class Caller:
    """A key, and in what way the operator has spoilt it for now."""

    person: Person
    key: Keyring
    spoilt: str = "no"
    answers: dict[str, Remembered] = field(default_factory=dict)


REFUSALS = {
    "revoked": (401, "INVALID_API_KEY"),
    "scopeless": (403, "INSUFFICIENT_SCOPE"),
    "limited": (429, "RATE_LIMITED"),
}


class Walk(RuleBasedStateMachine):
    """One walk: two callers of one library and one of another."""

    world: World

    @initialize()
    def begin(self) -> None:
        self.callers = self.world.run(self._callers())
        self.made: dict[str, int] = {}

    async def _callers(self) -> list[Caller]:
        operator = self.world.operator
        first, other = await operator.person(), await operator.person()
        return [Caller(person, await operator.key(person)) for person in (first, first, other)]

    @rule(
        who=st.integers(0, 2),
        key=st.sampled_from(KEYS),
        path=st.sampled_from(sorted(PATHS)),
        meaning=st.sampled_from(sorted(BODIES)),
        spelling=st.integers(0, 5),
    )
    def post(self, who: int, key: str, path: str, meaning: str, spelling: int) -> None:
        self.world.steps += 1
        caller = self.callers[who]
        answer = self._send(caller, key, PATHS[path][spelling % 2], BODIES[meaning][spelling % len(BODIES[meaning])])
        if caller.spoilt != "no":
            assert (answer.status_code, answer.json()["error"]["code"]) == REFUSALS[caller.spoilt], answer.text
        elif (known := caller.answers.get(key)) is not None and self.world.now - known.at < DAY:
            self._check_replay(answer, known, path=path, meaning=meaning)
        else:
            self._check_fresh(caller, answer, key=key, path=path, meaning=meaning)
        self._check_effects(caller)

    def _send(self, caller: Caller, key: str, path: str, content: bytes) -> httpx.Response:
        headers = {**caller.key.headers, "Idempotency-Key": key, "Content-Type": "application/json"}
        return self.world.run(self.world.client.post(path, content=content, headers=headers))

    def _check_replay(self, answer: httpx.Response, known: Remembered, *, path: str, meaning: str) -> None:
        same_path, same_body = known.path == path, known.meaning == meaning
        if same_path and same_body:
            assert (answer.status_code, answer.content) == (known.status, known.content), answer.text
            assert answer.headers["Idempotency-Replayed"] == "true"
            self.world.replayed += 1
        else:
            error = answer.json()["error"]
            assert (answer.status_code, error["code"]) == (409, "IDEMPOTENCY_REPLAY"), answer.text
            assert error["details"] == {"pathMatch": same_path, "hashMatch": same_body}

    def _check_fresh(self, caller: Caller, answer: httpx.Response, *, key: str, path: str, meaning: str) -> None:
        wanted = FRESH_STATUS[meaning] if path == "/folders" or meaning == "broken" else 500
        assert answer.status_code == wanted, answer.text
        assert "Idempotency-Replayed" not in answer.headers
        caller.answers[key] = Remembered(path, meaning, wanted, answer.content, self.world.now)
        if wanted == 201:
            self.made[caller.person.library_id] = self.made.get(caller.person.library_id, 0) + 1

    def _check_effects(self, caller: Caller) -> None:
        library_id = caller.person.library_id
        folders, explosions = self.world.run(self._effects(library_id))
        assert folders == self.made.get(library_id, 0)
        assert explosions == 0

    async def _effects(self, library_id: str) -> tuple[int, int]:
        connection = self.world.operator.connection
        folders = await connection.fetchval("SELECT count(*) FROM folders WHERE library_id = $1", library_id)
        explosions = await connection.fetchval("SELECT count(*) FROM brand_voices WHERE library_id = $1", library_id)
        return folders, explosions

    @rule(who=st.integers(0, 2), key=st.sampled_from(KEYS), spelling=st.integers(0, 5))
    def repeat(self, who: int, key: str, spelling: int) -> None:
        """The same request again, perhaps spelt otherwise."""
        known = self.callers[who].answers.get(key)
        if known is not None:
            self.post(who=who, key=key, path=known.path, meaning=known.meaning, spelling=spelling)

    @rule(hours=st.integers(1, 5))
    def wait(self, hours: int) -> None:
        self.world.steps += 1
        self.world.now += timedelta(hours=hours)

    @rule(who=st.integers(0, 2), key=st.sampled_from(KEYS), age=st.sampled_from(ABOUT_A_DAY))
    def wait_about_a_day(self, who: int, key: str, age: timedelta) -> None:
        """To one second before an answer expires, or one second after."""
        self.world.steps += 1
        known = self.callers[who].answers.get(key)
        if known is not None and known.at + age > self.world.now:
            self.world.now = known.at + age

    @rule(who=st.integers(0, 2), spoilt=st.sampled_from(("no", "no", "no", *REFUSALS)))
    def spoil(self, who: int, spoilt: str) -> None:
        """Revoke the key, take its scopes or its plan's allowance, or give all back; none of it may be retained."""
        self.world.steps += 1
        caller = self.callers[who]
        caller.spoilt = spoilt
        self.world.run(self._spoil(caller, spoilt))
        for other in self.callers:  # a plan belongs to the library, so it limits the other key too
            if (
                other is not caller
                and other.person == caller.person
                and (spoilt == "limited" or other.spoilt == "limited")
            ):
                other.spoilt = spoilt
                self.world.run(self._spoil(other, spoilt))

    async def _spoil(self, caller: Caller, spoilt: str) -> None:
        connection = self.world.operator.connection
        scopes = [] if spoilt == "scopeless" else sorted(ALL_SCOPES)
        revoked = system_clock() if spoilt == "revoked" else None
        await connection.execute(
            "UPDATE api_keys SET scopes = $2, revoked_at = $3 WHERE id = $1", caller.key.id, scopes, revoked
        )
        # The free plan here admits one request at once, and somebody else always holds that one place.
        limited = spoilt == "limited"
        plan, leases = "free" if limited else "business", f"limits:{{{caller.key.id}}}:leases"
        await connection.execute("UPDATE libraries SET plan = $2 WHERE id = $1", caller.person.library_id, plan)
        await (self.world.redis.zadd(leases, {"held": 1e15}) if limited else self.world.redis.zrem(leases, "held"))


async def prove_property(report: Report, accounts: Accounts, *, steps: int) -> None:
    world, failure = await asyncio.to_thread(_walk, accounts, steps)
    if failure is not None:
        report.note(failure)
    report.claim(
        "idempotency against a model: steps without a difference",
        wanted=f">= {steps}",
        measured=world.steps,
        holds=failure is None and world.steps >= steps,
    )
    report.claim("... of which replays", wanted="> 0", measured=world.replayed, holds=world.replayed > 0)
    report.figures(property_steps=world.steps, property_replays=world.replayed)


def _walk(accounts: Accounts, steps: int) -> tuple[World, str | None]:
    """Walk until there have been enough steps; the difference that was found, if one was."""
    logging.getLogger("cutroom.web.error_responses").disabled = True  # the planned explosions would fill the screen
    world = World(accounts)
    machine = type("BoundWalk", (Walk,), {"world": world})
    profile = settings(
        max_examples=10,
        stateful_step_count=STEPS_A_WALK,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    try:
        while world.steps < steps:
            run_state_machine_as_test(machine, settings=profile)
    except AssertionError as error:
        return world, f"{error}\n{json.dumps(getattr(error, '__notes__', []), indent=1)}"
    finally:
        world.close()
    return world, None
