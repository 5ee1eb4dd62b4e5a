"""From whatever was raised to the one error envelope."""

import logging
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from cutroom.errors import Code, CutroomError, invalid_fields

_log = logging.getLogger(__name__)

# The schema library's own wording is kept only where ours would say no more.
_MESSAGES = {
    "missing": "This field is required.",
    "string_type": "This must be a string.",
    "int_type": "This must be a whole number.",
    "int_parsing": "This must be a whole number.",
    "bool_type": "This must be true or false.",
    "list_type": "This must be an array.",
    "dict_type": "This must be an object.",
    "model_attributes_type": "This must be an object.",
    "string_pattern_mismatch": "This does not have the required form.",
}
MAX_FIELDS = 50
CODE = "cutroom.code"  # where the edge finds the code of an error answer


class Problem(JSONResponse):
    """An error on its way out."""

    def __init__(self, error: CutroomError) -> None:
        headers = dict(error.headers)
        if error.status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        super().__init__(error.envelope(), status_code=error.status, headers=headers)
        self.code = error.code

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope[CODE] = self.code
        await super().__call__(scope, receive, send)


def problem_of(error: Exception) -> Problem:
    """The answer to give when this was raised; what nobody foresaw is logged and told as INTERNAL."""
    if isinstance(error, CutroomError):
        return Problem(error)
    if isinstance(error, RequestValidationError):
        return Problem(_validation(error))
    if isinstance(error, HTTPException):
        return Problem(_http(error))
    _log.error("unexpected error", exc_info=error)
    return Problem(CutroomError(Code.INTERNAL))


def _validation(error: RequestValidationError) -> CutroomError:
    faults = []
    for fault in error.errors()[:MAX_FIELDS]:
        kind, *rest = fault["loc"]
        if kind == "body":
            rest = _present(rest, error.body, missing=fault["type"] == "missing")
            # Which variant is meant is told by a field of its own; the schema library names only what holds it.
            if (named := fault.get("ctx", {}).get("discriminator")) is not None:
                rest.append(named.strip("'"))
        path = ".".join(str(piece) for piece in rest) or str(kind)
        message = _MESSAGES.get(fault["type"], fault["msg"].removeprefix("Value error, "))
        faults.append((path, message))
    return invalid_fields(faults)


def _present(pieces: list[str | int], document: Any, *, missing: bool) -> list[str | int]:  # noqa: ANN401 (JSON)
    """The path as the caller wrote it: the schema library also names the variants of a union that it tried."""
    found: list[str | int] = []
    for number, piece in enumerate(pieces, 1):
        inside = (isinstance(document, dict) and piece in document) or (
            isinstance(document, list) and isinstance(piece, int) and piece < len(document)
        )
        if inside:
            document = document[piece]
        if inside or (missing and number == len(pieces)):
            found.append(piece)
    return found


def _http(error: HTTPException) -> CutroomError:
    if error.status_code == 404:
        return CutroomError(Code.NOT_FOUND)
    if error.status_code == 405:
        return CutroomError(Code.METHOD_NOT_ALLOWED, headers=dict(error.headers or {}))
    if 400 <= error.status_code < 500:
        return invalid_fields([("body", "The request could not be read.")])
    return CutroomError(Code.INTERNAL)
