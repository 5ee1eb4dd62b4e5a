"""The images of the characters of a library, for an export."""

from collections.abc import Sequence

from cutroom.library.branding import exported_images
from cutroom.library.exported_files import ExportedFile
from cutroom.platform.db import Connection


async def export_library(connection: Connection, library_id: str) -> Sequence[ExportedFile]:
    """Names and ids of the characters are in the rows."""
    images = await exported_images(connection, library_id)
    return [
        ExportedFile(f"characters/{character_id}/{image_id}.png", "character_image", path)
        for character_id, image_id, path in images
    ]
