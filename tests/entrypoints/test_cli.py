"""The command line `cutroom models`, as a person or a script meets it."""

import io
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cutroom.engines.models.manifest import load_manifest
from cutroom.entrypoints import cli
from cutroom.entrypoints.cli import ProgressLine, app
from tests.support.tiny_models import WEIGHTS, FakeHub, fake_hub, install, make_packages, manifest_text, respond, small


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A store and a manifest of small models."""
    (tmp_path / "models.toml").write_text(manifest_text())
    return {
        "CUTROOM_MODELS_DIR": str(tmp_path / "store"),
        "CUTROOM_MODELS_MANIFEST": str(tmp_path / "models.toml"),
        "CUTROOM_MODEL_HUB": "",
        "CUTROOM_MODEL_SOURCE": "",
        "TERMINAL_WIDTH": "200",
        "PIP_NO_INDEX": "1",
        "PIP_CONFIG_FILE": os.devnull,
    }


@pytest.fixture
def hub(environment: dict[str, str]) -> Iterator[FakeHub]:
    with fake_hub() as opened:
        environment["CUTROOM_MODEL_HUB"] = opened.address
        yield opened


def run(environment: dict[str, str], *arguments: str, fails: int = 0) -> Result:
    result = CliRunner().invoke(app, ["models", *arguments], env=environment)
    assert result.exit_code == fails, result.output
    return result


def test_bundled_models_are_listed_with_task_size_and_license(tmp_path: Path) -> None:
    listed = run({"CUTROOM_MODELS_DIR": str(tmp_path)}, "list").stdout
    for model in load_manifest().models.values():
        (line,) = [line for line in listed.splitlines() if line.split()[:1] == [model.name]]
        assert line.split() == [model.name, model.task, f"{model.size_bytes / 1e6:.1f}", "MB", model.license, "no"]
    assert f"Store: {tmp_path}" in listed


@pytest.mark.parametrize(
    ("size_bytes", "there"), [(len(WEIGHTS), "yes"), (10, "incomplete")], ids=["whole", "with a file cut short"]
)
def test_what_is_installed_is_listed_as_such(
    environment: dict[str, str], tmp_path: Path, size_bytes: int, there: str
) -> None:
    os.truncate(install(tmp_path / "store") / "weights.bin", size_bytes)
    lines = [line.split() for line in run(environment, "list").stdout.splitlines()]
    assert ["small", "recognition", "3.0", "MB", "MIT", there] in lines


@pytest.mark.parametrize("chosen", [["small"], ["--set", "ci"], ["small", "--set", "ci"]])
def test_a_folder_of_packages_is_pulled_from_without_network(
    environment: dict[str, str], tmp_path: Path, chosen: list[str]
) -> None:
    packages = make_packages(tmp_path / "packages")
    pulled = run(environment, "pull", *chosen, "--from", str(packages))
    assert pulled.stdout.startswith("small: pulled from the folder, 3.0 MB in ")
    assert pulled.stderr == "small: verifying\n"
    assert (tmp_path / "store" / "small" / "weights.bin").read_bytes() == WEIGHTS
    again = run(environment, "pull", *chosen, "--from", str(packages))
    assert (again.stdout, again.stderr) == ("small: already installed\n", "")


def test_all_that_can_be_pulled_is_and_the_rest_fails(environment: dict[str, str], tmp_path: Path) -> None:
    pulled = run(environment, "pull", "--all", "--from", str(make_packages(tmp_path / "packages")), fails=1)
    assert "small: pulled from the folder" in pulled.stdout
    assert "other: not pulled\n  folder: No registry package contains the model other." in pulled.stderr


def test_a_hub_that_is_set_is_asked_first(environment: dict[str, str], hub: FakeHub) -> None:
    pulled = run(environment, "pull", "small")
    assert "small: pulled from the hub" in pulled.stdout
    assert pulled.stderr.splitlines() == [
        "small: fetching weights.bin from the hub",
        "small: fetching config.json from the hub",
        "small: verifying",
    ]
    assert len(hub.requests) == 2


def test_registries_are_tried_where_the_hub_fails(environment: dict[str, str], hub: FakeHub, tmp_path: Path) -> None:
    hub.files.clear()
    failed = run(environment | {"PIP_FIND_LINKS": str(tmp_path)}, "pull", "small", fails=1)
    reasons = [line for line in failed.stderr.splitlines() if line.startswith("  ")]
    assert reasons[0] == "  hub: weights.bin could not be downloaded from the hub: status 404."
    assert reasons[1].startswith("  registry: The pypi package made-weights-1 1.0 could not be downloaded: ERROR: No ")


def test_a_source_that_is_asked_for_is_the_only_one(environment: dict[str, str], hub: FakeHub, tmp_path: Path) -> None:
    run(environment | {"PIP_FIND_LINKS": str(tmp_path)}, "pull", "small", "--source", "registry", fails=1)
    assert hub.requests == []
    hub.files.clear()
    failed = run(environment | {"CUTROOM_MODEL_SOURCE": "hub"}, "pull", "small", fails=1)
    assert "registry" not in failed.stderr


def test_without_a_hub_the_way_to_set_one_is_told(environment: dict[str, str]) -> None:
    failed = run(environment, "pull", "small", "--source", "hub", fails=1)
    assert "hub: No hub is configured. Set CUTROOM_MODEL_HUB to its address, https://..." in failed.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "name models, or give --set or --all"),
        (["nothing"], "Unknown model: nothing."),
        (["--set", "nightly"], "Unknown set: nightly. Available: ci."),
        (["small", "--source", "moon"], "moon"),
        (["small", "--from", "/nowhere/at/all"], "/nowhere/at/all"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(environment: dict[str, str], arguments: list[str], words: str) -> None:
    assert words in run(environment, "pull", *arguments, fails=2).stderr


def test_a_hub_by_plain_http_is_refused(environment: dict[str, str]) -> None:
    refused = run(environment | {"CUTROOM_MODEL_HUB": "http://hub.example"}, "pull", "small", fails=2)
    assert "Hubs must use https://" in refused.stderr


def test_a_manifest_with_an_error_is_refused(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "models.toml").write_text(manifest_text().replace("weights.bin", "weights.pt"))
    assert "weights.pt: formats that run code" in run(environment, "list", fails=2).stderr


def test_whole_models_are_verified(environment: dict[str, str], tmp_path: Path) -> None:
    assert run(environment, "verify").stdout == f"No model is installed in {tmp_path / 'store'}.\n"
    install(tmp_path / "store")
    assert run(environment, "verify").stdout == "ok   small (3.0 MB)\n"


def test_each_bad_file_has_a_line_and_the_exit_code_tells(environment: dict[str, str], tmp_path: Path) -> None:
    folder = install(tmp_path / "store", config=b'{"layers": 3}\n')
    os.truncate(folder / "weights.bin", 10)
    lines = run(environment, "verify", fails=1).stdout.splitlines()
    assert lines[0] == "bad  small/weights.bin has 10 bytes instead of 3000000"
    assert lines[1].startswith("bad  small/config.json has the sha256 ")
    assert len(lines) == 2


def test_a_named_model_that_is_not_there_is_bad(environment: dict[str, str]) -> None:
    assert run(environment, "verify", "other", fails=1).stdout == "bad  other/other.onnx is missing\n"


def test_a_terminated_pull_ends_at_once_and_clears_up(
    environment: dict[str, str], hub: FakeHub, tmp_path: Path
) -> None:
    asked, over = threading.Event(), threading.Event()

    def stall(handler: BaseHTTPRequestHandler, body: bytes) -> None:
        respond(handler, 200, body, send_bytes=1000)
        handler.wfile.flush()
        asked.set()
        over.wait(60)

    hub.faults.append(stall)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "cutroom.entrypoints.cli", "models", "pull", "small"],
        env={**os.environ, **environment, "TMPDIR": str(scratch)},
        stderr=subprocess.PIPE,
    )
    assert asked.wait(60)
    assert len(list(scratch.iterdir())) == 1
    process.send_signal(signal.SIGTERM)
    _, stderr = process.communicate(timeout=30)
    over.set()
    assert process.returncode == 130
    assert b"Traceback" not in stderr
    assert list(scratch.iterdir()) == []


class FakeTerminal(io.StringIO):
    """Says that it is one."""

    def isatty(self) -> bool:
        return True


def test_on_a_terminal_one_line_is_rewritten_not_more_often_than_can_be_read() -> None:
    terminal, now = FakeTerminal(), [0.0]
    line = ProgressLine(terminal, clock=lambda: now[0])
    weights = small().files[0]
    line.begin("small")
    for percent in range(100):
        line.show_bytes(weights, percent * weights.size_bytes // 100)
        now[0] += 0.01
    line.show_bytes(weights, weights.size_bytes)
    line.clear()
    drawn = terminal.getvalue().split("\r\x1b[K")
    assert "\n" not in terminal.getvalue()
    assert 10 <= len(drawn) <= 14
    assert drawn[1] == "small: fetching weights.bin from the hub,   0% of 3.0 MB"
    assert drawn[-2:] == ["small: fetching weights.bin from the hub, 100% of 3.0 MB", ""]


def test_elsewhere_each_step_is_a_line() -> None:
    stream = io.StringIO()
    line = ProgressLine(stream)
    line.begin("small")
    line.show("fetching the npm package x 1")
    for done in range(1000):
        line.show_bytes(small().files[0], done)
    line.clear()
    assert stream.getvalue() == "small: fetching the npm package x 1\nsmall: fetching weights.bin from the hub\n"


def test_the_demo_outside_a_checkout_says_that_it_needs_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "CHECKOUT", tmp_path)
    result = CliRunner().invoke(app, ["demo"], env={"TERMINAL_WIDTH": "200"})
    assert result.exit_code == 2
    assert "part of a checkout" in result.output


def test_the_demo_of_a_checkout_is_handed_its_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    film = tmp_path / "own.mp4"
    film.touch()
    handed: list[list[str]] = []
    monkeypatch.setattr(os, "chdir", lambda _: None)
    monkeypatch.setattr(os, "execv", lambda _, arguments: handed.append(arguments))
    assert CliRunner().invoke(app, ["demo", "--exit", "--film", str(film)]).exit_code == 0
    assert handed == [[sys.executable, "-m", "dev.demo", "--exit", "--film", str(film)]]
