"""All pages in one list, and the files they are made of."""

from starlette.responses import Response
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from cutroom.console.framework.page_context import PageContext, go, page
from cutroom.console.framework.rendering import STATIC
from cutroom.console.pages import (
    billing,
    brand_voices,
    characters,
    folders,
    keys,
    library,
    oauth_apps,
    oauth_consent,
    oauth_tokens,
    publishing,
    sign_in,
    video,
    voices,
    webhooks,
    workspaces,
)


class Files(StaticFiles):
    """Our own files; their addresses change with their content, so browsers keep them."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response


async def front_door(_visit: PageContext) -> Response:
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
        *oauth_consent.ROUTES,
        *oauth_tokens.ROUTES,
        *oauth_apps.ROUTES,
        *keys.ROUTES,
        *webhooks.ROUTES,
        *billing.ROUTES,
        *workspaces.ROUTES,
        Mount("/static", Files(directory=STATIC), name="console-files"),
    ]
