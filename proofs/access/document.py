"""Reads operations from the OpenAPI document, each with a valid example request."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from cutroom.accounts.scopes import SPEECH_SCOPES, Scope
from cutroom.web.operation import Access

OPEN_PATH = "/v1/health"
FIXTURES = "proofs/stage/access_fixtures.py"
_METHODS = ("get", "post", "put", "patch", "delete")
_PAGE_TOKEN = "pageToken"  # noqa: S105 (a name, not a secret)


class IncompleteSpecError(Exception):
    """The document lacks what is needed to call an operation; the message says what to add."""


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation as declared in the document."""

    method: str
    path: str
    scope: Scope
    further_scopes: tuple[Scope, ...]  # required in addition
    access: Access
    admin_only: bool  # for owners and admins
    path_names: tuple[str, ...]
    query: Mapping[str, str]  # required parameters
    optional_query: frozenset[str]
    body: Any  # the schema's example, None without a body
    passes: frozenset[int]  # statuses for permitted callers

    @property
    def name(self) -> str:
        return f"{self.method.upper()} {self.path}"

    @property
    def speech(self) -> bool:
        return self.scope in SPEECH_SCOPES

    @property
    def retired(self) -> bool:
        return self.passes == {410}

    def query_of(self, ids: Mapping[str, str]) -> dict[str, str]:
        """The required parameters; those that are ids are the caller's own."""
        return {name: ids.get(name, value) for name, value in self.query.items()}

    @property
    def is_paged(self) -> bool:
        return _PAGE_TOKEN in self.optional_query

    def url(self, ids: Mapping[str, str]) -> str:
        url = self.path
        for name in self.path_names:
            url = url.replace(f"{{{name}}}", quote(ids[name], safe=""))
        return url


def read_operations(document: Mapping[str, Any], known: frozenset[str]) -> tuple[list[Operation], list[str]]:
    """Every operation except the health check, and a message for each that cannot be called."""
    found, faults = [], []
    for path, method, declared in _declared(document):
        if path == OPEN_PATH:
            continue
        try:
            found.append(_operation(document, path, method, declared=declared, known=known))
        except IncompleteSpecError as error:
            faults.append(f"{method.upper()} {path}: {error}")
    return found, faults


def _declared(document: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for path, methods in document["paths"].items():
        for method in _METHODS:
            if method in methods:
                yield path, method, methods[method]


def _operation(
    document: Mapping[str, Any], path: str, method: str, *, declared: Mapping[str, Any], known: frozenset[str]
) -> Operation:
    if "x-required-scope" not in declared or "x-access" not in declared:
        raise IncompleteSpecError("x-required-scope and x-access are missing; only the health check may omit them.")
    parameters = [_resolve(document, parameter) for parameter in declared.get("parameters", ())]
    path_names = tuple(parameter["name"] for parameter in parameters if parameter["in"] == "path")
    for name in path_names:
        if name not in known:
            raise IncompleteSpecError(f"no fixture for the path parameter {name}; add its row to _seed in {FIXTURES}.")
    queries = [parameter for parameter in parameters if parameter["in"] == "query"]
    statuses = {int(status) for status in declared["responses"] if status.isdecimal()}
    return Operation(
        method=method,
        path=path,
        scope=Scope(declared["x-required-scope"]),
        further_scopes=tuple(map(Scope, declared.get("x-further-scopes", ()))),
        access=Access(declared["x-access"]),
        admin_only="x-roles" in declared,
        path_names=path_names,
        query={query["name"]: _query_value(document, query) for query in queries if query.get("required")},
        optional_query=frozenset(query["name"] for query in queries if not query.get("required")),
        body=_body(document, declared.get("requestBody")),
        passes=frozenset(status for status in statuses if status < 400) or frozenset({410}),
    )


def _resolve(document: Mapping[str, Any], node: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in node:
        target: Any = document
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        node = target
    return node


def _query_value(document: Mapping[str, Any], parameter: Mapping[str, Any]) -> str:
    for value in (*_examples(parameter), *_schema_examples(document, parameter.get("schema", {}))):
        return str(value)
    raise IncompleteSpecError(
        f"the required query parameter {parameter['name']} has no example; add one to its schema."
    )


def _body(document: Mapping[str, Any], request_body: Mapping[str, Any] | None) -> Any:  # noqa: ANN401 (any JSON value)
    if request_body is None:
        return None
    content = _resolve(document, request_body)["content"].get("application/json")
    if content is None:
        raise IncompleteSpecError("its body is not application/json; add support for it here.")
    for value in (*_examples(content), *_schema_examples(document, content.get("schema", {}))):
        return value
    raise IncompleteSpecError("its body has no example; add one to its schema.")


def _examples(node: Mapping[str, Any]) -> Iterator[Any]:
    """The `example` or named `examples` of a parameter or media type."""
    if "example" in node:
        yield node["example"]
    for example in node.get("examples", {}).values():
        yield example["value"]


def _schema_examples(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[Any]:
    """A schema's own examples, then those of its variants, in document order."""
    schema = _resolve(document, schema)
    yield from schema.get("examples", ())
    yield from schema.get("enum", ())
    for choice in ("oneOf", "anyOf", "allOf"):
        for variant in schema.get(choice, ()):
            yield from _schema_examples(document, variant)
