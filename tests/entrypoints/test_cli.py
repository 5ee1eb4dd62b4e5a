"""Tests the `cutroom-server` command."""

import os
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cutroom.entrypoints import cli
from cutroom.entrypoints.cli import app


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Collects the arguments of `os.execv` instead of replacing the process."""
    calls: list[list[str]] = []
    monkeypatch.setattr(os, "chdir", lambda _: None)
    monkeypatch.setattr(os, "execv", lambda _, arguments: calls.append(arguments))
    return calls


def test_demo_requires_a_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "CHECKOUT", tmp_path)
    result = CliRunner().invoke(app, ["demo"], env={"TERMINAL_WIDTH": "200"})
    assert result.exit_code == 2
    assert "requires a source checkout" in result.output


def test_demo_passes_its_options_on(tmp_path: Path, executed: list[list[str]]) -> None:
    video = tmp_path / "own.mp4"
    video.touch()
    assert CliRunner().invoke(app, ["demo", "--exit", "--video", str(video)]).exit_code == 0
    assert executed == [[sys.executable, "-m", "dev.demo", "--exit", "--video", str(video)]]


def test_doctor_runs_from_the_checkout(executed: list[list[str]]) -> None:
    assert CliRunner().invoke(app, ["doctor"]).exit_code == 0
    assert executed == [[sys.executable, "-m", "dev.doctor"]]


def test_installed_commands_leave_the_name_cutroom_to_the_client() -> None:
    project = tomllib.loads((cli.CHECKOUT / "pyproject.toml").read_text())["project"]
    assert sorted(project["scripts"]) == ["cutroom-api", "cutroom-server", "cutroom-worker"]
