"""Creates, renames and deletes folders, and moves videos between them."""

from starlette.responses import Response

from cutroom.console.framework.editing import EditField, Editor, saved, submit, submit_deletion
from cutroom.console.framework.page_context import PageContext, page, parse, redirect
from cutroom.errors import invalid_field
from cutroom.library import folders, routes
from cutroom.library.rules import MAX_FOLDER_NAME
from cutroom.library.schemas import Folder, FolderPatch, NewFolder
from cutroom.web.operation import operation_of

MAX_MOVED = 100
NO_FOLDER = "none"


async def create(context: PageContext) -> Response:
    fields = {"name": context.form.text("name"), "parentId": context.form.text("folder") or None}
    document = {name: value for name, value in fields.items() if value is not None}
    folder = await context.call_operation(routes.create_folder, parse(NewFolder, document))
    return redirect("/library", folder=folder.id)


async def load_folder_editor(context: PageContext, folder_id: str) -> Editor:
    """The form that renames a folder, with its current name and revision."""
    folder, revision = await context.call_revised(routes.get_folder, folder_id)
    field = EditField("name", "Name", folder.name, max_length=MAX_FOLDER_NAME)
    action, back = f"/library/folders/{folder_id}/rename", f"/library?folder={folder_id}"
    return Editor("Rename folder", action, back, (field,), revision, button="Rename")


async def rename(context: PageContext) -> Response:
    folder_id = context.request.path_params["folder_id"]

    async def save(revision: str | None) -> Folder:
        patch = parse(FolderPatch, {"name": context.form.text("name")})
        return await context.call_operation(routes.update_folder, folder_id, patch, if_match=revision)

    rejected = await submit(context, lambda: load_folder_editor(context, folder_id), save)
    return rejected or redirect("/library", folder=folder_id, notice="renamed")


async def delete(context: PageContext) -> Response:
    folder_id = context.request.path_params["folder_id"]

    async def remove(revision: str | None) -> None:
        await context.call_operation(routes.delete_folder, folder_id, if_match=revision)

    rejected = await submit_deletion(context, lambda: load_folder_editor(context, folder_id), remove)
    return rejected or redirect("/library", notice="folder-deleted")


async def move(context: PageContext) -> Response:
    """Moves the videos selected in the grid, or the one video of a video page."""
    operation_of(routes.update_video).authorize(context.me.principal)  # all videos in one statement, or none
    videos, target = context.form.all("video"), context.form.text("to")
    if not videos or len(videos) > MAX_MOVED or not target:
        raise invalid_field("video", f"Choose a folder and 1 to {MAX_MOVED} videos.")
    folder_id = None if target == NO_FOLDER else target
    await folders.move_videos(context.call.connection, context.me.principal, videos, folder_id=folder_id)
    context.record("videos.move", targets={"videoIds": videos}, after={"folderId": folder_id})
    if context.is_fragment:
        return saved(context, "/library")
    if context.form.has("stay"):
        return redirect(f"/videos/{videos[0]}", notice="moved")
    return redirect("/library", notice="moved", **({"folder": folder_id} if folder_id else {}))


ROUTES = [
    page("/library/folders", create, method="POST"),
    page("/library/folders/{folder_id}/rename", rename, method="POST"),
    page("/library/folders/{folder_id}/delete", delete, method="POST"),
    page("/library/move", move, method="POST"),
]
