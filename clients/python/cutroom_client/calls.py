"""A call of the API as a value: what is sent, and how often it may be sent."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, TypeAlias
from urllib.parse import quote

from pydantic import BaseModel

from cutroom_client.model import Model

Credits: TypeAlias = int | float | Decimal | str
LIMIT_HEADER = "Cutroom-Max-Credits"
KEY_HEADER = "Idempotency-Key"
REPEATABLE_METHODS = frozenset({"GET", "HEAD", "PUT", "DELETE"})


def path(template: str, *segments: object) -> str:
    """Fills in segments, each escaped as a whole: an id with a slash must not reach another path."""
    for each in segments:
        text = str(each)
        if not text or text in {".", ".."}:
            raise ValueError(f"{text!r} is not an id")
        template = template.replace("{}", quote(text, safe=""), 1)
    return template


def format_credits(amount: Credits) -> str:
    """A number of credits as the header has it, without an exponent."""
    number = Decimal(str(amount))
    if not number.is_finite() or number < 0:
        raise ValueError("max_credits must be a number of credits, 0 or more")
    return format(number, "f")


@dataclass(frozen=True)
class Call:
    """One logical call. Its idempotency key is the same in every attempt."""

    operation: str
    method: str
    path: str
    body: Model | Mapping[str, Any] | None = None
    files: list[tuple[str, tuple[str, bytes, str]]] | None = field(default=None, repr=False)
    query: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str | None] = field(default_factory=dict)
    keyed: bool = False
    idempotency_key: str | None = None
    priced: bool = False
    max_credits: Credits | None = None

    @property
    def repeatable(self) -> bool:
        """Whether sending it twice has the effect of sending it once."""
        return self.method in REPEATABLE_METHODS or self.keyed

    def json(self) -> object | None:
        """The body as JSON values."""
        return None if self.body is None or self.files else plain(self.body)

    def parameters(self) -> dict[str, str]:
        """The query without the parameters that were left out."""
        return {name: text(value) for name, value in self.query.items() if value is not None}

    def sent_headers(self, *, max_credits: Credits | None) -> dict[str, str]:
        """The headers of every attempt; `max_credits` is the client's limit, which the call's own precedes."""
        headers = {name: value for name, value in self.headers.items() if value is not None}
        if self.keyed:
            headers[KEY_HEADER] = self.idempotency_key or str(uuid.uuid4())
        limit = self.max_credits if self.max_credits is not None else max_credits
        if self.priced and limit is not None:
            headers[LIMIT_HEADER] = format_credits(limit)
        return headers


def plain(value: object) -> Any:  # noqa: ANN401 (any JSON value)
    """JSON values, with the models inside them as on the wire."""
    if isinstance(value, Model):
        return value.to_wire()
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True)
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value.isoformat() if isinstance(value, datetime) else value


def text(value: object) -> str:
    """A query parameter."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple, set, frozenset)):
        return ",".join(text(each) for each in value)
    return value.isoformat() if isinstance(value, datetime) else str(value)
