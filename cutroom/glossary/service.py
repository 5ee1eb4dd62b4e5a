"""Creates, reads, changes and deletes the terms of a library, and tells products which of them apply to a video."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import asyncpg
from pydantic import ValidationError

from cutroom.accounts.principals import Principal
from cutroom.errors import Code, CutroomError, invalid_field, not_found
from cutroom.glossary.csv_rows import CsvError, header_of, read_rows, write_cells, write_row
from cutroom.glossary.rules import MAX_TERMS
from cutroom.glossary.schemas import GlossaryImported, GlossaryTerm, GlossaryTermPatch, NewGlossaryTerm
from cutroom.library.folders import folders_around, require_folders
from cutroom.library.service import lock_revision
from cutroom.platform.db import Connection, Database, insert, update
from cutroom.platform.ids import is_id, new_id
from cutroom.text.glossary.matching import fold
from cutroom.text.glossary.terms import Glossary, Term, TermTranslation, glossary_for
from cutroom.web.revisions import Revised
from cutroom.web.schema import changes_of

_COLUMNS = """id, folder_id, term, language, keep, case_sensitive, translations, pronunciations, note, created_at,
    revision"""
_PAGE = 200  # terms read at once for an export
_SAVE = """INSERT INTO glossary_terms (library_id, id, folder_id, term, term_key, language, keep, case_sensitive,
        translations, pronunciations, note, created_at)
    SELECT $1, t.id, t.folder_id, t.term, t.term_key, t.language, t.keep, t.case_sensitive, t.translations,
        t.pronunciations, t.note, $2
    FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::boolean[], $9::boolean[], $10::jsonb[],
        $11::jsonb[], $12::text[]) AS t (id, folder_id, term, term_key, language, keep, case_sensitive, translations,
        pronunciations, note)
    ON CONFLICT (library_id, folder_id, language, term_key) DO UPDATE
        SET term = excluded.term, keep = excluded.keep, case_sensitive = excluded.case_sensitive,
            translations = excluded.translations, pronunciations = excluded.pronunciations, note = excluded.note
        WHERE (glossary_terms.term, glossary_terms.keep, glossary_terms.case_sensitive, glossary_terms.translations,
               glossary_terms.pronunciations, glossary_terms.note)
            IS DISTINCT FROM (excluded.term, excluded.keep, excluded.case_sensitive, excluded.translations,
               excluded.pronunciations, excluded.note)
    RETURNING id"""


@dataclass(frozen=True, slots=True)
class TermListing:
    """A page of the list: terms older than `before`, and of one language or folder if these are given."""

    limit: int
    before: str | None = None
    language: str | None = None
    folder_id: str | None = None


async def list_terms(connection: Connection, library_id: str, listing: TermListing) -> tuple[list[GlossaryTerm], bool]:
    """A page of terms, newest first, and whether there are more."""
    rows = await connection.fetch(
        f"""SELECT {_COLUMNS} FROM glossary_terms
            WHERE library_id = $1 AND ($2::text IS NULL OR id < $2) AND ($3::text IS NULL OR language = $3)
              AND ($4::text IS NULL OR folder_id = $4)
            ORDER BY id DESC LIMIT $5""",  # noqa: S608 (a constant)
        library_id,
        listing.before,
        listing.language,
        listing.folder_id,
        listing.limit + 1,
    )
    return [_term(row) for row in rows[: listing.limit]], len(rows) > listing.limit


async def get_term(connection: Connection, library_id: str, term_id: str) -> Revised[GlossaryTerm]:
    row = (
        await connection.fetchrow(
            f"SELECT {_COLUMNS} FROM glossary_terms WHERE library_id = $1 AND id = $2",  # noqa: S608 (a constant)
            library_id,
            term_id,
        )
        if is_id(term_id)
        else None
    )
    if row is None:
        raise not_found()
    return Revised(_term(row), row["revision"])


def _term(row: asyncpg.Record) -> GlossaryTerm:
    return GlossaryTerm(**{name: value for name, value in row.items() if name != "revision"})


async def create_term(
    connection: Connection, principal: Principal, term: NewGlossaryTerm, *, now: datetime
) -> Revised[GlossaryTerm]:
    await _lock_glossary(connection, principal.library_id)
    await _require_room(connection, principal.library_id, more=1)
    _require_use(term.model_dump())
    if term.folder_id is not None:
        await require_folders(connection, principal.library_id, [term.folder_id])
    row = {**_row(term), "library_id": principal.library_id, "id": new_id(), "created_at": now}
    await _require_distinct(connection, principal.library_id, row)
    await insert(connection, "glossary_terms", row)
    return await get_term(connection, principal.library_id, row["id"])


async def update_term(
    connection: Connection, principal: Principal, term_id: str, patch: GlossaryTermPatch, *, if_match: str | None
) -> Revised[GlossaryTerm]:
    await _lock_glossary(connection, principal.library_id)
    await lock_revision(connection, "glossary_terms", principal.library_id, term_id, if_match=if_match)
    changes = {name: value for name, value in patch.model_dump().items() if name in changes_of(patch)}
    current = (await get_term(connection, principal.library_id, term_id)).resource.model_dump()
    changed = {**{name: current.get(name) for name in NewGlossaryTerm.model_fields}, **changes}
    _require_use(changed)
    if changes.get("folder_id") is not None:
        await require_folders(connection, principal.library_id, [changes["folder_id"]])
    columns = {**changes, "term_key": term_key(changed["term"], case_sensitive=changed["case_sensitive"])}
    await _require_distinct(connection, principal.library_id, {**changed, **columns, "id": term_id})
    await update(connection, "glossary_terms", principal.library_id, term_id, columns=columns)
    return await get_term(connection, principal.library_id, term_id)


async def delete_term(connection: Connection, principal: Principal, term_id: str, *, if_match: str | None) -> None:
    await lock_revision(connection, "glossary_terms", principal.library_id, term_id, if_match=if_match)
    await connection.execute(
        "DELETE FROM glossary_terms WHERE library_id = $1 AND id = $2", principal.library_id, term_id
    )


async def import_terms(connection: Connection, principal: Principal, text: str, *, now: datetime) -> GlossaryImported:
    """Adds terms, or replaces those with the same text, language and folder; all or none."""
    terms = _read_terms(text)
    library_id = principal.library_id
    folders = {term.folder_id for term in terms if term.folder_id is not None}
    await _lock_glossary(connection, library_id)
    await require_folders(connection, library_id, sorted(folders))
    before = await _count(connection, library_id)
    rows = [{**_row(term), "id": new_id()} for term in terms]
    names = ("id", "folder_id", "term", "term_key", "language", "keep", "case_sensitive", "translations",
             "pronunciations", "note")  # fmt: skip
    saved = await connection.fetch(_SAVE, library_id, now, *([row[name] for row in rows] for name in names))
    after = await _require_room(connection, library_id, more=0)
    created = after - before
    return GlossaryImported(created=created, updated=len(saved) - created, unchanged=len(rows) - len(saved))


def _read_terms(text: str) -> list[NewGlossaryTerm]:
    terms: dict[tuple[str | None, str, str], NewGlossaryTerm] = {}
    duplicates: list[int] = []
    try:
        for line, document in read_rows(text):
            term = _validated(document, line)
            key = (term.folder_id, term.language, term_key(term.term, case_sensitive=term.case_sensitive))
            if terms.setdefault(key, term) is not term:
                duplicates.append(line)
    except CsvError as error:
        raise invalid_field("csv", str(error)) from error
    if duplicates:
        raise invalid_field("csv", f"Line {duplicates[0]}: the term is in the file twice.")
    if not terms:
        raise invalid_field("csv", "The file has no terms.")
    return list(terms.values())


def _validated(document: Mapping[str, Any], line: int) -> NewGlossaryTerm:
    try:
        term = NewGlossaryTerm.model_validate(document)
        _require_use(term.model_dump())
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(each) for each in first["loc"])
        raise CsvError(f"Line {line}: {path}: {first['msg']}") from error
    except CutroomError as error:
        raise CsvError(f"Line {line}: {error.details['fields'][0]['message']}") from error
    return term


async def export_lines(database: Database, library_id: str, languages: Sequence[str]) -> AsyncIterator[str]:
    """The glossary as CSV, oldest first; each page is read in a transaction of its own."""
    header, after = header_of(languages), ""
    yield write_cells(header)
    while True:
        async with database.transaction(library_id) as connection:
            rows = await connection.fetch(
                f"""SELECT {_COLUMNS} FROM glossary_terms WHERE library_id = $1 AND id > $2
                    ORDER BY id LIMIT $3""",  # noqa: S608 (a constant)
                library_id,
                after,
                _PAGE,
            )
        if not rows:
            return
        yield "".join(write_row(_term(row).model_dump(mode="json", by_alias=True), header) for row in rows)
        after = rows[-1]["id"]


async def read_languages(connection: Connection, library_id: str) -> list[str]:
    """The languages that terms are translated into or pronounced in, which are columns of an export."""
    rows = await connection.fetch(
        "SELECT translations, pronunciations FROM glossary_terms WHERE library_id = $1", library_id
    )
    return sorted({tag for row in rows for column in ("translations", "pronunciations") for tag in row[column]})


async def load_glossary(
    connection: Connection, library_id: str, video_id: str, *, source: str, target: str
) -> Glossary:
    """What applies to a video now; terms of its folders come before those of the whole library."""
    folder_ids = await folders_around(connection, library_id, video_id)
    rows = await connection.fetch(
        """SELECT term, language, keep, case_sensitive, translations, pronunciations FROM glossary_terms
           WHERE library_id = $1 AND (folder_id IS NULL OR folder_id = ANY ($2::text[]))
           ORDER BY array_position($2::text[], folder_id) NULLS LAST, id""",
        library_id,
        folder_ids,
    )
    return glossary_for([_stored_term(row) for row in rows], source=source, target=target)


def _stored_term(row: asyncpg.Record) -> Term:
    translations = {
        tag: TermTranslation(each["text"], tuple(each.get("forms", ()))) for tag, each in row["translations"].items()
    }
    return Term(row["term"], row["language"], row["keep"], row["case_sensitive"], translations, row["pronunciations"])


def term_key(term: str, *, case_sensitive: bool) -> str:
    """By which two terms are the same."""
    return term if case_sensitive else fold(term)


def _row(term: NewGlossaryTerm) -> dict[str, Any]:
    key = term_key(term.term, case_sensitive=term.case_sensitive)
    return {**term.model_dump(), "folder_id": term.folder_id, "note": term.note, "term_key": key}  # also if absent


def _require_use(term: Mapping[str, Any]) -> None:
    """A term has a purpose, and only one translation or none."""
    if term["keep"] and term["translations"]:
        raise invalid_field("translations", "A term that is kept has no translations.")
    if not (term["keep"] or term["translations"] or term["pronunciations"]):
        raise invalid_field("translations", "Give a translation, a pronunciation, or `keep`.")


async def _require_distinct(connection: Connection, library_id: str, row: Mapping[str, Any]) -> None:
    existing = await connection.fetchval(
        """SELECT id FROM glossary_terms WHERE library_id = $1 AND folder_id IS NOT DISTINCT FROM $2
             AND language = $3 AND term_key = $4 AND id <> $5""",
        library_id,
        row["folder_id"],
        row["language"],
        row["term_key"],
        row["id"],
    )
    if existing is not None:
        raise CutroomError(
            Code.ALREADY_EXISTS, message="The glossary has this term already.", details={"termId": existing}
        )


async def _lock_glossary(connection: Connection, library_id: str) -> None:
    """Serialize additions and changes until the transaction ends, because their checks involve other terms."""
    await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('glossary ' || $1, 0))", library_id)


async def _count(connection: Connection, library_id: str) -> int:
    count: int = await connection.fetchval("SELECT count(*) FROM glossary_terms WHERE library_id = $1", library_id)
    return count


async def _require_room(connection: Connection, library_id: str, *, more: int) -> int:
    """Raise if the glossary would have too many terms; return how many it has."""
    count = await _count(connection, library_id)
    if count + more > MAX_TERMS:
        raise CutroomError(
            Code.FAILED_PRECONDITION,
            message=f"A glossary has at most {MAX_TERMS:,} terms.",
            details={"reason": "quota", "limit": MAX_TERMS},
        )
    return count
