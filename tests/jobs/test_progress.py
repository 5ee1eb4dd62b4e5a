"""Progress of running jobs: reports, measured runs, and the estimates that come from them."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest
from temporalio.testing import ActivityEnvironment

from cutroom.credits.pricing import load_prices
from cutroom.jobs import lifecycle, progress, service, step_progress
from cutroom.jobs.estimates import MARKS
from cutroom.jobs.ids import DubProduct, InternalJobType, JobKey, JobType
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.schemas import Job
from cutroom.jobs.service import NewJob
from cutroom.jobs.step_progress import StepPace, portion
from cutroom.jobs.steps import job_step
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.jobs.conftest import JobContext


class RunningJobs:
    """Starts, reports and completes jobs of one video at chosen seconds after their start."""

    def __init__(self, runtime: Runtime, context: JobContext, accounts: Accounts) -> None:
        self.runtime = runtime
        self.context = context
        self.accounts = accounts
        self.now = system_clock()

    async def set_duration(self, seconds: float) -> None:
        await self.accounts.connection.execute(
            "UPDATE videos SET duration_seconds = $2 WHERE id = $1", self.context.video_id, seconds
        )

    async def start(self, key: JobKey, *, seconds_ago: float = 0.0) -> JobRef:
        async with self.runtime.database.transaction(self.context.library_id) as connection:
            job = NewJob(key, self.context.video_id)
            await service.create_jobs(
                connection, self.context.principal, [job], prices=load_prices(), now=system_clock()
            )
            ref = JobRef(self.context.library_id, key.id, 1)
            at = self.now - timedelta(seconds=seconds_ago)
            await lifecycle.start(connection, ref, prices=load_prices(), now=at)
            await progress.start_measuring(connection, ref)
        return ref

    async def report(self, ref: JobRef, percent: float, *, seconds_ago: float = 0.0) -> None:
        async with self.runtime.database.transaction(ref.library_id) as connection:
            at = self.now - timedelta(seconds=seconds_ago)
            await progress.report_progress(connection, ref, stage="working", progress=percent, now=at)

    async def complete(self, ref: JobRef, *, seconds_ago: float = 0.0) -> None:
        async with self.runtime.database.transaction(ref.library_id) as connection:
            at = self.now - timedelta(seconds=seconds_ago)
            await lifecycle.complete(connection, ref, result={}, now=at)

    async def measured(self, key: JobKey, *, seconds: float) -> None:
        """Run a job at an even pace."""
        ref = await self.start(key, seconds_ago=seconds)
        for mark in range(1, MARKS):
            await self.report(ref, 100 * mark / MARKS, seconds_ago=seconds - seconds * mark / MARKS)
        await self.complete(ref)

    async def read(self, ref: JobRef) -> Job:
        async with self.runtime.database.transaction(ref.library_id) as connection:
            return await service.get_job(connection, ref.library_id, ref.job_id)


@pytest.fixture
def jobs(runtime: Runtime, job_context: JobContext, accounts: Accounts) -> RunningJobs:
    return RunningJobs(runtime, job_context, accounts)


def short_key() -> JobKey:
    return JobKey(JobType.SHORTS, new_id())


async def test_concurrent_steps_add_to_the_progress_up_to_a_limit(jobs: RunningJobs) -> None:
    ref = await jobs.start(short_key())
    found = []
    for added in (30.5, 30.5, 30.5):
        async with jobs.runtime.database.transaction(ref.library_id) as connection:
            await progress.report_progress(connection, ref, stage="a", now=system_clock(), added=added, limit=80)
        found.append((await jobs.read(ref)).progress)
    assert found == [30, 61, 80]


async def test_progress_is_never_reported_as_complete_while_running(jobs: RunningJobs) -> None:
    ref = await jobs.start(short_key())
    await jobs.report(ref, 100)
    assert (await jobs.read(ref)).progress == 99


async def test_fresh_installation_estimates_once_progress_allows_it(jobs: RunningJobs) -> None:
    ref = await jobs.start(JobKey(JobType.CAPTIONS, jobs.context.video_id, language="nn"), seconds_ago=60)
    await jobs.report(ref, 2)
    assert (await jobs.read(ref)).estimated_ready_at is None
    await jobs.report(ref, 50)
    ready_at = (await jobs.read(ref)).estimated_ready_at
    assert ready_at is not None
    assert timedelta(seconds=60) <= ready_at - jobs.now <= timedelta(seconds=65)


async def test_estimate_comes_from_jobs_of_the_same_kind(jobs: RunningJobs) -> None:
    video_id = jobs.context.video_id
    await jobs.set_duration(100)
    await jobs.measured(JobKey(JobType.DUB, video_id, language="de", product=DubProduct.PREMIUM), seconds=400)
    await jobs.set_duration(50)
    premium = await jobs.start(JobKey(JobType.DUB, video_id, language="fr", product=DubProduct.PREMIUM))
    plus = await jobs.start(JobKey(JobType.DUB, video_id, language="fr", product=DubProduct.PLUS))
    ready_at = (await jobs.read(premium)).estimated_ready_at
    assert ready_at is not None
    assert timedelta(seconds=195) <= ready_at - jobs.now <= timedelta(seconds=210)
    assert (await jobs.read(plus)).estimated_ready_at is None


async def test_run_that_waited_for_a_person_is_not_measured_and_has_no_estimate(
    jobs: RunningJobs, accounts: Accounts
) -> None:
    ref = await jobs.start(short_key(), seconds_ago=60)
    await jobs.report(ref, 50)
    async with jobs.runtime.database.transaction(ref.library_id) as connection:
        await progress.stop_measuring(connection, ref)
    await jobs.report(ref, 60)
    assert (await jobs.read(ref)).estimated_ready_at is None
    await jobs.complete(ref)
    reached = await accounts.connection.fetchval("SELECT reached_seconds FROM jobs WHERE id = $1", ref.job_id)
    assert reached is None


async def test_run_records_when_each_tenth_was_reached(jobs: RunningJobs, accounts: Accounts) -> None:
    await jobs.set_duration(30)
    ref = await jobs.start(short_key(), seconds_ago=20)
    await jobs.report(ref, 35, seconds_ago=12)
    await jobs.report(ref, 40, seconds_ago=8)
    await jobs.complete(ref)
    row = await accounts.connection.fetchrow(
        "SELECT reached_seconds, media_seconds FROM jobs WHERE id = $1", ref.job_id
    )
    assert row is not None
    assert row["reached_seconds"] == pytest.approx([8, 8, 8, 12, 20, 20, 20, 20, 20, 20])
    assert row["media_seconds"] == 30


def test_pace_follows_reports_and_goes_on_between_them() -> None:
    seconds = 0.0
    pace = StepPace(10, clock=lambda: seconds)
    assert pace.fraction() == 0
    seconds = 10.0
    assert pace.fraction() == pytest.approx(0.5)
    pace.report(0.6)
    assert pace.fraction() == 0.6
    pace.report(0.2)  # reported late by another thread
    assert pace.fraction() == 0.6
    seconds = 11.0
    assert 0.6 < pace.fraction() < 0.66
    seconds = 10_000.0
    assert pace.fraction() < 1
    pace.report(1.5)
    assert pace.fraction() == 1


def test_step_that_takes_five_times_as_long_as_expected_keeps_moving() -> None:
    seconds = 0.0
    pace = StepPace(20, clock=lambda: seconds)
    changes, shown = [], 0
    while seconds < 100:
        seconds += 1
        if int(80 * pace.fraction()) > shown:
            shown = int(80 * pace.fraction())
            changes.append(seconds)
    gaps = [after - before for before, after in zip([0.0, *changes], [*changes, 100.0], strict=True)]
    assert max(gaps) <= 10


@pytest.mark.parametrize("expected_seconds", [5.0, 25.0, 340.0, 1000.0])
def test_progress_that_was_shown_too_early_moves_on_more_slowly(expected_seconds: float) -> None:
    """A fifth of a step takes 15 s, the rest seven minutes."""
    seconds, length = 0.0, 430.0
    pace = StepPace(expected_seconds, clock=lambda: seconds)
    changes, shown = [], 0
    while seconds < length:
        seconds += 1
        if seconds >= 15:
            pace.report(0.2 + 0.75 * (seconds - 15) / (length - 15))
        percent = int(57 * pace.fraction())
        assert percent >= shown
        if percent > shown:
            shown = percent
            changes.append(seconds)
    gaps = [after - before for before, after in zip([0.0, *changes], [*changes, length], strict=True)]
    assert max(gaps) <= 0.1 * length


def test_portion_maps_to_the_whole_step() -> None:
    reported: list[float] = []
    part = portion(reported.append, 0.2, 0.6)
    part(0.0)
    part(0.5)
    part(1.0)
    assert reported == pytest.approx([0.2, 0.4, 0.6])


async def run_step(step: Callable[[], Awaitable[None]]) -> None:
    await ActivityEnvironment().run(step)


async def test_step_reports_from_inside_and_resumes_where_it_was_killed(
    jobs: RunningJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step_progress, "REPORT_SECONDS", 0.01)
    ref = await jobs.start(short_key())
    seen: list[int | None] = []

    async def killed() -> None:
        async with job_step(jobs.runtime.database, system_clock, ref, "encoding", progress=80) as report:
            await asyncio.to_thread(report, 0.5)
            while ((await jobs.read(ref)).progress or 0) < 40:
                await asyncio.sleep(0)
            seen.append((await jobs.read(ref)).progress)
            raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        await run_step(killed)

    async def retried() -> None:
        async with job_step(jobs.runtime.database, system_clock, ref, "encoding", progress=80):
            seen.append((await jobs.read(ref)).progress)

    await run_step(retried)
    job = await jobs.read(ref)
    assert (job.stage, job.progress) == ("encoding", 80)
    assert 40 <= (seen[0] or 0) <= (seen[1] or 0) <= 80


async def test_concurrent_steps_add_their_shares(jobs: RunningJobs) -> None:
    ref = await jobs.start(short_key())
    await jobs.report(ref, 10)

    async def step() -> None:
        async with job_step(jobs.runtime.database, system_clock, ref, "encoding", progress=90, share=20):
            pass

    await asyncio.gather(*(run_step(step) for _ in range(3)))
    assert (await jobs.read(ref)).progress == 70


async def test_internal_jobs_are_measured_too(jobs: RunningJobs, accounts: Accounts) -> None:
    key = JobKey(InternalJobType.HOSTING, new_id())
    await jobs.measured(key, seconds=20)
    reached = await accounts.connection.fetchval("SELECT reached_seconds FROM jobs WHERE id = $1", key.id)
    assert reached[-1] == pytest.approx(20)
