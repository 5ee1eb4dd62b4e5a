"""Writes one typed method per operation of the OpenAPI document."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dev.typescript_client.schemas import Schema, UnsupportedSchemaError, doc_comment, type_of

_PREFIX = "schemas."
_HEADERS = {"If-Match": "ifMatch", "Last-Event-ID": "lastEventId"}  # the client sets all others itself
_IDEMPOTENCY = "Idempotency-Key"
# Operation ids that say too little on their own; the Python client has the same names.
_NAMES = {"stream": "streamSpeech", "quote": "quoteCredits", "reserve": "reserveCredits"}
_IGNORED = {_IDEMPOTENCY, "Cutroom-Max-Credits", "X-Fern-SDK-Name"}
# Fields of every call; no parameter of an operation may have one of these names.
_RESERVED = {"body", "idempotencyKey", "maxCredits", "signal"}


@dataclass(frozen=True)
class Parameter:
    """A parameter in the path, the query or a header."""

    name: str
    field: str
    place: str
    type: str
    required: bool
    description: str | None


@dataclass(frozen=True)
class Method:
    """An operation as a method of the generated class."""

    name: str
    verb: str
    path: str
    parameters: tuple[Parameter, ...]
    body: str | None
    body_required: bool
    response: str
    keyed: bool
    summary: str

    @property
    def input_name(self) -> str:
        return f"{self.name[0].upper()}{self.name[1:]}Input"

    @property
    def replayable(self) -> bool:
        """A repeated POST without a key could run, and be charged, twice; a PATCH may follow another change."""
        return self.keyed or self.verb in {"GET", "PUT", "DELETE"}

    @property
    def options_name(self) -> str:
        if self.keyed:
            return "KeyedOptions"
        return "PostOptions" if self.verb == "POST" else "CallOptions"

    @property
    def is_input_required(self) -> bool:
        return any(each.required for each in self.parameters) or self.body_required


def methods(paths: Mapping[str, Mapping[str, Any]]) -> Iterator[Method]:
    """Yields the operations of a document, sorted by name."""
    found = [_method(path, verb, each) for path, verbs in paths.items() for verb, each in verbs.items()]
    yield from sorted(found, key=lambda each: each.name)


def _method(path: str, verb: str, operation: Mapping[str, Any]) -> Method:
    parameters = operation.get("parameters", ())
    body = operation.get("requestBody", {})
    return Method(
        name=_NAMES.get(operation["operationId"], operation["operationId"]),
        verb=verb.upper(),
        path=path,
        parameters=tuple(_parameter(each) for each in parameters if each["name"] not in _IGNORED),
        body=_body_type(body.get("content", {})),
        body_required=bool(body.get("required")),
        response=_response_type(operation["responses"]),
        keyed=any(each["name"] == _IDEMPOTENCY for each in parameters),
        summary=_summary(operation, verb, path),
    )


def _parameter(parameter: Mapping[str, Any]) -> Parameter:
    name, place = parameter["name"], parameter["in"]
    field = _HEADERS[name] if place == "header" else re.sub(r"_(\w)", lambda match: match[1].upper(), name)
    if field in _RESERVED:
        raise UnsupportedSchemaError(f"the name of the parameter {field} is reserved")
    required = bool(parameter.get("required"))
    described = parameter.get("description") or parameter["schema"].get("description")
    return Parameter(name, field, place, type_of(parameter["schema"], prefix=_PREFIX), required, described)


def _body_type(content: Mapping[str, Mapping[str, Schema]]) -> str | None:
    """JSON as a typed object, and a form as `FormData`."""
    types = []
    for media_type, each in content.items():
        is_form = media_type.startswith("multipart/")
        types.append("FormData" if is_form else type_of(each["schema"], prefix=_PREFIX))
    return " | ".join(types) or None


def _response_type(responses: Mapping[str, Any]) -> str:
    """The type of a JSON response; any other content is returned as the `Response`, for the caller to stream."""
    types: dict[str, None] = {}
    for status, response in responses.items():
        if status >= "400":
            continue
        content = response.get("content", {})
        json_content = content.get("application/json")
        if json_content:
            types.update(dict.fromkeys(type_of(json_content["schema"], prefix=_PREFIX).split(" | ")))
        else:
            types["Response" if content else "void"] = None
    return " | ".join(types)


def _summary(operation: Mapping[str, Any], verb: str, path: str) -> str:
    parts = [operation.get("summary"), operation.get("description"), f"`{verb.upper()} {path}`"]
    return "\n\n".join(part.strip() for part in parts if part)


def render_method(method: Method) -> Iterator[str]:
    yield from (f"  {line}" for line in doc_comment(method.summary))
    default = "" if method.is_input_required else " = {}"
    yield f"  {method.name}(input: {method.input_name}{default}): Promise<{method.response}> {{"
    yield f"    return this.call(OPERATIONS.{method.name}, input);"
    yield "  }"
    yield ""


def render_input(method: Method) -> Iterator[str]:
    yield f"export interface {method.input_name} extends {method.options_name} {{"
    for each in method.parameters:
        yield from (f"  {line}" for line in doc_comment(each.description))
        yield f"  {each.field}{'' if each.required else '?'}: {each.type};"
    if method.body is not None:
        yield f"  body{'' if method.body_required else '?'}: {method.body};"
    yield "}"
    yield ""


def render_description(method: Method) -> Iterator[str]:
    yield f"  {method.name}: {{"
    yield f'    name: "{method.name}",'
    yield f'    method: "{method.verb}",'
    yield f'    path: "{method.path}",'
    yield f"    takesBody: {str(method.body is not None).lower()},"
    yield f"    keyed: {str(method.keyed).lower()},"
    yield f"    replayable: {str(method.replayable).lower()},"
    for place in ("path", "query", "header"):
        names = ", ".join(f'["{each.field}", "{each.name}"]' for each in method.parameters if each.place == place)
        yield f"    {place}Parameters: [{names}],"
    yield "  },"
