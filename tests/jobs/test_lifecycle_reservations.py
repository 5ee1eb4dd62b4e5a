"""Jobs paid from a reservation: matching lines, mismatched lines and shorter durations."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import httpx
import pytest

from cutroom.credits.pricing import Action, BillableItem
from cutroom.errors import Code, CutroomError
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.conftest import MovableClock
from tests.credits.api_calls import reserve
from tests.credits.conftest import DAY, charge_for
from tests.credits.job_harness import JobHarness, open_harness, totals
from tests.jobs.conftest import JobContext
from tests.support.transcribed_videos import (
    advertise_languages,
    insert_transcript,
    insert_video,
    withdraw_languages,
)

DE, FR = BillableItem(Action.DUB, "plus", "de"), BillableItem(Action.DUB, "plus", "fr")
DUBS = [{"languages": ["de", "fr"]}]  # two credits per minute each


@pytest.fixture
async def harness(
    runtime: Runtime, accounts: Accounts, job_context: JobContext, clock: MovableClock
) -> AsyncIterator[JobHarness]:
    assert not clock.shift  # jobs and API use the same time
    await insert_transcript(accounts.connection, job_context.library_id, job_context.video_id)
    await advertise_languages(accounts.connection, ["de", "fr"])
    async with open_harness(runtime, accounts, job_context) as opened:
        yield opened
    await withdraw_languages(accounts.connection)


async def reserved(harness: JobHarness, api: httpx.AsyncClient, seconds: float = 60) -> tuple[str, str, str]:
    """Reserve dubs into German and French; return the reservation and line ids."""
    reservation = await reserve(api, harness.context.video_id, dubs=DUBS, durationSeconds=seconds)
    german, french = (line["lineItemId"] for line in reservation["lineItems"])
    return reservation["reservationId"], german, french


@pytest.mark.parametrize("named", ["reservation", "line", "both"])
async def test_reserved_job_claims_only_its_line(harness: JobHarness, api: httpx.AsyncClient, named: str) -> None:
    await harness.set_duration(60)
    reservation_id, german, french = await reserved(harness, api)
    by_reservation = reservation_id if named != "line" else None
    by_line = (german,) if named != "reservation" else ()
    await harness.request(charge_for(DE, reservation=by_reservation, lines=by_line))
    assert await harness.balances() == (6_000, 4_000, 0)
    assert await harness.start()
    assert await harness.complete()
    assert await harness.balances() == (6_000, 2_000, 2_000)
    assert await harness.library_ledger.states(german, french) == ["captured", "open"]
    job = await harness.job()
    assert totals(job) == {"quoted": 2.0, "held": 2.0, "captured": 2.0, "returned": 0.0}
    assert job.result is not None
    (line,) = job.result["receipt"]["lines"]
    assert (line["lineItemId"], line["reservationId"]) == (german, reservation_id)


async def test_failed_reserved_job_returns_line_to_wallet(harness: JobHarness, api: httpx.AsyncClient) -> None:
    await harness.set_duration(60)
    _, german, french = await reserved(harness, api)
    await harness.request(charge_for(DE, lines=(german,)))
    await harness.start()
    await harness.fail()
    assert await harness.library_ledger.states(german, french) == ["released", "open"]
    assert await harness.balances() == (8_000, 2_000, 0)
    assert totals(await harness.job()) == {"quoted": 2.0, "held": 2.0, "captured": 0.0, "returned": 2.0}
    with pytest.raises(CutroomError) as refused:  # a line can be claimed once
        await harness.request(charge_for(DE, lines=(german,)))
    assert (refused.value.code, refused.value.details["reason"]) == (Code.CONFLICT, "the line is spent")
    await harness.request(charge_for(DE))
    assert await harness.balances() == (6_000, 4_000, 0)


async def test_existing_job_claims_no_line(harness: JobHarness, api: httpx.AsyncClient) -> None:
    await harness.set_duration(60)
    _, german, french = await reserved(harness, api)
    await harness.request(charge_for(DE, lines=(german,)))
    for charge in (charge_for(DE, lines=(german,)), charge_for(DE, lines=(french,)), charge_for(DE, lines=("none",))):
        _, is_new = await harness.request(charge)
        assert not is_new
    held = "SELECT count(*) FROM escrow_lines WHERE library_id = $1 AND holder IS NOT NULL"
    assert await harness.library_ledger.owner.fetchval(held, harness.context.library_id) == 1


async def test_mismatched_line_conflicts_and_creates_no_job(
    harness: JobHarness, api: httpx.AsyncClient, add_reserved: str
) -> None:
    await harness.set_duration(60)
    reservation_id, german, french = await reserved(harness, api)
    wrong = {
        "the line was reserved for another language": charge_for(DE, lines=(french,)),
        "the line was reserved for another product": charge_for(replace(DE, product="premium"), lines=(german,)),
        "there is no such line": charge_for(DE, lines=(new_id(),)),
        "the reservation has no line for this": charge_for(DE, reservation=new_id()),
        "the line was reserved for another video": charge_for(DE, lines=(add_reserved,)),
    }
    before = await harness.balances()
    for reason, charge in wrong.items():
        with pytest.raises(CutroomError) as refused:
            await harness.request(charge)
        assert (refused.value.code, refused.value.status) == (Code.CONFLICT, 409)
        assert refused.value.details["reason"] == reason
    later = system_clock() + DAY + timedelta(seconds=1)
    with pytest.raises(CutroomError) as refused:
        await harness.request(charge_for(DE, reservation=reservation_id), now=later)
    assert refused.value.details["reason"] == "the reservation has expired"
    with pytest.raises(CutroomError, match="not found"):
        await harness.job()
    assert await harness.balances() == before
    assert await harness.library_ledger.states(german, french) == ["open", "open"]


@pytest.fixture
async def add_reserved(harness: JobHarness, api: httpx.AsyncClient, accounts: Accounts) -> str:
    """Reserve the same item for another video of the library."""
    other = await insert_video(accounts.connection, harness.context.library_id, duration_seconds=None)
    reservation = await reserve(api, other, dubs=[{"languages": ["de"]}], durationSeconds=60)
    return str(reservation["lineItems"][0]["lineItemId"])


async def test_line_for_shorter_duration_conflicts_if_duration_is_known(
    harness: JobHarness, api: httpx.AsyncClient
) -> None:
    await harness.set_duration(120)
    _, german, _ = await reserved(harness, api, seconds=60)
    with pytest.raises(CutroomError) as refused:
        await harness.request(charge_for(DE, lines=(german,)))
    assert refused.value.details == {
        "reason": "the line was priced for a shorter duration",
        "lineItemId": german,
    }
    assert await harness.library_ledger.states(german) == ["open"]


@pytest.mark.parametrize(("real_seconds", "starts"), [(59, True), (60, True), (60.001, False), (120, False)])
async def test_line_for_shorter_duration_fails_job_on_start(
    harness: JobHarness, api: httpx.AsyncClient, real_seconds: float, *, starts: bool
) -> None:
    _, german, french = await reserved(harness, api, seconds=60)
    await harness.request(charge_for(DE, lines=(german,)))
    await harness.set_duration(real_seconds)
    assert await harness.start() is starts
    if starts:
        await harness.complete()
        assert await harness.balances() == (6_000, 2_000, 2_000)
        return
    job = await harness.job()
    assert job.error is not None
    assert (job.error.code, job.error.details) == ("CONFLICT", {"reason": "priced for a shorter duration"})
    assert await harness.library_ledger.states(german, french) == ["released", "open"]
    assert await harness.balances() == (8_000, 2_000, 0)
    assert totals(job) == {"quoted": 2.0, "held": 2.0, "captured": 0.0, "returned": 2.0}


async def test_claimed_lines_do_not_expire(harness: JobHarness, api: httpx.AsyncClient) -> None:
    await harness.set_duration(60)
    _, german, french = await reserved(harness, api)
    await harness.request(charge_for(DE, lines=(german,)))
    assert await harness.library_ledger.expire(system_clock() + 2 * DAY) == 1
    assert await harness.library_ledger.states(german, french) == ["open", "released"]
    await harness.start()
    assert await harness.complete()
    assert await harness.balances() == (8_000, 0, 2_000)
