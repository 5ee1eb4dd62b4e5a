"""Schemathesis hooks, loaded by its own process: discard generated cases that are valid after all."""

from collections.abc import Mapping
from typing import Any

from schemathesis import Case, HookContext, hook

FORM, JSON = "multipart/form-data", "application/json"


@hook
def filter_case(_context: HookContext, case: Case[Any]) -> bool:
    """Forms have no types, so a number is valid text; in JSON, null equals an omitted optional field."""
    body = case.body
    if not isinstance(body, dict):
        return True
    if case.media_type == FORM:
        return not any(isinstance(value, bool | int | float) for value in body.values())
    nulls = {name for name, value in body.items() if value is None}
    return not nulls or bool(nulls & _required(case))


def _required(case: Case[Any]) -> set[str]:
    """Fields required by any variant of the operation's body."""
    definition: Mapping[str, Any] = case.operation.definition.raw
    schema = definition["requestBody"]["content"][JSON]["schema"]
    schemas = case.operation.schema.raw_schema["components"]["schemas"]
    kinds = [
        schemas[each["$ref"].rpartition("/")[2]] if "$ref" in each else each for each in schema.get("oneOf", [schema])
    ]
    return {name for kind in kinds for name in kind.get("required", [])}
