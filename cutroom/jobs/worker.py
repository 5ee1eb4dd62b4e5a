"""Defines the worker's shared dependencies and what each product registers with it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from temporalio.client import Client

from cutroom.engines.registry import Engines
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.packager import find_packager
from cutroom.media.sandbox import Sandbox, SandboxMode
from cutroom.platform.clock import Clock, system_clock
from cutroom.platform.db import Database
from cutroom.platform.egress.client import Egress
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.settings import Settings
from cutroom.platform.storage.multipart import Multipart
from cutroom.platform.storage.objects import Storage
from cutroom.platform.task_queues import TaskQueue

Activity = Callable[..., Any]
Activities = Mapping[TaskQueue, Sequence[Activity]]


@dataclass(frozen=True, slots=True)
class WorkerContext:
    """Dependencies of activities, one instance each per process."""

    settings: Settings
    client: Client
    database: Database
    storage: Storage
    egress: Egress
    multipart: Multipart
    engines: Engines
    media_cache: LocalMediaCache
    sandbox: Sandbox
    secret_box: SecretBox
    clock: Clock = system_clock

    @classmethod
    def of(cls, settings: Settings, client: Client, database: Database, *, egress: Egress) -> Self:
        storage = Storage.connect(settings)
        return cls(
            settings=settings,
            client=client,
            database=database,
            storage=storage,
            egress=egress,
            multipart=Multipart.connect(settings),
            engines=Engines(settings),
            media_cache=LocalMediaCache(storage, settings.cache_dir, max_bytes=settings.cache_max_bytes),
            sandbox=media_sandbox(settings),
            secret_box=SecretBox(settings.secret_key.get_secret_value()),
        )


def media_sandbox(settings: Settings) -> Sandbox:
    """The media programs of this deployment, in its sandbox."""
    return Sandbox(
        mode=SandboxMode(settings.sandbox),
        ffmpeg=settings.ffmpeg,
        ffprobe=settings.ffprobe,
        packager=find_packager(settings.packager),
    )
