"""Tests how the scaling benchmark saves its figures."""

import json
from pathlib import Path
from typing import Any

import pytest

from bench.scaling import Options, replace_figures, save_partial

WHOLE: dict[str, Any] = {"video": {"minutes": 3}, "products": {"ingest": 1, "dubs": 2}, "requests": {"read": 1}}
ABORTED: dict[str, Any] = {"video": {"minutes": 10}, "products": {"ingest": 5}, "requests": {}}


def options(*only: str, save: bool = True) -> Options:
    return Options(video=None, short=False, save=save, record=False, only=frozenset(only))


@pytest.fixture
def committed(tmp_path: Path) -> Path:
    path = tmp_path / "figures" / "scaling.json"
    path.parent.mkdir()
    path.write_text(json.dumps(WHOLE))
    return path


def test_figures_of_the_products_so_far_leave_the_committed_ones_alone(committed: Path, tmp_path: Path) -> None:
    partial = tmp_path / "data" / "partial.json"
    save_partial(ABORTED, options(), path=partial)
    assert json.loads(partial.read_text()) == ABORTED
    assert json.loads(committed.read_text()) == WHOLE


def test_nothing_is_saved_unless_requested(tmp_path: Path) -> None:
    save_partial(ABORTED, options(save=False), path=tmp_path / "partial.json")
    assert list(tmp_path.iterdir()) == []


def test_complete_run_replaces_the_committed_figures(committed: Path) -> None:
    figures = {**WHOLE, "video": {"minutes": 10}}
    replace_figures(figures, options(), path=committed)
    assert json.loads(committed.read_text()) == figures
    assert list(committed.parent.iterdir()) == [committed]


def test_run_of_some_products_keeps_the_figures_of_the_others(committed: Path) -> None:
    measured = {"video": {"minutes": 10}, "products": {"ingest": 5, "dubs": 6}, "requests": {}}
    replace_figures(measured, options("dubs"), path=committed)
    assert json.loads(committed.read_text()) == {**WHOLE, "products": {"ingest": 1, "dubs": 6}}
