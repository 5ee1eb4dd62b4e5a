"""Idempotency against a model: Hypothesis varies requests, spellings, callers, rejections, errors and time."""

import asyncio
import json
import logging
import threading
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass
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
STEPS_PER_RUN = 50

failing_router = APIRouter(prefix="/v1", route_class=OperationRoute)


@failing_router.post("/failures", status_code=201)
@operation(scope=Scope.VIDEOS_WRITE, access=Access.WRITE)
async def fail_after_write(call: CurrentCall) -> dict[str, str]:
    """Write a row, then raise: the write must be rolled back and the 500 response stored."""
    await call.connection.execute(
        "INSERT INTO brand_voices (library_id, id, name, guidelines, created_at) VALUES ($1, $2, '', '', $3)",
        call.principal.library_id,
        new_id(),
        call.now,
    )
    raise RuntimeError("as planned")


# Spellings of each body, all with the same canonical JSON.
BODIES = {
    "a": (b'{"name": "a"}', b' {"name":"\\u0061"}\n', b'{ "name" : "a" }'),
    "b with an extra": (b'{"name": "b", "x": [1, 2.0]}', b'{"x":[1.0,2],"name":"b"}'),
    "bad name": (b'{"name": ""}', b'{"name":""}'),
    "missing parent": (b'{"name": "c", "parentId": "none"}', b'{"parentId":"none","name":"c"}'),
    "broken": (b"{",),
}
FRESH_STATUS = {"a": 201, "b with an extra": 201, "bad name": 400, "missing parent": 404, "broken": 400}
PATHS = {"/folders": ("/v1/folders", "/v1/folders/"), "/failures": ("/v1/failures", "/v1/failures/")}
KEYS = ("k1", "k2")
AROUND_A_DAY = (timedelta(hours=23, minutes=59, seconds=59), timedelta(hours=24, seconds=1))


class ApiUnderTest:
    """The API in this process on its own event loop, with a clock that the test moves."""

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
        plans = write_plans(folder / "plans.toml", free={"concurrent_requests": 1})
        changed = self.accounts.settings.model_copy(update={"plans_file": plans})
        app = create_app(lambda: open_runtime(changed, lambda: self.now), [*ROUTERS, failing_router])
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
class StoredResponse:
    """A response that the model expects to be replayed."""

    path: str
    body_name: str
    status: int
    content: bytes
    at: datetime


@dataclass
class Caller:
    """An API key, how it is currently restricted, and the stored responses that it shares with its account."""

    person: Person
    key: Keyring
    stored_by_key: dict[str, StoredResponse]
    restriction: str = "no"


REFUSALS = {
    "revoked": (401, "INVALID_API_KEY"),
    "scopeless": (403, "INSUFFICIENT_SCOPE"),
    "limited": (429, "RATE_LIMITED"),
}


class IdempotencyMachine(RuleBasedStateMachine):
    """One run: two API keys of one account, and one of another account with its own library."""

    api: ApiUnderTest

    @initialize()
    def begin(self) -> None:
        self.callers = self.api.run(self._callers())
        self.made: dict[str, int] = {}

    async def _callers(self) -> list[Caller]:
        operator = self.api.operator
        first, other = await operator.person(), await operator.person()
        of_first: dict[str, StoredResponse] = {}
        return [
            Caller(first, await operator.key(first), of_first),
            Caller(first, await operator.key(first), of_first),
            Caller(other, await operator.key(other), {}),
        ]

    @rule(
        who=st.integers(0, 2),
        key=st.sampled_from(KEYS),
        path=st.sampled_from(sorted(PATHS)),
        body_name=st.sampled_from(sorted(BODIES)),
        spelling=st.integers(0, 5),
    )
    def post(self, who: int, key: str, path: str, body_name: str, spelling: int) -> None:
        self.api.steps += 1
        caller = self.callers[who]
        response = self._send(
            caller, key, PATHS[path][spelling % 2], BODIES[body_name][spelling % len(BODIES[body_name])]
        )
        if caller.restriction != "no":
            assert (response.status_code, response.json()["error"]["code"]) == REFUSALS[caller.restriction], (
                response.text
            )
        elif (stored := caller.stored_by_key.get(key)) is not None and self.api.now - stored.at < DAY:
            self._check_replay(response, stored, path=path, body_name=body_name)
        else:
            self._check_fresh(caller, response, key=key, path=path, body_name=body_name)
        self._check_effects(caller)

    def _send(self, caller: Caller, key: str, path: str, content: bytes) -> httpx.Response:
        headers = {**caller.key.headers, "Idempotency-Key": key, "Content-Type": "application/json"}
        return self.api.run(self.api.client.post(path, content=content, headers=headers))

    def _check_replay(self, response: httpx.Response, stored: StoredResponse, *, path: str, body_name: str) -> None:
        same_path, same_body = stored.path == path, stored.body_name == body_name
        if same_path and same_body:
            assert (response.status_code, response.content) == (stored.status, stored.content), response.text
            assert response.headers["Idempotency-Replayed"] == "true"
            self.api.replayed += 1
        else:
            error = response.json()["error"]
            assert (response.status_code, error["code"]) == (409, "IDEMPOTENCY_REPLAY"), response.text
            assert error["details"] == {"pathMatch": same_path, "hashMatch": same_body}

    def _check_fresh(self, caller: Caller, response: httpx.Response, *, key: str, path: str, body_name: str) -> None:
        expected = FRESH_STATUS[body_name] if path == "/folders" or body_name == "broken" else 500
        assert response.status_code == expected, response.text
        assert "Idempotency-Replayed" not in response.headers
        caller.stored_by_key[key] = StoredResponse(path, body_name, expected, response.content, self.api.now)
        if expected == 201:
            self.made[caller.person.library_id] = self.made.get(caller.person.library_id, 0) + 1

    def _check_effects(self, caller: Caller) -> None:
        library_id = caller.person.library_id
        folders, failed_writes = self.api.run(self._effects(library_id))
        assert folders == self.made.get(library_id, 0)
        assert failed_writes == 0

    async def _effects(self, library_id: str) -> tuple[int, int]:
        connection = self.api.operator.connection
        folders = await connection.fetchval("SELECT count(*) FROM folders WHERE library_id = $1", library_id)
        failed_writes = await connection.fetchval("SELECT count(*) FROM brand_voices WHERE library_id = $1", library_id)
        return folders, failed_writes

    @rule(who=st.integers(0, 2), key=st.sampled_from(KEYS), spelling=st.integers(0, 5))
    def repeat(self, who: int, key: str, spelling: int) -> None:
        """Repeat a request, possibly with another spelling."""
        stored = self.callers[who].stored_by_key.get(key)
        if stored is not None:
            self.post(who=who, key=key, path=stored.path, body_name=stored.body_name, spelling=spelling)

    @rule(hours=st.integers(1, 5))
    def wait(self, hours: int) -> None:
        self.api.steps += 1
        self.api.now += timedelta(hours=hours)

    @rule(who=st.integers(0, 2), key=st.sampled_from(KEYS), age=st.sampled_from(AROUND_A_DAY))
    def wait_around_a_day(self, who: int, key: str, age: timedelta) -> None:
        """Move to one second before or after a stored response expires."""
        self.api.steps += 1
        stored = self.callers[who].stored_by_key.get(key)
        if stored is not None and stored.at + age > self.api.now:
            self.api.now = stored.at + age

    @rule(who=st.integers(0, 2), restriction=st.sampled_from(("no", "no", "no", *REFUSALS)))
    def restrict(self, who: int, restriction: str) -> None:
        """Revoke the key, remove its scopes or exhaust its limit, or undo that; such errors must not be stored."""
        self.api.steps += 1
        caller = self.callers[who]
        caller.restriction = restriction
        self.api.run(self._apply_restriction(caller, restriction))
        for other in self.callers:  # a plan belongs to the library, so it limits the other key too
            if (
                other is not caller
                and other.person == caller.person
                and (restriction == "limited" or other.restriction == "limited")
            ):
                other.restriction = restriction
                self.api.run(self._apply_restriction(other, restriction))

    async def _apply_restriction(self, caller: Caller, restriction: str) -> None:
        connection = self.api.operator.connection
        scopes = [] if restriction == "scopeless" else sorted(ALL_SCOPES)
        revoked = system_clock() if restriction == "revoked" else None
        await connection.execute(
            "UPDATE api_keys SET scopes = $2, revoked_at = $3 WHERE id = $1", caller.key.id, scopes, revoked
        )
        # The free plan here allows one concurrent request, and that lease is always taken.
        limited = restriction == "limited"
        plan, leases = "free" if limited else "business", f"limits:{{{caller.key.id}}}:leases"
        await connection.execute("UPDATE libraries SET plan = $2 WHERE id = $1", caller.person.library_id, plan)
        await (self.api.redis.zadd(leases, {"held": 1e15}) if limited else self.api.redis.zrem(leases, "held"))


async def prove_property(report: Report, accounts: Accounts, *, steps: int) -> None:
    api, failure = await asyncio.to_thread(_run_machine, accounts, steps)
    if failure is not None:
        report.note(failure)
    report.claim(
        "idempotency against a model: steps without a mismatch",
        expected=f">= {steps}",
        measured=api.steps,
        holds=failure is None and api.steps >= steps,
    )
    report.claim("... of which replays", expected="> 0", measured=api.replayed, holds=api.replayed > 0)
    report.figures(property_steps=api.steps, property_replays=api.replayed)


def _run_machine(accounts: Accounts, steps: int) -> tuple[ApiUnderTest, str | None]:
    """Run until there are enough steps; returns the mismatch, if any."""
    logging.getLogger("cutroom.web.error_responses").disabled = True  # the provoked errors would flood the log
    api = ApiUnderTest(accounts)
    machine = type("BoundMachine", (IdempotencyMachine,), {"api": api})
    profile = settings(
        max_examples=10,
        stateful_step_count=STEPS_PER_RUN,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    try:
        while api.steps < steps:
            run_state_machine_as_test(machine, settings=profile)
    except AssertionError as error:
        return api, f"{error}\n{json.dumps(getattr(error, '__notes__', []), indent=1)}"
    finally:
        api.close()
    return api, None
