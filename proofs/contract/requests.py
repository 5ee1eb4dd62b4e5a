"""Checks single-request promises, such as `call ?limit=0` or `call {"name": "x"} as a viewer of failed`."""

import json
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from proofs.contract.samples import Sample, fill_placeholders, ids_of
from proofs.contract.stage import OWNER, ApiResponse, Stage
from tests.contract.promises import Promise

_CALL = re.compile(r"call(?: \?(?P<query>\S*))?(?: (?P<body>\{.*\}))?(?: as (?P<caller>.+?))?(?: of (?P<state>.+))?")
_EXPECTED = re.compile(
    r"(?P<status>\d{3})(?: (?P<code>[A-Z_]+))?(?: at (?P<path>\S+))?"
    r"(?: allowing (?P<allowed>\S+))?(?: with (?P<values>.+))?"
)
FRESH = "a fresh video"


@dataclass(frozen=True, slots=True)
class Call:
    """A parsed promise: the request and its expected response."""

    operation: str
    body: Any
    query: dict[str, str]
    caller: str
    state: str | None
    status: int
    code: str | None
    path: str | None
    allowed: str | None
    values: tuple[tuple[str, str], ...]


def parse_call(promise: Promise) -> Call:
    request, response = _CALL.fullmatch(promise.aspect), _EXPECTED.fullmatch(promise.expected)
    if request is None or response is None:
        raise ValueError(f"line {promise.number} cannot be parsed: {promise}")
    values = [each.partition("=") for each in (response["values"] or "").split("; ") if each]
    return Call(
        operation=promise.operation,
        body=json.loads(request["body"]) if request["body"] else None,
        query=dict(parse_qsl(request["query"] or "", keep_blank_values=True)),
        caller=request["caller"] or OWNER,
        state=request["state"],
        status=int(response["status"]),
        code=response["code"],
        path=response["path"],
        allowed=response["allowed"],
        values=tuple((name, value) for name, _, value in values),
    )


async def check_call(stage: Stage, promise: Promise) -> str | None:
    """Send the request of a promise and compare the response."""
    call = parse_call(promise)
    sample = Sample(of=call.state if call.state != FRESH else None, fresh=call.state == FRESH)
    response = await stage.call(
        call.operation,
        _filled(stage, fill_placeholders(call.body), call.caller),
        query=call.query,
        caller=call.caller,
        ids=await ids_of(stage, sample),
    )
    if (response.status, response.code) != (call.status, call.code):
        return f"got {response}"
    if call.allowed is not None and response.headers.get("Allow", "").replace(" ", "") != call.allowed:
        return f"Allow is {response.headers.get('Allow')}"
    if call.path is not None and call.path not in response.fields:
        return f"the error names {response.fields}: {response}"
    return next(
        (violation for name, value in call.values if (violation := _check_value_at(response, name, value))), None
    )


def _filled(stage: Stage, body: Any, caller: str) -> Any:  # noqa: ANN401 (any JSON value)
    """Replace placeholders such as `{folderId}` by ids of the caller's library."""
    text = json.dumps(body)
    for name, value in stage.callers[caller].ids.items():
        text = text.replace(f"{{{name}}}", value)
    return json.loads(text)


def _check_value_at(response: ApiResponse, name: str, expected: str) -> str | None:
    found: Any = response.document
    for step in name.split("."):
        if step == "count":
            found = len(found)
        elif isinstance(found, list):
            found = found[int(step)]
        elif not isinstance(found, dict) or step not in found:
            return None if expected == "absent" else f"{name} is missing: {response}"
        else:
            found = found[step]
    value = found if isinstance(found, str) else json.dumps(found)
    return None if value == expected else f"{name} is {value}"
