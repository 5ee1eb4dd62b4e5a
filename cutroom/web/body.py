"""Reading a request's JSON body: bounded, strict, and with a canonical hash for replay."""

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

import rfc8785
from starlette.datastructures import FormData
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from cutroom.errors import CutroomError, invalid_field
from cutroom.platform.secret_box import content_hash

MAX_BODY_BYTES = 1024 * 1024
# A client that is still sending would meet a reset instead of our answer: let it finish, up to here.
MAX_DISCARDED_BYTES = 16 * MAX_BODY_BYTES
MAX_DEPTH = 64
BODY = "body"

MAX_FORM_BYTES = 64 * 1024 * 1024
MAX_FORM_FILES = 25
MAX_FORM_FIELDS = 50


@dataclass(frozen=True, slots=True)
class Body:
    """A body as it came, with the fault that makes it unusable if there is one.

    A fault is carried and not raised, because the answer to a malformed body is retained like any other.
    """

    document: Any
    hash: bytes
    fault: CutroomError | None


async def read_body(request: Request) -> Body:
    """Take the whole body in; of one that is too large, nothing is kept."""
    raw = await _read_bounded(request)
    if not raw:
        return Body(document=None, hash=content_hash(b""), fault=None)
    try:
        document = _parse(raw, request.headers.get("content-type", ""))
        return Body(document=document, hash=content_hash(rfc8785.dumps(document)), fault=None)
    except CutroomError as error:
        fault = error
    except rfc8785.CanonicalizationError:
        fault = invalid_field(BODY, "This is not JSON that every reader understands alike (RFC 8785).")
    return Body(document=None, hash=content_hash(b"raw:" + raw), fault=fault)


async def _read_bounded(request: Request) -> bytes:
    chunks, size = [], 0
    async for chunk in request.stream():
        size += len(chunk)
        if size <= MAX_BODY_BYTES:
            chunks.append(chunk)
        elif size > MAX_DISCARDED_BYTES:
            break
    if size > MAX_BODY_BYTES:
        raise invalid_field(BODY, f"A body holds at most {MAX_BODY_BYTES} bytes.")
    return b"".join(chunks)


def _parse(raw: bytes, content_type: str) -> Any:  # noqa: ANN401 (any JSON value)
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type != "application/json" and not (
        media_type.startswith("application/") and media_type.endswith("+json")
    ):
        raise invalid_field("Content-Type", "Send the body as application/json.")
    try:
        document = json.loads(raw.decode(), object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except CutroomError:
        raise
    except (ValueError, RecursionError) as error:
        raise invalid_field(BODY, "This is not valid JSON.") from error
    _check(document, depth=1)
    return document


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise invalid_field(BODY, "A name occurs twice in one object.")
    return found


def _refuse_constant(name: str) -> None:
    raise invalid_field(BODY, f"{name} is not JSON.")


def _check(value: Any, *, depth: int) -> None:  # noqa: ANN401 (any JSON value)
    """Refuse what nests too deep, and NUL, which no text column can hold."""
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
    """Take a whole multipart form in; its files lie on disk, and are gone when the form is closed."""
    parser = MultiPartParser(
        request.headers,
        _at_most(request, MAX_FORM_BYTES),
        max_files=MAX_FORM_FILES,
        max_fields=MAX_FORM_FIELDS,
        max_part_size=MAX_BODY_BYTES,  # of a field; files are bounded by the whole
    )
    try:
        form = await parser.parse()
    except MultiPartException as error:
        raise invalid_field(BODY, f"This is not a form that can be read: {error.message}") from error
    except (KeyError, UnicodeError, ValueError) as error:
        raise invalid_field(BODY, "This is not a form that can be read.") from error
    for name, value in form.multi_items():
        if "\x00" in name or (isinstance(value, str) and "\x00" in value):
            await form.close()
            raise invalid_field(BODY, "A string contains the NUL character.")
    return form


async def _at_most(request: Request, max_bytes: int) -> AsyncGenerator[bytes, None]:
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size <= max_bytes:
            yield chunk
        elif size > max_bytes + MAX_DISCARDED_BYTES:
            break
    if size > max_bytes:
        raise invalid_field(BODY, f"A form holds at most {max_bytes} bytes.")
