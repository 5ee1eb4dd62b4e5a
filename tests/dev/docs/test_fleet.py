"""Tests the fleet arithmetic against values computed by hand."""

import json
from typing import Any

import pytest

from dev.docs import fleet as f
from dev.docs.fleet_tables import arithmetic, blocks
from dev.environment import PROJECT

FIGURES = PROJECT / "docs" / "figures" / "scaling.json"


def _figures(**changes: float) -> dict[str, Any]:
    """Figures of a one-minute video whose import uses ten worker seconds."""
    cpu_seconds = {"worker": 10.0, "api": 0.7, "postgres": 0.6, "temporal": 0.6, "seaweedfs": 0.6, "redis": 0.6}
    product = {
        "minutes": 1.0,
        "wall_seconds": 20.0,
        "polls": 100,
        "cpu_seconds_a_minute": cpu_seconds,
        "peak_mib": 1000.0,
        "stored_bytes_a_minute": 1_000_000,
        "workflows": 1,
        "transitions": 30,
        "history_bytes": 1000,
        "row_bytes": 10_000,
        **changes,
    }
    idle = {"cpu_seconds": dict.fromkeys(cpu_seconds, 0.1), "wall_seconds": 10.0}
    request = {"api": 0.001, "postgres": 0.002, "redis": 0.0}
    return {
        "video": {"minutes": 1.0, "bytes": 60_000_000},  # as large as a camera's
        "machine": {"cores": 2, "processor": "a processor", "measured_on": "2026-11-15"},
        "products": {"ingest": product},
        "requests": {"cpu_seconds": {"read": request, "write": request}, "idle": idle},
    }


def test_video_cost_is_scaled_to_ten_minutes() -> None:
    cost = f.video_cost(_figures())
    assert cost.worker_seconds == {"media": 100.0, "speech": 0.0, "vision": 0.0, "voice": 0.0}
    assert cost.transitions == 300
    assert cost.row_bytes == 10_000
    assert cost.stored_bytes == 10_000_000


def test_idle_usage_and_polling_are_excluded() -> None:
    # 0.7 s minus idle usage (0.1 s per ten seconds, for twenty seconds) and 100 polls of 1 ms.
    assert f.service_seconds(_figures(), "ingest", "api") == pytest.approx(0.4)
    assert f.service_seconds(_figures(wall_seconds=1000.0), "ingest", "api") == 0.0


def test_worker_and_api_counts() -> None:
    # 100,000 videos x 100 s x 2 / (86,400 s x 0.6) = 385.8 cores, / 4 = 96.5 workers.
    fleet = f.plan(_figures(), 100_000)
    assert fleet.workers["media"] == 97
    assert fleet.workers["speech"] == f.MIN_PODS
    # 150 requests of 1 ms, and 10 minutes of 0.4 s for the bytes: 4.15 s x 100,000 x 2 / 51,840 s = 16.01 pods.
    assert fleet.api_pods == 17


def test_shards_and_partitions_are_powers_of_two() -> None:
    fleet = f.plan(_figures(), 1_000_000)
    # 1,000,000 x 300 x 2 / 86,400 s = 6,944 transitions per second: 2,048 shards of 5, and two clusters of 4,000.
    # PostgreSQL needs more: 2.3 s x 1,000,000 x 2 / 51,840 s = 89 cores, three primaries of 32.
    assert (fleet.cells, fleet.shards) == (3, 2048)
    # 10 kB x 1,000,000 x 365 days = 3,650 GB.
    assert fleet.partitions == 64


@pytest.mark.parametrize("videos", f.FLEETS)
def test_fleet_grows_with_the_number_of_videos(videos: int) -> None:
    small, large = f.plan(_figures(), videos), f.plan(_figures(), videos * 2)
    assert all(large.workers[kind] >= small.workers[kind] for kind in f.KINDS)
    assert (large.api_pods, large.shards, large.cells) >= (small.api_pods, small.shards, small.cells)


def test_rendered_arithmetic_matches_the_plan() -> None:
    text = "\n".join(arithmetic(_figures(), 100_000))
    assert "100,000 x 100 s x 2 / (86,400 s x 0.6) = 385.8 cores; / 4 = 97 workers" in text


def test_all_figures_are_used_and_all_blocks_rendered() -> None:
    figures = json.loads(FIGURES.read_text())
    assert set(figures["products"]) <= set(f.MIX)
    assert all(blocks(figures).values())
