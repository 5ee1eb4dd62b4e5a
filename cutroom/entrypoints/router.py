"""The router process: one address in front of several cells."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import uvicorn
from prometheus_client import CollectorRegistry
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from cutroom.cells.directory import Directory
from cutroom.cells.router.cell_clients import CellClients
from cutroom.cells.router.locating import Locator
from cutroom.cells.router.metrics import RouterMetrics
from cutroom.cells.router.proxy import RouterApp
from cutroom.platform.settings import RouterSettings
from cutroom.platform.telemetry import configure_logging, serve_metrics


class RouterProcess:
    """The ASGI application with its lifespan; `/ready` is its own, everything else is a cell's."""

    def __init__(self, settings: RouterSettings, registry: CollectorRegistry) -> None:
        self._settings = settings
        self._metrics = RouterMetrics(registry)
        self._app: RouterApp | None = None
        self._own = Starlette(routes=[Route("/ready", _ready)], lifespan=self._open)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] == "/ready" or self._app is None:
            await self._own(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    @asynccontextmanager
    async def _open(self, _app: Starlette) -> AsyncIterator[None]:
        clients = CellClients(self._settings.cell_token.get_secret_value())
        async with Directory.open(self._settings.directory_url.get_secret_value()) as directory:
            locator = Locator(directory, clients)
            await locator.refresh()
            following = asyncio.create_task(locator.follow())
            self._app = RouterApp(locator, clients, self._metrics)
            try:
                yield
            finally:
                following.cancel()
                with suppress(asyncio.CancelledError):
                    await following
                await clients.close()


async def _ready(_request: Request) -> JSONResponse:
    return JSONResponse({"ready": True})


def main() -> None:
    settings = RouterSettings()
    configure_logging(settings.log_level)
    logging.getLogger("httpx").setLevel(logging.WARNING)  # it logs a line per request
    registry = CollectorRegistry()
    serve_metrics(registry, settings.metrics_port, host=settings.metrics_host)
    uvicorn.run(
        RouterProcess(settings, registry),
        host=settings.router_host,
        port=settings.router_port,
        loop="uvloop",
        http="httptools",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=settings.trusted_proxies,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=30,
    )


if __name__ == "__main__":
    main()
