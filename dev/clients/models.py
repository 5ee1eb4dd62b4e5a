"""Generates `cutroom_client/models.py`: a Pydantic class for each schema of the OpenAPI document."""

import textwrap
from collections.abc import Iterator

from dev.clients.schemas import Schema, camel_case, enumeration, join, python_type, snake_case

HEADER = '''"""Requests and responses of the API, generated from its OpenAPI document by `just clients`. Do not edit."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, TypeAlias

from pydantic import Field

from cutroom_client.model import Model, SnakeModel

'''
WIDTH = 112


def models_module(document: Schema) -> str:
    """The source of the module, before formatting."""
    schemas: Schema = document["components"]["schemas"]
    aliases = {name: each for name, each in schemas.items() if each.get("type") != "object"}
    classes = {name: each for name, each in schemas.items() if name not in aliases}
    # Aliases are evaluated at once; the fields of classes only when a class is first used, so classes need no order.
    parts = [f"{name}: TypeAlias = {enumeration(each['enum'])}\n" for name, each in aliases.items()]
    parts += ["\n".join(_class(name, each)) for name, each in classes.items()]
    return HEADER + "\n\n".join(parts)


def _class(name: str, schema: Schema) -> Iterator[str]:
    properties: Schema = schema.get("properties", {})
    as_is = bool(properties) and all(snake_case(each) == each for each in properties)
    snake = as_is and any("_" in each for each in properties)
    yield f"class {name}({'SnakeModel' if snake else 'Model'}):"
    yield docstring(schema.get("description") or f"{name}.")
    required = frozenset(schema.get("required", ()))
    for wire in sorted(properties, key=lambda each: each not in required):
        yield from _field(wire, properties[wire], required=wire in required, snake=snake)


def _field(wire: str, schema: Schema, *, required: bool, snake: bool) -> Iterator[str]:
    name = snake_case(wire)
    annotation = python_type(schema)
    alias = "" if (wire == name if snake else camel_case(name) == wire) else f'alias="{wire}"'
    if required:
        default = f" = Field({alias})" if alias else ""
    else:
        annotation = join([annotation, "None"])
        default = f" = Field(default=None, {alias})" if alias else " = None"
    yield f"    {name}: {annotation}{default}"
    if description := schema.get("description"):
        yield docstring(description)


def docstring(text: str) -> str:
    lines = textwrap.wrap(" ".join(text.replace("\\", "\\\\").split()), WIDTH - 4, initial_indent="   ")
    lines[0] = lines[0].strip()  # the indent made room for the quotes
    if len(lines) == 1 and len(lines[0]) < WIDTH - 10:
        return f'    """{lines[0]}"""'
    return textwrap.indent('"""' + "\n".join(lines) + '\n"""', "    ")
