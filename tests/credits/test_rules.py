"""Matching reservation lines to charges: matches, conflicts and their reasons, and no double use."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutroom.credits.pricing import Action, BillableItem, Term
from cutroom.credits.rules import Charge, ReservedLine, choose_lines, covers
from cutroom.errors import Code, CutroomError

NOW = datetime(2026, 11, 2, 12, tzinfo=UTC)
TICK = timedelta(microseconds=1)
MINUTE = 60_000
DE, FR = BillableItem(Action.DUB, "plus", "de"), BillableItem(Action.DUB, "plus", "fr")
PREMIUM = BillableItem(Action.DUB, "premium", "de")
CAPTIONS = BillableItem(Action.CAPTIONS, "captions", "de")
CLIP = BillableItem(Action.SHORTS_CLIP, "shorts")
MARKED = BillableItem(Action.SHORTS_CLIP, "shorts", terms={Term.WATERMARK: 1})

NO_LINE = "the reservation has no line for this"
NO_SUCH = "there is no such line"
LANGUAGE = "the line was reserved for another language"
PRODUCT = "the line was reserved for another product"
VIDEO = "the line was reserved for another video"
SPENT = "the line is spent"
EXPIRED = "the reservation has expired"
SHORTER = "the line was priced for a shorter duration"


def line(name: str, item: BillableItem, **changes: Any) -> ReservedLine:  # noqa: ANN401 (field values)
    reserved = ReservedLine(
        id=name,
        reservation_id="r1",
        video_id="v1",
        item=item,
        duration_milliseconds=10 * MINUTE,
        is_spent=False,
        expires_at=NOW + timedelta(hours=1),
    )
    return replace(reserved, **changes)


def charge(*items: BillableItem, reservation: str | None = "r1", lines: tuple[str, ...] = ()) -> Charge:
    return Charge(items, is_subscriber=False, reservation_id=reservation, line_ids=lines)


def choose(lines: list[ReservedLine], job_charge: Charge, duration: int | None = 10 * MINUTE) -> list[str]:
    return choose_lines(lines, job_charge, video_id="v1", duration_milliseconds=duration, now=NOW)


MATCHES: dict[str, tuple[list[ReservedLine], Charge, list[str]]] = {
    "the only line": ([line("a", DE)], charge(DE), ["a"]),
    "by language": ([line("a", FR), line("b", DE)], charge(DE), ["b"]),
    "by product": ([line("a", PREMIUM), line("b", DE)], charge(DE), ["b"]),
    "by action": ([line("a", CAPTIONS), line("b", DE)], charge(DE), ["b"]),
    "by terms": ([line("a", MARKED), line("b", CLIP)], charge(CLIP), ["b"]),
    "in the order of the items": ([line("a", DE), line("b", FR)], charge(FR, DE), ["b", "a"]),
    "equal lines one each": ([line(name, CLIP) for name in "cab"], charge(CLIP, CLIP, CLIP), ["a", "b", "c"]),
    "equal lines, some left over": ([line(name, CLIP) for name in "abc"], charge(CLIP, CLIP), ["a", "b"]),
    "the unspent one of equals": ([line("a", CLIP, is_spent=True), line("b", CLIP)], charge(CLIP), ["b"]),
    "a named line": ([line("a", DE)], charge(DE, lines=("a",)), ["a"]),
    "a named line without its reservation": ([line("a", DE)], charge(DE, reservation=None, lines=("a",)), ["a"]),
    "the named one of equals": ([line("a", CLIP), line("b", CLIP)], charge(CLIP, lines=("b",)), ["b"]),
    "named ones in their order": ([line("a", DE), line("b", FR)], charge(FR, DE, lines=("b", "a")), ["b", "a"]),
    "named ones of two reservations": (
        [line("a", DE), line("b", FR, reservation_id="r2")],
        charge(DE, FR, reservation=None, lines=("a", "b")),
        ["a", "b"],
    ),
    "just before it expires": ([line("a", DE, expires_at=NOW + TICK)], charge(DE), ["a"]),
    "a longer duration": ([line("a", DE, duration_milliseconds=11 * MINUTE)], charge(DE), ["a"]),
    "as many tenths of a minute": ([line("a", DE, duration_milliseconds=10 * MINUTE - 5_999)], charge(DE), ["a"]),
    "an item without duration": ([line("a", CLIP, duration_milliseconds=None)], charge(CLIP), ["a"]),
}


@pytest.mark.parametrize(("lines", "job_charge", "chosen"), MATCHES.values(), ids=list(MATCHES))
def test_matching_lines_are_chosen(lines: list[ReservedLine], job_charge: Charge, chosen: list[str]) -> None:
    assert choose(lines, job_charge) == chosen


def test_unknown_duration_is_not_compared() -> None:
    assert choose([line("a", DE, duration_milliseconds=1)], charge(DE), duration=None) == ["a"]


# Lines, charge, reason, and the line named in the error.
CONFLICTS: dict[str, tuple[list[ReservedLine], Charge, str, str | None]] = {
    "no lines": ([], charge(DE), NO_LINE, None),
    "no line of this language": ([line("a", FR)], charge(DE), NO_LINE, None),
    "no line of this product": ([line("a", PREMIUM)], charge(DE), NO_LINE, None),
    "no line of this action": ([line("a", CAPTIONS)], charge(DE), NO_LINE, None),
    "no line of these terms": ([line("a", MARKED)], charge(CLIP), NO_LINE, None),
    "fewer lines than items": ([line("a", CLIP), line("b", CLIP)], charge(CLIP, CLIP, CLIP), NO_LINE, None),
    "an item without a line": ([line("a", DE)], charge(DE, FR), NO_LINE, None),
    "an unknown line id": ([line("a", DE)], charge(DE, lines=("x",)), NO_SUCH, "x"),
    "a line of another reservation": ([line("a", DE, reservation_id="r2")], charge(DE, lines=("a",)), NO_SUCH, "a"),
    "one line named twice": ([line("a", CLIP), line("b", CLIP)], charge(CLIP, CLIP, lines=("a", "a")), NO_SUCH, "a"),
    "a named line of another language": ([line("a", FR), line("b", DE)], charge(DE, lines=("a",)), LANGUAGE, "a"),
    "a named line of another product": ([line("a", PREMIUM), line("b", DE)], charge(DE, lines=("a",)), PRODUCT, "a"),
    "a named line of another action": ([line("a", CAPTIONS)], charge(DE, lines=("a",)), PRODUCT, "a"),
    "a named line of other terms": ([line("a", MARKED)], charge(CLIP, lines=("a",)), PRODUCT, "a"),
    "another video": ([line("a", DE, video_id="v2")], charge(DE), VIDEO, "a"),
    "another video, named": ([line("a", DE, video_id="v2")], charge(DE, lines=("a",)), VIDEO, "a"),
    "spent": ([line("a", DE, is_spent=True)], charge(DE), SPENT, "a"),
    "spent, named, beside an unspent one": (
        [line("a", CLIP, is_spent=True), line("b", CLIP)],
        charge(CLIP, lines=("a",)),
        SPENT,
        "a",
    ),
    "one too few unspent": ([line("a", CLIP), line("b", CLIP, is_spent=True)], charge(CLIP, CLIP), SPENT, "b"),
    "expired at this instant": ([line("a", DE, expires_at=NOW)], charge(DE), EXPIRED, "a"),
    "expired, named": ([line("a", DE, expires_at=NOW - TICK)], charge(DE, lines=("a",)), EXPIRED, "a"),
    "a tenth of a minute short": ([line("a", DE, duration_milliseconds=10 * MINUTE - 6_000)], charge(DE), SHORTER, "a"),
    "short, named": ([line("a", DE, duration_milliseconds=MINUTE)], charge(DE, lines=("a",)), SHORTER, "a"),
    "a per-minute item priced without duration": (
        [line("a", DE, duration_milliseconds=None)],
        charge(DE),
        SHORTER,
        "a",
    ),
}


@pytest.mark.parametrize(("lines", "job_charge", "reason", "named"), CONFLICTS.values(), ids=list(CONFLICTS))
def test_mismatched_line_conflicts_with_reason(
    lines: list[ReservedLine], job_charge: Charge, reason: str, named: str | None
) -> None:
    with pytest.raises(CutroomError) as refused:
        choose(lines, job_charge)
    error = refused.value
    assert (error.code, error.status) == (Code.CONFLICT, 409)
    assert error.details == {"reason": reason} | ({"lineItemId": named} if named else {})


@pytest.mark.parametrize(
    ("items", "lines"),
    [((), ()), ((DE,), ("a", "b")), ((DE, FR), ("a",)), ((), ("a",))],
    ids=["no items", "a line too many", "a line too few", "lines and no items"],
)
def test_charge_needs_line_for_every_item_or_none(items: tuple[BillableItem, ...], lines: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="a charge needs items"):
        charge(*items, lines=lines)


@pytest.mark.parametrize(
    ("job_charge", "is_reserved"),
    [
        (charge(DE, reservation=None), False),
        (charge(DE), True),
        (charge(DE, reservation=None, lines=("a",)), True),
        (charge(DE, lines=("a",)), True),
    ],
)
def test_charge_json_round_trips(job_charge: Charge, *, is_reserved: bool) -> None:
    assert job_charge.is_reserved == is_reserved
    assert Charge.from_json(job_charge.as_json()) == job_charge
    assert Charge.from_json(replace(job_charge, is_subscriber=True).as_json()).is_subscriber


@pytest.mark.parametrize(
    ("item", "priced", "actual", "enough"),
    [
        (DE, 6_000, 6_000, True),
        (DE, 1, 6_000, True),
        (DE, 6_000, 6_001, False),
        (DE, 6_001, 12_000, True),
        (DE, None, 1, False),
        (DE, None, None, True),
        (DE, 1, None, True),
        (CLIP, None, 6_000, True),
        (CLIP, 1, 10**9, True),
    ],
)
def test_covers_compares_billed_tenths(
    item: BillableItem, priced: int | None, actual: int | None, *, enough: bool
) -> None:
    assert covers(item, priced, actual) is enough


def check_conflict(lines: list[ReservedLine], job_charge: Charge) -> None:
    with pytest.raises(CutroomError) as refused:
        choose(lines, job_charge)
    assert refused.value.code is Code.CONFLICT


ITEMS = st.sampled_from([DE, FR, PREMIUM, CAPTIONS, CLIP, MARKED])


@st.composite
def some_lines(draw: st.DrawFn) -> list[ReservedLine]:
    drawn = draw(st.lists(st.tuples(ITEMS, st.booleans()), max_size=12))
    lines = [line(f"l{number:02}", item, is_spent=spent) for number, (item, spent) in enumerate(drawn)]
    return draw(st.permutations(lines))


@settings(deadline=None)  # slow machines must not fail the test
@given(lines=some_lines(), items=st.lists(ITEMS, min_size=1, max_size=6))
def test_lines_are_chosen_once_if_sufficient(lines: list[ReservedLine], items: list[BillableItem]) -> None:
    def count(items: list[BillableItem]) -> Counter[str]:
        return Counter(repr(item) for item in items)

    enough = count(items) <= count([each.item for each in lines if not each.is_spent])
    if not enough:
        check_conflict(lines, charge(*items))
        return
    chosen = choose(lines, charge(*items))
    assert len(set(chosen)) == len(chosen)
    by_id = {each.id: each for each in lines}
    assert [by_id[name].item for name in chosen] == items
    assert not any(by_id[name].is_spent for name in chosen)


@settings(deadline=None)  # slow machines must not fail the test
@given(lines=some_lines(), names=st.lists(st.integers(0, 11), min_size=1, max_size=4), items=st.data())
def test_named_lines_are_chosen_once_or_rejected(
    lines: list[ReservedLine], names: list[int], items: st.DataObject
) -> None:
    line_ids = tuple(f"l{name:02}" for name in names)
    by_id = {each.id: each for each in lines}
    requested = [by_id[name].item if name in by_id else items.draw(ITEMS) for name in line_ids]
    fits = len(set(line_ids)) == len(line_ids) and all(name in by_id and not by_id[name].is_spent for name in line_ids)
    if fits:
        assert choose(lines, charge(*requested, lines=line_ids)) == list(line_ids)
    else:
        check_conflict(lines, charge(*requested, lines=line_ids))
