"""Renames and deletes folders, and moves videos."""

from collections.abc import Sequence

from cutroom.accounts.principals import Principal
from cutroom.errors import Code, CutroomError, not_found
from cutroom.library.service import get_folder
from cutroom.platform.db import Connection


async def rename_folder(connection: Connection, principal: Principal, folder_id: str, *, name: str) -> None:
    changed = await connection.fetchval(
        "UPDATE folders SET name = $3 WHERE library_id = $1 AND id = $2 RETURNING true",
        principal.library_id,
        folder_id,
        name,
    )
    if changed is None:
        raise not_found()


async def delete_folder(connection: Connection, principal: Principal, folder_id: str) -> None:
    """Delete a folder without subfolders; its videos stay in the library."""
    await get_folder(connection, principal, folder_id)
    has_subfolders = await connection.fetchval(
        "SELECT EXISTS (SELECT FROM folders WHERE library_id = $1 AND parent_id = $2)", principal.library_id, folder_id
    )
    if has_subfolders:
        raise CutroomError(Code.CONFLICT, message="This folder contains folders. Delete them first.")
    await connection.execute(
        """UPDATE videos SET folder_ids = array_remove(folder_ids, $2)
           WHERE library_id = $1 AND folder_ids @> ARRAY[$2]""",
        principal.library_id,
        folder_id,
    )
    await connection.execute("DELETE FROM folders WHERE library_id = $1 AND id = $2", principal.library_id, folder_id)


async def move_videos(
    connection: Connection, principal: Principal, video_ids: Sequence[str], *, folder_id: str | None
) -> int:
    """Move videos to a folder, or out of all folders; all or none are moved. Return how many."""
    if folder_id is not None:
        await get_folder(connection, principal, folder_id)
    unique_ids = list(dict.fromkeys(video_ids))
    rows = await connection.fetch(
        "UPDATE videos SET folder_ids = $3 WHERE library_id = $1 AND id = ANY ($2::text[]) RETURNING id",
        principal.library_id,
        unique_ids,
        [folder_id] if folder_id is not None else [],
    )
    if len(rows) != len(unique_ids):
        raise not_found()  # rolls back the others
    return len(rows)
