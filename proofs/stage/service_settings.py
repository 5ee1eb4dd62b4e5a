"""Settings of a stage, moved to other services."""

from typing import Any

from pydantic import SecretStr

from cutroom.platform.settings import Settings
from dev.services import control

DATABASE_URLS = tuple(name for name in Settings.model_fields if name.endswith("database_url"))


def settings_of_services(settings: Settings) -> Settings:
    """The same installation on the services that run now, with the original secret key, which no backup contains."""
    variables = control.environment()
    changes: dict[str, Any] = {
        name: SecretStr(variables[f"CUTROOM_{name.upper()}"])
        for name in (*DATABASE_URLS, "redis_url", "s3_access_key", "s3_secret_key")
    }
    plain = {name: variables[f"CUTROOM_{name.upper()}"] for name in ("temporal_address", "s3_endpoint")}
    return settings.model_copy(update={**changes, **plain, "temporal_namespace": "default"})
