"""Translates JSON Schema of the OpenAPI document to Python types."""

import keyword
import re
from collections.abc import Mapping, Sequence
from typing import Any

Schema = Mapping[str, Any]

# Names that a field cannot have, because a base class or a built-in function has them.
RESERVED = frozenset({"copy", "json", "dict", "schema", "construct", "validate", "fields", "wire"})
SCALARS = {"integer": "int", "number": "float", "boolean": "bool", "null": "None"}
STRING_FORMATS = {"date-time": "datetime", "binary": "bytes"}


def snake_case(name: str) -> str:
    """`estimatedReadyAt` as `estimated_ready_at`; a reserved word gets an underscore."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|-", "_", name).lower()
    return f"{words}_" if keyword.iskeyword(words) or words in RESERVED else words


def camel_case(name: str) -> str:
    """The alias that the models' base class derives from a field's name."""
    first, *others = name.split("_")
    return first + "".join(each.title() for each in others)


def reference(schema: Schema) -> str | None:
    """The name of the component a schema refers to."""
    return str(schema["$ref"]).rsplit("/", 1)[-1] if "$ref" in schema else None


def python_type(schema: Schema, *, prefix: str = "") -> str:
    """The annotation of a schema; `prefix` qualifies the names of models."""
    if name := reference(schema):
        return f"{prefix}{name}"
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return join([python_type(each, prefix=prefix) for each in schema[union]])
    if "const" in schema:
        return f"Literal[{literal(schema['const'])}]"
    if "enum" in schema:
        return enumeration(schema["enum"])
    return _typed(schema, prefix)


def _typed(schema: Schema, prefix: str) -> str:
    kind = schema.get("type")
    if kind == "array":
        return f"list[{python_type(schema.get('items', {}), prefix=prefix)}]"
    if kind == "object":
        return f"dict[str, {_value_type(schema, prefix)}]"
    if kind == "string":
        return STRING_FORMATS.get(schema.get("format", ""), "str")
    return SCALARS.get(kind or "", "Any")


def _value_type(schema: Schema, prefix: str) -> str:
    values = schema.get("additionalProperties") or next(iter(schema.get("patternProperties", {}).values()), True)
    return python_type(values, prefix=prefix) if isinstance(values, dict) else "Any"


def enumeration(values: Sequence[object]) -> str:
    """The known values, and any other of their type: a newer service may have more of them."""
    known = f"Literal[{', '.join(literal(each) for each in values)}]"
    return f"{known} | {type(values[0]).__name__}"


def literal(value: object) -> str:
    """A value as source code, in the quotes that the formatter prefers."""
    return f'"{value}"' if isinstance(value, str) else repr(value)


def join(types: Sequence[str]) -> str:
    """A union without duplicates, None last."""
    distinct = dict.fromkeys(part for each in types for part in _alternatives(each))
    nullable = distinct.pop("None", "") is None
    return " | ".join([*distinct, *(["None"] if nullable else [])])


def _alternatives(annotation: str) -> list[str]:
    """Splits a union at the bars outside brackets."""
    parts, depth, start = [], 0, 0
    for index, character in enumerate(annotation):
        depth += (character == "[") - (character == "]")
        if character == "|" and not depth:
            parts.append(annotation[start:index].strip())
            start = index + 1
    return [*parts, annotation[start:].strip()]
