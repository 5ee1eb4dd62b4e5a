"""Creates, renames and deletes folders, and moves videos between them."""

from starlette.responses import Response

from cutroom.console.framework.page_context import PageContext, page, parse, redirect
from cutroom.errors import invalid_field
from cutroom.library import folders, routes
from cutroom.library.schemas import FolderPatch, NewFolder
from cutroom.web.operation import operation_of

MAX_MOVED = 100
NO_FOLDER = "none"


async def create(context: PageContext) -> Response:
    fields = {"name": context.form.text("name"), "parentId": context.form.text("folder") or None}
    document = {name: value for name, value in fields.items() if value is not None}
    folder = await context.call_operation(routes.create_folder, parse(NewFolder, document))
    return redirect("/library", folder=folder.id)


async def rename(context: PageContext) -> Response:
    folder_id = context.request.path_params["folder_id"]
    patch = parse(FolderPatch, {"name": context.form.text("name")})
    await context.call_operation(routes.update_folder, folder_id, patch)
    return redirect("/library", folder=folder_id, notice="renamed")


async def delete(context: PageContext) -> Response:
    await context.call_operation(routes.delete_folder, context.request.path_params["folder_id"])
    return redirect("/library", notice="folder-deleted")


async def move(context: PageContext) -> Response:
    """Moves the videos selected in the grid, or the one video of a video page."""
    operation_of(routes.update_video).authorize(context.me.principal)  # all videos in one statement, or none
    videos, target = context.form.all("video"), context.form.text("to")
    if not videos or len(videos) > MAX_MOVED or not target:
        raise invalid_field("video", f"Choose a folder and 1 to {MAX_MOVED} videos.")
    folder_id = None if target == NO_FOLDER else target
    await folders.move_videos(context.call.connection, context.me.principal, videos, folder_id=folder_id)
    context.record("videos.move", targets={"videoIds": videos}, after={"folderId": folder_id})
    if context.form.has("stay"):
        return redirect(f"/videos/{videos[0]}", notice="moved")
    return redirect("/library", notice="moved", **({"folder": folder_id} if folder_id else {}))


ROUTES = [
    page("/library/folders", create, method="POST"),
    page("/library/folders/{folder_id}/rename", rename, method="POST"),
    page("/library/folders/{folder_id}/delete", delete, method="POST"),
    page("/library/move", move, method="POST"),
]
