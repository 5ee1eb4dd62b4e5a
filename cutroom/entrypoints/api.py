"""The API process: HTTP API and console."""

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from socket import socket

import uvicorn
from fastapi import FastAPI
from prometheus_client import CollectorRegistry, Gauge
from starlette.types import ASGIApp

from cutroom.audit.routes import router as audit_log
from cutroom.capabilities.routes import router as capabilities
from cutroom.cast.routes import router as cast
from cutroom.console.app import console_routes
from cutroom.credits.routes import router as credit
from cutroom.entrypoints.admission import open_admission, serving_protocol
from cutroom.events.routes import router as events
from cutroom.glossary.routes import router as glossary
from cutroom.jobs.routes import library_router as library_summary
from cutroom.jobs.routes import router as jobs
from cutroom.library.file_routes import router as files
from cutroom.library.live_videos import LiveVideos
from cutroom.library.routes import router as library
from cutroom.platform.settings import Settings
from cutroom.platform.telemetry import AccessLog, configure_logging, configure_tracing, serve_metrics
from cutroom.products.catalog import JOB_HOOKS, PRODUCTS
from cutroom.retention import catalog as retention
from cutroom.reviews.routes import router as reviews
from cutroom.staleness.routes import router as stale_products
from cutroom.web.admission.admission import Admission
from cutroom.web.app import create_app
from cutroom.web.internal.cell_routes import router as cell
from cutroom.web.internal.codec_routes import router as codec
from cutroom.web.outer_middleware import RequestMiddleware
from cutroom.web.runtime import Runtime, open_runtime
from cutroom.webhooks.routes import router as webhooks

SERVICE = "cutroom-api"
STARTUP_FAILURE = 3
SWITCH_SECONDS = 0.0005  # a request waits this long for a thread that computes, at each of its steps; 5 ms otherwise
ROUTERS = (
    library,
    files,
    jobs,
    *(router for product in PRODUCTS for router in product.routers),
    credit,
    glossary,
    reviews,
    cast,
    webhooks,
    events,
    *retention.ROUTERS,
    stale_products,
    audit_log,
    capabilities,
    library_summary,
    codec,
    cell,
)


BUNDLE_CHECKS = tuple(product.check_bundle for product in PRODUCTS if product.check_bundle is not None)


def build_app(open_dependencies: Callable[[], AbstractAsyncContextManager[Runtime]]) -> FastAPI:
    @asynccontextmanager
    async def open_with_checks() -> AsyncIterator[Runtime]:
        async with open_dependencies() as runtime:
            products = tuple(each.info for each in PRODUCTS)
            yield replace(
                runtime,
                bundle_checks=BUNDLE_CHECKS,
                products=products,
                job_hooks=JOB_HOOKS,
                is_live_video=LiveVideos(runtime.database, runtime.monotonic).is_live,
            )

    app = create_app(open_with_checks, ROUTERS)
    app.router.routes.extend(console_routes())
    return app


class WaitsEnd:
    """Ends waiting requests before the process waits for its requests."""

    def __init__(self) -> None:
        self.end: Callable[[], None] = lambda: None


class ApiServer(uvicorn.Server):
    """Ends waiting requests when it stops, because it would wait for them."""

    def __init__(self, config: uvicorn.Config, waits: WaitsEnd) -> None:
        super().__init__(config)
        self._waits = waits

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        self._waits.end()
        await super().shutdown(sockets)


def build_service(
    settings: Settings,
    registry: CollectorRegistry,
    *,
    admission: Admission | None = None,
    waits: WaitsEnd | None = None,
) -> ASGIApp:
    """The ASGI application with metrics, tracing and access log."""
    serve_metrics(registry, settings.metrics_port, host=settings.metrics_host)
    tracing = configure_tracing(settings, SERVICE)
    subscriptions = Gauge("cutroom_event_subscriptions", "Waiting requests and streams.", registry=registry)

    @asynccontextmanager
    async def open_dependencies() -> AsyncIterator[Runtime]:
        async with open_runtime(settings) as runtime:
            if admission is not None:
                admission.watch(runtime.database.spare_connections)
            if waits is not None:
                waits.end = runtime.events.end
            subscriptions.set_function(lambda: runtime.events.subscriptions)
            yield runtime
        if tracing is not None:
            tracing.shutdown()

    return RequestMiddleware(
        build_app(open_dependencies),
        registry=registry,
        tracer=tracing.get_tracer(SERVICE) if tracing else None,
        access_log=AccessLog(settings.log_level),
        is_secure=settings.is_secure,
    )


def main() -> None:
    settings = Settings()
    configure_logging(settings.log_level)
    sys.setswitchinterval(SWITCH_SECONDS)
    registry = CollectorRegistry()
    admission = open_admission(settings, registry)
    waits = WaitsEnd()
    config = uvicorn.Config(
        build_service(settings, registry, admission=admission, waits=waits),
        host=settings.api_host,
        port=settings.api_port,
        loop="uvloop",
        http=serving_protocol(settings, admission),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=settings.trusted_proxies,
        timeout_keep_alive=75,  # longer than load balancers keep idle connections, so that they close first
        timeout_graceful_shutdown=30,
    )
    server = ApiServer(config, waits)
    server.run()
    if not server.started:
        sys.exit(STARTUP_FAILURE)


if __name__ == "__main__":
    main()
