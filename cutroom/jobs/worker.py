"""What a worker process is made of, and what each product has it do."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from temporalio.client import Client

from cutroom.engines.registry import Engines
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.packager import find_packager
from cutroom.media.sandbox import Mode, Sandbox
from cutroom.platform.clock import Clock, system_clock
from cutroom.platform.db import Database
from cutroom.platform.egress.client import Egress
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.settings import Settings
from cutroom.platform.storage.multipart import Multipart
from cutroom.platform.storage.objects import Storage
from cutroom.platform.temporal import Queue, Recurring

Activity = Callable[..., Any]
Activities = Mapping[Queue, Sequence[Activity]]


@dataclass(frozen=True, slots=True)
class WorkerContext:
    """What activities are made of; one of each in a process."""

    settings: Settings
    client: Client
    database: Database
    storage: Storage
    egress: Egress
    multipart: Multipart
    engines: Engines
    workbench: LocalMediaCache
    sandbox: Sandbox
    secrecy: SecretBox
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
            workbench=LocalMediaCache(storage, settings.cache_dir, max_bytes=settings.cache_max_bytes),
            sandbox=Sandbox(
                mode=Mode(settings.sandbox),
                ffmpeg=settings.ffmpeg,
                ffprobe=settings.ffprobe,
                packager=find_packager(settings.packager),
            ),
            secrecy=SecretBox(settings.secret_key.get_secret_value()),
        )


@dataclass(frozen=True, slots=True)
class WorkerRegistration:
    """What one product has workers do: workflows on the control queue, activities by the queue that carries them."""

    workflows: Sequence[type]
    activities: Callable[[WorkerContext], Activities]
    recurring: Sequence[Recurring] = ()
