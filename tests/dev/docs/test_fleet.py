"""Fleets follow from figures: the sums by hand, and what they must never say."""

import json
from typing import Any

import pytest

from dev.docs import fleet as f
from dev.docs.fleet_tables import arithmetic, blocks
from dev.environment import PROJECT

FIGURES = PROJECT / "docs" / "figures" / "scaling.json"


def _figures(**changes: float) -> dict[str, Any]:
    """A film of a minute, of which an import uses ten seconds of worker."""
    house = {"worker": 10.0, "api": 0.7, "postgres": 0.6, "temporal": 0.6, "seaweedfs": 0.6, "redis": 0.6}
    told = {
        "minutes": 1.0,
        "wall_seconds": 20.0,
        "polls": 100,
        "cpu_seconds_a_minute": house,
        "peak_mib": 1000.0,
        "stored_bytes_a_minute": 1_000_000,
        "workflows": 1,
        "transitions": 30,
        "history_bytes": 1000,
        "row_bytes": 10_000,
        **changes,
    }
    idle = {"cpu_seconds": dict.fromkeys(house, 0.1), "wall_seconds": 10.0}
    asked = {"api": 0.001, "postgres": 0.002, "redis": 0.0}
    return {
        "film": {"minutes": 1.0, "bytes": 60_000_000},  # as large as a camera's
        "machine": {"cores": 2, "processor": "a processor", "measured_on": "2026-11-15"},
        "products": {"ingest": told},
        "requests": {"cpu_seconds": {"read": asked, "write": asked}, "idle": idle},
    }


def test_a_video_is_ten_minutes_of_what_was_measured() -> None:
    one = f.of_video(_figures())
    assert one.worker_seconds == {"media": 100.0, "speech": 0.0, "vision": 0.0, "voice": 0.0}
    assert one.transitions == 300
    assert one.row_bytes == 10_000
    assert one.stored_bytes == 10_000_000


def test_what_the_house_uses_when_nothing_runs_and_for_polls_is_not_counted() -> None:
    # 0.7 s, of which 0.1 s in ten seconds are used anyway, for twenty seconds, and 1 ms for each of 100 polls.
    assert f.house(_figures(), "ingest", "api") == pytest.approx(0.4)
    assert f.house(_figures(wall_seconds=1000.0), "ingest", "api") == 0.0


def test_workers_follow_by_hand() -> None:
    # 100,000 videos x 100 s x 2 / (86,400 s x 0.6) = 385.8 cores, / 4 = 96.5 workers.
    made = f.plan(_figures(), 100_000)
    assert made.workers["media"] == 97
    assert made.workers["speech"] == f.LEAST_PODS
    # 150 requests of 1 ms, and 10 minutes of 0.4 s for the bytes: 4.15 s x 100,000 x 2 / 51,840 s = 16.01 pods.
    assert made.api_pods == 17


def test_shards_and_partitions_are_powers_of_two() -> None:
    made = f.plan(_figures(), 1_000_000)
    # 1,000,000 x 300 x 2 / 86,400 s = 6,944 transitions a second: 2,048 shards of 5, and two clusters of 4,000.
    # PostgreSQL wants more: 2.3 s x 1,000,000 x 2 / 51,840 s = 89 cores, three primaries of 32.
    assert (made.cells, made.shards) == (3, 2048)
    # 10 kB x 1,000,000 x 365 days = 3,650 GB.
    assert made.partitions == 64


@pytest.mark.parametrize("videos", f.FLEETS)
def test_more_work_never_needs_less(videos: int) -> None:
    small, large = f.plan(_figures(), videos), f.plan(_figures(), videos * 2)
    assert all(large.workers[kind] >= small.workers[kind] for kind in f.KINDS)
    assert (large.api_pods, large.shards, large.cells) >= (small.api_pods, small.shards, small.cells)


def test_the_arithmetic_that_is_shown_is_the_arithmetic_that_is_done() -> None:
    text = "\n".join(arithmetic(_figures(), 100_000))
    assert "100,000 x 100 s x 2 / (86,400 s x 0.6) = 385.8 cores; / 4 = 97 workers" in text


def test_every_figure_is_used_and_every_part_of_the_page_is_made() -> None:
    figures = json.loads(FIGURES.read_text())
    assert set(figures["products"]) <= set(f.MIX)
    assert all(blocks(figures).values())
