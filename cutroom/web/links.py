"""Adds OpenAPI links from the ids in a response to the operations that accept them."""

from collections.abc import Iterator, Mapping
from typing import Any

_LINKED_METHODS = ("get", "delete")
_JSON = "application/json"


def add_links(document: dict[str, Any]) -> None:
    """Add links to every POST response whose ids other operations accept."""
    for path, methods in document["paths"].items():
        declared = methods.get("post")
        if declared is None:
            continue
        for status, response in declared["responses"].items():
            schema = response.get("content", {}).get(_JSON, {}).get("schema", {})
            if status.startswith("2") and (links := dict(_links(document, path, schema))):
                response["links"] = links


def _links(document: Mapping[str, Any], path: str, schema: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    names = _properties(document, schema)
    for target, operation in _link_targets(document):
        segments = target.split("/")
        parameters = [segment[1:-1] for segment in segments if segment.startswith("{")]
        if len(parameters) != 1:
            continue
        (name,) = parameters
        pointer = None
        if f"{{{name}}}" in path:  # already known to the caller
            continue
        if name in names:
            pointer = f"/{name}"
        elif "id" in names and target == f"{path}/{{{name}}}":  # a member of the same collection
            pointer = "/id"
        elif name == "jobId" and "jobs" in names:
            pointer = "/jobs/0/id"
        if pointer is not None:
            yield (
                operation["operationId"],
                {"operationId": operation["operationId"], "parameters": {name: f"$response.body#{pointer}"}},
            )


def _link_targets(document: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for target, methods in document["paths"].items():
        for method in _LINKED_METHODS:
            if method in methods:
                yield target, methods[method]


def _properties(document: Mapping[str, Any], schema: Mapping[str, Any]) -> frozenset[str]:
    """Return the property names of a response schema."""
    if "$ref" in schema:
        return _properties(document, document["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        return frozenset().union(*(_properties(document, option) for option in options))
    return frozenset(schema.get("properties", {}))
