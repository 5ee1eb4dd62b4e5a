"""All pages in one list, and the files they are made of."""

from starlette.responses import Response
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from cutroom.console import (
    apps,
    brand_voices,
    characters,
    consent,
    folders,
    keys,
    library,
    money,
    publishing,
    sign_in,
    tokens,
    video,
    voices,
    webhooks,
    workspaces,
)
from cutroom.console.page import Visit, go, page
from cutroom.console.render import STATIC


class Files(StaticFiles):
    """Our own files; their addresses change with their content, so browsers keep them."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response


async def front_door(_visit: Visit) -> Response:
    return go("/library")


def console_routes() -> list[BaseRoute]:
    """What stands beside /v1. None of it is in the OpenAPI document."""
    return [
        page("/", front_door),
        *library.ROUTES,
        *video.ROUTES,
        *publishing.ROUTES,
        *folders.ROUTES,
        *voices.ROUTES,
        *characters.ROUTES,
        *brand_voices.ROUTES,
        *sign_in.ROUTES,
        *consent.ROUTES,
        *tokens.ROUTES,
        *apps.ROUTES,
        *keys.ROUTES,
        *webhooks.ROUTES,
        *money.ROUTES,
        *workspaces.ROUTES,
        Mount("/static", Files(directory=STATIC), name="console-files"),
    ]
