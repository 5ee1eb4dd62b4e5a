"""Base classes and types of API schemas: camelCase names, omitted optionals, language codes, errors."""

import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Annotated, Any, ClassVar, NoReturn, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    StringConstraints,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    model_validator,
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
    """Base class of request and response bodies."""

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


def allow_null(field: dict[str, Any]) -> None:
    """Document that null is accepted."""
    annotations: dict[str, Any] = {
        name: field.pop(name) for name in ("title", "description", "default") if name in field
    }
    options = field.pop("anyOf", None) or [dict(field)]
    field.clear()
    field.update({**annotations, "anyOf": [*options, {"type": "null"}]})


class RequestModel(ApiModel):
    """Base class of creation bodies: null means that an optional field is absent. Unknown fields are ignored."""

    # Fields of other variants of the same body: accepted, and dropped.
    sibling_fields: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="before")
    @classmethod
    def _drop_absent(cls, body: Any) -> Any:  # noqa: ANN401 (any JSON value)
        if not isinstance(body, dict):
            return body
        optional = {name for name, is_required in cls._field_names() if not is_required}
        return {
            name: value
            for name, value in body.items()
            if name not in cls.sibling_fields and not (value is None and name in optional)
        }

    @classmethod
    def _field_names(cls) -> Iterable[tuple[str, bool]]:
        """Every name under which a field can be sent, and whether the field is required."""
        for name, field in cls.model_fields.items():
            yield field.alias or name, field.is_required()
            yield name, field.is_required()

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = super().__get_pydantic_json_schema__(core_schema, handler)
        document = handler.resolve_ref_schema(schema)
        for name, field in document.get("properties", {}).items():
            if name not in document.get("required", ()):
                allow_null(field)
        return schema


class ClosedModel(ApiModel):
    """Base class of bodies whose unknown fields are refused."""

    # Fields of other variants of the same body: accepted, and dropped.
    sibling_fields: ClassVar[frozenset[str]] = frozenset()

    # Extra fields reach `_refuse_field`, whose error names the closest field; `forbid` has no such hook.
    model_config = ConfigDict(extra="allow")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: type[BaseModel], handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = super().__get_pydantic_core_schema__(source, handler)
        fields: Any = schema
        while fields["type"] != "model-fields":
            fields = fields["schema"]
        fields["extras_keys_schema"] = core_schema.no_info_plain_validator_function(cls._refuse_field)
        return schema

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = super().__get_pydantic_json_schema__(core_schema, handler)
        document = handler.resolve_ref_schema(schema)
        document["additionalProperties"] = False
        if cls.sibling_fields:
            document["patternProperties"] = {f"^({'|'.join(sorted(cls.sibling_fields))})$": {}}
        return schema

    @classmethod
    def _refuse_field(cls, name: str) -> NoReturn:
        known = {field.alias or name for name, field in cls.model_fields.items()} | cls.sibling_fields
        by_lower = {each.lower(): each for each in sorted(known)}
        closest = get_close_matches(name.lower().replace("_", ""), by_lower, n=1)
        hint = f" Did you mean `{by_lower[closest[0]]}`?" if closest else ""
        raise PydanticCustomError("unknown_field", "Unknown field.{hint}", {"hint": hint})


class PricedRequest(ClosedModel, RequestModel):
    """Base class of bodies that spend credits: unknown fields are refused, because a typo would buy something else."""


def require_change(patch: BaseModel) -> None:
    """Refuses a PATCH body that changes nothing, which is most often a misspelled field."""
    if not patch.model_fields_set:
        raise ValueError("Send at least one field to change.")


def changes_of(patch: BaseModel) -> dict[str, Any]:
    """The sent fields of a PATCH body by their Python names; None clears."""
    return {name: getattr(patch, name) for name in type(patch).model_fields if name in patch.model_fields_set}


def describe_patch(model: type[BaseModel], document: dict[str, Any]) -> None:
    """Document that at least one field must be sent, that none has a default, and which may be null."""
    document["minProperties"] = 1
    for name, field in model.model_fields.items():
        described = document["properties"][field.alias or name]
        described.pop("default", None)
        if field.default is None and {"type": "null"} not in described.get("anyOf", ()):
            allow_null(described)


class PatchRequest(ClosedModel):
    """Base class of PATCH bodies: an absent field stays, null clears a field whose default is None."""

    @model_validator(mode="after")
    def _require_change(self) -> Self:
        require_change(self)
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = super().__get_pydantic_json_schema__(core_schema, handler)
        describe_patch(cls, handler.resolve_ref_schema(schema))
        return schema


# A field that is omitted instead of null: `title: Omittable[str] = None`.
Omittable = Annotated[T | None, Field(exclude_if=lambda value: value is None)]

Uri = Annotated[str, WithJsonSchema({"type": "string", "format": "uri"})]

_RFC3339 = re.compile(r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})")


def _require_time(value: object) -> object:
    if not isinstance(value, datetime) and not (isinstance(value, str) and _RFC3339.fullmatch(value)):
        raise ValueError("This must be a time with a time zone, such as 2026-01-31T12:00:00Z.")
    return value


def _to_utc(value: datetime) -> datetime:
    try:
        return value.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("This time is out of range.") from error


Instant = Annotated[datetime, BeforeValidator(_require_time), AfterValidator(_to_utc)]

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


def _distinct_keys(value: Any, validate: ValidatorFunctionWrapHandler) -> Any:  # noqa: ANN401 (any JSON value)
    found = validate(value)
    if len(found) != len(value):
        raise ValueError("Languages must be unique.")
    return found


MAX_LANGUAGES = 50
Languages = Annotated[list[LanguageCode], Field(min_length=1, max_length=MAX_LANGUAGES), Unique()]
LineItemIds = Annotated[  # by language
    dict[LanguageCode, str],
    Field(max_length=MAX_LANGUAGES, description="The reservation line item to charge for each language."),
    WrapValidator(_distinct_keys),
]


class ErrorBody(ApiModel):
    """An API error."""

    code: str = Field(description="Error code; branch on this, not on the message.")
    message: str = Field(description="Human-readable message.")
    details: dict[str, Any] = Field(description="Machine-readable context; may be empty.")


class ErrorEnvelope(ApiModel):
    """The body of every error response."""

    error: ErrorBody
