"""The API with the upload gateway in it; to be deleted once `Runtime` has its parts and the entrypoint its router."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields

import uvicorn
from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from cutroom.entrypoints.api import ROUTERS, EnvelopeProtocol
from cutroom.platform.clock import Clock, system_clock
from cutroom.platform.gcs import Gcs
from cutroom.platform.multipart import Multipart
from cutroom.platform.settings import Settings
from cutroom.platform.telemetry import AccessLog, configure_logging
from cutroom.products.uploads.routes import router
from cutroom.web.app import create_app
from cutroom.web.edge import Edge
from cutroom.web.runtime import Runtime, open_runtime


@dataclass(frozen=True)
class UploadRuntime(Runtime):
    """The parts, with those of uploads."""

    multipart: Multipart
    gcs: Gcs | None = None


@asynccontextmanager
async def open_parts(settings: Settings, clock: Clock = system_clock, gcs: Gcs | None = None) -> AsyncIterator[Runtime]:
    async with open_runtime(settings, clock) as runtime:
        if hasattr(runtime, "multipart"):
            yield runtime
            return
        multipart = Multipart.connect(settings)
        parts = {field.name: getattr(runtime, field.name) for field in fields(runtime)}
        yield UploadRuntime(**parts, multipart=multipart, gcs=gcs)
        await multipart.close()


def build(settings: Settings, clock: Clock = system_clock, gcs: Gcs | None = None) -> FastAPI:
    routers = ROUTERS if router in ROUTERS else (*ROUTERS, router)
    return create_app(lambda: open_parts(settings, clock, gcs), routers)


def main() -> None:
    settings = Settings()
    configure_logging(settings.log_level)
    service = Edge(build(settings), registry=CollectorRegistry(), tracer=None, access_log=AccessLog(settings.log_level))
    uvicorn.run(
        service, port=settings.api_port, loop="uvloop", http=EnvelopeProtocol, log_config=None, access_log=False
    )


if __name__ == "__main__":
    main()
