"""How objects look on the wire: camelCase names, omitted optionals, language codes, the error envelope."""

import re
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

T = TypeVar("T")
H = TypeVar("H", bound=Hashable)


def _refuse_words(type_: str, message: str) -> dict[str, Any]:
    """A validator that comes before a number's own."""

    def check(value: Any) -> Any:  # noqa: ANN401 (whatever JSON gave)
        if isinstance(value, str | bool):
            raise PydanticCustomError(type_, message)
        return value

    return {"type": "no-info", "function": check}


_NUMBERS = {
    "int": _refuse_words("int_type", "This must be a whole number."),
    "float": _refuse_words("float_type", "This must be a number."),
}


def exact(schema: Any) -> None:  # noqa: ANN401 (a schema, or any part of one)
    """Let a number be no string and no truth, and a truth be nothing else, as the document says."""
    if isinstance(schema, list | tuple):
        for part in schema:
            exact(part)
    elif isinstance(schema, dict) and schema.get("function") not in _NUMBERS.values():
        for part in schema.values():
            exact(part)
        if (kind := schema.get("type")) == "bool":
            schema["strict"] = True
        elif isinstance(kind, str) and kind in _NUMBERS:
            inside = dict(schema)
            schema.clear()
            schema.update({"type": "function-before", "function": _NUMBERS[kind], "schema": inside})


class ApiModel(BaseModel):
    """A body of a request or a response. Unknown fields are ignored, as the contract's variants need."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: type[BaseModel], handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        exact(schema)
        return schema

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """A field that may be left out has no default to document, and is never null."""
        schema = handler(core_schema)
        for field in handler.resolve_ref_schema(schema).get("properties", {}).values():
            if field.get("default", ...) is None:
                del field["default"]
                _drop_null(field)
        return schema


def _drop_null(field: dict[str, Any]) -> None:
    others = [option for option in field.pop("anyOf", []) if option != {"type": "null"}]
    field.update(others[0] if len(others) == 1 else {"anyOf": others} if others else {})


# An optional field without a value is left out, and never null. `title: Omittable[str] = None`
Omittable = Annotated[T | None, Field(exclude_if=lambda value: value is None)]

Uri = Annotated[str, WithJsonSchema({"type": "string", "format": "uri"})]

LANGUAGE_PATTERN = r"^[A-Za-z]{2,3}(-[A-Za-z]{2,4})?$"


def is_language(code: str) -> bool:
    return len(code) <= 16 and re.fullmatch(LANGUAGE_PATTERN, code) is not None


def canonical_language(code: str) -> str:
    """`PT-br` and `pt-BR` are one language; a four-letter subtag is a script, as in `zh-Hant`."""
    language, _, rest = code.partition("-")
    if not rest:
        return language.lower()
    return f"{language.lower()}-{rest.title() if len(rest) == 4 else rest.upper()}"


LanguageCode = Annotated[
    str,
    StringConstraints(min_length=2, max_length=16, pattern=LANGUAGE_PATTERN),
    AfterValidator(canonical_language),
]


def unique(items: list[H]) -> list[H]:
    if len(set(items)) != len(items):
        raise ValueError("Each item may occur once.")
    return items


@dataclass(frozen=True, slots=True)
class Unique:
    """For a list: each item may occur once."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:  # noqa: ANN401
        return core_schema.no_info_after_validator_function(unique, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(schema), "uniqueItems": True}


MAX_LANGUAGES = 50
Languages = Annotated[list[LanguageCode], Field(min_length=1, max_length=MAX_LANGUAGES), Unique()]


class ErrorBody(ApiModel):
    """What went wrong."""

    code: str = Field(description="One of the closed set of error codes; branch on this, not on the message.")
    message: str = Field(description="A sentence for a person.")
    details: dict[str, Any] = Field(description="Machine-readable context; empty when there is none.")


class ErrorEnvelope(ApiModel):
    """The shape of every error."""

    error: ErrorBody
