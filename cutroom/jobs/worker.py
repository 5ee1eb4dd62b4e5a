"""Defines the worker's shared dependencies and what each product registers with it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from temporalio.client import Client

from cutroom.engines.registry import Engines
from cutroom.media.encoders import VideoEncoder
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.packager import find_packager
from cutroom.media.sandbox import Sandbox, SandboxMode
from cutroom.platform.clock import Clock, system_clock
from cutroom.platform.db import Database
from cutroom.platform.egress.client import Egress
from cutroom.platform.process.cpu_time import MeasuringThreadPool
from cutroom.platform.process.processor import ProcessorBudget, available_cores
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.settings import Settings
from cutroom.platform.storage.multipart import Multipart
from cutroom.platform.storage.objects import Storage
from cutroom.platform.task_queues import TaskQueue
from cutroom.platform.voice_lease import VoiceLease

Activity = Callable[..., Any]
Activities = Mapping[TaskQueue, Sequence[Activity]]


@dataclass(frozen=True, slots=True)
class InteractiveResources:
    """Engines, threads and programs of interactive speech, at normal priority and apart from those of batch work.

    An engine serializes its calls, so that a shared one would make speech wait for the line of a dub.
    """

    budget: ProcessorBudget
    lease: VoiceLease
    engines: Engines
    threads: MeasuringThreadPool
    sandbox: Sandbox

    @classmethod
    def of(cls, settings: Settings, *, sandbox: Sandbox) -> Self:
        budget = ProcessorBudget.of(
            available_cores(),
            voice_threads=settings.voice_threads,
            voice_concurrency=settings.voice_concurrency,
        )
        return cls(
            budget=budget,
            lease=VoiceLease(settings.cache_dir / "voice.lock"),
            engines=Engines(settings, cpu_threads=budget.voice_threads),
            threads=MeasuringThreadPool("voice"),
            sandbox=replace(sandbox, niceness=0),
        )


@dataclass(frozen=True, slots=True)
class WorkerContext:
    """Dependencies of activities, one instance each per process; all but `interactive` are for batch work."""

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
    interactive: InteractiveResources
    clock: Clock = system_clock

    @classmethod
    def of(
        cls,
        settings: Settings,
        client: Client,
        database: Database,
        *,
        egress: Egress,
        secret_box: SecretBox | None = None,
    ) -> Self:
        secret_box = secret_box or SecretBox(settings.secret_key.get_secret_value())
        storage = Storage.connect(settings, secret_box=secret_box)
        sandbox = media_sandbox(settings)
        return cls(
            settings=settings,
            client=client,
            database=database,
            storage=storage,
            egress=egress,
            multipart=Multipart.connect(settings),
            engines=Engines(settings),
            media_cache=LocalMediaCache(storage, settings.cache_dir, max_bytes=settings.cache_max_bytes),
            sandbox=sandbox,
            secret_box=secret_box,
            interactive=InteractiveResources.of(settings, sandbox=sandbox),
        )


def media_sandbox(settings: Settings) -> Sandbox:
    """The media programs of this deployment, in its sandbox."""
    return Sandbox(
        mode=SandboxMode(settings.sandbox),
        ffmpeg=settings.ffmpeg,
        ffprobe=settings.ffprobe,
        packager=find_packager(settings.packager),
        niceness=settings.batch_niceness,
        encoder=VideoEncoder(settings.video_encoder),
    )
