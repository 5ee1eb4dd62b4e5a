"""Which lines of a reservation pay for which work."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cutroom.credits.pricing import Work, billed_tenths, is_per_minute
from cutroom.errors import Code, CutroomError


@dataclass(frozen=True, slots=True)
class Bill:
    """What is to be paid for one piece of work with one end, and out of which reservation, if any."""

    works: tuple[Work, ...]
    is_subscriber: bool
    reservation_id: str | None = None
    line_ids: tuple[str, ...] = ()  # the lines that pay, one for each work, where the caller named them

    def __post_init__(self) -> None:
        if not self.works or (self.line_ids and len(self.line_ids) != len(self.works)):
            raise ValueError("a bill has works, and a line for each where lines are named")

    @property
    def is_reserved(self) -> bool:
        return self.reservation_id is not None or bool(self.line_ids)

    def as_json(self) -> dict[str, Any]:
        return {
            "works": [work.as_json() for work in self.works],
            "isSubscriber": self.is_subscriber,
            "reservationId": self.reservation_id,
            "lineIds": list(self.line_ids),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Bill":
        works = tuple(Work.from_json(work) for work in value["works"])
        return cls(works, value["isSubscriber"], value["reservationId"], tuple(value["lineIds"]))


@dataclass(frozen=True, slots=True)
class ReservedLine:
    """A line of a reservation, as it was priced."""

    id: str
    reservation_id: str
    video_id: str
    work: Work
    duration_milliseconds: int | None
    is_spent: bool  # used by some work, or settled
    expires_at: datetime


def choose_lines(
    lines: Sequence[ReservedLine], bill: Bill, *, video_id: str, duration_milliseconds: int | None, now: datetime
) -> list[str]:
    """The lines that pay for a bill, one for each work; a line that does not fit is a conflict, and says why."""
    left, chosen = list(lines), []
    for number, work in enumerate(bill.works):
        wanted = bill.line_ids[number] if bill.line_ids else None
        line = _fitting(left, work, wanted=wanted, reservation_id=bill.reservation_id)
        if line.video_id != video_id:
            raise _conflict("the line was reserved for another video", line)
        if line.is_spent:
            raise _conflict("the line is spent", line)
        if line.expires_at <= now:
            raise _conflict("the reservation has expired", line)
        if not covers(line.work, line.duration_milliseconds, duration_milliseconds):
            raise _conflict("the line was priced for a shorter duration", line)
        chosen.append(line.id)
        left.remove(line)
    return chosen


def covers(work: Work, priced_milliseconds: int | None, actual_milliseconds: int | None) -> bool:
    """Whether what was paid for a duration is enough for the one that it turned out to be."""
    if not is_per_minute(work.action) or actual_milliseconds is None:
        return True
    return priced_milliseconds is not None and billed_tenths(priced_milliseconds) >= billed_tenths(actual_milliseconds)


def _fitting(
    lines: Sequence[ReservedLine], work: Work, *, wanted: str | None, reservation_id: str | None
) -> ReservedLine:
    if wanted is None:
        fitting = [line for line in lines if line.work == work]
        if not fitting:
            raise _conflict("the reservation has no line for this", None)
        return min(fitting, key=lambda line: (line.is_spent, line.id))
    line = next((line for line in lines if line.id == wanted), None)
    if line is None or (reservation_id is not None and line.reservation_id != reservation_id):
        raise _conflict("there is no such line", None, line_id=wanted)
    if line.work.language != work.language:
        raise _conflict("the line was reserved for another language", line)
    if line.work != work:
        raise _conflict("the line was reserved for another product", line)
    return line


def _conflict(reason: str, line: ReservedLine | None, *, line_id: str | None = None) -> CutroomError:
    named = line.id if line is not None else line_id
    details = {"reason": reason} | ({"lineItemId": named} if named is not None else {})
    return CutroomError(Code.CONFLICT, details=details, message="The reservation cannot pay for this.")
