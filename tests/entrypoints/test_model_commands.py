"""Tests the `cutroom-server models` commands."""

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

from cutroom.engines.models.manifest_reader import load_manifest
from cutroom.entrypoints.cli import app
from cutroom.entrypoints.model_commands import ProgressLine
from tests.support.tiny_models import WEIGHTS, FakeHub, fake_hub, install, make_packages, manifest_text, respond, small
from tests.support.translation_mirror import MirrorContent, translation_mirror


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Environment variables with an empty store and a manifest of small models."""
    (tmp_path / "models.toml").write_text(manifest_text())
    return {
        "CUTROOM_MODELS_DIR": str(tmp_path / "store"),
        "CUTROOM_MODELS_MANIFEST": str(tmp_path / "models.toml"),
        "CUTROOM_MODEL_HUB": "",
        "CUTROOM_TRANSLATION_MODELS_URL": "",
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
    assert "translate-europe (58 models)" in listed
    assert f"Store: {tmp_path}" in listed


@pytest.mark.parametrize(
    ("size_bytes", "installed"), [(len(WEIGHTS), "yes"), (10, "incomplete")], ids=["complete", "truncated file"]
)
def test_list_shows_whether_a_model_is_installed(
    environment: dict[str, str], tmp_path: Path, size_bytes: int, installed: str
) -> None:
    os.truncate(install(tmp_path / "store") / "weights.bin", size_bytes)
    lines = [line.split() for line in run(environment, "list").stdout.splitlines()]
    assert ["small", "recognition", "3.0", "MB", "MIT", installed] in lines


@pytest.mark.parametrize("chosen", [["small"], ["--set", "ci"], ["small", "--set", "ci"]])
def test_pull_from_a_folder_of_packages_needs_no_network(
    environment: dict[str, str], tmp_path: Path, chosen: list[str]
) -> None:
    packages = make_packages(tmp_path / "packages")
    pulled = run(environment, "pull", *chosen, "--from", str(packages))
    assert pulled.stdout.startswith("small: pulled from the folder, 3.0 MB in ")
    assert pulled.stderr == "small: verifying\n"
    assert (tmp_path / "store" / "small" / "weights.bin").read_bytes() == WEIGHTS
    again = run(environment, "pull", *chosen, "--from", str(packages))
    assert (again.stdout, again.stderr) == ("small: already installed\n", "")


def test_pull_all_continues_after_a_failure_and_exits_with_1(environment: dict[str, str], tmp_path: Path) -> None:
    pulled = run(environment, "pull", "--all", "--from", str(make_packages(tmp_path / "packages")), fails=1)
    assert "small: pulled from the folder" in pulled.stdout
    assert "other: not pulled\n  folder: No registry package contains the model other." in pulled.stderr


def test_configured_hub_is_tried_first(environment: dict[str, str], hub: FakeHub) -> None:
    pulled = run(environment, "pull", "small")
    assert "small: pulled from the hub" in pulled.stdout
    assert pulled.stderr.splitlines() == [
        "small: fetching weights.bin from the hub",
        "small: fetching config.json from the hub",
        "small: verifying",
    ]
    assert len(hub.requests) == 2


def test_registries_are_tried_when_the_hub_fails(environment: dict[str, str], hub: FakeHub, tmp_path: Path) -> None:
    hub.files.clear()
    failed = run(environment | {"PIP_FIND_LINKS": str(tmp_path)}, "pull", "small", fails=1)
    reasons = [line for line in failed.stderr.splitlines() if line.startswith("  ")]
    assert reasons[0] == "  hub: weights.bin could not be downloaded from the hub: status 404."
    assert reasons[1].startswith("  registry: The pypi package made-weights-1 1.0 could not be downloaded: ERROR: No ")


def test_source_option_excludes_other_sources(environment: dict[str, str], hub: FakeHub, tmp_path: Path) -> None:
    run(environment | {"PIP_FIND_LINKS": str(tmp_path)}, "pull", "small", "--source", "registry", fails=1)
    assert hub.requests == []
    hub.files.clear()
    failed = run(environment | {"CUTROOM_MODEL_SOURCE": "hub"}, "pull", "small", fails=1)
    assert "registry" not in failed.stderr


def test_hub_source_without_a_hub_explains_how_to_configure_one(environment: dict[str, str]) -> None:
    failed = run(environment, "pull", "small", "--source", "hub", fails=1)
    assert "hub: No hub is configured. Set CUTROOM_MODEL_HUB to its address, https://..." in failed.stderr


@pytest.fixture
def mirrored(environment: dict[str, str], tmp_path: Path) -> MirrorContent:
    """Adds two directions of a mirror to the manifest."""
    content = MirrorContent()
    for pair in ("ende", "deen"):
        content.add(pair[:2], pair[2:], {f"model.{pair}.bin": b"weights", f"vocab.{pair}.spm": b"words"})
    environment["CUTROOM_MODELS_MANIFEST"] = str(tmp_path / "mirrored.toml")
    (tmp_path / "mirrored.toml").write_text(content.manifest_text())
    return content


@pytest.mark.parametrize("chosen", [["translate-europe"], ["--set", "translate-europe"], ["firefox-en-de-tiny"]])
def test_mirrored_models_are_pulled_by_set_or_name(
    environment: dict[str, str], mirrored: MirrorContent, chosen: list[str]
) -> None:
    with translation_mirror(mirrored) as mirror:
        pulled = run(environment | {"CUTROOM_TRANSLATION_MODELS_URL": mirror.address}, "pull", *chosen)
    assert "firefox-en-de-tiny: pulled from the mirror" in pulled.stdout
    assert "firefox-en-de-tiny: fetching model.ende.bin.gz from the mirror" in pulled.stderr
    assert len(mirror.requests) == (2 if chosen == ["firefox-en-de-tiny"] else 4)
    # Installed models need no mirror.
    assert "already installed" in run(environment, "pull", *chosen).stdout


@pytest.mark.usefixtures("mirrored")
def test_missing_mirror_setting_is_named_once(environment: dict[str, str]) -> None:
    failed = run(environment, "pull", "translate-europe", fails=1)
    assert failed.stderr.splitlines() == [
        "firefox-de-en-tiny, firefox-en-de-tiny: not pulled",
        "  Set CUTROOM_TRANSLATION_MODELS_URL to a mirror of the Firefox Translations models, https://...",
    ]


@pytest.mark.usefixtures("mirrored")
def test_plain_http_mirror_is_rejected(environment: dict[str, str]) -> None:
    address = {"CUTROOM_TRANSLATION_MODELS_URL": "http://mirror.example"}
    refused = run(environment | address, "pull", "translate-europe", fails=2)
    assert "A mirror must use https://" in refused.stderr


def test_bundled_catalog_needs_a_mirror(tmp_path: Path) -> None:
    environment = {"CUTROOM_MODELS_DIR": str(tmp_path), "CUTROOM_TRANSLATION_MODELS_URL": ""}
    failed = run(environment, "pull", "translate-europe", fails=1)
    assert "firefox-en-de-base-memory" in failed.stderr
    assert "Set CUTROOM_TRANSLATION_MODELS_URL" in failed.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name models, or give --set or --all"),
        (["nothing"], "Unknown model: nothing."),
        (["--set", "nightly"], "Unknown set: nightly. Available: ci."),
        (["small", "--source", "moon"], "moon"),
        (["small", "--from", "/nowhere/at/all"], "/nowhere/at/all"),
    ],
)
def test_usage_errors_name_the_problem(environment: dict[str, str], arguments: list[str], message: str) -> None:
    assert message in run(environment, "pull", *arguments, fails=2).stderr


def test_plain_http_hub_is_rejected(environment: dict[str, str]) -> None:
    refused = run(environment | {"CUTROOM_MODEL_HUB": "http://hub.example"}, "pull", "small", fails=2)
    assert "A hub must use https://" in refused.stderr


def test_invalid_manifest_is_rejected(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "models.toml").write_text(manifest_text().replace("weights.bin", "weights.pt"))
    assert "weights.pt: formats that run code" in run(environment, "list", fails=2).stderr


def test_verify_reports_intact_models(environment: dict[str, str], tmp_path: Path) -> None:
    assert run(environment, "verify").stdout == f"No model is installed in {tmp_path / 'store'}.\n"
    install(tmp_path / "store")
    assert run(environment, "verify").stdout == "ok   small (3.0 MB)\n"


def test_verify_lists_each_bad_file_and_exits_with_1(environment: dict[str, str], tmp_path: Path) -> None:
    folder = install(tmp_path / "store", config=b'{"layers": 3}\n')
    os.truncate(folder / "weights.bin", 10)
    lines = run(environment, "verify", fails=1).stdout.splitlines()
    assert lines[0] == "bad  small/weights.bin has 10 bytes instead of 3000000"
    assert lines[1].startswith("bad  small/config.json has the sha256 ")
    assert len(lines) == 2


def test_verify_reports_a_missing_model(environment: dict[str, str]) -> None:
    assert run(environment, "verify", "other", fails=1).stdout == "bad  other/other.onnx is missing\n"


def test_terminated_pull_exits_and_removes_temporary_files(
    environment: dict[str, str], hub: FakeHub, tmp_path: Path
) -> None:
    requested, finished = threading.Event(), threading.Event()

    def stall(handler: BaseHTTPRequestHandler, body: bytes) -> None:
        respond(handler, 200, body, send_bytes=1000)
        handler.wfile.flush()
        requested.set()
        finished.wait(60)

    hub.faults.append(stall)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "cutroom.entrypoints.cli", "models", "pull", "small"],
        env={**os.environ, **environment, "TMPDIR": str(scratch)},
        stderr=subprocess.PIPE,
    )
    assert requested.wait(60)
    assert len(list(scratch.iterdir())) == 1
    process.send_signal(signal.SIGTERM)
    _, stderr = process.communicate(timeout=500)
    finished.set()
    assert process.returncode == 130
    assert b"Traceback" not in stderr
    assert list(scratch.iterdir()) == []


class FakeTerminal(io.StringIO):
    """A stream that reports itself as a terminal."""

    def isatty(self) -> bool:
        return True


def test_terminal_progress_redraws_one_line_at_a_limited_rate() -> None:
    terminal, now = FakeTerminal(), [0.0]
    line = ProgressLine(terminal, clock=lambda: now[0])
    weights = small().files[0]
    line.begin("small")
    for percent in range(100):
        line.show_bytes(weights, percent * weights.size_bytes // 100, source="hub")
        now[0] += 0.01
    line.show_bytes(weights, weights.size_bytes, source="hub")
    line.clear()
    drawn = terminal.getvalue().split("\r\x1b[K")
    assert "\n" not in terminal.getvalue()
    assert 10 <= len(drawn) <= 14
    assert drawn[1] == "small: fetching weights.bin from the hub,   0% of 3.0 MB"
    assert drawn[-2:] == ["small: fetching weights.bin from the hub, 100% of 3.0 MB", ""]


def test_progress_without_a_terminal_prints_one_line_per_step() -> None:
    stream = io.StringIO()
    line = ProgressLine(stream)
    line.begin("small")
    line.show("fetching the npm package x 1")
    for done in range(1000):
        line.show_bytes(small().files[0], done, source="hub")
    line.clear()
    assert stream.getvalue() == "small: fetching the npm package x 1\nsmall: fetching weights.bin from the hub\n"
