"""Settings come from the environment, and an installation that lacks one does not start."""

import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from cutroom.platform.settings import Settings

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


def test_a_complete_environment_is_read_and_the_rest_has_defaults(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("CUTROOM_API_PORT", "9000")
    environment.setenv("CUTROOM_PLANS_FILE", "/etc/cutroom/plans.toml")
    settings = Settings()
    assert settings.database_url.get_secret_value() == COMPLETE["CUTROOM_DATABASE_URL"]
    assert settings.owner_database_url is None
    assert settings.plans_file == Path("/etc/cutroom/plans.toml")
    assert settings.base_url == "http://127.0.0.1:9000"


def test_the_public_url_replaces_host_and_port(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("CUTROOM_PUBLIC_URL", "https://api.example.com")
    assert Settings().base_url == "https://api.example.com"


@pytest.mark.parametrize("missing", COMPLETE)
def test_a_missing_setting_is_refused_by_name(environment: pytest.MonkeyPatch, missing: str) -> None:
    environment.delenv(missing)
    with pytest.raises(ValidationError) as refused:
        Settings()
    assert [fault["loc"] for fault in refused.value.errors()] == [(missing.removeprefix("CUTROOM_").lower(),)]


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
    ],
)
def test_a_value_out_of_bounds_is_refused(environment: pytest.MonkeyPatch, name: str, value: str) -> None:
    environment.setenv(name, value)
    with pytest.raises(ValidationError):
        Settings()


@pytest.mark.usefixtures("environment")
def test_no_secret_shows_when_settings_are_printed() -> None:
    settings = Settings()
    assert "hunter2" not in f"{settings!r} {settings} {settings.model_dump()} {settings.model_dump_json()}"


@pytest.mark.usefixtures("environment")
def test_settings_do_not_change_once_read() -> None:
    settings = Settings()
    with pytest.raises(ValidationError):
        setattr(settings, "api_port", 1)  # noqa: B010 (the type checker would not let us try)
