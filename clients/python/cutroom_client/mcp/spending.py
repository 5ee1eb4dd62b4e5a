"""What a connection may spend, and the confirmations without which nothing is spent."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

LIFETIME_SECONDS = 600
NOTHING = Decimal(0)
MILLICREDIT = Decimal("0.001")
MAX_TOKEN_CHARACTERS = 500


class SpendingRefusedError(Exception):
    """A call that may not spend; nothing was sent."""


@dataclass(frozen=True)
class Confirmed:
    """A confirmation that was used: what may be charged, and the idempotency key of the request."""

    price: Decimal
    key: str


@dataclass
class ConnectionBudget:
    """Credits of one connection. A confirmation is bound to a tool, its arguments and its price, and is used once."""

    limit: Decimal
    now: Callable[[], float]
    spent: Decimal = NOTHING
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    used: dict[str, float] = field(default_factory=dict, repr=False)

    @property
    def remaining(self) -> Decimal:
        return self.limit - self.spent

    def offer(self, tool: str, arguments: Mapping[str, Any], price: Decimal) -> str:
        """A token that confirms this call at this price."""
        self._require(price)
        body = {
            "call": _digest(tool, arguments),
            "price": format(price, "f"),
            "until": self.now() + LIFETIME_SECONDS,
            "key": secrets.token_urlsafe(16),
        }
        payload = _encode(json.dumps(body).encode())
        return f"{payload}.{self._signature(payload)}"

    def confirm(self, tool: str, arguments: Mapping[str, Any], token: str) -> Confirmed:
        """Use a token and take its price from the budget; raises SpendingRefusedError."""
        body = self._verified(token)
        if not hmac.compare_digest(body["call"], _digest(tool, arguments)):
            raise SpendingRefusedError("The confirmation is for another call: repeat exactly the confirmed arguments.")
        if body["until"] <= self.now():
            raise SpendingRefusedError("The confirmation has expired. Ask for the price again.")
        if body["key"] in self.used:
            raise SpendingRefusedError("The confirmation was used before. Ask for the price again.")
        price = Decimal(body["price"])
        self._require(price)
        self._forget_expired()
        self.used[body["key"]] = body["until"]
        self.spent += price
        return Confirmed(price, body["key"])

    def give_back(self, confirmed: Confirmed) -> None:
        """The service has refused the request, so that nothing was charged."""
        self.spent -= confirmed.price

    def _require(self, price: Decimal) -> None:
        if price > self.remaining:
            raise SpendingRefusedError(
                f"This costs {_plain(price)} credits. The person who set up this connection allows "
                f"{_plain(self.limit)}, of which {_plain(self.remaining)} are left."
            )

    def _verified(self, token: str) -> dict[str, Any]:
        payload, _, signature = token[:MAX_TOKEN_CHARACTERS].partition(".")
        if not hmac.compare_digest(signature.encode(), self._signature(payload).encode()):
            raise SpendingRefusedError("This is not a confirmation of this connection.")
        body: dict[str, Any] = json.loads(base64.urlsafe_b64decode(payload))
        return body

    def _signature(self, payload: str) -> str:
        return _encode(hmac.digest(self.secret, payload.encode(), "sha256"))

    def _forget_expired(self) -> None:
        self.used = {key: until for key, until in self.used.items() if until > self.now()}


def parse_limit(text: str) -> Decimal:
    """A number of credits with at most three decimals."""
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal(-1)
    if not amount.is_finite() or amount < 0 or amount > 10**9 or amount != amount.quantize(MILLICREDIT):
        raise ValueError("a limit is a number of credits, 0 or more, with at most three decimals")
    return amount


def credits_of(amount: float) -> Decimal:
    """A price of the API, which is exact to the milli-credit."""
    return Decimal(str(amount)).quantize(MILLICREDIT)


def _plain(amount: Decimal) -> str:
    return format(amount.normalize(), "f")


def _digest(tool: str, arguments: Mapping[str, Any]) -> str:
    exact = json.dumps([tool, arguments], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(exact.encode()).hexdigest()


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode()
