"""Arranging folders, and videos in them."""

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
    """An empty shelf goes; what stood on it stays in the library. One that holds other folders is left alone."""
    await get_folder(connection, principal, folder_id)
    holds = await connection.fetchval(
        "SELECT EXISTS (SELECT FROM folders WHERE library_id = $1 AND parent_id = $2)", principal.library_id, folder_id
    )
    if holds:
        raise CutroomError(Code.CONFLICT, message="There are folders in this one. Delete those first.")
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
    """Put videos into one folder, or into none; how many moved. One that is not of this library moves nothing."""
    if folder_id is not None:
        await get_folder(connection, principal, folder_id)
    wanted = list(dict.fromkeys(video_ids))
    rows = await connection.fetch(
        "UPDATE videos SET folder_ids = $3 WHERE library_id = $1 AND id = ANY ($2::text[]) RETURNING id",
        principal.library_id,
        wanted,
        [folder_id] if folder_id is not None else [],
    )
    if len(rows) != len(wanted):
        raise not_found()  # the transaction takes the others back
    return len(rows)
