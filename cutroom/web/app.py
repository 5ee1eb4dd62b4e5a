"""Builds the HTTP application from a way to open its runtime and the routers of the rooms above."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from importlib.resources import files
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.middleware.asyncexitstack import AsyncExitStackMiddleware
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.routing import APIRoute
from pydantic.alias_generators import to_camel
from starlette.responses import HTMLResponse, JSONResponse
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from cutroom.errors import Code, CutroomError
from cutroom.web.openapi import API_VERSION, document
from cutroom.web.runtime import Runtime
from cutroom.web.schema import ApiModel

VERSION = "v1"
_DESCRIPTION = """Put a video in; get transcripts, subtitles, translated captions, dubs, shorts, thumbnails, titles,
downloads and hosted playback back. Every product is a job with an id that can be told beforehand and asked about
at any time. Prices are exact and known before work starts, and what fails is given back."""
_TAGS = [
    {"name": "Health", "description": "Whether the service answers."},
    {"name": "Ingest", "description": "Putting videos in: imports and uploads."},
    {"name": "Jobs", "description": "What was asked for, and how far it has come."},
    {"name": "Library", "description": "Videos and what they are filed and styled with."},
    {"name": "Webhooks", "description": "Destinations that are told what happens."},
]


# What an earlier interface had; whoever still asks is told that it is gone, with a key or without one.
RETIRED = (
    ("POST", "/v1/upload-and-caption"),
    ("POST", "/v1/upload-and-dub"),
    ("GET", "/v1/videos/{videoId}/subtitles/{lang}/download"),
)


class Health(ApiModel):
    """The service answers."""

    ok: bool
    version: str


class Application(FastAPI):
    """FastAPI without its layers of error handling: the envelope and the edge answer every error."""

    def build_middleware_stack(self) -> ASGIApp:
        return AsyncExitStackMiddleware(self.router)


def create_app(
    open_runtime: Callable[[], AbstractAsyncContextManager[Runtime]], routers: Sequence[APIRouter]
) -> FastAPI:
    """The application; its runtime lives as long as it is served."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with open_runtime() as runtime:
            app.state.runtime = runtime
            recorder = asyncio.create_task(runtime.last_use.run())
            yield
            recorder.cancel()
            with suppress(asyncio.CancelledError):
                await recorder
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
        telemetry={"tracing": False, "metrics": False, "logs": False},  # the edge does it
    )
    for router in routers:  # their paths are whole already, so one flat list serves and is matched faster
        app.router.routes.extend(router.routes)
        for route in router.routes:
            if isinstance(route, APIRoute):
                route.unique_id = route.operation_id or _operation_id(route)  # a router gives names of its own
    _add_open_routes(app)
    return app


def _operation_id(route: APIRoute) -> str:
    return to_camel(route.name)


def _add_open_routes(app: FastAPI) -> None:
    """What needs no key: health, the OpenAPI document and its pages."""

    @app.get("/v1/health", tags=["Health"], summary="Health", operation_id="getHealth")
    async def health() -> Health:
        """Answers without a key, so that load balancers can ask."""
        return Health(ok=True, version=VERSION)

    @app.get("/v1/openapi.json", include_in_schema=False)
    async def openapi() -> JSONResponse:
        return JSONResponse(document(app))

    async def retired() -> None:
        raise CutroomError(Code.GONE)

    for method, path in RETIRED:
        app.add_api_route(path, retired, methods=[method], include_in_schema=False)

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        assets = "/docs/assets/"
        return get_swagger_ui_html(
            openapi_url="/v1/openapi.json",
            title="Cutroom API",
            swagger_js_url=assets + "swagger-ui-bundle.js",
            swagger_css_url=assets + "swagger-ui.css",
            swagger_favicon_url=assets + "favicon-32x32.png",
            swagger_ui_parameters={"persistAuthorization": True, "docExpansion": "list"},
        )

    pages: Any = files("fastapi_swagger") / "resources"
    app.mount("/docs/assets", StaticFiles(directory=pages), name="docs-assets")
