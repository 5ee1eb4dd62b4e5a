"""Creates, reads, changes and deletes members of the cast."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import asyncpg

from cutroom.accounts.principals import Principal
from cutroom.capabilities.service import available_voices
from cutroom.cast.rules import MAX_MEMBERS
from cutroom.cast.schemas import CastMember, CastMemberPatch, NewCastMember
from cutroom.errors import Code, CutroomError, invalid_field, not_found
from cutroom.library.folders import require_folders
from cutroom.library.service import lock_revision
from cutroom.platform.db import Connection, insert, update
from cutroom.platform.ids import is_id, new_id
from cutroom.text.language_tags import language_of
from cutroom.web.revisions import Revised
from cutroom.web.schema import changes_of

_MEMBERS = """SELECT m.id, m.folder_id, m.name, m.voices, m.created_at, m.revision,
        (SELECT count(*) FROM cast_appearances a
         WHERE a.library_id = m.library_id AND a.member_id = m.id
           AND a.embedding_status = 'ready') AS speaker_embeddings
    FROM cast_members m WHERE m.library_id = $1"""


@dataclass(frozen=True, slots=True)
class CastListing:
    """A page of the list: members older than `before`, and of one folder if it is given."""

    limit: int
    before: str | None = None
    folder_id: str | None = None


async def list_members(connection: Connection, library_id: str, listing: CastListing) -> tuple[list[CastMember], bool]:
    """A page of members, newest first, and whether there are more."""
    rows = await connection.fetch(
        f"""{_MEMBERS} AND ($2::text IS NULL OR m.id < $2) AND ($3::text IS NULL OR m.folder_id = $3)
            ORDER BY m.id DESC LIMIT $4""",
        library_id,
        listing.before,
        listing.folder_id,
        listing.limit + 1,
    )
    return [_member(row) for row in rows[: listing.limit]], len(rows) > listing.limit


async def get_member(connection: Connection, library_id: str, member_id: str) -> Revised[CastMember]:
    row = await connection.fetchrow(f"{_MEMBERS} AND m.id = $2", library_id, member_id) if is_id(member_id) else None
    if row is None:
        raise not_found()
    return Revised(_member(row), row["revision"])


def _member(row: asyncpg.Record) -> CastMember:
    return CastMember(**{name: value for name, value in row.items() if name != "revision"})


async def create_member(
    connection: Connection, principal: Principal, member: NewCastMember, *, now: datetime
) -> Revised[CastMember]:
    library_id = principal.library_id
    await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('cast ' || $1, 0))", library_id)
    count = await connection.fetchval("SELECT count(*) FROM cast_members WHERE library_id = $1", library_id)
    if count >= MAX_MEMBERS:
        raise CutroomError(
            Code.FAILED_PRECONDITION,
            message=f"A cast has at most {MAX_MEMBERS} members.",
            details={"reason": "quota", "limit": MAX_MEMBERS},
        )
    await _require_scope(connection, library_id, member.folder_id)
    await _require_voices(connection, library_id, member.voices, now=now)
    row = {
        "library_id": library_id,
        "id": new_id(),
        "folder_id": member.folder_id,
        "name": member.name,
        "voices": member.voices,
        "created_at": now,
    }
    await insert(connection, "cast_members", row)
    return await get_member(connection, library_id, str(row["id"]))


async def update_member(
    connection: Connection,
    principal: Principal,
    member_id: str,
    patch: CastMemberPatch,
    *,
    if_match: str | None,
    now: datetime,
) -> Revised[CastMember]:
    """Labels of speakers in existing transcripts stay."""
    library_id = principal.library_id
    await lock_revision(connection, "cast_members", library_id, member_id, if_match=if_match)
    changes = changes_of(patch)
    await _require_scope(connection, library_id, changes.get("folder_id"))
    await _require_voices(connection, library_id, changes.get("voices", {}), now=now)
    await update(connection, "cast_members", library_id, member_id, columns=changes)
    return await get_member(connection, library_id, member_id)


async def delete_member(connection: Connection, principal: Principal, member_id: str, *, if_match: str | None) -> None:
    """Erases the voice prints as well."""
    await lock_revision(connection, "cast_members", principal.library_id, member_id, if_match=if_match)
    await connection.execute(
        "DELETE FROM cast_members WHERE library_id = $1 AND id = $2", principal.library_id, member_id
    )


async def _require_scope(connection: Connection, library_id: str, folder_id: str | None) -> None:
    if folder_id is not None:
        await require_folders(connection, library_id, [folder_id])


async def _require_voices(connection: Connection, library_id: str, voices: Mapping[str, str], *, now: datetime) -> None:
    """Refuse voices that do not exist, and stock voices of another language."""
    if not voices:
        return
    stock = {each.id: each.language for each in await available_voices(connection, now=now)}
    clones = await connection.fetch(
        "SELECT id FROM published_voices WHERE library_id = $1 AND id = ANY ($2::text[])",
        library_id,
        list(voices.values()),
    )
    known = {row["id"] for row in clones}
    for tag, voice in voices.items():
        if voice not in known and (voice not in stock or language_of(stock[voice]) != language_of(tag)):
            raise invalid_field(f"voices.{tag}", "There is no such voice of this language.")
