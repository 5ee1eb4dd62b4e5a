"""Checks promises about responses against every response received so far."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from cutroom.errors import Code
from cutroom.platform.ids import is_id
from cutroom.text.language_tags import is_language
from proofs.contract.stage import ApiResponse, Stage
from tests.contract.promises import Promise

MISSING = object()
_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


def check_response_field(stage: Stage, promise: Promise) -> str | None:
    """How any response breaks a promise about a field, or that no response contained it."""
    words = promise.aspect.split(" ")
    status, path = (words[1], words[2]) if len(words) == 3 else (None, words[1])
    responses = [
        response
        for response in stage.responses
        if response.operation == promise.operation and _has_status(response, status) and response.document is not None
    ]
    if not responses:
        return "no response received"
    values = [value for response in responses for value in _values(response.document, _steps(path))]
    present = [value for value in values if value is not MISSING]
    if promise.expected == "absent":
        return "present" if present else None
    if not present:
        return f"absent in {len(responses)} responses"
    required = "required" in promise.expected.split()
    if required and len(present) != len(values):
        return "sometimes missing"
    return next((violation for value in present if (violation := _check_value(value, promise.expected))), None)


def _has_status(response: ApiResponse, status: str | None) -> bool:
    if status is not None:
        return response.status == int(status)
    # Without a status, the operation's first success status is meant; thumbnails and hosting have two.
    return response.status in {200, 201, 202} and not (
        response.operation == "POST /videos/{videoId}/thumbnails" and response.status == 202
    )


def _steps(path: str) -> list[str]:
    return re.findall(r"\[\]|\{\}|[^.\[\]{}]+", path)


def _values(document: Any, steps: list[str]) -> Iterator[Any]:  # noqa: ANN401 (any JSON value)
    """The values at a path; MISSING where an object lacks the field."""
    if not steps:
        yield document
        return
    step, rest = steps[0], steps[1:]
    if step == "[]":
        for item in document if isinstance(document, list) else []:
            yield from _values(item, rest)
    elif step == "{}":
        for item in document.values() if isinstance(document, dict) else []:
            yield from _values(item, rest)
    elif isinstance(document, dict):
        if step in document:
            yield from _values(document[step], rest)
        elif not rest:
            yield MISSING


def _check_value(value: Any, expected: str) -> str | None:  # noqa: ANN401 (any JSON value)
    type_, _, rest = expected.partition(" ")
    if value is None:
        return None if "nullable" in rest.split() else "null"
    if not _has_type(value, type_):
        return f"{value!r} is not a {type_}"
    if (found := re.search(r"one of (\S+)", rest)) and str(value) not in found[1].split("|"):
        return f"{value!r} is not one of {found[1]}"
    size = len(value) if isinstance(value, str | list) else value
    for bound in re.finditer(r"(at least|at most) ([\d.]+)", rest):
        if (size < float(bound[2])) if bound[1] == "at least" else (size > float(bound[2])):
            return f"{size} is not {bound[0]}"
    return None


def _has_type(value: Any, type_: str) -> bool:  # noqa: ANN401 (any JSON value)
    if type_ == "uri":
        return isinstance(value, str) and bool(urlsplit(value).scheme and urlsplit(value).netloc)
    if type_ == "date-time":
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    if type_ == "language":
        return isinstance(value, str) and is_language(value)
    if isinstance(value, bool) and type_ != "boolean":
        return False
    return isinstance(value, _TYPES[type_])


def check_code(stage: Stage, promise: Promise) -> str | None:
    """Every response with this code has its status and message in the error envelope, and there is at least one."""
    code = Code(promise.aspect.split(" ")[1])
    status, _, message = promise.expected.partition(" ")
    seen = [response for response in stage.responses if response.code == code]
    if not seen:
        return "no response with this code"
    for response in seen:
        error = response.document["error"]
        if set(response.document) != {"error"} or set(error) != {"code", "message", "details"}:
            return f"wrong error envelope: {response}"
        is_failed_shorts = response.operation == "GET /shorts/{shortsRequestId}"
        if is_failed_shorts and response.status == 422:
            continue  # by the contract, the job's own code and message
        if str(response.status) != status or (message and error["message"] != message):
            return f"{response.operation}: {response.status} with {error['message']!r}"
        if not isinstance(error["details"], dict):
            return f"details are not an object: {response}"
    return None


def check_header(stage: Stage, promise: Promise) -> str | None:
    """A header is present on every response, or on every response of one kind."""
    name = promise.aspect.split(" ")[1]
    where = promise.expected
    if where == "every response":
        without = [response for response in stage.responses if not is_id(response.headers.get(name, ""))]
        return f"missing in {without[0].operation} {without[0]}" if without else None
    if where == "every authenticated response":
        admitted = [
            response
            for response in stage.responses
            if response.status < 400 and not response.operation.endswith(" /health")
        ]
        without = [response for response in admitted if name not in response.headers]
        return f"missing in {without[0].operation}" if without or not admitted else None
    kind = where.removeprefix("every ")
    having = [response for response in stage.responses if kind in {response.code, str(response.status)}]
    without = [response for response in having if name not in response.headers]
    return f"not on every {kind}" if without or not having else None
