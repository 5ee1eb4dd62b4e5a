"""Links of the OpenAPI document: where the id in an answer leads, told to readers and to clients that follow them."""

from collections.abc import Iterator, Mapping
from typing import Any

_FOLLOWED = ("get", "delete")
_JSON = "application/json"


def add_links(described: dict[str, Any]) -> None:
    """Give every answer to a POST links to what can be asked with the ids in it."""
    for path, methods in described["paths"].items():
        declared = methods.get("post")
        if declared is None:
            continue
        for status, response in declared["responses"].items():
            schema = response.get("content", {}).get(_JSON, {}).get("schema", {})
            if status.startswith("2") and (links := dict(_links(described, path, schema))):
                response["links"] = links


def _links(described: Mapping[str, Any], path: str, schema: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    names = _properties(described, schema)
    for target, operation in _followed(described):
        pieces = target.split("/")
        parameters = [piece[1:-1] for piece in pieces if piece.startswith("{")]
        if len(parameters) != 1:
            continue
        (name,) = parameters
        pointer = None
        if f"{{{name}}}" in path:  # whoever asked knows it already
            continue
        if name in names:
            pointer = f"/{name}"
        elif "id" in names and target == f"{path}/{{{name}}}":  # one of the collection that it was put into
            pointer = "/id"
        elif name == "jobId" and "jobs" in names:
            pointer = "/jobs/0/id"
        if pointer is not None:
            yield (
                operation["operationId"],
                {"operationId": operation["operationId"], "parameters": {name: f"$response.body#{pointer}"}},
            )


def _followed(described: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for target, methods in described["paths"].items():
        for method in _FOLLOWED:
            if method in methods:
                yield target, methods[method]


def _properties(described: Mapping[str, Any], schema: Mapping[str, Any]) -> frozenset[str]:
    """What an answer may have."""
    if "$ref" in schema:
        return _properties(described, described["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        return frozenset().union(*(_properties(described, option) for option in options))
    return frozenset(schema.get("properties", {}))
