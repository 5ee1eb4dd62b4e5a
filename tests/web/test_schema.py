"""Strict JSON types of API schemas."""

from typing import Annotated, Any

import pytest
from pydantic import Field, ValidationError

from cutroom.web.schema import ApiModel, LanguageCode, Omittable, Unique


class Inner(ApiModel):
    """A nested model."""

    count: Annotated[int, Field(ge=1)] = 1


class Outer(ApiModel):
    """A model with every kind of field."""

    flag: bool = False
    size: Omittable[float] = None
    inner: Omittable[Inner] = None
    items: list[Inner] = Field(default_factory=list)
    languages: Annotated[list[LanguageCode], Unique()] = Field(default_factory=list)


@pytest.mark.parametrize(
    "body",
    [
        {"flag": 1},
        {"flag": "yes"},
        {"size": "2.5"},
        {"size": True},
        {"inner": {"count": "3"}},
        {"inner": {"count": True}},
        {"items": [{"count": "3"}]},
        {"inner": {"count": 2.5}},
        {"languages": ["pt", "PT"]},
    ],
)
def test_wrong_json_type_is_rejected(body: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Outer.model_validate(body)


def test_json_numbers_are_accepted() -> None:
    read = Outer.model_validate({"flag": True, "size": 2, "inner": {"count": 3.0}, "languages": ["PT-br"]})
    assert (read.flag, read.size, read.inner, read.languages) == (True, 2.0, Inner(count=3), ["pt-BR"])


def test_unique_items_are_documented() -> None:
    assert Outer.model_json_schema()["properties"]["languages"]["uniqueItems"] is True
