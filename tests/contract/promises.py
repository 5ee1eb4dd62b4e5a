"""Parses the table of API promises and checks each against the OpenAPI document."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cutroom.text.language_tags import LANGUAGE_PATTERN

TABLE = Path(__file__).with_name("promises.txt")
JSON = "application/json"
# Checked on the running service only, by `just prove contract`.
SERVICE_ONLY = frozenset({"behavior", "includes", "code"})
# Statuses of paths and methods that the document omits.
UNDOCUMENTED = frozenset({"404", "405", "410"})
Schema = Mapping[str, Any]
Document = Mapping[str, Any]

_FORMATS = {"uri": ("string", "uri"), "date-time": ("string", "date-time")}
_BOUNDS = {  # for numbers, strings and arrays
    "at least": ("minimum", "minLength", "minItems"),
    "at most": ("maximum", "maxLength", "maxItems"),
    "above": ("exclusiveMinimum",),
}


@dataclass(frozen=True, slots=True)
class Promise:
    """One line of the table: what holds for one aspect of an operation."""

    number: int
    operation: str
    aspect: str
    expected: str

    def __str__(self) -> str:
        return f"{self.operation} | {self.aspect} | {self.expected}"


def read_promises() -> list[Promise]:
    found = []
    for number, line in enumerate(TABLE.read_text().splitlines(), start=1):
        if line.strip() and not line.startswith("#"):
            operation, aspect, expected = (column.strip() for column in line.split(" | "))
            found.append(Promise(number, operation, aspect, expected))
    return found


def kind_of(promise: Promise) -> str:
    return promise.aspect.partition(" ")[0].partition("(")[0]


def check_document(promise: Promise, document: Document) -> str | None:
    """How the document breaks a promise; None if it keeps it or cannot express it."""
    kind, _, field = promise.aspect.partition(" ")
    if kind in SERVICE_ONLY:
        return None
    method, _, path = promise.operation.partition(" ")
    documented = "get" if method == "HEAD" else method.lower()  # HEAD responds as GET does
    declared = document["paths"].get(f"/v1{path}", {}).get(documented)
    if kind == "call":
        return _check_call(declared, promise)
    if declared is None:
        return "no such operation"
    match kind:
        case "open":
            violation = _unless(not declared.get("security"), "it requires a key")
        case "scope":
            scopes = [declared.get("x-required-scope"), *declared.get("x-further-scopes", ())]
            violation = _unless(scopes == promise.expected.split(" and "), scopes)
        case "success" | "error":
            violation = _unless(promise.expected in declared["responses"], sorted(declared["responses"]))
        case "header" | "query" | "path":
            violation = _check_parameter(document, declared, promise, place=kind, name=field)
        case "response":
            status, field = field.split(" ") if " " in field else (None, field)
            violation = _check_field(document, _response_schema(declared, status), field, promise.expected)
        case _:
            variant = re.fullmatch(r"request(?:\((.+)=(.+)\))?", kind)
            assert variant is not None, promise
            body = declared["requestBody"]["content"][JSON]["schema"]
            violation = _check_field(document, body, field, promise.expected, variant=variant.groups())
    return violation


def _check_call(declared: Schema | None, promise: Promise) -> str | None:
    """The document declares the status and, for errors, the code."""
    status, _, rest = promise.expected.partition(" ")
    if declared is None:
        return _unless(status in UNDOCUMENTED, "no such operation")
    response = declared["responses"].get(status)
    if response is None:
        return f"found {sorted(declared['responses'])}"
    code = rest.split(" ")[0]
    if not code.isupper() or promise.operation.startswith("GET /shorts/"):  # a failed request has its job's code
        return None
    return _unless(code in response["content"][JSON]["examples"], sorted(response["content"][JSON]["examples"]))


def _check_parameter(document: Document, declared: Schema, promise: Promise, *, place: str, name: str) -> str | None:
    parameters = [_resolved(document, each) for each in declared.get("parameters", [])]
    found = next((each for each in parameters if (each["in"], each["name"]) == (place, name)), None)
    if promise.expected == "absent":
        return _unless(found is None, "it is present")
    if found is None:
        return "no such parameter"
    if promise.expected == "optional":
        return _unless(not found.get("required"), "it is required")
    return _check_schema(document, found["schema"], promise.expected, required=bool(found.get("required")))


def _response_schema(declared: Schema, status: str | None) -> Schema:
    responses = declared["responses"]
    expected = status or next(each for each in responses if each.startswith("2"))
    schema: Schema = responses[expected]["content"][JSON]["schema"]
    return schema


def _check_field(
    document: Document, schema: Schema, field: str, expected: str, *, variant: Sequence[str | None] = (None, None)
) -> str | None:
    steps = re.findall(r"\[\]|\{\}|[^.\[\]{}]+", field)
    places = [(schema, False)]
    walked: list[str] = []
    for step in steps:
        chosen = [each for each, _ in places]
        if variant[0] is not None and variant[0].rpartition(".")[0] == ".".join(walked):
            chosen = _select_variant(document, chosen, variant[0].rpartition(".")[2], variant[1] or "")
        elif len(walked) == 0 and variant[0] is not None and "." not in variant[0]:
            chosen = _select_variant(document, chosen, variant[0], variant[1] or "")
        places = [found for each in chosen for found in _step(document, each, step)]
        walked.append(step)
    if expected == "absent":
        return _unless(not places, "it is present")
    if not places:
        return "no such field"
    violations = [_check_schema(document, each, expected, required=required) for each, required in places]
    return None if None in violations else violations[0]


def _select_variant(document: Document, schemas: Sequence[Schema], name: str, value: str) -> list[Schema]:
    """The variants of a union whose discriminator has a value."""
    return [
        option
        for schema in schemas
        for option in _options(document, schema)
        if value in _values(document, option.get("properties", {}).get(name, {}))
    ]


def _step(document: Document, schema: Schema, step: str) -> Iterator[tuple[Schema, bool]]:
    for option in _options(document, schema):
        if step == "[]":
            if "items" in option:
                yield option["items"], False
        elif step == "{}":
            if isinstance(option.get("additionalProperties"), dict):
                yield option["additionalProperties"], False
            yield from ((each, False) for each in option.get("patternProperties", {}).values())
        elif step in option.get("properties", {}):
            yield option["properties"][step], step in option.get("required", [])


def _options(document: Document, schema: Schema) -> list[Schema]:
    """The resolved schema, or its oneOf/anyOf variants."""
    schema = _resolved(document, schema)
    inside = schema.get("oneOf") or schema.get("anyOf")
    if inside is None:
        return [schema]
    shared = {name: value for name, value in schema.items() if name not in {"oneOf", "anyOf"}}
    return [{**shared, **option} for each in inside for option in _options(document, each)]


def _resolved(document: Document, schema: Schema) -> Schema:
    while "$ref" in schema:
        target: Any = document
        for name in schema["$ref"].removeprefix("#/").split("/"):
            target = target[name]
        schema = {**target, **{name: value for name, value in schema.items() if name != "$ref"}}
    return schema


def _values(document: Document, schema: Schema) -> set[str]:
    found = set()
    for option in _options(document, schema):
        found |= {str(each) for each in option.get("enum", [])}
        if "const" in option:
            found.add(str(option["const"]))
    return found


def _check_schema(document: Document, schema: Schema, expected: str, *, required: bool) -> str | None:
    type_, _, rest = expected.partition(" ")
    options = _options(document, schema)
    is_nullable = any(option.get("type") == "null" for option in options)
    solid = [option for option in options if option.get("type") != "null"]
    violations = [
        _unless(any(_has_type(type_, option) for option in solid), solid),
        _unless(required or "required" not in rest.split(), "it is not required"),
        _unless(is_nullable == ("nullable" in rest.split()), "nullability differs"),
        _unless("unique" not in rest.split() or any(each.get("uniqueItems") for each in solid), "not unique"),
    ]
    for bound in re.finditer(r"(at least|at most|above) ([\d.]+)", rest):
        bounds = {float(option[name]) for option in solid for name in _BOUNDS[bound[1]] if name in option}
        violations.append(_unless(float(bound[2]) in bounds, f"{bound[1]} {sorted(bounds) or 'anything'}"))
    if found := re.search(r"one of (\S+)", rest):
        values = _values(document, schema)
        violations.append(_unless(values == set(found[1].split("|")), sorted(values)))
    if found := re.search(r"default (\S+)", rest):
        given = [option["default"] for option in (schema, *options) if "default" in option]
        violations.append(
            _unless(found[1] in {f"{each:g}" if isinstance(each, float) else str(each) for each in given}, given)
        )
    return next((violation for violation in violations if violation is not None), None)


def _has_type(type_: str, option: Schema) -> bool:
    if type_ in _FORMATS:
        return (option.get("type"), option.get("format")) == _FORMATS[type_]
    if type_ == "language":
        return option.get("pattern") == LANGUAGE_PATTERN
    declared = option.get("type")
    if declared is None and ("enum" in option or "const" in option):
        values = option.get("enum", [option.get("const")])
        declared = "integer" if all(isinstance(each, int) for each in values) else "string"
    return declared == type_


def _unless(expected: bool, found: object) -> str | None:  # noqa: FBT001 (reads as an assertion)
    return None if expected else f"found {found}"
