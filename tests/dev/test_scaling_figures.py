"""Tests how the figures of the scaling benchmark are saved."""

import json
from pathlib import Path
from typing import Any

import pytest

from dev.docs.scaling_figures import replace_figures, save_partial

WHOLE: dict[str, Any] = {"video": {"minutes": 3}, "products": {"ingest": 1, "dubs": 2}, "requests": {"read": 1}}
ABORTED: dict[str, Any] = {"video": {"minutes": 10}, "products": {"ingest": 5}, "requests": {}}


@pytest.fixture
def committed(tmp_path: Path) -> Path:
    path = tmp_path / "figures" / "scaling.json"
    path.parent.mkdir()
    path.write_text(json.dumps(WHOLE))
    return path


def test_figures_of_the_products_so_far_leave_the_committed_ones_alone(committed: Path, tmp_path: Path) -> None:
    partial = tmp_path / "data" / "partial.json"
    save_partial(ABORTED, path=partial)
    assert json.loads(partial.read_text()) == ABORTED
    assert json.loads(committed.read_text()) == WHOLE


def test_complete_run_replaces_the_committed_figures(committed: Path) -> None:
    figures = {**WHOLE, "video": {"minutes": 10}}
    replace_figures(figures, path=committed)
    assert json.loads(committed.read_text()) == figures
    assert list(committed.parent.iterdir()) == [committed]


def test_run_of_some_products_keeps_the_figures_of_the_others(committed: Path) -> None:
    measured = {"video": {"minutes": 10}, "products": {"ingest": 5, "dubs": 6}, "requests": {"cpu_seconds": 2}}
    replace_figures(measured, only={"dubs"}, path=committed)
    expected = {**WHOLE, "products": {"ingest": 1, "dubs": 6}, "requests": {"cpu_seconds": 2}}
    assert json.loads(committed.read_text()) == expected
