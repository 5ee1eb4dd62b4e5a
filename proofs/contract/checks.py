"""Checks each promise against the running service, by kind."""

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from cutroom.platform.ids import new_id
from cutroom.web.spending import HEADER as SPENDING_LIMIT
from proofs.contract.behaviors import BEHAVIORS
from proofs.contract.fields import check_query, check_request_field
from proofs.contract.idempotency_behaviors import is_replay, keyed
from proofs.contract.preflight import send_unreachable_source
from proofs.contract.requests import check_call, parse_call
from proofs.contract.responses import check_code, check_header, check_response_field
from proofs.contract.samples import EDITED_DUB, SAMPLES, STALE_CAPTIONS, UNREADY_VOICE, Sample, ids_of, send
from proofs.contract.speech_behaviors import check_behavior
from proofs.contract.stage import ApiResponse, Stage
from tests.contract.promises import Promise, kind_of, read_promises

UNREADABLE = b"{"
JSON = {"Content-Type": "application/json"}
BAD_QUERIES = {
    "GET /videos": {"limit": "0"},
    "GET /videos/{videoId}/dubs/{lang}": {"product": "nonsense"},
    "GET /videos/{videoId}/dubs/{lang}/segments": {"product": "nonsense"},
    "GET /videos/{videoId}/dubs/{lang}/segments/{segmentId}/preview/{previewId}": {"product": "nonsense"},
    "GET /videos/{videoId}/dubs/{lang}/segments/{segmentId}/wordings/{wordingsId}": {"product": "nonsense"},
    "DELETE /videos/{videoId}/dubs/{lang}": {"product": "nonsense"},
    "GET /videos/{videoId}/subtitles/{lang}": {"format": "nonsense"},
    "GET /voices": {"status": "nonsense"},
    "GET /audit-log": {"limit": "0"},
    "GET /webhook-endpoints/{endpointId}/deliveries": {"limit": "0"},
    "GET /library/destination/copies": {"limit": "0"},
    "GET /library/retention/preview": {"originalsDays": "0"},
    "DELETE /library": {"confirm": "nonsense"},
    "DELETE /videos/{videoId}": {"permanently": "nonsense"},
    "GET /trash": {"limit": "0"},
    "GET /videos/{videoId}/transcript/revisions": {"limit": "0"},
    "GET /videos/{videoId}/transcript/revisions/{revision}/comparison": {"to": "0"},
    "GET /videos/{videoId}/transcript/edit-list": {"frameRate": "26"},
    "GET /glossary/terms": {"limit": "0"},
    "GET /videos/{videoId}/comments": {"limit": "0"},
    "GET /cast/members": {"limit": "0"},
    "GET /cast/members/{memberId}/appearances": {"limit": "0"},
    "GET /audit-log/export": {"since": "nonsense"},
}
MISSING = {
    "POST /videos": {"source": {"type": "upload"}, "folderId": "gone"},
    "POST /folders": {"name": "x", "parentId": "gone"},
    "POST /glossary/terms": {"term": "x", "language": "en", "keep": True, "folderId": "gone"},
    "POST /cast/members": {"name": "Ana", "folderId": "gone"},
    "PUT /cast/recognition": {"recognizeSpeakers": False, "folderIds": ["gone"]},
    "POST /cast/recognition/run": {"folderId": "gone"},
    "POST /glossary/import": {"csv": "term,language,keep,folderId\nx,en,true,gone\n"},
}
# States in which products are still being made, so that they are not deleted or changed.
IN_THE_MAKING = {
    "DELETE /videos/{videoId}/dubs/{lang}": "a preview",
    "DELETE /videos/{videoId}/captions/{lang}": "captions in the making",
    "GET /videos/{videoId}/captions/{lang}/segments": "captions in the making",
    "PATCH /videos/{videoId}/captions/{lang}/segments": "captions in the making",
    "POST /videos/{videoId}/captions/{lang}/regenerate": "captions in the making",
    "POST /videos/{videoId}/captions/{lang}/import": "captions in the making",
    "DELETE /shorts/{shortsRequestId}": "processing shorts",
    "DELETE /shorts/{shortsRequestId}/outputs/{outputId}": "processing shorts",
    "DELETE /thumbnails/{thumbnailRequestId}": "a processing thumbnail",
    "DELETE /thumbnails/{thumbnailRequestId}/images/{thumbnailId}": "a processing thumbnail",
    "DELETE /downloads/{downloadRequestId}": "a processing download",
}
UNFINISHED = {
    "/transcript": "transcribing",
    "/playback": "transcribing",
    "/dubs/{lang}/": "a preview",
}  # by a part of the path
SCOPES = {promise.operation: promise.expected for promise in read_promises() if promise.aspect == "scope"}
SKIPPED: dict[str, str] = {}  # beginnings of promises that cannot be checked here, with the reason


@dataclass
class Outcome:
    """Failed and skipped promises."""

    failed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


async def check_success(stage: Stage, promise: Promise) -> str | None:
    expected = int(promise.expected)
    samples = [sample for sample in SAMPLES[promise.operation] if sample.status == expected]
    if not samples:
        return "no sample"
    for sample in samples:
        response = await send(stage, promise.operation, sample)
        if response.status != expected:
            return f"{sample} got {response}"
    return None


async def check_scope(stage: Stage, promise: Promise) -> str | None:
    """All other scopes together are not sufficient, and the required ones alone are."""
    sample = _fast_sample(promise.operation)
    for scope in promise.expected.split(" and "):
        refused = await send(stage, promise.operation, sample, caller=stage.lacking[scope])
        expected = {"code": "INSUFFICIENT_SCOPE", "details": {"required": [scope]}}
        error = refused.document["error"] if refused.code is not None else {}
        if refused.status != 403 or {name: error.get(name) for name in expected} != expected:
            return f"without {scope}: {refused}"
    passed = await send(stage, promise.operation, sample, caller=stage.only[promise.expected])
    return f"with {promise.expected} alone: {passed}" if passed.status in {401, 403} else None


def _fast_sample(operation: str) -> Sample:
    """A request with an immediate response."""
    sample = SAMPLES[operation][0]
    return Sample(sample.body, of=UNREADY_VOICE) if operation.startswith("POST /text-to-speech") else sample


async def check_error(stage: Stage, promise: Promise) -> str | None:
    status, operation = int(promise.expected), promise.operation
    responses = await _PROVOKE_ERROR[status](stage, operation)
    wrong = [response for response in responses if response.status != status or response.code is None]
    return f"got {wrong[0]}" if wrong else None


async def _invalid(stage: Stage, operation: str) -> list[ApiResponse]:
    if operation in BAD_QUERIES:
        return [await stage.call(operation, query=BAD_QUERIES[operation])]
    return [await stage.call(operation, content=UNREADABLE, headers=JSON)]


async def _unauthenticated(stage: Stage, operation: str) -> list[ApiResponse]:
    sample = _fast_sample(operation)
    return [await send(stage, operation, sample, caller=caller) for caller in ("anonymous", "an invalid key")]


async def _insufficient_scope(stage: Stage, operation: str) -> list[ApiResponse]:
    scope = SCOPES[operation].partition(" and ")[0]
    return [await send(stage, operation, _fast_sample(operation), caller=stage.lacking[scope])]


async def _not_found(stage: Stage, operation: str) -> list[ApiResponse]:
    if operation in MISSING:
        return [await stage.call(operation, MISSING[operation])]
    if operation.endswith("/library/destination"):
        await stage.rows.remove_destination()
    if operation == "GET /cast/recognition/run":
        await stage.rows.remove_cast_runs()
    ids = dict.fromkeys(re.findall(r"\{(\w+(?:Id|_id))\}", operation), new_id())
    sample = SAMPLES[operation][0]
    return [await stage.call(operation, sample.body, query=sample.query, ids=ids)]


async def _conflict(stage: Stage, operation: str) -> list[ApiResponse]:
    if operation.startswith("POST /text-to-speech"):
        return [await send(stage, operation, _fast_sample(operation))]
    if operation in IN_THE_MAKING:
        body = SAMPLES[operation][0].body
        return [await stage.call(operation, body, ids=stage.states[IN_THE_MAKING[operation]])]
    unfinished = next((state for part, state in UNFINISHED.items() if part in operation), None)
    if unfinished is not None:
        sample, ids = SAMPLES[operation][0], stage.states[unfinished]
        return [await stage.call(operation, sample.body, query=sample.query, ids=ids)]
    if operation == "DELETE /library":
        owner = await stage.new_owner(owns_workspace=True)
        return [await stage.call(operation, query={"confirm": owner.ids["libraryId"]}, caller=owner)]
    if operation.startswith(("PUT", "PATCH", "DELETE")):
        return [await send(stage, operation, _fast_sample(operation), headers={"If-Match": '"0"'})]
    key = new_id()
    await send(stage, operation, _fast_sample(operation), headers={"Idempotency-Key": key})
    return [await keyed(stage, operation, {"another": key}, key)]


async def _unprocessable(stage: Stage, operation: str) -> list[ApiResponse]:
    if operation.startswith("GET /shorts"):
        return [await stage.call(operation, ids=stage.states["failed shorts"])]
    if operation == "POST /videos":
        return await send_unreachable_source(stage)
    return [await stage.call(operation, {"dubs": [{"languages": ["pt"]}]}, ids=stage.states["waiting"])]


async def _rate_limited(stage: Stage, operation: str) -> list[ApiResponse]:
    """One request per minute is allowed, so at least one of three is rejected."""
    responses = [
        await send(stage, operation, _fast_sample(operation), caller="a rate-limited caller") for _ in range(3)
    ]
    return [response for response in responses if response.status == 429][:1] or responses


async def _internal_error(stage: Stage, operation: str) -> list[ApiResponse]:
    query = {"confirm": stage.rows.library_id} if operation == "DELETE /library" else {}
    sample = _fast_sample(operation)
    return [await send(stage, operation, Sample(sample.body, query={**sample.query, **query}))]


_PROVOKE_ERROR: dict[int, Callable[[Stage, str], Awaitable[list[ApiResponse]]]] = {
    400: _invalid,
    401: _unauthenticated,
    403: _insufficient_scope,
    404: _not_found,
    409: _conflict,
    422: _unprocessable,
    429: _rate_limited,
    500: _internal_error,
}


async def _check_if_match(stage: Stage, operation: str) -> str | None:
    """Any revision matches `*`, and none matches another tag."""
    for if_match, statuses in (('"0"', {409}), ("*", {200, 204})):
        response = await send(stage, operation, _fast_sample(operation), headers={"If-Match": if_match})
        if response.status not in statuses:
            return f"{if_match}: {response}"
    return None


async def check_replay(stage: Stage, promise: Promise) -> str | None:
    """A repeated key replays the response, except for speech."""
    operation, key = promise.operation, new_id()
    if promise.aspect.endswith("If-Match"):
        return await _check_if_match(stage, operation)
    if promise.aspect.endswith(SPENDING_LIMIT):
        return await _check_spending_limit(stage, promise)
    sample = _fast_sample(operation)
    headers = {"Idempotency-Key": key}
    is_made_once = sample.fresh or sample.of == STALE_CAPTIONS
    ids = {"ids": await ids_of(stage, sample)} if is_made_once else {}
    body = sample.body
    if "$" in json.dumps(body):
        body = json.loads(json.dumps(body).replace("$UNIQUE", key).replace("$SHORT", key[-11:]))
    sent: dict[str, Any] = {"body": body, "headers": headers, **ids}
    if sample.of == EDITED_DUB:
        sent["ids"] = await stage.rows.edited_dub()
    if sample.of == "an upload":
        made = await stage.call("POST /videos", {"source": {"type": "upload"}})
        sent["ids"] = {"videoId": made.document["videoId"]}
    first, again = [await send(stage, operation, sample, **sent) for _ in range(2)]
    if promise.expected == "absent":
        return "replayed" if is_replay(again) else None
    same = (first.status, first.document) == (again.status, again.document)
    return None if is_replay(again) and same else f"{first}, then {again}"


async def _check_spending_limit(stage: Stage, promise: Promise) -> str | None:
    """A malformed limit is refused where credits may be charged, and ignored elsewhere."""
    sample = _fast_sample(promise.operation)
    ids = {"ids": await ids_of(stage, sample)} if sample.fresh else {}
    response = await send(stage, promise.operation, sample, headers={SPENDING_LIMIT: "-1"}, **ids)
    fields = response.document["error"]["details"].get("fields", []) if response.code == "INVALID_ARGUMENT" else []
    is_refused = [field["path"] for field in fields] == [SPENDING_LIMIT]
    return None if is_refused is (promise.expected == "optional") else str(response)


async def check_path(stage: Stage, promise: Promise) -> str | None:
    """A one-character id is valid but unknown."""
    response = await stage.call(promise.operation, ids={promise.aspect.split(" ")[1]: "x"})
    return None if response.code == "NOT_FOUND" else str(response)


async def check_open(stage: Stage, promise: Promise) -> str | None:
    response = await stage.call(promise.operation, caller="anonymous")
    return None if response.status == 200 else str(response)


async def _check_response_field(stage: Stage, promise: Promise) -> str | None:
    return check_response_field(stage, promise)


async def _check_code(stage: Stage, promise: Promise) -> str | None:
    return check_code(stage, promise)


async def _check_header(stage: Stage, promise: Promise) -> str | None:
    return check_header(stage, promise)


_KINDS: dict[str, Callable[[Stage, Promise], Awaitable[str | None]]] = {
    "open": check_open,
    "scope": check_scope,
    "success": check_success,
    "error": check_error,
    "header": check_replay,
    "query": check_query,
    "path": check_path,
    "request": check_request_field,
    "call": check_call,
    "behavior": check_behavior,
    "response": _check_response_field,
    "code": _check_code,
    "includes": _check_header,
}
# Requests come before checks of all responses; provoked internal errors come last.
_ORDER = ("success", "call", "behavior", "open", "scope", "header", "query", "path", "request", "error", "response")


def _rank(promise: Promise) -> tuple[int, bool]:
    kind = kind_of(promise)
    return _ORDER.index(kind) if kind in _ORDER else len(_ORDER), promise.expected == "500"


async def check_rows(stage: Stage, promises: list[Promise], outcome: Outcome) -> None:
    """Check promises in order of kind."""
    for promise in sorted(promises, key=_rank):
        if reason := _skipped(promise):
            outcome.skipped.append(f"line {promise.number}: {promise}: {reason}")
            continue
        if violation := await _KINDS[kind_of(promise)](stage, promise):
            outcome.failed.append(f"line {promise.number}: {promise}: {violation}")


def _skipped(promise: Promise) -> str | None:
    return next((reason for row, reason in SKIPPED.items() if str(promise).startswith(row)), None)


def needs_breakage(promise: Promise) -> bool:
    return kind_of(promise) == "error" and promise.expected == "500"


def needs_worker(promise: Promise) -> bool:
    return str(promise) == "POST /videos | error | 422"


def needs_all_responses(promise: Promise) -> bool:
    return promise.operation == "any" and kind_of(promise) != "behavior"


MIN_CALLS = 150


def require_complete(promises: Sequence[Promise]) -> None:
    """Every promised behavior has a check, every promised operation a sample, and every call can be parsed."""
    behaviors = {promise.expected for promise in promises if kind_of(promise) == "behavior"}
    if unmatched := behaviors ^ set(BEHAVIORS):
        raise ValueError(f"promised behaviors and their checks differ: {sorted(unmatched)}")
    operations = {promise.operation for promise in promises if kind_of(promise) == "success"}
    if unmatched := operations ^ set(SAMPLES):
        raise ValueError(f"promised operations and their samples differ: {sorted(unmatched)}")
    calls = [parse_call(promise) for promise in promises if kind_of(promise) == "call"]
    if len(calls) < MIN_CALLS:
        raise ValueError(f"only {len(calls)} of the promises are calls; the table is incomplete")
