"""The storage page: what uses space, what can go, and how long each kind is kept."""

from starlette.responses import Response

from cutroom.console.framework.page_context import PageContext, error_text, page, parse, redirect
from cutroom.errors import CutroomError
from cutroom.jobs import routes as library
from cutroom.retention.policy import routes
from cutroom.retention.policy.rules import MAX_DAYS
from cutroom.retention.policy.schemas import RetentionPolicyPatch
from cutroom.retention.policy.service import list_largest_videos

FIELDS = {
    "originalsDays": ("Original files", "From the import. Without the original, nothing new can be made of a video."),
    "intermediatesDays": ("Working files", "Audio tracks and previews, made again from the original when needed."),
    "outputsDays": ("Dubs, shorts and streams", "Those of a video go together, after the last change of any of them."),
}


async def _page(
    context: PageContext, *, error: str | None = None, given: dict[str, str] | None = None, status: int = 200
) -> Response:
    policy, revision = await context.call_revised(routes.get_retention)
    days = {name: "" if value is None else str(value) for name, value in policy.model_dump(by_alias=True).items()}
    summary = await context.call_operation(library.get_library)
    return context.page(
        "storage.html",
        status=status,
        error=error,
        storage=summary.storage,
        videos=await list_largest_videos(context.call.connection, context.me.principal.library_id),
        preview=await context.call_operation(routes.preview_retention),
        report=await context.call_operation(routes.get_retention_report),
        fields=[(name, label, hint, (given or days)[name]) for name, (label, hint) in FIELDS.items()],
        revision=revision,
        max_days=MAX_DAYS,
    )


async def show_storage(context: PageContext) -> Response:
    return await _page(context)


async def change(context: PageContext) -> Response:
    """Saves the times; an empty field keeps a kind for ever."""
    given = {name: context.form.text(name) for name in FIELDS}
    try:
        async with context.call.connection.transaction():
            patch = parse(RetentionPolicyPatch, {name: _days(text) for name, text in given.items()})
            revision = context.form.text("revision") or None
            await context.call_operation(routes.update_retention, patch, if_match=revision)
    except CutroomError as error:
        return await _page(context, error=error_text(error), given=given, status=error.status)
    return redirect("/storage", notice="saved")


def _days(text: str) -> int | str | None:
    """A number for the schema to check; other text stays, so that the schema refuses it."""
    return int(text) if text.isascii() and text.isdigit() else text or None


ROUTES = [
    page("/storage", show_storage),
    page("/storage", change, method="POST"),
]
