"""Calls every operation of the OpenAPI document through a client, with the valid requests of the contract proof."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import httpx

from dev.clients.operations import operations
from proofs.clients.drivers import Driver
from proofs.contract.samples import SAMPLES, SPOKEN, Sample, send
from proofs.contract.stage import OWNER, PREFIX, ApiResponse, Caller, Stage
from tests.support.api_document import DOCUMENT

STREAM = "streamEvents"
# No worker runs here: these are valid requests, which the service refuses because of what a worker would have done.
# After the first client, nothing is left to review.
REFUSED = {"addVoice": ("UNSUPPORTED_SOURCE",), "reviewPackaging": ("FAILED_PRECONDITION", "CONFLICT")}
FURTHER_SAMPLES = {
    "POST /videos/{videoId}/packaging/review": Sample({"approved": False}),
    "POST /text-to-speech/{voice_id}/stream": Sample(SPOKEN),
}


@dataclass(frozen=True, slots=True)
class Coverage:
    """The operations that a client reached, and why it did not reach the others."""

    reached: frozenset[str]
    missing: Mapping[str, str]
    total: int


@dataclass
class DrivenStage(Stage):
    """The stage of the contract proof, whose requests are sent by a client."""

    driver: Driver | None = None
    reached: set[str] = field(default_factory=set)

    async def call(
        self,
        operation: str,
        body: Any = None,  # noqa: ANN401 (any JSON value)
        *,
        query: Mapping[str, Any] | None = None,
        caller: str | Caller = OWNER,
        ids: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,  # noqa: ARG002 (of the contract proof)
    ) -> ApiResponse:
        assert self.driver is not None
        sender = self.callers[caller] if isinstance(caller, str) else caller
        path_ids = {**sender.ids, **(ids or {})}
        request = {
            "operation": operation_id(operation),
            "path": {name: path_ids[name] for name in re.findall(r"\{(\w+)\}", operation)},
            "query": dict(query or {}),
            "body": body,
            "headers": dict(headers or {}),
            "apiKey": sender.headers.get("Authorization", self.callers[OWNER].headers["Authorization"]).split()[1],
        }
        response = await self.driver.ask(request)
        if response["ok"]:
            self.reached.add(str(request["operation"]))
            return ApiResponse(operation, 200, response["result"], httpx.Headers(), "")
        return ApiResponse(operation, 0, None, httpx.Headers(), str(response["error"]))


async def cover(stage: Stage, driver: Driver) -> Coverage:
    """Every operation with one of its samples."""
    given = {each.name: getattr(stage, each.name) for each in fields(Stage)}
    driven = DrivenStage(**given, driver=driver)
    missing: dict[str, str] = {}
    every = operations(DOCUMENT)
    for each in every:
        name = f"{each.method.upper()} {each.path.removeprefix(PREFIX)}"
        response = await _stream(driven) if each.id == STREAM else await send(driven, name, sample_of(name))
        if any(f"'{code}'" in response.text for code in REFUSED.get(each.id, ())):
            driven.reached.add(each.id)
        elif response.status != 200:
            missing[each.id] = response.text
    reached = frozenset(driven.reached) & {each.id for each in every}
    missing |= {each.id: "not sent" for each in every if each.id not in reached and each.id not in missing}
    return Coverage(reached, missing, len(every))


async def _stream(stage: DrivenStage) -> ApiResponse:
    """The stream after a cursor that has events behind it, so that the first one comes at once."""
    page = await stage.call("GET /events", query={"limit": 1})
    return await stage.call("GET /events/stream", query={"after": page.document["cursor"]})


def sample_of(name: str) -> Sample:
    """The first sample of an operation; one without a sample needs only the ids of its path."""
    return FURTHER_SAMPLES.get(name, SAMPLES.get(name, [Sample()])[0])


def operation_id(name: str) -> str:
    """The id of an operation by its method and path."""
    method, _, path = name.partition(" ")
    paths = DOCUMENT["paths"]
    found = paths.get(f"{PREFIX}{path}") or paths[path]
    return str(found[method.lower()]["operationId"])
