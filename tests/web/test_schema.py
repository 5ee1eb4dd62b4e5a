"""What goes over the wire has exactly the type that the document says."""

from typing import Annotated, Any

import pytest
from pydantic import Field, ValidationError

from cutroom.web.schema import ApiModel, LanguageCode, Omittable, Unique


class Inner(ApiModel):
    """Something inside."""

    count: Annotated[int, Field(ge=1)] = 1


class Outer(ApiModel):
    """Something with every kind of field."""

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
def test_another_type_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Outer.model_validate(body)


def test_what_json_calls_a_number_is_one() -> None:
    read = Outer.model_validate({"flag": True, "size": 2, "inner": {"count": 3.0}, "languages": ["PT-br"]})
    assert (read.flag, read.size, read.inner, read.languages) == (True, 2.0, Inner(count=3), ["pt-BR"])


def test_the_document_says_that_items_are_unique() -> None:
    assert Outer.model_json_schema()["properties"]["languages"]["uniqueItems"] is True
