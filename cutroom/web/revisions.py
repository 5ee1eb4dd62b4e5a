"""Optimistic concurrency: `ETag` names the revision of a resource, and `If-Match` guards changes to it."""

import re
from dataclasses import dataclass
from typing import Annotated, Generic, TypeVar

from fastapi import Header

from cutroom.errors import Code, CutroomError

Resource = TypeVar("Resource")

ETAG, IF_MATCH = "ETag", "If-Match"
MAX_IF_MATCH = 1_000
_TAG = r'(W/)?"[^"]*"'
_ANY = "*"

# Proxies that compress responses turn a tag into `W/"3"`, which therefore counts as `"3"`.
IfMatch = Annotated[
    str | None,
    Header(
        alias=IF_MATCH,
        max_length=MAX_IF_MATCH,
        pattern=rf"^[ \t]*(\*|{_TAG}([ \t]*,[ \t]*{_TAG})*)[ \t]*$",
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
    if str(revision) not in re.findall(r'"([^"]*)"', if_match):
        message = "This was changed in the meantime. Get it again, then repeat the change."
        raise CutroomError(Code.CONFLICT, message=message, details={"revision": revision})
