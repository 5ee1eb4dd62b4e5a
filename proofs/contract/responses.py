"""Promises about answers, held against everything that the service has answered so far."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from cutroom.errors import Code
from cutroom.platform.ids import is_id
from cutroom.web.schema import is_language
from proofs.contract.stage import Answer, Stage
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


def fault_of_answer_field(stage: Stage, promise: Promise) -> str | None:
    """What of a promise about an answer's field does not hold in any answer, or that none ever showed it."""
    words = promise.part.split(" ")
    status, path = (words[1], words[2]) if len(words) == 3 else (None, words[1])
    answers = [
        answer
        for answer in stage.answers
        if answer.operation == promise.operation and _is_of(answer, status) and answer.document is not None
    ]
    if not answers:
        return "no answer was seen"
    values = [value for answer in answers for value in _values(answer.document, _steps(path))]
    present = [value for value in values if value is not MISSING]
    if promise.holds == "absent":
        return "it is there" if present else None
    if not present:
        return f"never seen in {len(answers)} answers"
    required = "required" in promise.holds.split()
    if required and len(present) != len(values):
        return "it is missing at times"
    return next((fault for value in present if (fault := _fault_of_value(value, promise.holds))), None)


def _is_of(answer: Answer, status: str | None) -> bool:
    if status is not None:
        return answer.status == int(status)
    # Without a status the first that succeeds is meant, as in the document; thumbnails and hosting have two.
    return answer.status in {200, 201, 202} and not (
        answer.operation == "POST /videos/{videoId}/thumbnails" and answer.status == 202
    )


def _steps(path: str) -> list[str]:
    return re.findall(r"\[\]|\{\}|[^.\[\]{}]+", path)


def _values(document: Any, steps: list[str]) -> Iterator[Any]:  # noqa: ANN401 (any JSON value)
    """The values at a path; MISSING for each place that could have held one."""
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


def _fault_of_value(value: Any, holds: str) -> str | None:  # noqa: ANN401 (any JSON value)
    type_, _, rest = holds.partition(" ")
    if value is None:
        return None if "nullable" in rest.split() else "null"
    if not _has_type(value, type_):
        return f"{value!r} is no {type_}"
    if (found := re.search(r"one of (\S+)", rest)) and str(value) not in found[1].split("|"):
        return f"{value!r} is none of {found[1]}"
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


def fault_of_code(stage: Stage, promise: Promise) -> str | None:
    """Every answer with this code had its one status and its one message, in the envelope; and there was one."""
    code = Code(promise.part.split(" ")[1])
    status, _, message = promise.holds.partition(" ")
    seen = [answer for answer in stage.answers if answer.code == code]
    if not seen:
        return "no answer had this code"
    for answer in seen:
        error = answer.document["error"]
        if set(answer.document) != {"error"} or set(error) != {"code", "message", "details"}:
            return f"another envelope: {answer}"
        is_failed_shorts = answer.operation == "GET /shorts/{shortsRequestId}"
        if is_failed_shorts and answer.status == 422:
            continue  # the job's own code and message, by the contract
        if str(answer.status) != status or (message and error["message"] != message):
            return f"{answer.operation}: {answer.status} with {error['message']!r}"
        if not isinstance(error["details"], dict):
            return f"details are no object: {answer}"
    return None


def fault_of_header(stage: Stage, promise: Promise) -> str | None:
    """Headers that go with every answer, or with one kind of them."""
    name = promise.part.split(" ")[1]
    where = promise.holds
    if where == "every answer":
        without = [answer for answer in stage.answers if not is_id(answer.headers.get(name, ""))]
        return f"missing in {without[0].operation} {without[0]}" if without else None
    if where == "every admitted answer":
        admitted = [answer for answer in stage.answers if answer.status < 400 and answer.operation != "GET /health"]
        without = [answer for answer in admitted if name not in answer.headers]
        return f"missing in {without[0].operation}" if without or not admitted else None
    kind = where.removeprefix("every ")
    having = [answer for answer in stage.answers if kind in {answer.code, str(answer.status)}]
    without = [answer for answer in having if name not in answer.headers]
    return f"not on every {kind}" if without or not having else None
