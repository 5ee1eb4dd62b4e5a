"""Converts JSON schemas of the OpenAPI document to TypeScript types."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]

_REFERENCE = "#/components/schemas/"
_SCALARS = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


class UnsupportedSchemaError(Exception):
    """The document uses a part of JSON Schema that the generator does not know."""


def declarations(schemas: Mapping[str, Schema]) -> Iterator[str]:
    """Yields one exported type per schema, sorted by name."""
    for name, schema in sorted(schemas.items()):
        yield from doc_comment(schema.get("description"))
        if schema.get("type") == "object" and schema.get("properties"):
            yield f"export interface {name} {object_type(schema)}"
        else:
            yield f"export type {name} = {type_of(schema)};"
        yield ""


def type_of(schema: Schema, *, prefix: str = "") -> str:  # noqa: PLR0911 (one return per form)
    """The TypeScript type of a schema; `prefix` qualifies the names of other schemas."""
    if "$ref" in schema:
        return prefix + str(schema["$ref"]).removeprefix(_REFERENCE)
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " | ".join(dict.fromkeys(type_of(each, prefix=prefix) for each in schema[union]))
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(json.dumps(each) for each in schema["enum"])
    kind = schema.get("type")
    if kind == "array":
        item = type_of(schema.get("items", {}), prefix=prefix)
        return f"({item})[]" if " | " in item else f"{item}[]"
    if kind == "object":
        return object_type(schema, prefix=prefix)
    if kind in _SCALARS:
        return "Blob" if schema.get("format") == "binary" else _SCALARS[kind]
    if not set(schema) - {"title", "description"}:
        return "unknown"
    raise UnsupportedSchemaError(json.dumps(schema))


def object_type(schema: Schema, *, prefix: str = "") -> str:
    """An object with known properties, or a map."""
    properties: Mapping[str, Schema] = schema.get("properties", {})
    if not properties:
        values = _map_values(schema)
        return f"Record<string, {type_of(values, prefix=prefix)}>"
    required = set(schema.get("required", ()))
    lines = ["{"]
    for name, each in properties.items():
        lines += [f"  {line}" for line in doc_comment(each.get("description"))]
        mark = "" if name in required else "?"
        lines.append(f"  {property_name(name)}{mark}: {type_of(each, prefix=prefix)};")
    return "\n".join([*lines, "}"])


def _map_values(schema: Schema) -> Schema:
    values = schema.get("additionalProperties")
    if isinstance(values, Mapping):
        return values
    patterns = list(schema.get("patternProperties", {}).values())
    return {"anyOf": patterns} if patterns else {}


def property_name(name: str) -> str:
    return name if name.isidentifier() else json.dumps(name)


def doc_comment(text: str | None) -> Iterator[str]:
    """A TSDoc comment; nothing in the text can end it early."""
    lines = [line.rstrip() for line in (text or "").strip().replace("*/", "* /").splitlines()]
    if len(lines) == 1 and lines[0]:
        yield f"/** {lines[0]} */"
    elif lines:
        yield "/**"
        yield from (f" * {line}".rstrip() for line in lines)
        yield " */"
