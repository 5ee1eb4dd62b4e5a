"""The storage page: what uses space, what can go, how long each kind is kept, exports, and the library's own bucket."""

from dataclasses import dataclass

from starlette.responses import Response

from cutroom.console.framework.page_context import PageContext, error_text, page, parse, redirect
from cutroom.console.framework.states import StateLabel, copy_label, export_label
from cutroom.errors import Code, CutroomError
from cutroom.jobs import routes as library
from cutroom.jobs.states import TERMINAL, JobState
from cutroom.retention.copies import routes as copies
from cutroom.retention.copies.schemas import DestinationSettings, OutputCopy
from cutroom.retention.exports import routes as exports
from cutroom.retention.exports.rules import LIFETIME, MAX_READY
from cutroom.retention.exports.schemas import LibraryExport
from cutroom.retention.policy import routes
from cutroom.retention.policy.rules import MAX_DAYS
from cutroom.retention.policy.schemas import RetentionPolicyPatch
from cutroom.retention.policy.service import list_largest_videos

FIELDS = {
    "originalsDays": ("Original files", "From the import. Without the original, nothing new can be made of a video."),
    "intermediatesDays": ("Working files", "Audio tracks and previews, made again from the original when needed."),
    "outputsDays": ("Dubs, shorts and streams", "Those of a video go together, after the last change of any of them."),
}
BUCKET_FIELDS = {
    "endpoint": ("Endpoint", "https://s3.eu-central-1.amazonaws.com"),
    "region": ("Region", "eu-central-1"),
    "bucket": ("Bucket", "my-outputs"),
    "prefix": ("Prefix", "Optional"),
    "accessKeyId": ("Access key ID", ""),
}
LISTED_COPIES = 10
EXPORT_GONE = "This export no longer exists: it was deleted or has expired."


@dataclass(frozen=True, slots=True)
class ExportSection:
    """The library's exports, and whether another one can be started."""

    exports: list[tuple[LibraryExport, StateLabel]]
    limit: int = MAX_READY

    @property
    def is_busy(self) -> bool:
        return any(export.status not in TERMINAL for export, _ in self.exports)

    @property
    def is_full(self) -> bool:
        return sum(export.status is JobState.READY for export, _ in self.exports) >= self.limit


@dataclass(frozen=True, slots=True)
class BucketSection:
    """The library's own bucket, if it has one, and the latest copies in it."""

    fields: list[tuple[str, str, str, str]]  # name, label, placeholder and value
    copies: list[tuple[OutputCopy, StateLabel]]
    revision: str = ""
    is_enabled: bool = True


async def _page(
    context: PageContext,
    *,
    error: str | None = None,
    export_error: str | None = None,
    bucket_error: str | None = None,
    bucket_given: dict[str, str] | None = None,
    given: dict[str, str] | None = None,
    status: int = 200,
) -> Response:
    policy, revision = await context.call_revised(routes.get_retention)
    days = {name: "" if value is None else str(value) for name, value in policy.model_dump(by_alias=True).items()}
    summary = await context.call_operation(library.get_library)
    return context.page(
        "storage.html",
        status=status,
        error=error,
        storage=summary.storage,
        quotas=summary.quotas,
        videos=await list_largest_videos(context.call.connection, context.me.principal.library_id),
        preview=await context.call_operation(routes.preview_retention),
        report=await context.call_operation(routes.get_retention_report),
        fields=[(name, label, hint, (given or days)[name]) for name, (label, hint) in FIELDS.items()],
        revision=revision,
        max_days=MAX_DAYS,
        section=await _load_exports(context) if context.me.principal.is_admin else None,
        export_error=export_error,
        bucket=await _load_bucket(context, bucket_given) if context.me.principal.is_admin else None,
        bucket_error=bucket_error,
        export_days=LIFETIME.days,
    )


async def _load_exports(context: PageContext) -> ExportSection:
    listed = await context.call_operation(exports.list_library_exports)
    return ExportSection([(each, export_label(each)) for each in listed.exports])


async def _load_bucket(context: PageContext, given: dict[str, str] | None) -> BucketSection:
    values, revision, is_enabled = dict[str, str](), "", True
    try:
        destination, revision = await context.call_revised(copies.get_destination)
        values, is_enabled = destination.model_dump(by_alias=True), destination.enabled
    except CutroomError as error:
        if error.code is not Code.NOT_FOUND:
            raise
    values = given or values
    listed = await context.call_operation(copies.list_output_copies, limit=LISTED_COPIES)
    return BucketSection(
        fields=[(name, label, hint, values.get(name, "")) for name, (label, hint) in BUCKET_FIELDS.items()],
        copies=[(each, copy_label(each)) for each in listed.copies],
        revision=revision,
        is_enabled=is_enabled,
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


async def show_exports(context: PageContext) -> Response:
    """The list of exports, polled as a fragment while one is unfinished."""
    if not context.is_fragment:
        return redirect("/storage#export")
    return context.page("exports_list.html", section=await _load_exports(context))


async def start_export(context: PageContext) -> Response:
    try:
        await context.call_operation(exports.create_library_export)
    except CutroomError as error:
        if error.code not in {Code.CONFLICT, Code.FAILED_PRECONDITION}:
            raise
        return await _page(context, export_error=error_text(error), status=error.status)
    return redirect("/storage?notice=export-started#export")


async def download_export(context: PageContext) -> Response:
    """Redirects to the archive: its URL is valid for an hour, but the page may be open for longer."""
    try:
        export = await context.call_operation(exports.get_library_export, context.request.path_params["export_id"])
    except CutroomError as error:
        return await _show_gone(context, error)
    return redirect(export.download_url or "/storage#export")


async def delete_export(context: PageContext) -> Response:
    try:
        await context.call_operation(exports.delete_library_export, context.request.path_params["export_id"])
    except CutroomError as error:
        return await _show_gone(context, error)
    return redirect("/storage?notice=export-deleted#export")


async def _show_gone(context: PageContext, error: CutroomError) -> Response:
    if error.code is not Code.NOT_FOUND:
        raise error
    return await _page(context, export_error=EXPORT_GONE, status=error.status)


async def save_bucket(context: PageContext) -> Response:
    """Saves the bucket after a test of its key; an empty secret keeps the stored one."""
    given = {name: context.form.text(name) for name in BUCKET_FIELDS}
    secret = context.form.secret("secretAccessKey") or None
    try:
        async with context.call.connection.transaction():
            enabled = context.form.has("enabled")
            settings = parse(DestinationSettings, {**given, "secretAccessKey": secret, "enabled": enabled})
            revision = context.form.text("revision") or None
            await context.call_operation(copies.set_destination, settings, if_match=revision)
    except CutroomError as error:
        return await _page(context, bucket_error=error_text(error), bucket_given=given, status=error.status)
    return redirect("/storage?notice=bucket-saved#bucket")


async def delete_bucket(context: PageContext) -> Response:
    await context.call_operation(copies.delete_destination)
    return redirect("/storage?notice=bucket-removed#bucket")


async def retry_copy(context: PageContext) -> Response:
    try:
        await context.call_operation(copies.retry_output_copy, context.request.path_params["copy_id"])
    except CutroomError as error:
        return await _page(context, bucket_error=error_text(error), status=error.status)
    return redirect("/storage#bucket")


ROUTES = [
    page("/storage", show_storage),
    page("/storage", change, method="POST"),
    page("/storage/bucket", save_bucket, method="POST"),
    page("/storage/bucket/delete", delete_bucket, method="POST"),
    page("/storage/copies/{copy_id}/retry", retry_copy, method="POST"),
    page("/storage/exports", show_exports),
    page("/storage/exports", start_export, method="POST"),
    page("/storage/exports/{export_id}", download_export),
    page("/storage/exports/{export_id}/delete", delete_export, method="POST"),
]
