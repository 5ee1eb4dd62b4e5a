"""Reads JSON and form bodies with size limits, and hashes JSON canonically for idempotency."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any

import rfc8785
from starlette.datastructures import FormData
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from cutroom.errors import CutroomError, invalid_field
from cutroom.platform.secret_box import content_hash
from cutroom.web.pacer import Pacer

MAX_BODY_BYTES = 1024 * 1024
# Oversized bodies are drained up to this size: closing early would reset the connection before the error arrives.
MAX_DISCARDED_BYTES = 16 * MAX_BODY_BYTES
MAX_DEPTH = 64
MAX_VALUES = 10_000  # parsing and canonicalizing take about 3 microseconds each
INLINE_BYTES = 32 * 1024  # larger bodies are parsed in a thread, so that they do not delay other requests
PARSED_BYTES_PER_SECOND = 8 * 1024 * 1024  # of the larger bodies of one library
# One thread: two would compete for the interpreter's lock with each other and with the event loop.
_parser = ThreadPoolExecutor(max_workers=1, thread_name_prefix="body-parser")
_pacer = Pacer(PARSED_BYTES_PER_SECOND)
BODY = "body"

MAX_FORM_BYTES = 64 * 1024 * 1024
MAX_FORM_FILES = 25
MAX_FORM_FIELDS = 50


@dataclass(frozen=True, slots=True)
class Body:
    """A parsed body, or the error that makes it unusable.

    The error is returned and not raised, because error responses are stored for idempotent replay too.
    """

    document: Any
    hash: bytes  # empty unless asked for
    error: CutroomError | None


async def read_body(request: Request, *, library_id: str, hashed: bool) -> Body:
    """Read and parse the body; oversized bodies are drained and rejected."""
    raw = await _read_bounded(request)
    content_type = request.headers.get("content-type", "")
    if len(raw) > INLINE_BYTES:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(_pacer.delay(library_id, len(raw), loop.time()))
        return await loop.run_in_executor(_parser, _to_body, raw, content_type, hashed)
    return _to_body(raw, content_type, hashed)


def _to_body(raw: bytes, content_type: str, hashed: bool) -> Body:  # noqa: FBT001 (run in a thread)
    hash_of = content_hash if hashed else _no_hash
    if not raw:
        return Body(document=None, hash=hash_of(b""), error=None)
    try:
        document = _parse(raw, content_type)
        return Body(document=document, hash=hash_of(rfc8785.dumps(document)), error=None)
    except CutroomError as invalid:
        error = invalid
    except rfc8785.CanonicalizationError:
        error = invalid_field(BODY, "The body is not interoperable JSON (RFC 8785).")
    return Body(document=None, hash=hash_of(b"raw:" + raw), error=error)


def _no_hash(_: bytes) -> bytes:
    return b""


async def _read_bounded(request: Request) -> bytes:
    return await read_at_most(request, MAX_BODY_BYTES, name="body")


async def read_at_most(request: Request, max_bytes: int, *, name: str) -> bytes:
    """Read a body into memory."""
    return b"".join([chunk async for chunk in _bounded_stream(request, max_bytes, name=name)])


def _parse(raw: bytes, content_type: str) -> Any:  # noqa: ANN401 (any JSON value)
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type != "application/json" and not (
        media_type.startswith("application/") and media_type.endswith("+json")
    ):
        raise invalid_field("Content-Type", "Send the body as application/json.")
    if _has_too_many_values(raw):
        raise invalid_field(BODY, f"The body has more than {MAX_VALUES:,} values.")
    try:
        document = json.loads(raw.decode(), object_pairs_hook=_unique, parse_constant=_reject_constant)
    except CutroomError:
        raise
    except (ValueError, RecursionError) as error:
        raise invalid_field(BODY, "This is not valid JSON.") from error
    _check(document, depth=1)
    return document


# Up to the next character that adds a value. Strings are skipped; an unterminated one ends with the body, and every
# search ends at a match, so that time stays linear.
_TO_NEXT_VALUE = re.compile(rb'(?:[^",\[{]++|"(?:[^"\\]++|\\.)*+"?)*+(?:[,\[{]|\Z)', re.DOTALL)


def _has_too_many_values(raw: bytes) -> bool:
    """Decided before the body is parsed: the last value and the empty rest are matches too."""
    if sum(map(raw.count, (b",", b"[", b"{"))) < MAX_VALUES:  # at most, in a tenth of the time of a search
        return False
    return next(islice(_TO_NEXT_VALUE.finditer(raw), MAX_VALUES + 1, None), None) is not None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise invalid_field(BODY, "An object contains a duplicate name.")
    return found


def _reject_constant(name: str) -> None:
    raise invalid_field(BODY, f"{name} is not JSON.")


def _check(value: Any, *, depth: int) -> None:  # noqa: ANN401 (any JSON value)
    """Reject excessive nesting, and NUL, which PostgreSQL text cannot store."""
    if depth > MAX_DEPTH:
        raise invalid_field(BODY, f"Objects and arrays nest at most {MAX_DEPTH} deep.")
    if isinstance(value, str):
        if "\x00" in value:
            raise invalid_field(BODY, "A string contains the NUL character.")
    elif isinstance(value, list):
        for item in value:
            _check(item, depth=depth + 1)
    elif isinstance(value, dict):
        for name, item in value.items():
            _check(name, depth=depth)
            _check(item, depth=depth + 1)


def is_form(request: Request) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == "multipart/form-data"


async def read_form(request: Request) -> FormData:
    """Parse a multipart form; its files are spooled to disk and deleted when the form is closed."""
    parser = MultiPartParser(
        request.headers,
        _bounded_stream(request, MAX_FORM_BYTES, name="form"),
        max_files=MAX_FORM_FILES,
        max_fields=MAX_FORM_FIELDS,
        max_part_size=MAX_BODY_BYTES,  # per field; files are bounded by the total
    )
    try:
        form = await parser.parse()
    except (MultiPartException, KeyError, UnicodeError, ValueError) as error:
        raise invalid_field(BODY, "The form cannot be parsed.") from error
    for name, value in form.multi_items():
        if "\x00" in name or (isinstance(value, str) and "\x00" in value):
            await form.close()
            raise invalid_field(BODY, "A string contains the NUL character.")
    return form


async def _bounded_stream(request: Request, max_bytes: int, *, name: str) -> AsyncGenerator[bytes, None]:
    """Yield a body's chunks; one that is too large is drained, or rejected unread if it says how large it is."""
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared[:20]) > max_bytes + MAX_DISCARDED_BYTES:
        raise invalid_field(BODY, f"The {name} exceeds {max_bytes} bytes.")
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size <= max_bytes:
            yield chunk
        elif size > max_bytes + MAX_DISCARDED_BYTES:
            break
    if size > max_bytes:
        raise invalid_field(BODY, f"The {name} exceeds {max_bytes} bytes.")
