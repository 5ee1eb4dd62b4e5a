"""The cast page: the people of a series, where they are recognized, and comparisons of existing transcripts."""

from typing import Any

from starlette.responses import Response

from cutroom.accounts.principals import Role
from cutroom.cast import routes as cast
from cutroom.cast.rules import MAX_NAME
from cutroom.cast.schemas import CastRecognition, CastRecognitionRun, NewCastMember, NewCastRecognitionRun
from cutroom.console.framework.page_context import PageContext, error_text, page, parse, redirect
from cutroom.console.framework.states import StateLabel
from cutroom.errors import Code, CutroomError
from cutroom.library import routes as library
from cutroom.library.schemas import Folder
from cutroom.products.transcripts.recognition_runs import routes as runs
from cutroom.web.paging import MAX_PAGE


async def show_cast(context: PageContext) -> Response:
    return await _page(context)


async def _page(context: PageContext, *, error: str | None = None, status: int = 200) -> Response:
    token = context.request.query_params.get("from")
    listed = await context.call_operation(cast.list_cast_members, limit=MAX_PAGE, page_token=token)
    run, principal = await load_run(context), context.me.principal
    shown: dict[str, Any] = {
        "members": listed.members,
        "next_token": listed.next_page_token,
        "folder_names": await folder_names(context),
        "recognition": await context.call_operation(cast.get_cast_recognition),
        "run": run,
        "run_label": run_label(run),
        "may_write": principal.may_write,
        "may_administrate": principal.role in {Role.OWNER, Role.ADMIN},
        "max_name": MAX_NAME,
        "error": error,
    }
    return context.page("cast/page.html", status=status, **shown)


async def folder_names(context: PageContext) -> dict[str, str]:
    """The path of each folder by its id, in the order of a tree."""
    folders: list[Folder] = (await context.call_operation(library.list_folders)).folders
    paths = {each.id: " / ".join(each.path) for each in folders}
    return dict(sorted(paths.items(), key=lambda item: item[1].casefold()))


async def load_run(context: PageContext) -> CastRecognitionRun | None:
    """The latest comparison, if there was one."""
    try:
        return await context.call_operation(runs.get_cast_recognition_run)
    except CutroomError as error:
        if error.code is not Code.NOT_FOUND:
            raise
        return None


def run_label(run: CastRecognitionRun | None) -> StateLabel | None:
    if run is None:
        return None
    videos = f"{run.videos_compared} {'video' if run.videos_compared == 1 else 'videos'}"
    if run.status == "running":
        return StateLabel("processing", f"Comparing: {videos} so far, {run.speakers_recognized} recognized")
    failed = f", {run.videos_failed} could not be read" if run.videos_failed else ""
    return StateLabel("ready", f"Compared {videos}: {run.speakers_recognized} speakers recognized{failed}")


async def create(context: PageContext) -> Response:
    folder_id = context.form.text("folder")
    document = {"name": context.form.text("name"), **({"folderId": folder_id} if folder_id else {})}
    try:
        async with _savepoint(context):
            member = await context.call_operation(cast.create_cast_member, parse(NewCastMember, document))
    except CutroomError as error:
        return await _page(context, error=error_text(error), status=error.status)
    return redirect(f"/cast/{member.id}", notice="created")


async def set_recognition(context: PageContext) -> Response:
    """Turning it on takes the confirmation that the people have agreed."""
    place = context.form.text("place")
    wanted = {
        "recognizeSpeakers": place == "library",
        "folderIds": context.form.all("folder") if place == "folders" else [],
    }
    is_on = wanted["recognizeSpeakers"] or wanted["folderIds"]
    if is_on and not context.form.has("consent"):
        return await _page(context, error="Confirm that the people have agreed.", status=400)
    if place == "folders" and not is_on:
        return await _page(context, error="Choose a folder.", status=400)
    await context.call_operation(cast.set_cast_recognition, parse(CastRecognition, wanted))
    return redirect("/cast", notice="recognition")


async def start_run(context: PageContext) -> Response:
    folder_id = context.form.text("folder")
    document = {"folderId": folder_id} if folder_id else {}
    try:
        async with _savepoint(context):
            await context.call_operation(runs.run_cast_recognition, parse(NewCastRecognitionRun, document))
    except CutroomError as error:
        return await _page(context, error=error_text(error), status=error.status)
    return redirect("/cast")


def _savepoint(context: PageContext) -> Any:  # noqa: ANN401 (asyncpg's transaction)
    """The page continues in its transaction after a change that was refused."""
    return context.call.connection.transaction()


ROUTES = [
    page("/cast", show_cast),
    page("/cast", create, method="POST"),
    page("/cast/recognition", set_recognition, method="POST"),
    page("/cast/run", start_run, method="POST"),
]
