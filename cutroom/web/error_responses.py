"""Converts exceptions to error responses."""

import logging
import re
from collections.abc import Mapping
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from cutroom.errors import Code, CutroomError, invalid_fields
from cutroom.platform import moved
from cutroom.platform.moved import has_moved

_log = logging.getLogger(__name__)

# What is wrong with a value, by the validator's type of error; placeholders are filled from the error's context.
_MESSAGES = {
    "missing": "This field is required.",
    "union_tag_not_found": "This field is required.",
    "string_type": "This must be a string.",
    "int_type": "This must be a whole number.",
    "int_parsing": "This must be a whole number.",
    "int_from_float": "This must be a whole number.",
    "int_parsing_size": "This number is too large.",
    "float_type": "This must be a number.",
    "float_parsing": "This must be a number.",
    "finite_number": "This must be a finite number.",
    "bool_type": "This must be true or false.",
    "bool_parsing": "This must be true or false.",
    "list_type": "This must be an array.",
    "dict_type": "This must be an object.",
    "model_type": "This must be an object.",
    "model_attributes_type": "This must be an object.",
    "string_pattern_mismatch": "This does not have the required form.",
    "string_too_short": "This must have at least {min_length} characters.",
    "string_too_long": "This must have at most {max_length} characters.",
    "too_short": "This must have at least {min_length} items.",
    "too_long": "This must have at most {max_length} items.",
    "greater_than": "This must be greater than {gt:g}.",
    "greater_than_equal": "This must be at least {ge:g}.",
    "less_than": "This must be less than {lt:g}.",
    "less_than_equal": "This must be at most {le:g}.",
}
_ENUM_ERRORS = frozenset({"enum", "literal_error", "union_tag_invalid"})
_OWN_ERRORS = frozenset({"value_error", "unknown_field", "kind"})  # raised with a message for the caller
_INVALID = "This value is not valid."
MAX_FIELDS = 50
ERROR_CODE = "cutroom.code"  # ASGI scope key read by RequestMiddleware


class ErrorResponse(JSONResponse):
    """A JSON error response."""

    def __init__(self, error: CutroomError) -> None:
        headers = dict(error.headers)
        if error.status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        super().__init__(error.envelope(), status_code=error.status, headers=headers)
        self.code = error.code

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope[ERROR_CODE] = self.code
        await super().__call__(scope, receive, send)


def error_response(error: Exception) -> ErrorResponse:
    """Return the response for an exception; unexpected ones are logged and reported as INTERNAL."""
    if isinstance(error, CutroomError):
        return ErrorResponse(error)
    if isinstance(error, RequestValidationError):
        return ErrorResponse(_from_validation(error))
    if isinstance(error, HTTPException):
        return ErrorResponse(_from_http(error))
    if has_moved(error):
        return ErrorResponse(CutroomError(Code.INTERNAL, headers=dict(moved.HEADERS)))
    _log.error("unexpected error", exc_info=error)
    return ErrorResponse(CutroomError(Code.INTERNAL))


def _from_validation(error: RequestValidationError) -> CutroomError:
    fields = []
    for detail in error.errors()[:MAX_FIELDS]:
        kind, *rest = detail["loc"]
        if kind == "body":
            rest = _request_path(rest, error.body, missing=detail["type"] == "missing")
            # Pydantic reports the object; the error belongs to its discriminator field.
            if (discriminator := detail.get("ctx", {}).get("discriminator")) is not None:
                rest.append(discriminator.strip("'"))
        path = ".".join(str(segment) for segment in rest) or str(kind)
        fields.append((path, _message(detail)))
    return invalid_fields(fields)


def _message(detail: Mapping[str, Any]) -> str:
    """Describe a validation error in our own words: the validator's name its types and classes."""
    kind, context = detail["type"], detail.get("ctx", {})
    if kind in _OWN_ERRORS:
        return str(detail["msg"]).removeprefix("Value error, ")
    if kind in _ENUM_ERRORS:
        return f"This must be {_allowed_values(context)}."
    return _MESSAGES[kind].format(**context) if kind in _MESSAGES else _INVALID


def _allowed_values(context: Mapping[str, Any]) -> str:
    expected = str(context.get("expected") or context["expected_tags"])
    # Strings are quoted, members of an enumeration as in `<Color.RED: 'red'>`; numbers and booleans are not.
    values = re.findall(r"'([^']*)'", expected) or re.split(r", | or ", expected.replace("True", "true"))
    *others, last = (f"`{value}`" for value in values)
    return f"{', '.join(others)} or {last}" if others else last


def _request_path(segments: list[str | int], document: Any, *, missing: bool) -> list[str | int]:  # noqa: ANN401 (JSON)
    """Return the field's path in the request, without the union variants that Pydantic adds."""
    found: list[str | int] = []
    for number, segment in enumerate(segments, 1):
        inside = (isinstance(document, dict) and segment in document) or (
            isinstance(document, list) and isinstance(segment, int) and segment < len(document)
        )
        if inside:
            document = document[segment]
        if inside or (missing and number == len(segments)):
            found.append(segment)
    return found


def _from_http(error: HTTPException) -> CutroomError:
    if error.status_code == 404:
        return CutroomError(Code.NOT_FOUND)
    if error.status_code == 405:
        return CutroomError(Code.METHOD_NOT_ALLOWED, headers=dict(error.headers or {}))
    if 400 <= error.status_code < 500:
        return invalid_fields([("body", "The request could not be read.")])
    return CutroomError(Code.INTERNAL)
