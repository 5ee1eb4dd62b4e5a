"""Folders: made, renamed, deleted, and videos moved between them."""

from starlette.responses import Response

from cutroom.console.framework.page_context import PageContext, go, page, parse
from cutroom.errors import invalid_field
from cutroom.library import folders, routes
from cutroom.library.schemas import NewFolder
from cutroom.web.operation import operation_of

MAX_MOVED = 100
OUT = "none"  # out of every folder


async def create(visit: PageContext) -> Response:
    wanted = {"name": visit.form.text("name"), "parentId": visit.form.text("folder") or None}
    document = {name: value for name, value in wanted.items() if value is not None}
    made = await visit.perform(routes.create_folder, parse(NewFolder, document))
    return go("/library", folder=made.id)


async def rename(visit: PageContext) -> Response:
    _let_in(visit)
    folder_id = visit.request.path_params["folder_id"]
    wanted = parse(NewFolder, {"name": visit.form.text("name")})
    await folders.rename_folder(visit.call.connection, visit.me.principal, folder_id, name=wanted.name)
    return go("/library", folder=folder_id, said="renamed")


async def delete(visit: PageContext) -> Response:
    _let_in(visit)
    await folders.delete_folder(visit.call.connection, visit.me.principal, visit.request.path_params["folder_id"])
    return go("/library", said="folder-deleted")


async def move(visit: PageContext) -> Response:
    """From the grid some, from a video's own page that one."""
    _let_in(visit)
    videos, target = visit.form.all("video"), visit.form.text("to")
    if not videos or len(videos) > MAX_MOVED or not target:
        raise invalid_field("video", f"Choose a folder, and 1 to {MAX_MOVED} videos.")
    folder_id = None if target == OUT else target
    await folders.move_videos(visit.call.connection, visit.me.principal, videos, folder_id=folder_id)
    if visit.form.has("stay"):
        return go(f"/videos/{videos[0]}", said="moved")
    return go("/library", said="moved", **({"folder": folder_id} if folder_id else {}))


def _let_in(visit: PageContext) -> None:
    """Whoever may make folders may arrange them."""
    operation_of(routes.create_folder).authorize(visit.me.principal)


ROUTES = [
    page("/library/folders", create, method="POST"),
    page("/library/folders/{folder_id}/rename", rename, method="POST"),
    page("/library/folders/{folder_id}/delete", delete, method="POST"),
    page("/library/move", move, method="POST"),
]
