"""Collects the console's routes and serves its static files."""

from starlette.responses import Response
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from cutroom.console.framework.page_context import PageContext, page, redirect
from cutroom.console.framework.rendering import STATIC
from cutroom.console.pages import (
    audit_log,
    billing,
    brand_voices,
    characters,
    files,
    folders,
    job_actions,
    keys,
    library,
    live,
    notifications,
    orders,
    product_deletion,
    publishing,
    selection,
    sign_in,
    storage,
    trash,
    video,
    video_editing,
    voices,
    webhooks,
    workspaces,
)
from cutroom.console.pages.accounts import account, passkeys, password_reset, second_factor, sessions
from cutroom.console.pages.cast import member as cast_member
from cutroom.console.pages.cast import members as cast_members
from cutroom.console.pages.cast import speakers as cast_speakers
from cutroom.console.pages.oauth import apps, consent, tokens
from cutroom.console.pages.reviews import comments as review_comments
from cutroom.console.pages.reviews import guest_entry, presence
from cutroom.console.pages.reviews import links as review_links
from cutroom.console.pages.studio import edits as studio_edits
from cutroom.console.pages.studio import script as studio_script
from cutroom.console.pages.studio import speech as studio_speech
from cutroom.console.pages.studio import views as studio


class ImmutableStaticFiles(StaticFiles):
    """Static files with a content hash in the URL, cached by browsers without revalidation."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response


async def redirect_home(_context: PageContext) -> Response:
    return redirect("/library")


def console_routes() -> list[BaseRoute]:
    """Routes served next to /v1; none of them is in the OpenAPI document."""
    return [
        page("/", redirect_home),
        *library.ROUTES,
        *video.ROUTES,
        *live.ROUTES,
        *video_editing.ROUTES,
        *studio.ROUTES,
        *studio_edits.ROUTES,
        *studio_speech.ROUTES,
        *studio_script.ROUTES,
        *cast_members.ROUTES,
        *cast_member.ROUTES,
        *cast_speakers.ROUTES,
        *orders.ROUTES,
        *job_actions.ROUTES,
        *product_deletion.ROUTES,
        *publishing.ROUTES,
        *review_links.ROUTES,
        *review_comments.ROUTES,
        *presence.ROUTES,
        *files.ROUTES,
        *folders.ROUTES,
        *selection.ROUTES,
        *trash.ROUTES,
        *voices.ROUTES,
        *characters.ROUTES,
        *brand_voices.ROUTES,
        *guest_entry.ROUTES,
        *sign_in.ROUTES,
        *password_reset.ROUTES,
        *account.ROUTES,
        *sessions.ROUTES,
        *second_factor.ROUTES,
        *passkeys.ROUTES,
        *consent.ROUTES,
        *tokens.ROUTES,
        *apps.ROUTES,
        *keys.ROUTES,
        *storage.ROUTES,
        *webhooks.ROUTES,
        *notifications.ROUTES,
        *billing.ROUTES,
        *workspaces.ROUTES,
        *audit_log.ROUTES,
        Mount("/static", ImmutableStaticFiles(directory=STATIC), name="console-static"),
    ]
