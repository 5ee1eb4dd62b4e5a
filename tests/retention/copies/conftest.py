"""A customer's bucket in SeaweedFS with credentials of its own, reached over TLS by a public name."""

import asyncio
import secrets
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from typing import Any

import httpx
import pytest
from prometheus_client import CollectorRegistry
from temporalio.testing import ActivityEnvironment
from temporalio.worker import Worker

from cutroom.entrypoints.api import build_app
from cutroom.jobs.activities import JobActivities
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.metrics import JobMetrics
from cutroom.platform.clock import system_clock
from cutroom.platform.egress.addresses import Address, Resolver
from cutroom.platform.egress.client import Egress
from cutroom.platform.ids import new_id
from cutroom.platform.relay import Relay
from cutroom.platform.settings import Settings
from cutroom.platform.storage.objects import Storage
from cutroom.platform.task_queues import TaskQueue
from cutroom.platform.telemetry import AccessLog
from cutroom.platform.temporal import connect
from cutroom.retention.catalog import WHEN_READY
from cutroom.retention.copies.activities import CopyActivities
from cutroom.retention.copies.workflow import CheckDestinationWorkflow, CopyOutputWorkflow
from cutroom.web.outer_middleware import RequestMiddleware
from cutroom.web.runtime import Runtime, open_runtime
from dev import environment
from dev.environment import Port
from dev.probe import program_beside_python
from dev.scratch import Accounts, Person
from tests.conftest import MovableClock
from tests.credits.conftest import PRICES
from tests.retention.exports.conftest import SeededLibrary
from tests.support.network_namespace import CertificateAuthority

NAME = "s3.customer.example.com"


class LoopbackResolver(Resolver):
    """Resolves the customer's name to loopback, which the resolver denies by design, and checks all others."""

    async def resolve(self, host: str, port: int) -> list[Address]:
        return [IPv4Address("127.0.0.1")] if host == NAME else await super().resolve(host, port)


class LoopbackEgress(Egress):
    """The product's egress client, except that it may reach the customer's store on loopback."""

    def __init__(self, authority: CertificateAuthority) -> None:
        super().__init__(tls=authority.trust())
        self._resolver = LoopbackResolver()


@dataclass
class CustomerStore:
    """Forwards TLS connections to SeaweedFS, and keeps their request lines."""

    egress: Egress
    settings: Settings
    bucket: str = field(default_factory=lambda: f"customer-{new_id().lower()}")
    access_key: str = field(default_factory=lambda: secrets.token_hex(10))
    secret_key: str = field(default_factory=lambda: secrets.token_hex(20))
    requests: list[str] = field(default_factory=list)
    hangs_at: Callable[[str], bool] = lambda _line: False
    hanging: asyncio.Event = field(default_factory=asyncio.Event)
    port: int = 0

    def create(self) -> None:
        running = environment.read()
        actions = ",".join(f"{action}:{self.bucket}" for action in ("Read", "Write", "List"))
        commands = f"""s3.bucket.create -name {self.bucket}
s3.configure -user {self.bucket} -access_key {self.access_key} -secret_key {self.secret_key} -actions {actions} -apply
"""
        master = f"{running.address(Port.WEED_MASTER)}.{running.port(Port.WEED_MASTER_GRPC)}"
        filer = f"{running.address(Port.WEED_FILER)}.{running.port(Port.WEED_FILER_GRPC)}"
        shell = (str(program_beside_python("weed")), "shell", f"-master={master}", f"-filer={filer}")
        subprocess.run(shell, input=commands, capture_output=True, text=True, timeout=500, check=True)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            line = await reader.readuntil(b"\r\n")
            request = line.decode().removesuffix(" HTTP/1.1\r\n")
            self.requests.append(request)
            if self.hangs_at(request):
                self.hanging.set()
                while await reader.read(2**16):  # until the client gives up
                    pass
                raise ConnectionError
            store = httpx.URL(str(self.settings.s3_endpoint))
            remote_reader, remote_writer = await asyncio.open_connection(store.host, store.port)
            remote_writer.write(line)
            forward = asyncio.create_task(_pump(reader, remote_writer))
            await _pump(remote_reader, writer)
            forward.cancel()
            remote_writer.close()
        writer.close()

    def body(self, **changes: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
        return {
            "endpoint": f"https://{NAME}:{self.port}",
            "region": "us-east-1",
            "bucket": self.bucket,
            "prefix": "from/cutroom",
            "accessKeyId": self.access_key,
            "secretAccessKey": self.secret_key,
            **changes,
        }

    def open(self) -> Storage:
        """The bucket, as its owner reads it."""
        changes = {"s3_bucket": self.bucket}
        return Storage.connect(self.settings.model_copy(update=changes))

    async def content(self) -> dict[str, bytes]:
        storage = self.open()
        return {name: b"".join([chunk async for chunk in storage.read(name)]) for name in await storage.names("")}

    def writes(self) -> list[str]:
        return [line for line in self.requests if line.startswith(("PUT", "POST"))]


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while chunk := await reader.read(2**16):
            writer.write(chunk)
            await writer.drain()


@pytest.fixture(scope="session")
async def shared_store(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[CustomerStore]:
    authority = CertificateAuthority(tmp_path_factory.mktemp("authority"))
    store = CustomerStore(LoopbackEgress(authority), settings)
    server = await asyncio.start_server(store.serve, "127.0.0.1", 0, ssl=authority.server_context([NAME]))
    store.port = server.sockets[0].getsockname()[1]
    await asyncio.to_thread(store.create)
    yield store
    server.close()


@pytest.fixture
async def store(shared_store: CustomerStore, runtime: Runtime) -> AsyncIterator[CustomerStore]:
    """The empty bucket, and workers for everything but the transfer."""
    await shared_store.open().delete_under("")
    shared_store.requests.clear()
    shared_store.hanging.clear()
    shared_store.hangs_at = lambda _line: False
    copies, client = activities_of(runtime, shared_store), await connect(runtime.settings)
    workflows = [CheckDestinationWorkflow, CopyOutputWorkflow]
    async with (
        Worker(client, task_queue=TaskQueue.CONTROL, workflows=workflows, activities=[copies.fail_copy]),
        Worker(client, task_queue=TaskQueue.EGRESS, activities=[copies.check_bucket]),
    ):
        yield shared_store


def activities_of(runtime: Runtime, store: CustomerStore) -> CopyActivities:
    return CopyActivities(
        database=runtime.database,
        storage=runtime.storage,
        egress=store.egress,
        secret_box=runtime.secret_box,
        clock=system_clock,
    )


@pytest.fixture(scope="session")
async def service(settings: Settings, session_clock: MovableClock) -> AsyncIterator[RequestMiddleware]:
    """The API application, which has buckets tested by a worker."""
    app = build_app(lambda: open_runtime(settings.model_copy(update={"preflight_seconds": 3}), session_clock))
    async with app.router.lifespan_context(app):
        yield RequestMiddleware(app, registry=CollectorRegistry(), tracer=None, access_log=AccessLog("WARNING"))


@dataclass(frozen=True)
class Copier:
    """Completes jobs and runs the workflows of copies."""

    activities: CopyActivities
    jobs: JobActivities
    accounts: Accounts

    async def complete(self, library: SeededLibrary, job_id: str, **columns: Any) -> None:  # noqa: ANN401 (columns)
        """Adds a running job and completes it, then starts the workflows that this has requested."""
        now = system_clock()
        job = {"type": job_id.partition("_")[0], "status": "processing", "attempt": 1, "plan": {}, "depends_on": []}
        times = {"progress": 0, "created_at": now, "updated_at": now}
        await library.insert("jobs", **{"id": job_id, "video_id": library.video_id, **job, **times, **columns})
        await ActivityEnvironment().run(self.jobs.complete_job, JobRef(library.library_id, job_id, 1), {})
        await self.relay()

    async def relay(self) -> None:
        await self.accounts.connection.execute("DELETE FROM outbox WHERE workflow <> 'copy-output'")
        await Relay(self.activities.database, self.jobs.client, running_jobs_per_library=10).relay_once()

    async def wait(self, copy_id: str, run: int) -> None:
        async with self.worker():
            await self.jobs.client.get_workflow_handle(f"copy_{copy_id}.{run}").result()

    @asynccontextmanager
    async def worker(self) -> AsyncIterator[None]:
        async with Worker(self.jobs.client, task_queue=TaskQueue.DOWNLOAD, activities=[self.activities.copy_output]):
            yield


@pytest.fixture
async def copier(settings: Settings, runtime: Runtime, accounts: Accounts, store: CustomerStore) -> Copier:
    await accounts.connection.execute("DELETE FROM outbox")
    jobs = JobActivities(
        database=runtime.database,
        client=await connect(settings),
        prices=PRICES,
        clock=system_clock,
        metrics=JobMetrics({}),
        when_ready=WHEN_READY,
    )
    return Copier(activities_of(runtime, store), jobs, accounts)


@pytest.fixture
async def library(runtime: Runtime, accounts: Accounts, person: Person) -> SeededLibrary:
    seeded = SeededLibrary(accounts, runtime.storage, person.library_id, person.user_id)
    await seeded.seed()
    return seeded
