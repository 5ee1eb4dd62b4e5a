"""Jobs that are paid out of a reservation: the right line, every wrong one, and one for less than the video."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import httpx
import pytest

from cutroom.credits.pricing import Action, Work
from cutroom.errors import Code, CutroomError
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.conftest import MovableClock
from tests.credits.calls import reserve
from tests.credits.conftest import DAY, paying
from tests.credits.desk import Desk, open_desk, totals
from tests.jobs.conftest import Stage

DE, FR = Work(Action.DUB, "plus", "de"), Work(Action.DUB, "plus", "fr")
DUBS = [{"languages": ["de", "fr"]}]  # two credits a minute each


@pytest.fixture
async def desk(runtime: Runtime, accounts: Accounts, stage: Stage, clock: MovableClock) -> AsyncIterator[Desk]:
    assert not clock.shift  # the API's time is that of the jobs
    async with open_desk(runtime, accounts, stage) as opened:
        yield opened


async def reserved(desk: Desk, api: httpx.AsyncClient, seconds: float = 60) -> tuple[str, str, str]:
    """Two dubs into German and French: the reservation and its two lines."""
    made = await reserve(api, desk.stage.video_id, dubs=DUBS, durationSeconds=seconds)
    german, french = (line["lineItemId"] for line in made["lineItems"])
    return made["reservationId"], german, french


@pytest.mark.parametrize("named", ["reservation", "line", "both"])
async def test_a_reserved_job_takes_its_line_and_nothing_more(desk: Desk, api: httpx.AsyncClient, named: str) -> None:
    await desk.set_duration(60)
    reservation_id, german, french = await reserved(desk, api)
    by_reservation = reservation_id if named != "line" else None
    by_line = (german,) if named != "reservation" else ()
    await desk.ask(paying(DE, reservation=by_reservation, lines=by_line))
    assert await desk.money() == (6_000, 4_000, 0)
    assert await desk.begin()
    assert await desk.finish()
    assert await desk.money() == (6_000, 2_000, 2_000)
    assert await desk.books.states(german, french) == ["captured", "open"]
    job = await desk.job()
    assert totals(job) == {"quoted": 2.0, "held": 2.0, "captured": 2.0, "returned": 0.0}
    assert job.result is not None
    (line,) = job.result["receipt"]["lines"]
    assert (line["lineItemId"], line["reservationId"]) == (german, reservation_id)


async def test_a_reserved_job_that_fails_gets_its_line_back_into_the_wallet(desk: Desk, api: httpx.AsyncClient) -> None:
    await desk.set_duration(60)
    _, german, french = await reserved(desk, api)
    await desk.ask(paying(DE, lines=(german,)))
    await desk.begin()
    await desk.fail()
    assert await desk.books.states(german, french) == ["released", "open"]
    assert await desk.money() == (8_000, 2_000, 0)
    assert totals(await desk.job()) == {"quoted": 2.0, "held": 2.0, "captured": 0.0, "returned": 2.0}
    with pytest.raises(CutroomError) as refused:  # a line pays once
        await desk.ask(paying(DE, lines=(german,)))
    assert (refused.value.code, refused.value.details["reason"]) == (Code.CONFLICT, "the line is spent")
    await desk.ask(paying(DE))
    assert await desk.money() == (6_000, 4_000, 0)


async def test_a_job_that_is_there_already_takes_no_line(desk: Desk, api: httpx.AsyncClient) -> None:
    await desk.set_duration(60)
    _, german, french = await reserved(desk, api)
    await desk.ask(paying(DE, lines=(german,)))
    for bill in (paying(DE, lines=(german,)), paying(DE, lines=(french,)), paying(DE, lines=("none",))):
        _, begun = await desk.ask(bill)
        assert not begun
    held = "SELECT count(*) FROM escrow_lines WHERE library_id = $1 AND holder IS NOT NULL"
    assert await desk.books.owner.fetchval(held, desk.stage.library_id) == 1


async def test_a_wrong_line_is_a_conflict_and_makes_no_job(
    desk: Desk, api: httpx.AsyncClient, add_reserved: str
) -> None:
    await desk.set_duration(60)
    reservation_id, german, french = await reserved(desk, api)
    wrong = {
        "the line was reserved for another language": paying(DE, lines=(french,)),
        "the line was reserved for another product": paying(replace(DE, product="premium"), lines=(german,)),
        "there is no such line": paying(DE, lines=(new_id(),)),
        "the reservation has no line for this": paying(DE, reservation=new_id()),
        "the line was reserved for another video": paying(DE, lines=(add_reserved,)),
    }
    before = await desk.money()
    for reason, bill in wrong.items():
        with pytest.raises(CutroomError) as refused:
            await desk.ask(bill)
        assert (refused.value.code, refused.value.status) == (Code.CONFLICT, 409)
        assert refused.value.details["reason"] == reason
    later = system_clock() + DAY + timedelta(seconds=1)
    with pytest.raises(CutroomError) as refused:
        await desk.ask(paying(DE, reservation=reservation_id), now=later)
    assert refused.value.details["reason"] == "the reservation has expired"
    with pytest.raises(CutroomError, match="not found"):
        await desk.job()
    assert await desk.money() == before
    assert await desk.books.states(german, french) == ["open", "open"]


@pytest.fixture
async def add_reserved(desk: Desk, api: httpx.AsyncClient, accounts: Accounts) -> str:
    """A line for the same work on another video of the library."""
    other = new_id()
    await accounts.connection.execute(
        """INSERT INTO videos (library_id, id, status, import_status, created_at)
           VALUES ($1, $2, 'ready', 'ready', now())""",
        desk.stage.library_id,
        other,
    )
    made = await reserve(api, other, dubs=[{"languages": ["de"]}], durationSeconds=60)
    return str(made["lineItems"][0]["lineItemId"])


async def test_a_line_for_less_than_the_video_is_a_conflict_when_that_is_known(
    desk: Desk, api: httpx.AsyncClient
) -> None:
    await desk.set_duration(120)
    _, german, _ = await reserved(desk, api, seconds=60)
    with pytest.raises(CutroomError) as refused:
        await desk.ask(paying(DE, lines=(german,)))
    assert refused.value.details == {
        "reason": "the line was priced for a shorter duration",
        "lineItemId": german,
    }
    assert await desk.books.states(german) == ["open"]


@pytest.mark.parametrize(("real_seconds", "begins"), [(59, True), (60, True), (60.001, False), (120, False)])
async def test_a_line_for_less_than_the_video_turned_out_fails_the_job_and_returns(
    desk: Desk, api: httpx.AsyncClient, real_seconds: float, *, begins: bool
) -> None:
    _, german, french = await reserved(desk, api, seconds=60)
    await desk.ask(paying(DE, lines=(german,)))
    await desk.set_duration(real_seconds)
    assert await desk.begin() is begins
    if begins:
        await desk.finish()
        assert await desk.money() == (6_000, 2_000, 2_000)
        return
    job = await desk.job()
    assert job.error is not None
    assert (job.error.code, job.error.details) == ("CONFLICT", {"reason": "priced for a shorter duration"})
    assert await desk.books.states(german, french) == ["released", "open"]
    assert await desk.money() == (8_000, 2_000, 0)
    assert totals(job) == {"quoted": 2.0, "held": 2.0, "captured": 0.0, "returned": 2.0}


async def test_what_a_job_consumed_does_not_expire_and_the_rest_does(desk: Desk, api: httpx.AsyncClient) -> None:
    await desk.set_duration(60)
    _, german, french = await reserved(desk, api)
    await desk.ask(paying(DE, lines=(german,)))
    assert await desk.books.expire(system_clock() + 2 * DAY) == 1
    assert await desk.books.states(german, french) == ["open", "released"]
    await desk.begin()
    assert await desk.finish()
    assert await desk.money() == (8_000, 0, 2_000)
