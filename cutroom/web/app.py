"""Builds the HTTP application from a runtime factory and the products' routers."""

import asyncio
import base64
import hashlib
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from importlib.resources import files
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.middleware.asyncexitstack import AsyncExitStackMiddleware
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.routing import APIRoute
from pydantic.alias_generators import to_camel
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from cutroom.errors import Code, CutroomError
from cutroom.platform.process.health import Readiness
from cutroom.web.head_requests import HeadAwareRoute
from cutroom.web.openapi import API_VERSION, document
from cutroom.web.runtime import Runtime
from cutroom.web.schema import ApiModel

VERSION = "v1"
_DESCRIPTION = """Import a video and get transcripts, subtitles, translated captions, dubs, shorts, thumbnails, titles,
downloads and hosted playback. Every product is an asynchronous job with a deterministic id. Prices are exact and known
before a job starts, and failed jobs are refunded."""
_TAGS = [
    {"name": "Health", "description": "Service health."},
    {"name": "Capabilities", "description": "What can be made now, and within which limits."},
    {"name": "Ingest", "description": "Import and upload videos."},
    {"name": "Jobs", "description": "Asynchronous jobs and their progress."},
    {"name": "Library", "description": "Videos, folders, characters and brand voices."},
    {"name": "Webhooks", "description": "Endpoints that receive events."},
    {"name": "Audit log", "description": "Who changed what, when and from where."},
    {"name": "Destination", "description": "Copies of outputs in a bucket of your own."},
    {"name": "Exports", "description": "One archive of the whole library."},
]


# Operations of an earlier API version. They return 410, with or without a key.
RETIRED_OPERATIONS = (
    ("POST", "/v1/upload-and-caption"),
    ("POST", "/v1/upload-and-dub"),
    ("GET", "/v1/videos/{videoId}/subtitles/{lang}/download"),
)


class Health(ApiModel):
    """Service health."""

    ok: bool
    version: str


class Application(FastAPI):
    """FastAPI without its error-handling middleware; ours produces every error response."""

    def build_middleware_stack(self) -> ASGIApp:
        return AsyncExitStackMiddleware(self.router)


def create_app(
    open_runtime: Callable[[], AbstractAsyncContextManager[Runtime]], routers: Sequence[APIRouter]
) -> FastAPI:
    """Build the application; its runtime is opened and closed by the lifespan."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with open_runtime() as runtime:
            app.state.runtime = runtime
            recorder = asyncio.create_task(runtime.last_use.run())
            watcher = asyncio.create_task(runtime.readiness.watch())
            yield
            for task in (recorder, watcher):
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
            await runtime.last_use.flush()

    app = Application(
        title="Cutroom",
        version=API_VERSION,
        summary="Video and audio work over one HTTP API.",
        description=_DESCRIPTION,
        openapi_tags=_TAGS,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
        generate_unique_id_function=_operation_id,
        telemetry={"tracing": False, "metrics": False, "logs": False},  # done by RequestMiddleware
    )
    app.router.route_class = HeadAwareRoute
    for router in routers:  # paths are absolute, so one flat list works and matches faster
        app.router.routes.extend(router.routes)
        for route in router.routes:
            if isinstance(route, APIRoute):
                route.unique_id = route.operation_id or _operation_id(route)  # routers assign their own names
    _add_public_routes(app)
    return app


def _operation_id(route: APIRoute) -> str:
    return to_camel(route.name)


def _docs_policy(page: str) -> str:
    """Allows the scripts in the page by their hashes, and the inline styles that Swagger UI sets."""
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{each}'" for each in hashes)
    return (
        f"default-src 'none'; script-src 'self' {allowed}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
    )


def _add_public_routes(app: FastAPI) -> None:
    """Add routes that need no key: health, OpenAPI and the API reference."""

    @app.get("/v1/health", tags=["Health"], summary="Health", operation_id="getHealth")
    async def health() -> Health:
        """Returns whether the service is up. Needs no API key, so that load balancers can call it."""
        return Health(ok=True, version=VERSION)

    @app.get("/ready", include_in_schema=False)
    async def ready(request: Request) -> JSONResponse:
        """For orchestrators: 503 while the process cannot serve requests that another one could."""
        readiness: Readiness = request.app.state.runtime.readiness
        return JSONResponse(
            {"ready": readiness.is_ready, "dependencies": readiness.dependencies()},
            status_code=200 if readiness.is_ready else 503,
        )

    @app.get("/v1/openapi.json", include_in_schema=False)
    async def openapi() -> JSONResponse:
        return JSONResponse(document(app))

    async def retired() -> None:
        raise CutroomError(Code.GONE)

    for method, path in RETIRED_OPERATIONS:
        app.add_api_route(path, retired, methods=[method], include_in_schema=False)

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        assets = "/docs/assets/"
        page = get_swagger_ui_html(
            openapi_url="/v1/openapi.json",
            title="Cutroom API",
            swagger_js_url=assets + "swagger-ui-bundle.js",
            swagger_css_url=assets + "swagger-ui.css",
            swagger_favicon_url=assets + "favicon-32x32.png",
            swagger_ui_parameters={"persistAuthorization": True, "docExpansion": "list"},
        )
        page.headers["Content-Security-Policy"] = _docs_policy(bytes(page.body).decode())
        return page

    pages: Any = files("fastapi_swagger") / "resources"
    app.mount("/docs/assets", StaticFiles(directory=pages), name="docs-assets")
