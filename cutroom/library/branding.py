"""Characters and brand voices as people arrange them: made, changed and deleted; for the web app and the operator."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from cutroom.errors import invalid_field, not_found
from cutroom.library.rules import (
    MAX_CHARACTER_IMAGES,
    MAX_COLORS,
    MAX_GUIDELINES,
    MAX_NAME,
    character_path,
    is_color,
)
from cutroom.library.service import MAX_BRAND_VOICES, MAX_CHARACTERS
from cutroom.media.images import decode_picture, encode_png
from cutroom.media.sandbox import Sandbox
from cutroom.platform.db import Connection, insert
from cutroom.platform.ids import new_id
from cutroom.platform.storage.objects import Storage
from cutroom.web.schema import ApiModel


def _colored(code: str) -> str:
    if not is_color(code):
        raise ValueError(f"{code} is no colour such as #12ab9f.")
    return code.lower()


Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_NAME)]
Guidelines = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_GUIDELINES)]


class Named(ApiModel):
    """What a character is called."""

    name: Name


class Brand(ApiModel):
    """How a brand speaks and looks."""

    name: Name
    guidelines: Guidelines
    colors: Annotated[list[Annotated[str, AfterValidator(_colored)]], Field(max_length=MAX_COLORS)] = Field(
        default_factory=list
    )


@dataclass(frozen=True, slots=True)
class CharacterImageStore:
    """Where pictures of strangers are opened, walled in, and kept as pictures of our own."""

    storage: Storage
    sandbox: Sandbox

    async def keep(self, file: Path, library_id: str, image_id: str) -> str:
        """Decode a picture and store what is seen in it, and nothing else that was in the file; where it lies."""
        path = character_path(library_id, image_id)
        with TemporaryDirectory() as scratch:
            picture = await decode_picture(file, scratch=Path(scratch), sandbox=self.sandbox)
        await self.storage.put(path, await asyncio.to_thread(encode_png, picture))
        return path


async def put_character(
    connection: Connection, library_id: str, *, name: str, images: Sequence[tuple[str, str]], now: datetime
) -> str:
    """Save a character; each picture is an id and where it is stored."""
    if await _count(connection, "characters", library_id) >= MAX_CHARACTERS:
        raise invalid_field("name", f"A library holds at most {MAX_CHARACTERS} characters.")
    character_id = new_id()
    row = {"library_id": library_id, "id": character_id, "name": name, "created_at": now}
    await insert(connection, "characters", row)
    for image_id, path in images:
        await put_image(connection, library_id, character_id, image_id=image_id, path=path)
    return character_id


async def put_image(connection: Connection, library_id: str, character_id: str, *, image_id: str, path: str) -> bool:
    """Show one more picture of a character; not of one that was deleted meanwhile."""
    put = await connection.fetchval(
        """INSERT INTO character_images (library_id, id, character_id, storage_path)
           SELECT $1, $2, c.id, $4 FROM characters c WHERE c.library_id = $1 AND c.id = $3
           ON CONFLICT (library_id, id) DO UPDATE SET storage_path = excluded.storage_path RETURNING true""",
        library_id,
        image_id,
        character_id,
        path,
    )
    return put is not None


async def images_free(connection: Connection, library_id: str, character_id: str) -> int:
    """How many more pictures a character may have. It is locked until the transaction ends: nobody adds beside us."""
    found = await connection.fetchval(
        "SELECT id FROM characters WHERE library_id = $1 AND id = $2 FOR UPDATE", library_id, character_id
    )
    if found is None:
        raise not_found()
    held: int = await connection.fetchval(
        "SELECT count(*) FROM character_images WHERE library_id = $1 AND character_id = $2", library_id, character_id
    )
    return max(0, MAX_CHARACTER_IMAGES - held)


async def rename_character(connection: Connection, library_id: str, character_id: str, *, name: str) -> None:
    changed = await connection.fetchval(
        "UPDATE characters SET name = $3 WHERE library_id = $1 AND id = $2 RETURNING true",
        library_id,
        character_id,
        name,
    )
    _require(changed)


async def remove_image(connection: Connection, library_id: str, character_id: str, *, image_id: str) -> str:
    """Where the picture lies that nothing shows any more."""
    path: str | None = await connection.fetchval(
        """DELETE FROM character_images WHERE library_id = $1 AND character_id = $2 AND id = $3
           RETURNING storage_path""",
        library_id,
        character_id,
        image_id,
    )
    if path is None:
        raise not_found()
    return path


async def delete_character(connection: Connection, library_id: str, character_id: str) -> list[str]:
    """Its pictures go with it; where they lie."""
    rows = await connection.fetch(
        "SELECT storage_path FROM character_images WHERE library_id = $1 AND character_id = $2",
        library_id,
        character_id,
    )
    gone = await connection.fetchval(
        "DELETE FROM characters WHERE library_id = $1 AND id = $2 RETURNING true", library_id, character_id
    )
    _require(gone)
    return [row["storage_path"] for row in rows]


async def put_brand_voice(connection: Connection, library_id: str, brand: Brand, *, now: datetime) -> str:
    if await _count(connection, "brand_voices", library_id) >= MAX_BRAND_VOICES:
        raise invalid_field("name", f"A library holds at most {MAX_BRAND_VOICES} brand voices.")
    brand_voice_id = new_id()
    row = {
        "library_id": library_id,
        "id": brand_voice_id,
        "name": brand.name,
        "guidelines": brand.guidelines,
        "colors": brand.colors or None,
        "created_at": now,
    }
    await insert(connection, "brand_voices", row)
    return brand_voice_id


async def change_brand_voice(connection: Connection, library_id: str, brand_voice_id: str, *, brand: Brand) -> None:
    changed = await connection.fetchval(
        """UPDATE brand_voices SET name = $3, guidelines = $4, colors = $5 WHERE library_id = $1 AND id = $2
           RETURNING true""",
        library_id,
        brand_voice_id,
        brand.name,
        brand.guidelines,
        brand.colors or None,
    )
    _require(changed)


async def delete_brand_voice(connection: Connection, library_id: str, brand_voice_id: str) -> None:
    gone = await connection.fetchval(
        "DELETE FROM brand_voices WHERE library_id = $1 AND id = $2 RETURNING true", library_id, brand_voice_id
    )
    _require(gone)


async def _count(connection: Connection, table: str, library_id: str) -> int:
    held: int = await connection.fetchval(f"SELECT count(*) FROM {table} WHERE library_id = $1", library_id)  # noqa: S608 (a name of ours)
    return held


def _require(found: bool | None) -> None:  # noqa: FBT001 (what the database answered)
    if not found:
        raise not_found()
