"""Around a step: whose fault a failure is decides whether it is tried again."""

import dataclasses

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from cutroom.engines.errors import EngineError
from cutroom.errors import not_found
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.steps import TRIES, job_step
from cutroom.media.process import MediaError, Reason
from cutroom.platform.clock import system_clock
from cutroom.web.runtime import Runtime
from dev.scratch import Person


async def failing(runtime: Runtime, library_id: str, error: Exception, *, attempt: int) -> ApplicationError:
    async def step() -> None:
        async with job_step(runtime.database, system_clock, JobRef(library_id, "job", 1), "job_step", progress=10):
            raise error

    environment = ActivityEnvironment()
    environment.info = dataclasses.replace(environment.info, attempt=attempt)
    with pytest.raises(ApplicationError) as caught:
        await environment.run(step)
    return caught.value


@pytest.mark.parametrize(
    ("error", "code", "first_is_last"),
    [
        (MediaError(Reason.UNREADABLE, "It cannot be read."), "UNSUPPORTED_SOURCE", True),
        (EngineError("It said nothing."), "INTERNAL", True),
        (not_found(), "NOT_FOUND", True),  # what the job was about is gone
        (KeyError("nobody foresaw this"), "INTERNAL", False),
        (TypeError("nor this"), "INTERNAL", False),
    ],
)
async def test_every_failure_ends_by_itself(
    runtime: Runtime, person: Person, error: Exception, code: str, *, first_is_last: bool
) -> None:
    first = await failing(runtime, person.library_id, error, attempt=1)
    assert (first.type, first.non_retryable) == (code, first_is_last)
    last = await failing(runtime, person.library_id, error, attempt=TRIES)
    assert last.non_retryable


async def test_what_nobody_foresaw_keeps_its_words_to_the_log(runtime: Runtime, person: Person) -> None:
    told = await failing(runtime, person.library_id, ValueError("/secret/path"), attempt=TRIES)
    assert "secret" not in str(told)


async def test_a_part_that_is_away_is_waited_for(runtime: Runtime, person: Person) -> None:
    async def step() -> None:
        async with job_step(
            runtime.database, system_clock, JobRef(person.library_id, "job", 1), "job_step", progress=10
        ):
            raise ConnectionRefusedError

    environment = ActivityEnvironment()
    environment.info = dataclasses.replace(environment.info, attempt=TRIES * 10)
    with pytest.raises(ConnectionRefusedError):  # Temporal tries such a step again, for as long as it may take
        await environment.run(step)
