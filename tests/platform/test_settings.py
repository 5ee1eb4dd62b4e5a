"""Settings are read from the environment and validated at startup."""

import os
from ipaddress import ip_network
from pathlib import Path

import pytest
from pydantic import ValidationError

from cutroom.platform.settings import Settings
from cutroom.platform.task_queues import TaskQueue

COMPLETE = {
    "CUTROOM_DATABASE_URL": "postgresql://app:hunter2@db/cutroom",
    "CUTROOM_REDIS_URL": "redis://:hunter2@redis/0",
    "CUTROOM_S3_ACCESS_KEY": "hunter2-access",
    "CUTROOM_S3_SECRET_KEY": "hunter2-secret",
    "CUTROOM_SECRET_KEY": "hunter2-" + "k" * 32,
}


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in [name for name in os.environ if name.startswith("CUTROOM_")]:
        monkeypatch.delenv(name)
    for name, value in COMPLETE.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


def test_environment_overrides_defaults(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("CUTROOM_API_PORT", "9000")
    environment.setenv("CUTROOM_PLANS_FILE", "/etc/cutroom/plans.toml")
    settings = Settings()
    assert settings.database_url.get_secret_value() == COMPLETE["CUTROOM_DATABASE_URL"]
    assert settings.owner_database_url is None
    assert settings.plans_file == Path("/etc/cutroom/plans.toml")
    assert settings.base_url == "http://127.0.0.1:9000"


def test_each_process_has_its_own_database_url_if_one_is_set(environment: pytest.MonkeyPatch) -> None:
    fallback = Settings()
    shared = COMPLETE["CUTROOM_DATABASE_URL"]
    assert (fallback.api_database, fallback.worker_database, fallback.relay_database) == (shared,) * 3
    for name in ("api", "worker"):
        environment.setenv(f"CUTROOM_{name.upper()}_DATABASE_URL", f"postgresql://{name}@db/cutroom")
    settings = Settings()
    assert settings.api_database == "postgresql://api@db/cutroom"
    assert settings.worker_database == settings.relay_database == "postgresql://worker@db/cutroom"
    environment.setenv("CUTROOM_RELAY_DATABASE_URL", "postgresql://relay@db/cutroom")
    assert Settings().relay_database == "postgresql://relay@db/cutroom"


def test_public_url_replaces_host_and_port(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("CUTROOM_PUBLIC_URL", "https://api.example.com")
    assert Settings().base_url == "https://api.example.com"


def test_lists_are_separated_by_commas(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("CUTROOM_WORKER_QUEUES", "control, media,")
    environment.setenv("CUTROOM_EGRESS_DENIED_NETWORKS", "8.8.4.0/24, 2600:1901::/32")
    environment.setenv("CUTROOM_TTS_ENGINES", "")
    settings = Settings()
    assert settings.worker_queues == [TaskQueue.CONTROL, TaskQueue.MEDIA]
    assert settings.egress_denied_networks == [ip_network("8.8.4.0/24"), ip_network("2600:1901::/32")]
    assert settings.tts_engines == []
    assert settings.translators == ["firefox", "apertium"]


@pytest.mark.parametrize("missing", COMPLETE)
def test_missing_required_setting_is_named_in_the_error(environment: pytest.MonkeyPatch, missing: str) -> None:
    environment.delenv(missing)
    with pytest.raises(ValidationError) as raised:
        Settings()
    assert [error["loc"] for error in raised.value.errors()] == [(missing.removeprefix("CUTROOM_").lower(),)]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CUTROOM_SECRET_KEY", "k" * 31),
        ("CUTROOM_SECRET_KEY", ""),
        ("CUTROOM_DATABASE_POOL_SIZE", "0"),
        ("CUTROOM_DATABASE_POOL_SIZE", "501"),
        ("CUTROOM_DATABASE_POOL_SIZE", "many"),
        ("CUTROOM_FAILED_CREDENTIALS_PER_MINUTE", "0"),
        ("CUTROOM_API_PORT", "http"),
        ("CUTROOM_WORKER_QUEUES", ""),
        ("CUTROOM_WORKER_QUEUES", "control,unknown"),
        ("CUTROOM_EGRESS_DENIED_NETWORKS", "8.8.4.0/24,everything"),
    ],
)
def test_invalid_value_is_rejected(environment: pytest.MonkeyPatch, name: str, value: str) -> None:
    environment.setenv(name, value)
    with pytest.raises(ValidationError):
        Settings()


@pytest.mark.usefixtures("environment")
def test_secrets_are_not_printed() -> None:
    settings = Settings()
    assert "hunter2" not in f"{settings!r} {settings} {settings.model_dump()} {settings.model_dump_json()}"


@pytest.mark.usefixtures("environment")
def test_settings_are_frozen() -> None:
    settings = Settings()
    with pytest.raises(ValidationError):
        setattr(settings, "api_port", 1)  # noqa: B010 - mypy rejects a plain assignment
