"""Creates, reads, changes and deletes folders, and moves videos between them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import asyncpg

from cutroom.accounts.principals import Principal
from cutroom.errors import Code, CutroomError, invalid_field, not_found
from cutroom.library.rules import MAX_FOLDER_DEPTH, MAX_FOLDERS, is_reserved
from cutroom.library.schemas import Folder, FolderPatch, NewFolder
from cutroom.library.service import lock_revision
from cutroom.platform.db import Connection, insert, update
from cutroom.platform.ids import new_id
from cutroom.web.revisions import Revised
from cutroom.web.schema import changes_of

GET_FOLDER_AND_PARENTS = """WITH RECURSIVE up AS (
        SELECT id, parent_id, name, depth, revision FROM folders WHERE library_id = $1 AND id = $2
        UNION ALL
        SELECT f.id, f.parent_id, f.name, f.depth, f.revision
        FROM up JOIN folders f ON f.library_id = $1 AND f.id = up.parent_id
    ) SELECT id, parent_id, name, revision FROM up ORDER BY depth"""
LIST_FOLDERS = "SELECT id, parent_id, name FROM folders WHERE library_id = $1 ORDER BY depth, id LIMIT $2"
_SUBTREE = """WITH RECURSIVE down AS (
        SELECT id, depth FROM folders WHERE library_id = $1 AND id = $2
        UNION ALL
        SELECT f.id, f.depth FROM down JOIN folders f ON f.library_id = $1 AND f.parent_id = down.id
    ) SELECT id, depth FROM down"""

_AROUND_VIDEO = """WITH RECURSIVE around AS (
        SELECT f.id, f.parent_id, f.depth FROM videos v
        JOIN folders f ON f.library_id = v.library_id AND f.id = ANY (v.folder_ids)
        WHERE v.library_id = $1 AND v.id = $2
        UNION
        SELECT f.id, f.parent_id, f.depth FROM around JOIN folders f ON f.library_id = $1 AND f.id = around.parent_id
    ) SELECT id FROM around ORDER BY depth DESC, id"""

_INSIDE = """WITH RECURSIVE inside AS (
        SELECT id FROM folders WHERE library_id = $1 AND id = ANY ($2::text[])
        UNION
        SELECT f.id FROM inside JOIN folders f ON f.library_id = $1 AND f.parent_id = inside.id
    ) SELECT v.id FROM videos v
      WHERE v.library_id = $1 AND v.id = ANY ($3::text[]) AND v.folder_ids && ARRAY(SELECT id FROM inside)"""


async def create_folder(connection: Connection, principal: Principal, folder: NewFolder, *, now: datetime) -> Folder:
    """Create a folder at the root or in another folder of the library."""
    await lock_folder_tree(connection, principal.library_id)
    count = await connection.fetchval("SELECT count(*) FROM folders WHERE library_id = $1", principal.library_id)
    if count >= MAX_FOLDERS:
        raise invalid_field("name", f"A library holds at most {MAX_FOLDERS} folders.")
    parents = await _parent_path(connection, principal, folder.parent_id)
    if len(parents) >= MAX_FOLDER_DEPTH:
        raise _too_deep()
    folder_id = new_id()
    row = {
        "library_id": principal.library_id,
        "id": folder_id,
        "parent_id": folder.parent_id,
        "name": folder.name,
        "depth": len(parents) + 1,
        "created_at": now,
    }
    await insert(connection, "folders", row)
    return _folder(row, parents, principal)


async def lock_folder_tree(connection: Connection, library_id: str) -> None:
    """Serialize changes of the folder tree until the transaction ends, because their checks involve several folders."""
    await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('folders ' || $1, 0))", library_id)


async def get_folder(connection: Connection, principal: Principal, folder_id: str) -> Folder:
    return (await get_revised_folder(connection, principal, folder_id)).resource


async def get_revised_folder(connection: Connection, principal: Principal, folder_id: str) -> Revised[Folder]:
    rows = await connection.fetch(GET_FOLDER_AND_PARENTS, principal.library_id, folder_id)
    if not rows:
        raise not_found()
    *parents, row = rows
    return Revised(_folder(row, [each["name"] for each in parents], principal), row["revision"])


async def list_folders(connection: Connection, principal: Principal) -> list[Folder]:
    """Return all folders, parents before children."""
    rows = await connection.fetch(LIST_FOLDERS, principal.library_id, MAX_FOLDERS)
    folders: dict[str, Folder] = {}
    for row in rows:
        parents = folders[row["parent_id"]].path if row["parent_id"] else []
        folders[row["id"]] = _folder(row, parents, principal)
    return list(folders.values())


def _folder(row: Mapping[str, Any] | asyncpg.Record, parents: list[str], principal: Principal) -> Folder:
    return Folder(
        id=row["id"],
        name=row["name"],
        parent_id=row["parent_id"],
        path=[*parents, row["name"]],
        workspace_id=principal.workspace_id,
    )


async def update_folder(
    connection: Connection, principal: Principal, folder_id: str, patch: FolderPatch, *, if_match: str | None = None
) -> Revised[Folder]:
    """Rename a folder, or move it with everything in it."""
    changes = changes_of(patch)
    if "parent_id" in changes:
        await lock_folder_tree(connection, principal.library_id)
    await lock_revision(connection, "folders", principal.library_id, folder_id, if_match=if_match)
    if "parent_id" in changes:
        changes["depth"] = await _move_subtree(connection, principal, folder_id, parent_id=changes["parent_id"])
    await update(connection, "folders", principal.library_id, folder_id, columns=changes)
    return await get_revised_folder(connection, principal, folder_id)


async def _move_subtree(connection: Connection, principal: Principal, folder_id: str, *, parent_id: str | None) -> int:
    """Check a move and set the depth of the folders inside; return the new depth of the folder itself."""
    parents = await _parent_path(connection, principal, parent_id)
    depths = {row["id"]: row["depth"] for row in await connection.fetch(_SUBTREE, principal.library_id, folder_id)}
    if parent_id in depths:
        raise invalid_field("parentId", "A folder cannot be moved into itself or into a folder inside it.")
    levels_down = len(parents) + 1 - depths[folder_id]
    if max(depths.values()) + levels_down > MAX_FOLDER_DEPTH:
        raise _too_deep()
    inside = [each for each in depths if each != folder_id]
    await connection.execute(
        "UPDATE folders SET depth = depth + $3 WHERE library_id = $1 AND id = ANY ($2::text[])",
        principal.library_id,
        inside,
        levels_down,
    )
    return len(parents) + 1


async def _parent_path(connection: Connection, principal: Principal, parent_id: str | None) -> list[str]:
    """The path of a parent folder; empty for the root."""
    if parent_id is None:
        return []
    if is_reserved(parent_id):
        raise invalid_field("parentId", "This folder cannot be a parent; omit parentId.")
    return (await get_folder(connection, principal, parent_id)).path


def _too_deep() -> CutroomError:
    return invalid_field("parentId", f"Folders nest at most {MAX_FOLDER_DEPTH} levels deep.")


async def delete_folder(
    connection: Connection, principal: Principal, folder_id: str, *, if_match: str | None = None
) -> None:
    """Delete a folder without subfolders; its videos stay in the library."""
    await lock_folder_tree(connection, principal.library_id)
    await lock_revision(connection, "folders", principal.library_id, folder_id, if_match=if_match)
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


async def require_folders(connection: Connection, library_id: str, folder_ids: Sequence[str]) -> None:
    """Raise NOT_FOUND unless the library has these folders; they cannot be deleted until the transaction ends."""
    rows = await connection.fetch(
        "SELECT id FROM folders WHERE library_id = $1 AND id = ANY ($2::text[]) ORDER BY id FOR KEY SHARE",
        library_id,
        list(folder_ids),
    )
    if len(rows) != len(set(folder_ids)):
        raise not_found()


async def folders_around(connection: Connection, library_id: str, video_id: str) -> list[str]:
    """The folders of a video and those around them, the innermost first."""
    rows = await connection.fetch(_AROUND_VIDEO, library_id, video_id)
    return [row["id"] for row in rows]


async def videos_inside(
    connection: Connection, library_id: str, folder_ids: Sequence[str], video_ids: Sequence[str]
) -> set[str]:
    """Those of the given videos that are in one of the folders, or in a folder inside it."""
    rows = await connection.fetch(_INSIDE, library_id, list(folder_ids), list(video_ids))
    return {row["id"] for row in rows}


async def move_videos(
    connection: Connection, principal: Principal, video_ids: Sequence[str], *, folder_id: str | None
) -> int:
    """Move videos to a folder, or out of all folders; all or none are moved. Return how many."""
    folder_ids = [folder_id] if folder_id is not None else []
    await require_folders(connection, principal.library_id, folder_ids)
    unique_ids = list(dict.fromkeys(video_ids))
    rows = await connection.fetch(
        "UPDATE videos SET folder_ids = $3 WHERE library_id = $1 AND id = ANY ($2::text[]) RETURNING id",
        principal.library_id,
        unique_ids,
        folder_ids,
    )
    if len(rows) != len(unique_ids):
        raise not_found()  # rolls back the others
    return len(rows)
