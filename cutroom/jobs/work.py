"""What a worker process is made of, and what each product has it do."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from temporalio.client import Client

from cutroom.engines.registry import Engines
from cutroom.media.packager import find_packager
from cutroom.media.sandbox import Mode, Sandbox
from cutroom.media.workbench import Workbench
from cutroom.platform.clock import Clock, system_clock
from cutroom.platform.db import Database
from cutroom.platform.egress import Egress
from cutroom.platform.multipart import Multipart
from cutroom.platform.secrecy import Secrecy
from cutroom.platform.settings import Settings
from cutroom.platform.storage import Storage
from cutroom.platform.temporal import Queue, Recurring

Activity = Callable[..., Any]
Activities = Mapping[Queue, Sequence[Activity]]


@dataclass(frozen=True, slots=True)
class Parts:
    """What activities are made of; one of each in a process."""

    settings: Settings
    client: Client
    database: Database
    storage: Storage
    egress: Egress
    multipart: Multipart
    engines: Engines
    workbench: Workbench
    sandbox: Sandbox
    secrecy: Secrecy
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
            workbench=Workbench(storage, settings.work_folder, max_bytes=settings.work_folder_bytes),
            sandbox=Sandbox(
                mode=Mode(settings.sandbox),
                ffmpeg=settings.ffmpeg,
                ffprobe=settings.ffprobe,
                packager=find_packager(settings.packager),
            ),
            secrecy=Secrecy(settings.secret_key.get_secret_value()),
        )


@dataclass(frozen=True, slots=True)
class Work:
    """What one product has workers do: workflows on the control queue, activities by the queue that carries them."""

    workflows: Sequence[type]
    activities: Callable[[Parts], Activities]
    recurring: Sequence[Recurring] = ()
