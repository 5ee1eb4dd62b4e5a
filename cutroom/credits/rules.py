"""Matches reservation lines to the items of a charge."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from cutroom.accounts.spending import SpendingLimit
from cutroom.credits.pricing import BillableItem, billed_tenths, is_per_minute
from cutroom.errors import Code, CutroomError


@dataclass(frozen=True, slots=True)
class Charge:
    """What a job costs, and which reservation pays for it, if any."""

    items: tuple[BillableItem, ...]
    is_subscriber: bool
    reservation_id: str | None = None
    line_ids: tuple[str, ...] = ()  # one for each item, if the caller named them
    limit: SpendingLimit | None = None  # of the request, checked when the price is held

    def __post_init__(self) -> None:
        if not self.items or (self.line_ids and len(self.line_ids) != len(self.items)):
            raise ValueError("a charge needs items, and one line id for each item if any are given")

    @property
    def is_reserved(self) -> bool:
        return self.reservation_id is not None or bool(self.line_ids)

    def as_json(self) -> dict[str, Any]:
        return {
            "items": [item.as_json() for item in self.items],
            "isSubscriber": self.is_subscriber,
            "reservationId": self.reservation_id,
            "lineIds": list(self.line_ids),
            **({"limit": asdict(self.limit)} if self.limit is not None else {}),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Charge":
        items = tuple(BillableItem.from_json(item) for item in value["items"])
        limit = SpendingLimit(**value["limit"]) if "limit" in value else None
        return cls(items, value["isSubscriber"], value["reservationId"], tuple(value["lineIds"]), limit)


@dataclass(frozen=True, slots=True)
class ReservedLine:
    """A line of a reservation as priced."""

    id: str
    reservation_id: str
    video_id: str
    item: BillableItem
    duration_milliseconds: int | None
    is_spent: bool  # claimed by a job, or settled
    expires_at: datetime


def choose_lines(
    lines: Sequence[ReservedLine], charge: Charge, *, video_id: str, duration_milliseconds: int | None, now: datetime
) -> list[str]:
    """Choose one line for each item of a charge; raise CONFLICT with the reason if a line does not fit."""
    remaining, chosen = list(lines), []
    for number, item in enumerate(charge.items):
        line_id = charge.line_ids[number] if charge.line_ids else None
        line = _find_line(remaining, item, line_id=line_id, reservation_id=charge.reservation_id)
        if line.video_id != video_id:
            raise _conflict("the line was reserved for another video", line)
        if line.is_spent:
            raise _conflict("the line is spent", line)
        if line.expires_at <= now:
            raise _conflict("the reservation has expired", line)
        if not covers(line.item, line.duration_milliseconds, duration_milliseconds):
            raise _conflict("the line was priced for a shorter duration", line)
        chosen.append(line.id)
        remaining.remove(line)
    return chosen


def covers(item: BillableItem, priced_milliseconds: int | None, actual_milliseconds: int | None) -> bool:
    """Return whether the priced duration covers the actual one."""
    if not is_per_minute(item.action) or actual_milliseconds is None:
        return True
    return priced_milliseconds is not None and billed_tenths(priced_milliseconds) >= billed_tenths(actual_milliseconds)


def _find_line(
    lines: Sequence[ReservedLine], item: BillableItem, *, line_id: str | None, reservation_id: str | None
) -> ReservedLine:
    if line_id is None:
        matching = [line for line in lines if line.item.is_same_work(item)]
        if not matching:
            raise _conflict("the reservation has no line for this", None)
        return min(matching, key=lambda line: (line.is_spent, line.id))
    line = next((line for line in lines if line.id == line_id), None)
    if line is None or (reservation_id is not None and line.reservation_id != reservation_id):
        raise _conflict("there is no such line", None, line_id=line_id)
    if line.item.language != item.language:
        raise _conflict("the line was reserved for another language", line)
    if not line.item.is_same_work(item):
        raise _conflict("the line was reserved for another product", line)
    return line


def _conflict(reason: str, line: ReservedLine | None, *, line_id: str | None = None) -> CutroomError:
    named_id = line.id if line is not None else line_id
    details = {"reason": reason} | ({"lineItemId": named_id} if named_id is not None else {})
    return CutroomError(Code.CONFLICT, details=details, message="The reservation cannot pay for this.")
