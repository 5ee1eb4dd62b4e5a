"""Which lines of a reservation pay for which work: the right ones, each wrong one and why, and never one twice."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutroom.credits.pricing import Action, Term, Work
from cutroom.credits.rules import Bill, ReservedLine, choose_lines, covers
from cutroom.errors import Code, CutroomError

NOW = datetime(2026, 11, 2, 12, tzinfo=UTC)
TICK = timedelta(microseconds=1)
MINUTE = 60_000
DE, FR = Work(Action.DUB, "plus", "de"), Work(Action.DUB, "plus", "fr")
PREMIUM = Work(Action.DUB, "premium", "de")
CAPTIONS = Work(Action.CAPTIONS, "captions", "de")
CLIP = Work(Action.SHORTS_CLIP, "shorts")
MARKED = Work(Action.SHORTS_CLIP, "shorts", terms={Term.WATERMARK: 1})

NO_LINE = "the reservation has no line for this"
NO_SUCH = "there is no such line"
LANGUAGE = "the line was reserved for another language"
PRODUCT = "the line was reserved for another product"
VIDEO = "the line was reserved for another video"
SPENT = "the line is spent"
EXPIRED = "the reservation has expired"
SHORTER = "the line was priced for a shorter duration"


def line(name: str, work: Work, **changes: Any) -> ReservedLine:  # noqa: ANN401 (whatever a field holds)
    made = ReservedLine(
        id=name,
        reservation_id="r1",
        video_id="v1",
        work=work,
        duration_milliseconds=10 * MINUTE,
        is_spent=False,
        expires_at=NOW + timedelta(hours=1),
    )
    return replace(made, **changes)


def bill(*works: Work, reservation: str | None = "r1", lines: tuple[str, ...] = ()) -> Bill:
    return Bill(works, is_subscriber=False, reservation_id=reservation, line_ids=lines)


def choose(lines: list[ReservedLine], wanted: Bill, duration: int | None = 10 * MINUTE) -> list[str]:
    return choose_lines(lines, wanted, video_id="v1", duration_milliseconds=duration, now=NOW)


TAKEN: dict[str, tuple[list[ReservedLine], Bill, list[str]]] = {
    "the only line": ([line("a", DE)], bill(DE), ["a"]),
    "by language": ([line("a", FR), line("b", DE)], bill(DE), ["b"]),
    "by product": ([line("a", PREMIUM), line("b", DE)], bill(DE), ["b"]),
    "by action": ([line("a", CAPTIONS), line("b", DE)], bill(DE), ["b"]),
    "by terms": ([line("a", MARKED), line("b", CLIP)], bill(CLIP), ["b"]),
    "in the order of the works": ([line("a", DE), line("b", FR)], bill(FR, DE), ["b", "a"]),
    "equal lines one each": ([line(name, CLIP) for name in "cab"], bill(CLIP, CLIP, CLIP), ["a", "b", "c"]),
    "equal lines, some left over": ([line(name, CLIP) for name in "abc"], bill(CLIP, CLIP), ["a", "b"]),
    "the unspent one of equals": ([line("a", CLIP, is_spent=True), line("b", CLIP)], bill(CLIP), ["b"]),
    "a named line": ([line("a", DE)], bill(DE, lines=("a",)), ["a"]),
    "a named line without its reservation": ([line("a", DE)], bill(DE, reservation=None, lines=("a",)), ["a"]),
    "the named one of equals": ([line("a", CLIP), line("b", CLIP)], bill(CLIP, lines=("b",)), ["b"]),
    "named ones in their order": ([line("a", DE), line("b", FR)], bill(FR, DE, lines=("b", "a")), ["b", "a"]),
    "named ones of two reservations": (
        [line("a", DE), line("b", FR, reservation_id="r2")],
        bill(DE, FR, reservation=None, lines=("a", "b")),
        ["a", "b"],
    ),
    "just before it expires": ([line("a", DE, expires_at=NOW + TICK)], bill(DE), ["a"]),
    "a longer duration": ([line("a", DE, duration_milliseconds=11 * MINUTE)], bill(DE), ["a"]),
    "as many tenths of a minute": ([line("a", DE, duration_milliseconds=10 * MINUTE - 5_999)], bill(DE), ["a"]),
    "work that has no duration": ([line("a", CLIP, duration_milliseconds=None)], bill(CLIP), ["a"]),
}


@pytest.mark.parametrize(("lines", "wanted", "chosen"), TAKEN.values(), ids=list(TAKEN))
def test_the_lines_that_fit_are_taken(lines: list[ReservedLine], wanted: Bill, chosen: list[str]) -> None:
    assert choose(lines, wanted) == chosen


def test_a_duration_that_is_not_known_yet_is_not_compared() -> None:
    assert choose([line("a", DE, duration_milliseconds=1)], bill(DE), duration=None) == ["a"]


# Lines, the bill, why not, and which line is named in the answer.
REFUSED: dict[str, tuple[list[ReservedLine], Bill, str, str | None]] = {
    "no lines": ([], bill(DE), NO_LINE, None),
    "no line of this language": ([line("a", FR)], bill(DE), NO_LINE, None),
    "no line of this product": ([line("a", PREMIUM)], bill(DE), NO_LINE, None),
    "no line of this action": ([line("a", CAPTIONS)], bill(DE), NO_LINE, None),
    "no line of these terms": ([line("a", MARKED)], bill(CLIP), NO_LINE, None),
    "fewer lines than works": ([line("a", CLIP), line("b", CLIP)], bill(CLIP, CLIP, CLIP), NO_LINE, None),
    "one work without a line": ([line("a", DE)], bill(DE, FR), NO_LINE, None),
    "a name that nothing has": ([line("a", DE)], bill(DE, lines=("x",)), NO_SUCH, "x"),
    "a line of another reservation": ([line("a", DE, reservation_id="r2")], bill(DE, lines=("a",)), NO_SUCH, "a"),
    "one line named twice": ([line("a", CLIP), line("b", CLIP)], bill(CLIP, CLIP, lines=("a", "a")), NO_SUCH, "a"),
    "a named line of another language": ([line("a", FR), line("b", DE)], bill(DE, lines=("a",)), LANGUAGE, "a"),
    "a named line of another product": ([line("a", PREMIUM), line("b", DE)], bill(DE, lines=("a",)), PRODUCT, "a"),
    "a named line of another action": ([line("a", CAPTIONS)], bill(DE, lines=("a",)), PRODUCT, "a"),
    "a named line of other terms": ([line("a", MARKED)], bill(CLIP, lines=("a",)), PRODUCT, "a"),
    "another video": ([line("a", DE, video_id="v2")], bill(DE), VIDEO, "a"),
    "another video, named": ([line("a", DE, video_id="v2")], bill(DE, lines=("a",)), VIDEO, "a"),
    "spent": ([line("a", DE, is_spent=True)], bill(DE), SPENT, "a"),
    "spent, named, beside an unspent one": (
        [line("a", CLIP, is_spent=True), line("b", CLIP)],
        bill(CLIP, lines=("a",)),
        SPENT,
        "a",
    ),
    "one too few unspent": ([line("a", CLIP), line("b", CLIP, is_spent=True)], bill(CLIP, CLIP), SPENT, "b"),
    "expired at this instant": ([line("a", DE, expires_at=NOW)], bill(DE), EXPIRED, "a"),
    "expired, named": ([line("a", DE, expires_at=NOW - TICK)], bill(DE, lines=("a",)), EXPIRED, "a"),
    "a tenth of a minute short": ([line("a", DE, duration_milliseconds=10 * MINUTE - 6_000)], bill(DE), SHORTER, "a"),
    "short, named": ([line("a", DE, duration_milliseconds=MINUTE)], bill(DE, lines=("a",)), SHORTER, "a"),
    "by the minute and never priced so": ([line("a", DE, duration_milliseconds=None)], bill(DE), SHORTER, "a"),
}


@pytest.mark.parametrize(("lines", "wanted", "reason", "named"), REFUSED.values(), ids=list(REFUSED))
def test_a_line_that_does_not_fit_is_a_conflict_that_says_why(
    lines: list[ReservedLine], wanted: Bill, reason: str, named: str | None
) -> None:
    with pytest.raises(CutroomError) as refused:
        choose(lines, wanted)
    error = refused.value
    assert (error.code, error.status) == (Code.CONFLICT, 409)
    assert error.details == {"reason": reason} | ({"lineItemId": named} if named else {})


@pytest.mark.parametrize(
    ("works", "lines"),
    [((), ()), ((DE,), ("a", "b")), ((DE, FR), ("a",)), ((), ("a",))],
    ids=["no works", "a line too many", "a line too few", "lines and no works"],
)
def test_a_bill_names_a_line_for_every_work_or_none(works: tuple[Work, ...], lines: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="a bill has works"):
        bill(*works, lines=lines)


@pytest.mark.parametrize(
    ("wanted", "is_reserved"),
    [
        (bill(DE, reservation=None), False),
        (bill(DE), True),
        (bill(DE, reservation=None, lines=("a",)), True),
        (bill(DE, lines=("a",)), True),
    ],
)
def test_a_bill_survives_being_stored(wanted: Bill, *, is_reserved: bool) -> None:
    assert wanted.is_reserved == is_reserved
    assert Bill.from_json(wanted.as_json()) == wanted
    assert Bill.from_json(replace(wanted, is_subscriber=True).as_json()).is_subscriber


@pytest.mark.parametrize(
    ("work", "priced", "actual", "enough"),
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
def test_what_was_paid_covers_as_many_tenths_of_a_minute(
    work: Work, priced: int | None, actual: int | None, *, enough: bool
) -> None:
    assert covers(work, priced, actual) is enough


def check_conflict(lines: list[ReservedLine], wanted: Bill) -> None:
    with pytest.raises(CutroomError) as refused:
        choose(lines, wanted)
    assert refused.value.code is Code.CONFLICT


WORKS = st.sampled_from([DE, FR, PREMIUM, CAPTIONS, CLIP, MARKED])


@st.composite
def some_lines(draw: st.DrawFn) -> list[ReservedLine]:
    drawn = draw(st.lists(st.tuples(WORKS, st.booleans()), max_size=12))
    made = [line(f"l{number:02}", work, is_spent=spent) for number, (work, spent) in enumerate(drawn)]
    return draw(st.permutations(made))


@settings(deadline=None)  # a busy machine is no fault of ours
@given(lines=some_lines(), works=st.lists(WORKS, min_size=1, max_size=6))
def test_lines_are_taken_once_and_whenever_there_are_enough(lines: list[ReservedLine], works: list[Work]) -> None:
    def count(works: list[Work]) -> Counter[str]:
        return Counter(repr(work) for work in works)

    enough = count(works) <= count([each.work for each in lines if not each.is_spent])
    if not enough:
        check_conflict(lines, bill(*works))
        return
    chosen = choose(lines, bill(*works))
    assert len(set(chosen)) == len(chosen)
    by_id = {each.id: each for each in lines}
    assert [by_id[name].work for name in chosen] == works
    assert not any(by_id[name].is_spent for name in chosen)


@settings(deadline=None)  # a busy machine is no fault of ours
@given(lines=some_lines(), names=st.lists(st.integers(0, 11), min_size=1, max_size=4), works=st.data())
def test_named_lines_are_taken_once_or_not_at_all(
    lines: list[ReservedLine], names: list[int], works: st.DataObject
) -> None:
    wanted = tuple(f"l{name:02}" for name in names)
    by_id = {each.id: each for each in lines}
    asked = [by_id[name].work if name in by_id else works.draw(WORKS) for name in wanted]
    fits = len(set(wanted)) == len(wanted) and all(name in by_id and not by_id[name].is_spent for name in wanted)
    if fits:
        assert choose(lines, bill(*asked, lines=wanted)) == list(wanted)
    else:
        check_conflict(lines, bill(*asked, lines=wanted))
