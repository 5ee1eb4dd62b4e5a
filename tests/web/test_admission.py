"""Requests start fairly, queues are bounded, and what waits for too long is shed."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from prometheus_client import CollectorRegistry

from cutroom.web.admission.admission import (
    MAX_PAUSE_SECONDS,
    SHARED_SLOTS,
    SLOT_SECONDS,
    SLOTS_BESIDE_OTHERS,
    Admission,
)
from cutroom.web.admission.event_loop_load import EventLoopLoad
from cutroom.web.admission.known_credentials import KnownCredentials
from cutroom.web.admission.metrics import LOGGED_LIBRARIES, AdmissionMetrics, ShedLog
from cutroom.web.admission.queues import (
    BURST_WAITING,
    LEAST_WAITING,
    MAX_WAIT_SECONDS,
    MAX_WAITING,
    SHED_PER_ARRIVAL,
    Slot,
)

MAX_RUNNING = 20
PLACES = 32


@dataclass
class Arrival:
    """A request that runs until its slot is released."""

    slot: Slot | None = None
    retry_seconds: int | None = None
    is_gone: bool = False

    def start(self, slot: Slot) -> None:
        self.slot = slot

    def shed(self, retry_seconds: int) -> None:
        self.retry_seconds = retry_seconds

    @property
    def state(self) -> str:
        if self.slot is not None:
            return "started"
        return "waits" if self.retry_seconds is None else "shed"


class GivenLoad(EventLoopLoad):
    """The load of a process as a test says; each turn of the event loop takes no time."""

    def __init__(self, *, is_idle: bool) -> None:
        super().__init__(lambda: 0.0)
        self._is_idle = is_idle

    @property
    def is_idle(self) -> bool:
        return self._is_idle


@dataclass
class Stage:
    """An admission whose time passes only when a test says so."""

    registry: CollectorRegistry = field(default_factory=CollectorRegistry)
    now: float = 100.0
    is_idle: bool = False
    spare_connections: int = 0

    def __post_init__(self) -> None:
        self.admission = Admission(
            AdmissionMetrics(self.registry),
            max_running=MAX_RUNNING,
            max_waiting=PLACES,
            clock=lambda: self.now,
            load=GivenLoad(is_idle=self.is_idle),
        )
        self.admission.watch(lambda: self.spare_connections)

    def send(self, library: str, count: int = 1) -> list[Arrival]:
        arrivals = [Arrival() for _ in range(count)]
        for each in arrivals:
            self.admission.submit(library, each)
        return arrivals

    def sample(self, name: str, **labels: str) -> float | None:
        return self.registry.get_sample_value(name, labels)


@pytest.fixture
async def stage() -> Stage:
    return Stage()


async def turns(count: int = 30) -> None:
    """Let the event loop turn; nothing else runs in it, and time stands still: every turn is idle."""
    for _ in range(count):
        await asyncio.sleep(0)


async def until(condition: Callable[[], bool]) -> None:
    """Wait for the timer that runs while nothing else happens."""
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.005)


def states(arrivals: list[Arrival]) -> list[str]:
    return [each.state for each in arrivals]


async def test_a_library_alone_uses_the_shared_slots_and_the_rest_waits(stage: Stage) -> None:
    arrivals = stage.send("a", SHARED_SLOTS + 4)
    await turns()
    assert states(arrivals) == ["started"] * SHARED_SLOTS + ["waits"] * 4
    assert stage.sample("cutroom_requests_waiting") == 4
    assert stage.sample("cutroom_requests_running") == SHARED_SLOTS


async def test_another_library_starts_at_once_while_the_shared_slots_are_taken(stage: Stage) -> None:
    stage.send("greedy", 100)
    assert states(stage.send("modest", 1)) == ["started"]


async def test_a_library_that_finds_the_slots_taken_has_no_backlog_of_its_own(stage: Stage) -> None:
    greedy = stage.send("greedy", 100)
    modest = stage.send("modest", SLOTS_BESIDE_OTHERS + 1)
    assert states(modest) == ["started"] * SLOTS_BESIDE_OTHERS + ["waits"]
    for each in [*greedy[:SHARED_SLOTS], *modest[:-1]]:
        assert each.slot is not None
        each.slot.release()
        await turns()
    assert modest[-1].state == "started"
    assert states(greedy).count("started") == SHARED_SLOTS  # it still yields
    assert states(stage.send("modest")) == ["started"]


async def test_a_backlog_has_few_slots_beside_another_library(stage: Stage) -> None:
    greedy = stage.send("greedy", 100)
    modest = stage.send("modest")
    for each in greedy[:SHARED_SLOTS]:
        assert each.slot is not None
        each.slot.release()
    await turns()
    assert states(greedy).count("started") == SHARED_SLOTS
    assert modest[0].slot is not None
    modest[0].slot.release()
    await turns()
    assert states(greedy).count("started") == SHARED_SLOTS + SLOTS_BESIDE_OTHERS


async def test_a_backlog_pauses_only_briefly_for_a_request_of_another_library(stage: Stage) -> None:
    greedy = stage.send("greedy", 100)
    modest = stage.send("modest")
    for each in greedy[:SHARED_SLOTS]:
        assert each.slot is not None
        each.slot.release()
    stage.now += 1.1 * MAX_PAUSE_SECONDS
    await until(lambda: states(greedy).count("started") == SHARED_SLOTS + 1)
    await turns()
    assert states(greedy).count("started") == SHARED_SLOTS + 1  # the next pause
    assert states(modest) == ["started"]


async def test_a_backlog_does_not_yield_while_the_process_is_idle() -> None:
    stage = Stage(is_idle=True)
    greedy = stage.send("greedy", 100)
    stage.send("modest")
    for each in greedy[:SHARED_SLOTS]:
        assert each.slot is not None
        each.slot.release()
    await turns()
    assert states(greedy).count("started") == 2 * SHARED_SLOTS - 1  # the modest one has a slot


async def test_an_idle_process_starts_more_while_it_has_connections() -> None:
    stage = Stage(is_idle=True, spare_connections=MAX_RUNNING // 4 + 1)
    arrivals = stage.send("a", SHARED_SLOTS + 40)
    await turns(4 * 40)
    assert states(arrivals) == ["started"] * len(arrivals)
    stage.spare_connections -= 1
    assert states(stage.send("a", 1)) == ["waits"]
    await turns()
    assert stage.sample("cutroom_requests_waiting") == 1


async def test_a_queue_takes_in_more_while_the_process_is_idle() -> None:
    stage = Stage(is_idle=True)
    arrivals = stage.send("a", SHARED_SLOTS + BURST_WAITING)
    for each in arrivals[:SHARED_SLOTS]:
        assert each.slot is not None
        each.slot.release()
    await turns()
    assert "shed" not in states(arrivals + stage.send("a", SHARED_SLOTS))


async def test_an_empty_moment_does_not_entitle_a_backlog_to_another_burst(stage: Stage) -> None:
    for each in stage.send("a", SHARED_SLOTS + BURST_WAITING):
        await turns()
        assert each.slot is not None
        each.slot.release()
    assert stage.sample("cutroom_requests_waiting") == 0
    assert states(stage.send("a", SHARED_SLOTS + 100)).count("waits") == PLACES


async def test_queues_take_turns(stage: Stage) -> None:
    running = stage.send("first", SHARED_SLOTS)
    queues = [stage.send(name, 20) for name in ("a", "b", "c")]
    started = [states(each).count("started") for each in queues]
    for each in running[:9]:
        assert each.slot is not None
        each.slot.release()
    await turns()
    gained = [states(each).count("started") - before for each, before in zip(queues, started, strict=True)]
    assert max(gained) - min(gained) <= 1
    assert sum(gained) > 0


async def test_released_slots_start_what_waits(stage: Stage) -> None:
    arrivals = stage.send("a", 40)
    for each in arrivals:
        await turns()
        assert each.slot is not None
        each.slot.release()
        each.slot.release()  # has no effect
    assert stage.sample("cutroom_requests_running") == 0
    assert stage.sample("cutroom_requests_waiting") == 0


async def test_a_burst_waits_and_what_exceeds_it_is_shed(stage: Stage) -> None:
    arrivals = stage.send("a", SHARED_SLOTS + BURST_WAITING + 5)
    assert states(arrivals[-6:]) == ["waits"] + ["shed"] * 5
    assert stage.sample("cutroom_requests_shed_total", reason="full") == 5
    assert {each.retry_seconds for each in arrivals[-5:]} == {1, 2, 3}


async def test_arrivals_shed_the_oldest_of_a_queue_that_stands(stage: Stage) -> None:
    arrivals = stage.send("a", SHARED_SLOTS + BURST_WAITING)
    for each in arrivals[:SHARED_SLOTS]:
        assert each.slot is not None
        each.slot.release()
    await turns()
    assert "shed" not in states(arrivals)  # of a burst that nothing follows
    arrivals += stage.send("a", 1)
    assert states(arrivals)[2 * SHARED_SLOTS :] == ["shed"] * SHED_PER_ARRIVAL + ["waits"] * (
        BURST_WAITING - SHARED_SLOTS + 1 - SHED_PER_ARRIVAL
    )
    arrivals += stage.send("a", BURST_WAITING)
    assert states(arrivals)[-PLACES:] == ["waits"] * PLACES
    assert states(arrivals).count("waits") == PLACES


async def test_libraries_share_the_places(stage: Stage) -> None:
    stage.send("a", SHARED_SLOTS)
    names = "bcdefghijklmnop"
    queues = {name: stage.send(name, 10) for name in names}
    for _ in range(3):
        for name in names:
            queues[name] += stage.send(name, 10)
    assert {states(each).count("waits") for each in queues.values()} == {max(LEAST_WAITING, PLACES // len(names))}


async def test_what_has_waited_too_long_is_shed(stage: Stage) -> None:
    arrivals = stage.send("a", SHARED_SLOTS + 1)
    stage.send("b", 4)  # takes the slots that are kept for other libraries
    stage.now += SLOT_SECONDS / 2
    await turns()
    assert arrivals[-1].state == "waits"
    blocker = Stage()  # the same without a free slot, until it is too late
    late = blocker.send("a", SHARED_SLOTS + 1)[-1]
    blocker.now += MAX_WAIT_SECONDS + 0.1
    await until(lambda: late.state != "waits")
    assert late.state == "shed"
    assert blocker.sample("cutroom_requests_shed_total", reason="late") == 1


async def test_requests_that_take_long_leave_their_slots(stage: Stage) -> None:
    stage.send("slow", SHARED_SLOTS)
    stage.now += SLOT_SECONDS + 0.1
    assert states(stage.send("other", SHARED_SLOTS)) == ["started"] * SHARED_SLOTS


async def test_a_backlog_beside_long_requests_still_advances(stage: Stage) -> None:
    stage.send("a", SHARED_SLOTS)
    waiting = stage.send("a", 3)
    stage.now += SLOT_SECONDS + 0.1
    await until(lambda: "started" in states(waiting))
    assert states(waiting) == ["started", "waits", "waits"]  # one at a time


async def test_who_has_disconnected_is_not_started(stage: Stage) -> None:
    arrivals = stage.send("a", SHARED_SLOTS + 2)
    arrivals[-2].is_gone = True
    assert arrivals[0].slot is not None
    arrivals[0].slot.release()
    await turns()
    assert states(arrivals[-2:]) == ["waits", "started"]


async def test_all_queues_together_are_bounded(stage: Stage) -> None:
    stage.send("a", MAX_RUNNING)
    for number in range(MAX_WAITING + 100):
        stage.send(f"library {number}")
    assert stage.sample("cutroom_requests_waiting") == MAX_WAITING


def test_known_credentials_are_bounded_and_can_be_forgotten() -> None:
    known = KnownCredentials(size=2)
    for number in range(3):
        known.learn(b"key %d" % number, f"library {number}")
    known.forget(b"key 2")
    found = [known.library_of(b"key %d" % number) for number in range(3)]
    assert found == [None, "library 1", None]


def test_shed_requests_are_logged_once_per_second(caplog: pytest.LogCaptureFixture) -> None:
    log = ShedLog()
    for now in (100.0, 100.5, 100.9):
        for number in range(LOGGED_LIBRARIES + 5):
            log.count(f"library {number}")
        for _ in range(3):
            log.count("greedy")
        log.write(now)
    assert len(caplog.records) == LOGGED_LIBRARIES
    log.write(101.0)
    lines = [(vars(each)["from"], vars(each)["shed"]) for each in caplog.records[LOGGED_LIBRARIES:]]
    assert len(lines) == LOGGED_LIBRARIES
    assert lines[1] == ("library 0", 2)
    assert lines[0] == ("greedy", 6)
    assert log.is_empty


@pytest.mark.parametrize(("seconds", "is_idle"), [(0.00002, True), (0.0003, False)])
async def test_the_load_is_what_turns_of_the_event_loop_cost(seconds: float, is_idle: bool) -> None:  # noqa: FBT001
    now = 100.0

    def cpu_clock() -> float:
        nonlocal now
        now += seconds
        return now

    load = EventLoopLoad(cpu_clock)
    assert load.is_idle
    for _ in range(8):
        load.sample()
        await turns(600)
    assert load.is_idle is is_idle
    load.reset()
    assert load.is_idle
