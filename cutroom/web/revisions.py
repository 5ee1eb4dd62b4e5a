"""Optimistic concurrency: `ETag` names the revision of a resource, and `If-Match` guards changes to it."""

from dataclasses import dataclass
from typing import Annotated, Generic, TypeVar

from fastapi import Header

from cutroom.errors import Code, CutroomError

Resource = TypeVar("Resource")

ETAG, IF_MATCH = "ETag", "If-Match"
_ANY = "*"

IfMatch = Annotated[
    str | None,
    Header(
        alias=IF_MATCH,
        description="The `ETag` of the revision to change. If there is a newer one, nothing is changed (409).",
    ),
]


@dataclass(frozen=True, slots=True)
class Revised(Generic[Resource]):
    """A resource with the revision of its editable fields."""

    resource: Resource
    revision: int

    @property
    def etag(self) -> str:
        return f'"{self.revision}"'


def require_match(if_match: str | None, revision: int) -> None:
    """Raises CONFLICT unless `If-Match` is absent or names the current revision, whose row the caller has locked."""
    if if_match is None or if_match.strip() == _ANY:
        return
    if str(revision) not in {_opaque(tag) for tag in if_match.split(",")}:
        message = "This was changed in the meantime. Get it again, then repeat the change."
        raise CutroomError(Code.CONFLICT, message=message, details={"revision": revision})


def _opaque(tag: str) -> str:
    """A tag without quotes. A weak tag counts too: proxies that compress responses turn `"3"` into `W/"3"`."""
    return tag.strip().removeprefix("W/").strip('"')
