"""Data directory, ports, secrets and environment variables of the local services."""

import fcntl
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from urllib.parse import urlsplit

PROJECT = Path(__file__).resolve().parent.parent
MODELS = PROJECT / ".data" / "models"  # shared by all data directories of this checkout, because models are large
DEFAULT_PORT_BASE = 25400  # below the ephemeral port range
HOST = "127.0.0.1"
BUCKET = "media"


class Port(IntEnum):
    """Offsets from the port base; every listener has one, so that no default port is used."""

    POSTGRES = 0
    REDIS = 1
    TEMPORAL = 2
    TEMPORAL_HTTP = 3
    TEMPORAL_METRICS = 4
    S3 = 10
    S3_GRPC = 11
    WEED_MASTER = 12
    WEED_MASTER_GRPC = 13
    WEED_VOLUME = 14
    WEED_VOLUME_GRPC = 15
    WEED_FILER = 16
    WEED_FILER_GRPC = 17
    API = 50
    METRICS = 51
    WORKER_METRICS = 52


@dataclass(frozen=True)
class Secrets:
    app_password: str
    owner_password: str
    api_password: str
    worker_password: str
    relay_password: str
    redis_password: str
    s3_access_key: str
    s3_secret_key: str
    secret_key: str


@dataclass(frozen=True)
class Settings:
    data_dir: Path
    port_base: int
    secrets: Secrets

    def port(self, port: Port) -> int:
        return self.port_base + port

    def address(self, port: Port) -> str:
        return f"{HOST}:{self.port(port)}"

    def variables(self) -> dict[str, str]:
        """The environment variables of Cutroom's processes."""
        postgres, secret = self.address(Port.POSTGRES), self.secrets
        return {
            # Tests and tools in one process use a role with the rights of all three; the processes use their own.
            "CUTROOM_DATABASE_URL": f"postgresql://cutroom_app:{secret.app_password}@{postgres}/cutroom",
            "CUTROOM_OWNER_DATABASE_URL": f"postgresql://cutroom_owner:{secret.owner_password}@{postgres}/cutroom",
            "CUTROOM_API_DATABASE_URL": f"postgresql://cutroom_api:{secret.api_password}@{postgres}/cutroom",
            "CUTROOM_WORKER_DATABASE_URL": f"postgresql://cutroom_worker:{secret.worker_password}@{postgres}/cutroom",
            "CUTROOM_RELAY_DATABASE_URL": f"postgresql://cutroom_relay:{secret.relay_password}@{postgres}/cutroom",
            "CUTROOM_REDIS_URL": f"redis://:{secret.redis_password}@{self.address(Port.REDIS)}/0",
            "CUTROOM_TEMPORAL_ADDRESS": self.address(Port.TEMPORAL),
            "CUTROOM_TEMPORAL_NAMESPACE": "default",
            "CUTROOM_S3_ENDPOINT": f"http://{self.address(Port.S3)}",
            "CUTROOM_S3_BUCKET": BUCKET,
            "CUTROOM_S3_REGION": "us-east-1",
            "CUTROOM_S3_ACCESS_KEY": secret.s3_access_key,
            "CUTROOM_S3_SECRET_KEY": secret.s3_secret_key,
            "CUTROOM_SECRET_KEY": secret.secret_key,
            "CUTROOM_MODELS_DIR": os.environ.get("CUTROOM_MODELS_DIR") or str(MODELS),
            "CUTROOM_API_HOST": HOST,
            "CUTROOM_API_PORT": str(self.port(Port.API)),
            "CUTROOM_METRICS_PORT": str(self.port(Port.METRICS)),
            "CUTROOM_WORKER_METRICS_PORT": str(self.port(Port.WORKER_METRICS)),
        }


def data_dir() -> Path:
    return Path(os.environ.get("CUTROOM_DATA_DIR") or PROJECT / ".data").resolve()


def environment_file() -> Path:
    return data_dir() / "cutroom.env"


def read() -> Settings:
    """Reads the settings; missing secrets are generated, but not stored."""
    path = environment_file()
    text = path.read_text() if path.exists() else ""
    return Settings(data_dir(), port_base(), secrets=_secrets(parse(text)))


def load() -> Settings:
    """Reads the settings, generates missing secrets, and rewrites the file if it changed."""
    data_dir().mkdir(parents=True, exist_ok=True)
    with locked("environment"):
        path = environment_file()
        text = path.read_text() if path.exists() else ""
        settings = read()
        content = "".join(f"{name}={value}\n" for name, value in settings.variables().items())
        if text != content:
            write_private(path, content)
    return settings


def port_base() -> int:
    return int(os.environ.get("CUTROOM_PORT_BASE") or DEFAULT_PORT_BASE)


def parse(text: str) -> dict[str, str]:
    """Parses KEY=value lines and ignores others."""
    pairs = (line.partition("=") for line in text.splitlines() if not line.startswith("#"))
    return {name.strip(): value.strip() for name, separator, value in pairs if separator}


def write_private(path: Path, text: str) -> None:
    """Replaces a file atomically, with access for its owner only."""
    new = path.with_name(f"{path.name}.new")
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
    new.replace(path)


@contextmanager
def locked(name: str) -> Iterator[None]:
    """Holds an inter-process lock; the kernel releases it when the holder dies."""
    with (data_dir() / f"{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _secrets(variables: Mapping[str, str]) -> Secrets:
    return Secrets(
        app_password=_password(variables, "CUTROOM_DATABASE_URL"),
        owner_password=_password(variables, "CUTROOM_OWNER_DATABASE_URL"),
        api_password=_password(variables, "CUTROOM_API_DATABASE_URL"),
        worker_password=_password(variables, "CUTROOM_WORKER_DATABASE_URL"),
        relay_password=_password(variables, "CUTROOM_RELAY_DATABASE_URL"),
        redis_password=_password(variables, "CUTROOM_REDIS_URL"),
        s3_access_key=variables.get("CUTROOM_S3_ACCESS_KEY") or secrets.token_hex(10),
        s3_secret_key=variables.get("CUTROOM_S3_SECRET_KEY") or secrets.token_hex(20),
        secret_key=variables.get("CUTROOM_SECRET_KEY") or secrets.token_hex(32),
    )


def _password(variables: Mapping[str, str], url_name: str) -> str:
    # Hexadecimal needs no quoting in a URL, in SQL or in a configuration file.
    return urlsplit(variables.get(url_name, "")).password or secrets.token_hex(16)
