"""The base classes of the generated models."""

from typing import Any

from pydantic import BaseModel, ConfigDict


def camel_case(name: str) -> str:
    """`created_at` as `createdAt`."""
    first, *others = name.split("_")
    return first + "".join(each.title() for each in others)


class Model(BaseModel):
    """A request or a response, whose fields are `createdAt` on the wire and `created_at` here.

    Fields that this version does not know are kept, in `model_extra`: a newer service may send more.
    """

    model_config = ConfigDict(
        alias_generator=camel_case,
        populate_by_name=True,
        protected_namespaces=(),
        extra="allow",
        defer_build=True,
    )

    def to_wire(self) -> dict[str, Any]:
        """JSON values as the API names them; without the fields that were never set, and with those set to None."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


class SnakeModel(Model):
    """A model of the speech operations, whose fields are in snake case on the wire as well."""

    model_config = ConfigDict(alias_generator=None)
