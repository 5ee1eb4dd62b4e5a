"""Generates `cutroom_client/_async/operations.py`: a method for each operation of the OpenAPI document."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dev.clients.models import docstring
from dev.clients.schemas import Schema, join, literal, python_type, snake_case

HEADER = '''"""A method for each operation, generated from the OpenAPI document by `just clients`. Do not edit."""

from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import Any, Literal

from cutroom_client import models
from cutroom_client._async.transport import AsyncTransport
from cutroom_client.calls import Call, Credits, path
from cutroom_client.server_events import ServerEvent


class AsyncOperations:
    """Every operation of the API by its name; the other parts of the client use these methods."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

'''
METHODS = ("get", "put", "post", "patch", "delete")
LIMIT_HEADER = "Cutroom-Max-Credits"
KEY_HEADER = "Idempotency-Key"
# Operation ids that say too little on their own.
NAMES = {"speak": "speak", "stream": "stream_speech", "quote": "quote_credits", "reserve": "reserve_credits"}
# Headers that the client sets itself, or that only other clients need.
OMITTED = frozenset({LIMIT_HEADER, KEY_HEADER, "X-Fern-SDK-Name"})


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of the document."""

    method: str
    path: str
    schema: Schema

    @property
    def id(self) -> str:
        return str(self.schema["operationId"])

    @property
    def name(self) -> str:
        return NAMES.get(self.id) or snake_case(self.id)

    @property
    def parameters(self) -> list[Schema]:
        return [each for each in self.schema.get("parameters", []) if each["name"] not in OMITTED]

    def has_header(self, name: str) -> bool:
        return any(each["name"] == name for each in self.schema.get("parameters", []))

    @property
    def body(self) -> Schema | None:
        content = self.schema.get("requestBody", {}).get("content", {})
        return content["application/json"]["schema"] if content else None

    @property
    def responses(self) -> dict[str, Schema]:
        """The schema of a success by media type."""
        found: dict[str, Schema] = {}
        for status, response in self.schema["responses"].items():
            if status.startswith("2"):
                found |= {kind: each["schema"] for kind, each in response.get("content", {}).items()}
        return found


def operations(document: Schema) -> list[Operation]:
    """Every operation, in the order of the document."""
    paths: dict[str, dict[str, Any]] = document["paths"]
    return [
        Operation(method, path, operation)
        for path, methods in paths.items()
        for method, operation in methods.items()
        if method in METHODS
    ]


def operations_module(document: Schema) -> str:
    """The source of the module, before formatting."""
    return HEADER + "\n\n".join("\n".join(_method(each)) for each in operations(document))


def _method(operation: Operation) -> Iterator[str]:
    result, verb = _result(operation)
    streamed = result.startswith("AsyncIterator")
    yield f"    {'def' if streamed else 'async def'} {operation.name}({', '.join(_arguments(operation))}) -> {result}:"
    text = operation.schema.get("description") or f"{operation.schema['summary']}."
    yield from (f"    {line}" for line in docstring(text).splitlines())
    yield f"        call = Call({', '.join(_call(operation))})"
    shapes = result.split(" | ") if verb in {"parsed", "either"} else []
    call = f"self._transport.{verb}({', '.join(['call', *shapes])})"
    yield f"        {'' if result == 'None' else 'return '}{'' if streamed else 'await '}{call}"


def _arguments(operation: Operation) -> Iterator[str]:
    yield "self"
    for each in _placed(operation, "path"):
        yield f"{snake_case(each['name'])}: str"
    if operation.body is not None:
        required = operation.schema["requestBody"].get("required", False)
        absent = () if required else ("None",)
        kind = join([python_type(operation.body, prefix="models."), "Mapping[str, Any]", *absent])
        yield f"body: {kind}" + ("" if required else " = None")
    rest = [_optional(each) for place in ("query", "header") for each in _placed(operation, place)]
    if operation.has_header(LIMIT_HEADER):
        rest.append("max_credits: Credits | None = None")
    if operation.has_header(KEY_HEADER):
        rest.append("idempotency_key: str | None = None")
    if rest:
        yield "*"
        yield from rest


def _optional(parameter: Schema) -> str:
    annotation = python_type(parameter["schema"], prefix="models.")
    if parameter.get("required"):
        return f"{snake_case(parameter['name'])}: {annotation}"
    return f"{snake_case(parameter['name'])}: {join([annotation, 'None'])} = None"


def _placed(operation: Operation, place: str) -> list[Schema]:
    return [each for each in operation.parameters if each["in"] == place]


def _call(operation: Operation) -> Iterator[str]:
    yield literal(operation.id)
    yield literal(operation.method.upper())
    names = [snake_case(each["name"]) for each in _placed(operation, "path")]
    template = re.sub(r"\{[^}]*\}", "{}", operation.path)
    yield f"path({literal(template)}, {', '.join(names)})" if names else literal(template)
    if operation.body is not None:
        yield "body=body"
    for place, argument in (("query", "query"), ("header", "headers")):
        pairs = [f"{literal(each['name'])}: {snake_case(each['name'])}" for each in _placed(operation, place)]
        if pairs:
            yield f"{argument}={{{', '.join(pairs)}}}"
    if operation.has_header(LIMIT_HEADER):
        yield "max_credits=max_credits, priced=True"
    if operation.has_header(KEY_HEADER):
        yield "idempotency_key=idempotency_key, keyed=True"


def _result(operation: Operation) -> tuple[str, str]:
    """The annotation of the result, and the method of the transport that reads it."""
    responses = operation.responses
    if "text/event-stream" in responses:
        return "AsyncIterator[ServerEvent]", "events"
    if "application/json" in responses:
        result = python_type(responses["application/json"], prefix="models.")
        return result, "either" if " | " in result else "parsed"
    if any(kind.startswith("audio/") for kind in responses):
        return ("AsyncIterator[bytes]", "chunks") if operation.id == "stream" else ("bytes", "content")
    return ("str", "text") if responses else ("None", "nothing")
