"""Creates, updates and deletes characters and brand voices, and reads them for products."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from cutroom.errors import Code, CutroomError, invalid_field, not_found
from cutroom.library.rules import MAX_CHARACTER_IMAGES, character_path
from cutroom.library.schemas import BrandVoiceInput, BrandVoicePatch, CharacterPatch
from cutroom.library.service import MAX_BRAND_VOICES, MAX_CHARACTERS, lock_revision
from cutroom.media.images import decode_image, encode_png
from cutroom.media.sandbox import Sandbox
from cutroom.platform.db import Connection, insert, update
from cutroom.platform.ids import new_id
from cutroom.platform.storage.objects import Storage
from cutroom.web.schema import changes_of

# Unfinished jobs that name one of these ids anywhere in their plan; images that are being processed may be discarded.
_USING_JOBS = """SELECT id FROM jobs
    WHERE library_id = $1 AND status IN ('queued', 'processing') AND type <> 'character'
      AND jsonb_path_exists(plan, '$.** ? (@ == $ids[*])', jsonb_build_object('ids', $2::text[]))
    ORDER BY id LIMIT $3"""
MAX_USING_JOBS = 20  # named in the error


@dataclass(frozen=True, slots=True)
class CharacterImageStore:
    """Decodes untrusted images in the sandbox and stores them re-encoded."""

    storage: Storage
    sandbox: Sandbox

    async def store(self, file: Path, library_id: str, image_id: str) -> str:
        """Decode an image and store only its pixels; return the storage path."""
        path = character_path(library_id, image_id)
        with TemporaryDirectory() as scratch:
            image = await decode_image(file, scratch=Path(scratch), sandbox=self.sandbox)
        await self.storage.put(path, await asyncio.to_thread(encode_png, image))
        return path


async def add_character(
    connection: Connection, library_id: str, *, name: str, images: Sequence[tuple[str, str]], now: datetime
) -> str:
    """Create a character; each image is an id and a storage path."""
    if await _count(connection, "characters", library_id) >= MAX_CHARACTERS:
        raise invalid_field("name", f"A library holds at most {MAX_CHARACTERS} characters.")
    character_id = new_id()
    row = {"library_id": library_id, "id": character_id, "name": name, "created_at": now}
    await insert(connection, "characters", row)
    for image_id, path in images:
        await add_image(connection, library_id, character_id, image_id=image_id, path=path)
    return character_id


async def add_image(connection: Connection, library_id: str, character_id: str, *, image_id: str, path: str) -> bool:
    """Add an image to a character; return False if the character was deleted."""
    added = await connection.fetchval(
        """INSERT INTO character_images (library_id, id, character_id, storage_path)
           SELECT $1, $2, c.id, $4 FROM characters c WHERE c.library_id = $1 AND c.id = $3
           ON CONFLICT (library_id, id) DO UPDATE SET storage_path = excluded.storage_path RETURNING true""",
        library_id,
        image_id,
        character_id,
        path,
    )
    return added is not None


async def remaining_image_slots(connection: Connection, library_id: str, character_id: str) -> int:
    """Return how many more images a character may have, and lock it until the transaction ends."""
    found = await connection.fetchval(
        "SELECT id FROM characters WHERE library_id = $1 AND id = $2 FOR UPDATE", library_id, character_id
    )
    if found is None:
        raise not_found()
    count: int = await connection.fetchval(
        "SELECT count(*) FROM character_images WHERE library_id = $1 AND character_id = $2", library_id, character_id
    )
    return max(0, MAX_CHARACTER_IMAGES - count)


async def update_character(
    connection: Connection, library_id: str, character_id: str, patch: CharacterPatch, *, if_match: str | None = None
) -> None:
    await lock_revision(connection, "characters", library_id, character_id, if_match=if_match)
    await update(connection, "characters", library_id, character_id, columns=changes_of(patch))


async def remove_image(connection: Connection, library_id: str, character_id: str, *, image_id: str) -> str:
    """Remove an image and return its storage path."""
    await lock_revision(connection, "characters", library_id, character_id, if_match=None)
    await _require_unused(connection, library_id, [character_id, image_id])
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


async def delete_character(
    connection: Connection, library_id: str, character_id: str, *, if_match: str | None = None
) -> list[str]:
    """Delete a character and its images; return their storage paths."""
    await lock_revision(connection, "characters", library_id, character_id, if_match=if_match)
    rows = await connection.fetch(
        "SELECT id, storage_path FROM character_images WHERE library_id = $1 AND character_id = $2",
        library_id,
        character_id,
    )
    await _require_unused(connection, library_id, [character_id, *(row["id"] for row in rows)])
    await connection.execute("DELETE FROM characters WHERE library_id = $1 AND id = $2", library_id, character_id)
    return [row["storage_path"] for row in rows]


async def add_brand_voice(connection: Connection, library_id: str, brand: BrandVoiceInput, *, now: datetime) -> str:
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


async def update_brand_voice(
    connection: Connection,
    library_id: str,
    brand_voice_id: str,
    patch: BrandVoicePatch,
    *,
    if_match: str | None = None,
) -> None:
    changes = changes_of(patch)
    if "colors" in changes:
        changes["colors"] = changes["colors"] or None
    await lock_revision(connection, "brand_voices", library_id, brand_voice_id, if_match=if_match)
    await update(connection, "brand_voices", library_id, brand_voice_id, columns=changes)


async def delete_brand_voice(
    connection: Connection, library_id: str, brand_voice_id: str, *, if_match: str | None = None
) -> None:
    await lock_revision(connection, "brand_voices", library_id, brand_voice_id, if_match=if_match)
    await _require_unused(connection, library_id, [brand_voice_id])
    await connection.execute("DELETE FROM brand_voices WHERE library_id = $1 AND id = $2", library_id, brand_voice_id)


async def _require_unused(connection: Connection, library_id: str, ids: Sequence[str]) -> None:
    """Raise CONFLICT while an unfinished job needs what is about to be deleted."""
    rows = await connection.fetch(_USING_JOBS, library_id, list(ids), MAX_USING_JOBS)
    if rows:
        details = {"reason": "in_use", "jobIds": [row["id"] for row in rows]}
        message = "An unfinished job uses this. Delete it when the job has finished."
        raise CutroomError(Code.CONFLICT, message=message, details=details)


async def _count(connection: Connection, table: str, library_id: str) -> int:
    count: int = await connection.fetchval(f"SELECT count(*) FROM {table} WHERE library_id = $1", library_id)  # noqa: S608 (a constant)
    return count


@dataclass(frozen=True, slots=True)
class BrandSettings:
    """Guidelines and colors of a brand voice."""

    guidelines: str | None = None
    colors: tuple[str, ...] = ()


async def load_brand(connection: Connection, library_id: str, brand_voice_id: str | None) -> BrandSettings:
    row = await connection.fetchrow(
        "SELECT guidelines, colors FROM brand_voices WHERE library_id = $1 AND id = $2", library_id, brand_voice_id
    )
    return BrandSettings() if row is None else BrandSettings(row["guidelines"], tuple(row["colors"] or ()))


async def require_brand_voice(connection: Connection, library_id: str, brand_voice_id: str) -> None:
    """Raises NOT_FOUND unless the library has this brand voice, which cannot be deleted until the transaction ends."""
    if not await connection.fetchval(
        "SELECT true FROM brand_voices WHERE library_id = $1 AND id = $2 FOR KEY SHARE", library_id, brand_voice_id
    ):
        raise not_found()


async def require_character(connection: Connection, library_id: str, character_id: str) -> None:
    """Raises NOT_FOUND unless the library has this character, which cannot be deleted until the transaction ends."""
    if not await connection.fetchval(
        "SELECT true FROM characters WHERE library_id = $1 AND id = $2 FOR KEY SHARE", library_id, character_id
    ):
        raise not_found()


async def require_character_images(
    connection: Connection, library_id: str, image_ids: Sequence[str], *, character_id: str | None
) -> None:
    """Raises NOT_FOUND unless all images belong to the library, and to the character if one is given.

    Neither they nor their characters can be deleted until the transaction ends.
    """
    rows = await connection.fetch(
        """SELECT i.id FROM character_images i
           JOIN characters c ON c.library_id = i.library_id AND c.id = i.character_id
           WHERE i.library_id = $1 AND i.id = ANY($2) AND ($3::text IS NULL OR i.character_id = $3)
           ORDER BY i.id FOR KEY SHARE""",
        library_id,
        list(image_ids),
        character_id,
    )
    if len(rows) != len(set(image_ids)):
        raise not_found()


async def character_image_paths(
    connection: Connection, library_id: str, *, character_id: str | None, image_ids: Sequence[str]
) -> list[str]:
    """Storage paths of the given images, or of all images of the character if none are given."""
    rows = await connection.fetch(
        """SELECT storage_path FROM character_images
           WHERE library_id = $1 AND ($2::text IS NULL OR character_id = $2)
             AND (id = ANY($3) OR (cardinality($3::text[]) = 0 AND $2::text IS NOT NULL))
           ORDER BY id""",
        library_id,
        character_id,
        list(image_ids),
    )
    return [row["storage_path"] for row in rows]


async def exported_images(connection: Connection, library_id: str) -> list[tuple[str, str, str]]:
    """Every character image of a library: the ids of character and image, and the storage path."""
    rows = await connection.fetch(
        "SELECT character_id, id, storage_path FROM character_images WHERE library_id = $1 ORDER BY character_id, id",
        library_id,
    )
    return [(row["character_id"], row["id"], row["storage_path"]) for row in rows]
