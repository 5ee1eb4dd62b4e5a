"""Every promise of the table against the running service, and why a few cannot be shown there."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from cutroom.platform.ids import new_id
from proofs.contract.behaviour import is_replay, keyed
from proofs.contract.behaviour_speech import fault_of_behaviour
from proofs.contract.fields import fault_of_field, fault_of_query
from proofs.contract.requests import fault_of_asked
from proofs.contract.responses import fault_of_answer_field, fault_of_code, fault_of_header
from proofs.contract.samples import SAMPLES, SILENT, Sample, send
from proofs.contract.sources import send_useless_source
from proofs.contract.stage import Answer, Stage
from tests.contract.promises import Promise, read_promises

UNREADABLE = b"{"
JSON = {"Content-Type": "application/json"}
BAD_QUERIES = {
    "GET /videos": {"limit": "0"},
    "GET /videos/{videoId}/dubs/{lang}": {"product": "nonsense"},
    "GET /videos/{videoId}/subtitles/{lang}": {"format": "nonsense"},
    "GET /voices": {"status": "nonsense"},
}
MISSING = {
    "POST /videos": {"source": {"type": "upload"}, "folderId": "gone"},
    "POST /folders": {"name": "x", "parentId": "gone"},
}
SCOPES = {promise.operation: promise.holds for promise in read_promises() if promise.part == "scope"}
SKIPPED = {
    "POST /videos/{videoId}/professional-hosting | response reason": "whoever has one is refused, and told it in the "
    "details; GET shows the field",
}


@dataclass
class Outcome:
    """What came of the table."""

    failed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


async def fault_of_success(stage: Stage, promise: Promise) -> str | None:
    wanted = int(promise.holds)
    samples = [sample for sample in SAMPLES[promise.operation] if sample.status == wanted]
    if not samples:
        return "there is no sample"
    for sample in samples:
        answer = await send(stage, promise.operation, sample)
        if answer.status != wanted:
            return f"{sample} was answered {answer}"
    return None


async def fault_of_scope(stage: Stage, promise: Promise) -> str | None:
    """Every other scope is not enough, and this one alone is."""
    sample = _quick(promise.operation)
    refused = await send(stage, promise.operation, sample, caller=stage.lacking[promise.holds])
    wanted = {"code": "INSUFFICIENT_SCOPE", "details": {"required": [promise.holds]}}
    told = refused.document["error"] if refused.code is not None else {}
    if refused.status != 403 or {name: told.get(name) for name in wanted} != wanted:
        return f"without the scope: {refused}"
    passed = await send(stage, promise.operation, sample, caller=stage.only[promise.holds])
    return f"with the scope alone: {passed}" if passed.status in {401, 403} else None


def _quick(operation: str) -> Sample:
    """A request that is answered at once."""
    sample = SAMPLES[operation][0]
    return Sample(sample.body, of=SILENT) if operation.startswith("POST /text-to-speech") else sample


async def fault_of_error(stage: Stage, promise: Promise) -> str | None:
    status, operation = int(promise.holds), promise.operation
    answers = await _PROVOKED[status](stage, operation)
    wrong = [answer for answer in answers if answer.status != status or answer.code is None]
    return f"answered {wrong[0]}" if wrong else None


async def _invalid(stage: Stage, operation: str) -> list[Answer]:
    if operation in BAD_QUERIES:
        return [await stage.ask(operation, query=BAD_QUERIES[operation])]
    return [await stage.ask(operation, content=UNREADABLE, headers=JSON)]


async def _unknown_caller(stage: Stage, operation: str) -> list[Answer]:
    sample = _quick(operation)
    return [await send(stage, operation, sample, caller=caller) for caller in ("nobody", "a wrong key")]


async def _unscoped(stage: Stage, operation: str) -> list[Answer]:
    return [await send(stage, operation, _quick(operation), caller=stage.lacking[SCOPES[operation]])]


async def _missing(stage: Stage, operation: str) -> list[Answer]:
    if operation in MISSING:
        return [await stage.ask(operation, MISSING[operation])]
    names = ("videoId", "folderId", "jobId", "endpointId", "voice_id", "shortsRequestId", "thumbnailRequestId")
    ids = dict.fromkeys((*names, "downloadRequestId"), new_id())
    return [await stage.ask(operation, SAMPLES[operation][0].body, ids=ids)]


async def _at_odds(stage: Stage, operation: str) -> list[Answer]:
    if operation.startswith("POST /text-to-speech"):
        return [await send(stage, operation, _quick(operation))]
    key = new_id()
    await send(stage, operation, _quick(operation), headers={"Idempotency-Key": key})
    return [await keyed(stage, operation, {"another": key}, key)]


async def _unworkable(stage: Stage, operation: str) -> list[Answer]:
    if operation.startswith("GET /shorts"):
        return [await stage.ask(operation, ids=stage.states["failed shorts"])]
    if operation == "POST /videos":
        return await send_useless_source(stage)
    return [await stage.ask(operation, {"dubs": [{"languages": ["pt"]}]}, ids=stage.states["waiting"])]


async def _too_often(stage: Stage, operation: str) -> list[Answer]:
    """One request a minute is allowed: of three in a row, one is too many."""
    answers = [await send(stage, operation, _quick(operation), caller="somebody limited") for _ in range(3)]
    return [answer for answer in answers if answer.status == 429][:1] or answers


async def _broken(stage: Stage, operation: str) -> list[Answer]:
    return [await send(stage, operation, Sample(_quick(operation).body))]


_PROVOKED: dict[int, Callable[[Stage, str], Awaitable[list[Answer]]]] = {
    400: _invalid,
    401: _unknown_caller,
    403: _unscoped,
    404: _missing,
    409: _at_odds,
    422: _unworkable,
    429: _too_often,
    500: _broken,
}


async def fault_of_replay(stage: Stage, promise: Promise) -> str | None:
    """Whether a key brings the same answer again; speech knows none."""
    operation, key = promise.operation, new_id()
    sample = _quick(operation)
    headers = {"Idempotency-Key": key}
    ids = {} if not sample.fresh else {"ids": {"videoId": await stage.rows.video()}}
    body = sample.body
    if "$" in json.dumps(body):
        body = json.loads(json.dumps(body).replace("$UNIQUE", key).replace("$SHORT", key[-11:]))
    sent: dict[str, Any] = {"body": body, "headers": headers, **ids}
    if sample.of == "an upload":
        made = await stage.ask("POST /videos", {"source": {"type": "upload"}})
        sent["ids"] = {"videoId": made.document["videoId"]}
    first, again = [await send(stage, operation, sample, **sent) for _ in range(2)]
    if promise.holds == "absent":
        return "it was replayed" if is_replay(again) else None
    same = (first.status, first.document) == (again.status, again.document)
    return None if is_replay(again) and same else f"{first}, then {again}"


async def fault_of_path(stage: Stage, promise: Promise) -> str | None:
    """One character is an id like any other, though nobody's."""
    answer = await stage.ask(promise.operation, ids={promise.part.split(" ")[1]: "x"})
    return None if answer.code == "NOT_FOUND" else str(answer)


async def fault_of_open(stage: Stage, promise: Promise) -> str | None:
    answer = await stage.ask(promise.operation, caller="nobody")
    return None if answer.status == 200 else str(answer)


async def _of_answers(stage: Stage, promise: Promise) -> str | None:
    return fault_of_answer_field(stage, promise)


async def _of_codes(stage: Stage, promise: Promise) -> str | None:
    return fault_of_code(stage, promise)


async def _of_headers(stage: Stage, promise: Promise) -> str | None:
    return fault_of_header(stage, promise)


_KINDS: dict[str, Callable[[Stage, Promise], Awaitable[str | None]]] = {
    "open": fault_of_open,
    "scope": fault_of_scope,
    "success": fault_of_success,
    "error": fault_of_error,
    "header": fault_of_replay,
    "query": fault_of_query,
    "path": fault_of_path,
    "request": fault_of_field,
    "asks": fault_of_asked,
    "behaves": fault_of_behaviour,
    "response": _of_answers,
    "code": _of_codes,
    "carries": _of_headers,
}
# What is asked comes before what is read out of the answers; a broken database comes last of all that is asked.
_ORDER = ("success", "asks", "behaves", "open", "scope", "header", "query", "path", "request", "error", "response")


def kind_of(promise: Promise) -> str:
    return promise.part.partition(" ")[0].partition("(")[0]


def _rank(promise: Promise) -> tuple[int, bool]:
    kind = kind_of(promise)
    return _ORDER.index(kind) if kind in _ORDER else len(_ORDER), promise.holds == "500"


async def check_rows(stage: Stage, promises: list[Promise], outcome: Outcome) -> None:
    """All rows but those that need a broken service or everything that was answered."""
    for promise in sorted(promises, key=_rank):
        if reason := _skipped(promise):
            outcome.skipped.append(f"line {promise.number}: {promise}: {reason}")
            continue
        if fault := await _KINDS[kind_of(promise)](stage, promise):
            outcome.failed.append(f"line {promise.number}: {promise}: {fault}")


def _skipped(promise: Promise) -> str | None:
    return next((reason for row, reason in SKIPPED.items() if str(promise).startswith(row)), None)


def needs_breakage(promise: Promise) -> bool:
    return kind_of(promise) == "error" and promise.holds == "500"


def needs_worker(promise: Promise) -> bool:
    return str(promise).startswith("POST /videos | error | 422")


def needs_everything(promise: Promise) -> bool:
    return promise.operation == "any"
