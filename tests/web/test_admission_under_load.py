"""The limits of `just prove saturation`, with the real admission in simulated time."""

from collections.abc import Iterator

import pytest

from cutroom.web.admission.admission import SHARED_SLOTS
from tests.web.simulated_process import SimulatedProcess

LIBRARIES = [f"library {number}" for number in range(8)]
STANDING_SECONDS = 1.5  # of a load, until bursts are over


@pytest.fixture(scope="module")
def knee() -> float:
    """The most that the process serves, in requests per second."""
    process = SimulatedProcess()
    responses = process.closed_load(LIBRARIES, connections=SHARED_SLOTS, seconds=2)
    process.run_until(2.5)
    process.close()
    assert responses.shed == 0
    return responses.rate(0.5, 2)


@pytest.fixture
def process() -> Iterator[SimulatedProcess]:
    process = SimulatedProcess()
    yield process
    process.close()


def test_latency_is_bounded_at_twice_the_knee(process: SimulatedProcess, knee: float) -> None:
    below = process.load(LIBRARIES, rate=0.7 * knee, seconds=4)
    over = process.load(LIBRARIES, rate=2 * knee, start=5, seconds=5)
    after = process.load(LIBRARIES, rate=0.7 * knee, start=10, seconds=2)
    process.run_until(14)
    assert over.rate(5 + STANDING_SECONDS, 10) >= 0.9 * knee
    assert over.percentile(0.99, since=5 + STANDING_SECONDS) <= 5 * below.percentile(0.99)
    assert over.shed > 0
    assert after.shed == 0
    assert after.percentile(0.95, since=10.5) <= 2 * below.percentile(0.95)


def test_a_greedy_library_hardly_slows_another(process: SimulatedProcess, knee: float) -> None:
    alone = process.load(["modest"], rate=0.1 * knee, seconds=8)
    greedy = process.load(["greedy"], rate=2 * knee, start=9, seconds=8 + STANDING_SECONDS)
    beside = process.load(["modest"], rate=0.1 * knee, start=9 + STANDING_SECONDS, seconds=8)
    process.run_until(20)
    assert beside.percentile(0.95) <= 1.5 * alone.percentile(0.95)
    assert beside.shed == 0
    assert greedy.rate(9 + STANDING_SECONDS, 17) >= 0.5 * knee
