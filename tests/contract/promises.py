"""Reading the table of promises, and holding each against the OpenAPI document."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cutroom.web.schema import LANGUAGE_PATTERN

TABLE = Path(__file__).with_name("promises.txt")
JSON = "application/json"
# What only the running service can show: proofs/contract/__main__.py asks it.
BEYOND_THE_DOCUMENT = frozenset({"behaves", "carries", "code"})
# A path or a method that the document leaves out can be asked for all the same.
UNDOCUMENTED = frozenset({"404", "405", "410"})
Schema = Mapping[str, Any]
Document = Mapping[str, Any]

_FORMATS = {"uri": ("string", "uri"), "date-time": ("string", "date-time")}
_BOUNDS = {  # of numbers, characters and items
    "at least": ("minimum", "minLength", "minItems"),
    "at most": ("maximum", "maxLength", "maxItems"),
    "above": ("exclusiveMinimum",),
}


@dataclass(frozen=True, slots=True)
class Promise:
    """One line of the table."""

    number: int
    operation: str
    part: str
    holds: str

    def __str__(self) -> str:
        return f"{self.operation} | {self.part} | {self.holds}"


def read_promises() -> list[Promise]:
    found = []
    for number, line in enumerate(TABLE.read_text().splitlines(), start=1):
        if line.strip() and not line.startswith("#"):
            operation, part, holds = (piece.strip() for piece in line.split(" | "))
            found.append(Promise(number, operation, part, holds))
    return found


def fault_of(promise: Promise, document: Document) -> str | None:
    """What of a promise does not hold in the document, if anything."""
    kind, _, field = promise.part.partition(" ")
    if kind in BEYOND_THE_DOCUMENT:
        return None
    method, _, path = promise.operation.partition(" ")
    declared = document["paths"].get(f"/v1{path}", {}).get(method.lower())
    if kind == "asks":
        return _fault_of_asked(declared, promise)
    if declared is None:
        return "there is no such operation"
    match kind:
        case "open":
            fault = _unless(not declared.get("security"), "it needs a key")
        case "scope":
            fault = _unless(declared.get("x-required-scope") == promise.holds, declared.get("x-required-scope"))
        case "success" | "error":
            fault = _unless(promise.holds in declared["responses"], sorted(declared["responses"]))
        case "header" | "query" | "path":
            fault = _fault_of_parameter(document, declared, promise, place=kind, name=field)
        case "response":
            status, field = field.split(" ") if " " in field else (None, field)
            fault = _fault_of_field(document, _answer(declared, status), field, promise.holds)
        case _:
            variant = re.fullmatch(r"request(?:\((.+)=(.+)\))?", kind)
            assert variant is not None, promise
            body = declared["requestBody"]["content"][JSON]["schema"]
            fault = _fault_of_field(document, body, field, promise.holds, variant=variant.groups())
    return fault


def _fault_of_asked(declared: Schema | None, promise: Promise) -> str | None:
    """The document tells of the status and, where it is a refusal, of the code."""
    status, _, rest = promise.holds.partition(" ")
    if declared is None:
        return _unless(status in UNDOCUMENTED, "there is no such operation")
    answer = declared["responses"].get(status)
    if answer is None:
        return f"found {sorted(declared['responses'])}"
    code = rest.split(" ")[0]
    if not code.isupper() or promise.operation.startswith("GET /shorts/"):  # a failed request has its job's code
        return None
    return _unless(code in answer["content"][JSON]["examples"], sorted(answer["content"][JSON]["examples"]))


def _fault_of_parameter(document: Document, declared: Schema, promise: Promise, *, place: str, name: str) -> str | None:
    parameters = [_resolved(document, each) for each in declared.get("parameters", [])]
    found = next((each for each in parameters if (each["in"], each["name"]) == (place, name)), None)
    if promise.holds == "absent":
        return _unless(found is None, "it is there")
    if found is None:
        return "there is no such parameter"
    if promise.holds == "optional":
        return _unless(not found.get("required"), "it is required")
    return _fault_of_schema(document, found["schema"], promise.holds, required=bool(found.get("required")))


def _answer(declared: Schema, status: str | None) -> Schema:
    responses = declared["responses"]
    wanted = status or next(each for each in responses if each.startswith("2"))
    schema: Schema = responses[wanted]["content"][JSON]["schema"]
    return schema


def _fault_of_field(
    document: Document, schema: Schema, field: str, holds: str, *, variant: Sequence[str | None] = (None, None)
) -> str | None:
    steps = re.findall(r"\[\]|\{\}|[^.\[\]{}]+", field)
    places = [(schema, False)]
    walked: list[str] = []
    for step in steps:
        chosen = [each for each, _ in places]
        if variant[0] is not None and variant[0].rpartition(".")[0] == ".".join(walked):
            chosen = _of_variant(document, chosen, variant[0].rpartition(".")[2], variant[1] or "")
        elif len(walked) == 0 and variant[0] is not None and "." not in variant[0]:
            chosen = _of_variant(document, chosen, variant[0], variant[1] or "")
        places = [found for each in chosen for found in _step(document, each, step)]
        walked.append(step)
    if holds == "absent":
        return _unless(not places, "it is there")
    if not places:
        return "there is no such field"
    faults = [_fault_of_schema(document, each, holds, required=required) for each, required in places]
    return None if None in faults else faults[0]


def _of_variant(document: Document, schemas: Sequence[Schema], name: str, value: str) -> list[Schema]:
    """Those of a union whose discriminator has a value."""
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
    """A schema itself, or what it may be, without references."""
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


def _fault_of_schema(document: Document, schema: Schema, holds: str, *, required: bool) -> str | None:
    type_, _, rest = holds.partition(" ")
    options = _options(document, schema)
    is_nullable = any(option.get("type") == "null" for option in options)
    solid = [option for option in options if option.get("type") != "null"]
    faults = [
        _unless(any(_is_of(type_, option) for option in solid), solid),
        _unless(required or "required" not in rest.split(), "it is not required"),
        _unless(is_nullable == ("nullable" in rest.split()), "null is treated otherwise"),
        _unless("unique" not in rest.split() or any(each.get("uniqueItems") for each in solid), "not unique"),
    ]
    for bound in re.finditer(r"(at least|at most|above) ([\d.]+)", rest):
        bounds = {float(option[name]) for option in solid for name in _BOUNDS[bound[1]] if name in option}
        faults.append(_unless(float(bound[2]) in bounds, f"{bound[1]} {sorted(bounds) or 'anything'}"))
    if found := re.search(r"one of (\S+)", rest):
        values = _values(document, schema)
        faults.append(_unless(values == set(found[1].split("|")), sorted(values)))
    if found := re.search(r"default (\S+)", rest):
        given = [option["default"] for option in (schema, *options) if "default" in option]
        faults.append(
            _unless(found[1] in {f"{each:g}" if isinstance(each, float) else str(each) for each in given}, given)
        )
    return next((fault for fault in faults if fault is not None), None)


def _is_of(type_: str, option: Schema) -> bool:
    if type_ in _FORMATS:
        return (option.get("type"), option.get("format")) == _FORMATS[type_]
    if type_ == "language":
        return option.get("pattern") == LANGUAGE_PATTERN
    declared = option.get("type")
    if declared is None and ("enum" in option or "const" in option):
        values = option.get("enum", [option.get("const")])
        declared = "integer" if all(isinstance(each, int) for each in values) else "string"
    return declared == type_


def _unless(holds: bool, found: object) -> str | None:  # noqa: FBT001 (reads as a sentence)
    return None if holds else f"found {found}"
