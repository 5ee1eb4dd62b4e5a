"""Promises that are a request and its answer: `asks ?limit=0`, `asks {"name": "x"} as a viewer of failed`."""

import json
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from proofs.contract.samples import Sample, ids_of, renewed
from proofs.contract.stage import OWNER, Answer, Stage
from tests.contract.promises import Promise

_ASKS = re.compile(r"asks(?: \?(?P<query>\S*))?(?: (?P<body>\{.*\}))?(?: as (?P<caller>.+?))?(?: of (?P<state>.+))?")
_MEANS = re.compile(r"(?P<status>\d{3})(?: (?P<code>[A-Z_]+))?(?: at (?P<path>\S+))?(?: shows (?P<shows>.+))?")
FRESH = "a fresh video"


@dataclass(frozen=True, slots=True)
class Asked:
    """One such promise, read."""

    operation: str
    body: Any
    query: dict[str, str]
    caller: str
    state: str | None
    status: int
    code: str | None
    path: str | None
    shows: tuple[tuple[str, str], ...]


def read_asked(promise: Promise) -> Asked:
    asks, means = _ASKS.fullmatch(promise.part), _MEANS.fullmatch(promise.holds)
    if asks is None or means is None:
        raise ValueError(f"line {promise.number} cannot be read: {promise}")
    shows = [piece.partition("=") for piece in (means["shows"] or "").split("; ") if piece]
    return Asked(
        operation=promise.operation,
        body=json.loads(asks["body"]) if asks["body"] else None,
        query=dict(parse_qsl(asks["query"] or "", keep_blank_values=True)),
        caller=asks["caller"] or OWNER,
        state=asks["state"],
        status=int(means["status"]),
        code=means["code"],
        path=means["path"],
        shows=tuple((name, value) for name, _, value in shows),
    )


async def fault_of_asked(stage: Stage, promise: Promise) -> str | None:
    """Ask as the promise says, and compare."""
    asked = read_asked(promise)
    sample = Sample(of=asked.state if asked.state != FRESH else None, fresh=asked.state == FRESH)
    answer = await stage.ask(
        asked.operation,
        _filled(stage, renewed(asked.body), asked.caller),
        query=asked.query,
        caller=asked.caller,
        ids=await ids_of(stage, sample),
    )
    if (answer.status, answer.code) != (asked.status, asked.code):
        return f"answered {answer}"
    if asked.path is not None and asked.path not in answer.fields:
        return f"the fault is told of {answer.fields}: {answer}"
    return next((fault for name, value in asked.shows if (fault := _fault_shown(answer, name, value))), None)


def _filled(stage: Stage, body: Any, caller: str) -> Any:  # noqa: ANN401 (any JSON value)
    """`{folderId}` in a body is the caller's own."""
    text = json.dumps(body)
    for name, value in stage.callers[caller].ids.items():
        text = text.replace(f"{{{name}}}", value)
    return json.loads(text)


def _fault_shown(answer: Answer, name: str, wanted: str) -> str | None:
    found: Any = answer.document
    for step in name.split("."):
        if step == "count":
            found = len(found)
        elif isinstance(found, list):
            found = found[int(step)]
        elif not isinstance(found, dict) or step not in found:
            return None if wanted == "absent" else f"{name} is not there: {answer}"
        else:
            found = found[step]
    told = found if isinstance(found, str) else json.dumps(found)
    return None if told == wanted else f"{name} is {told}"
