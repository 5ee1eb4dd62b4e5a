"""Base classes and types of API schemas: camelCase names, omitted optionals, language codes, errors."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    StringConstraints,
    WithJsonSchema,
)
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from cutroom.text.language_tags import LANGUAGE_PATTERN, canonical_language

T = TypeVar("T")
H = TypeVar("H", bound=Hashable)


def _reject_strings(type_: str, message: str) -> dict[str, Any]:
    """Build a before-validator that rejects strings and booleans."""

    def check(value: Any) -> Any:  # noqa: ANN401 (any JSON value)
        if isinstance(value, str | bool):
            raise PydanticCustomError(type_, message)
        return value

    return {"type": "no-info", "function": check}


_NUMBERS = {
    "int": _reject_strings("int_type", "This must be a whole number."),
    "float": _reject_strings("float_type", "This must be a number."),
}


def make_strict(schema: Any) -> None:  # noqa: ANN401 (a core schema or any part of one)
    """Disable coercion of strings and booleans to numbers and of other types to booleans, as documented."""
    if isinstance(schema, list | tuple):
        for part in schema:
            make_strict(part)
    elif isinstance(schema, dict) and schema.get("function") not in _NUMBERS.values():
        for part in schema.values():
            make_strict(part)
        if (kind := schema.get("type")) == "bool":
            schema["strict"] = True
        elif isinstance(kind, str) and kind in _NUMBERS:
            inner = dict(schema)
            schema.clear()
            schema.update({"type": "function-before", "function": _NUMBERS[kind], "schema": inner})


class ApiModel(BaseModel):
    """Base class of request and response bodies. Unknown fields are ignored, as the API contract requires."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: type[BaseModel], handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        make_strict(schema)
        return schema

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Document omittable fields without a default and without null."""
        schema = handler(core_schema)
        for field in handler.resolve_ref_schema(schema).get("properties", {}).values():
            if field.get("default", ...) is None:
                del field["default"]
                _drop_null(field)
        return schema


def _drop_null(field: dict[str, Any]) -> None:
    others = [option for option in field.pop("anyOf", []) if option != {"type": "null"}]
    field.update(others[0] if len(others) == 1 else {"anyOf": others} if others else {})


# A field that is omitted instead of null: `title: Omittable[str] = None`.
Omittable = Annotated[T | None, Field(exclude_if=lambda value: value is None)]

Uri = Annotated[str, WithJsonSchema({"type": "string", "format": "uri"})]

LanguageCode = Annotated[
    str,
    StringConstraints(min_length=2, max_length=16, pattern=LANGUAGE_PATTERN),
    AfterValidator(canonical_language),
]


def unique(items: list[H]) -> list[H]:
    if len(set(items)) != len(items):
        raise ValueError("Items must be unique.")
    return items


@dataclass(frozen=True, slots=True)
class Unique:
    """Requires the items of a list to be unique."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:  # noqa: ANN401
        return core_schema.no_info_after_validator_function(unique, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(schema), "uniqueItems": True}


MAX_LANGUAGES = 50
Languages = Annotated[list[LanguageCode], Field(min_length=1, max_length=MAX_LANGUAGES), Unique()]


class ErrorBody(ApiModel):
    """An API error."""

    code: str = Field(description="Error code; branch on this, not on the message.")
    message: str = Field(description="Human-readable message.")
    details: dict[str, Any] = Field(description="Machine-readable context; may be empty.")


class ErrorEnvelope(ApiModel):
    """The body of every error response."""

    error: ErrorBody
