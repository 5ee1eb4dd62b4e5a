"""Parses submitted forms, with and without files."""

import asyncio
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import parse_qsl

from starlette.datastructures import UploadFile
from starlette.requests import Request

from cutroom.errors import Code, CutroomError, invalid_fields
from cutroom.web import body
from cutroom.web.pacer import Pacer

MAX_FORM_BYTES = 256 * 1024
MAX_FIELDS = 500
MAX_WAIT_SECONDS = 2.0
_anonymous = Pacer(20, burst=40)  # forms per second and client address


@dataclass(frozen=True, slots=True)
class Form:
    """Submitted fields and files; a field may occur more than once."""

    pairs: tuple[tuple[str, str], ...] = ()
    files: tuple[tuple[str, UploadFile], ...] = ()

    def text(self, name: str) -> str:
        return next((value for key, value in self.pairs if key == name), "").strip()

    def secret(self, name: str) -> str:
        """The value without trimming, because passwords may begin or end with spaces."""
        return next((value for key, value in self.pairs if key == name), "")

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.pairs if key == name]

    def has(self, name: str) -> bool:
        return any(key == name for key, _ in self.pairs)

    def uploads(self, name: str) -> list[UploadFile]:
        """The files of a field. Browsers send an empty file without a name when none was selected."""
        return [file for key, file in self.files if key == name and file.filename]


async def wait_for_turn(request: Request) -> None:
    """Spaces the forms of an address that is not signed in; raises RATE_LIMITED if it sends far too many."""
    address = request.client.host if request.client else ""
    delay = _anonymous.delay(address, 1, time.monotonic(), longest=MAX_WAIT_SECONDS)
    if delay > MAX_WAIT_SECONDS:
        headers = {"Retry-After": str(math.ceil(delay))}
        raise CutroomError(Code.RATE_LIMITED, details={"limit": "rate"}, headers=headers)
    await asyncio.sleep(delay)


@asynccontextmanager
async def read_form(request: Request, *, accepts_files: bool = False) -> AsyncIterator[Form]:
    """Reads a form of bounded size; uploaded files are spooled to disk and deleted on exit."""
    if accepts_files and body.is_form(request):
        parsed = await body.read_form(request)
        try:
            items = parsed.multi_items()
            fields = tuple((name, value) for name, value in items if isinstance(value, str))
            yield Form(fields, tuple((name, value) for name, value in items if isinstance(value, UploadFile)))
        finally:
            await parsed.close()
    else:
        yield await read_fields(request)


async def read_fields(request: Request) -> Form:
    """Reads a URL-encoded form."""
    raw = await body.read_at_most(request, MAX_FORM_BYTES, name="form")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not raw or kind != "application/x-www-form-urlencoded":
        return Form()
    try:
        pairs = parse_qsl(raw.decode(), keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="strict")
    except ValueError as error:
        raise invalid_fields([("body", "The form could not be parsed.")]) from error
    if any("\x00" in key or "\x00" in value for key, value in pairs):
        raise invalid_fields([("body", "Text must not contain the NUL character.")])
    return Form(tuple(pairs))
