"""Opens what a move needs of a cell: its database as the owner, its bucket and its Temporal namespace."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncpg
from temporalio.client import Client

from cutroom.platform.data_keys import DataKeys
from cutroom.platform.payload_codec import encrypting_converter
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.settings import Settings
from cutroom.platform.storage.objects import Storage
from cutroom.platform.storage.versions import ObjectVersions

CONNECTIONS = 6
CONNECT_SECONDS = 10.0
# Rows are compared as text.
_SESSION = {"timezone": "UTC", "application_name": "cutroom-move", "jit": "off"}


class CellSettingsError(Exception):
    """The settings of a cell are missing or incomplete."""


@dataclass(frozen=True, slots=True)
class CellAccess:
    """An open cell."""

    name: str
    settings: Settings
    pool: "asyncpg.Pool[asyncpg.Record]"
    storage: Storage
    versions: ObjectVersions
    temporal: Client
    data_keys: DataKeys


def load_cell_settings(folder: Path | None, name: str) -> Settings:
    """Read `<folder>/<name>.env`, with the variables of the cell's own processes."""
    if folder is None:
        raise CellSettingsError("CUTROOM_CELLS_DIR is not set")
    path = folder / f"{name}.env"
    if not path.is_file():
        raise CellSettingsError(f"{path} does not exist")
    pairs = (line.partition("=") for line in path.read_text().splitlines() if line and not line.startswith("#"))
    prefix = "CUTROOM_"
    given = {key.removeprefix(prefix).lower(): value for key, _, value in pairs if key.startswith(prefix) and value}
    settings = Settings.model_validate({**_defaults(), **given})
    if settings.owner_database_url is None:
        raise CellSettingsError(f"{path} lacks CUTROOM_OWNER_DATABASE_URL")
    return settings


def _defaults() -> dict[str, object]:
    """The caller's own environment is another cell's, or none's."""
    return {
        name: field.get_default(call_default_factory=True)
        for name, field in Settings.model_fields.items()
        if not field.is_required()
    }


@asynccontextmanager
async def open_cell(name: str, settings: Settings) -> AsyncIterator[CellAccess]:
    assert settings.owner_database_url is not None
    async with AsyncExitStack() as stack:
        pool = await asyncpg.create_pool(
            settings.owner_database_url.get_secret_value(),
            min_size=1,
            max_size=CONNECTIONS,
            timeout=CONNECT_SECONDS,
            server_settings=_SESSION,
        )
        stack.push_async_callback(pool.close)
        # A move outlasts the time for which keys are cached, and a frozen library lets none be loaded.
        keys = DataKeys(pool.acquire, SecretBox(settings.secret_key.get_secret_value()), monotonic=float)
        temporal = await Client.connect(
            settings.temporal_address,
            namespace=settings.temporal_namespace,
            data_converter=encrypting_converter(keys),
        )
        versions = ObjectVersions.connect(settings)
        stack.push_async_callback(versions.close)
        yield CellAccess(
            name=name,
            settings=settings,
            pool=pool,
            storage=Storage.connect(settings),
            versions=versions,
            temporal=temporal,
            data_keys=keys,
        )
