"""What becomes of uploads when their library moves to another cell."""

from cutroom.platform.db import Connection

_END = """
UPDATE upload_sessions SET state = CASE WHEN state = 'complete' THEN state ELSE 'aborted' END, multipart_id = NULL,
       partial_parts = '[]', assembly_owner = NULL, assembly_until = NULL
 WHERE library_id = $1
"""


async def end_unfinished(target: Connection, library_id: str) -> None:
    """Their parts are in the object store of the other cell, so these uploads start over."""
    await target.execute(_END, library_id)
    await target.execute("DELETE FROM upload_parts WHERE library_id = $1", library_id)
