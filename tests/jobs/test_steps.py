"""Errors inside job_step become job failures; their cause decides whether they are retried."""

import asyncio
import dataclasses
import errno
import threading
import time

import cv2
import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from cutroom.engines.errors import EngineError, EngineUnavailableError, NoRouteError, UnsuitableInputError
from cutroom.errors import not_found
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.step_progress import ReportProgress
from cutroom.jobs.steps import MAX_ATTEMPTS, job_step
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
    ("error", "code", "is_final"),
    [
        (MediaError(Reason.UNREADABLE, "It cannot be read."), "UNSUPPORTED_SOURCE", True),
        (EngineError("No output."), "INTERNAL", True),
        (UnsuitableInputError("no_speech", "There is no speech."), "FAILED_PRECONDITION", True),
        (NoRouteError("No route from 'en' to 'xx'."), "FAILED_PRECONDITION", True),
        (EngineUnavailableError("The model whisper-base is not installed."), "FAILED_PRECONDITION", False),
        (not_found(), "NOT_FOUND", True),  # the job's subject was deleted
        (KeyError("unexpected"), "INTERNAL", False),
        (TypeError("unexpected"), "INTERNAL", False),
        (RuntimeError("a network fails on this input"), "INTERNAL", False),
        (cv2.error("an image that no decoder understands"), "INTERNAL", False),
        (OSError(errno.EINVAL, "invalid argument"), "INTERNAL", False),
    ],
)
async def test_errors_become_job_failures(
    runtime: Runtime, person: Person, error: Exception, code: str, *, is_final: bool
) -> None:
    first = await failing(runtime, person.library_id, error, attempt=1)
    assert (first.type, first.non_retryable) == (code, is_final)
    last = await failing(runtime, person.library_id, error, attempt=MAX_ATTEMPTS)
    assert last.non_retryable


async def test_unexpected_error_message_is_not_exposed(runtime: Runtime, person: Person) -> None:
    error = await failing(runtime, person.library_id, ValueError("/secret/path"), attempt=MAX_ATTEMPTS)
    assert "secret" not in str(error)


@pytest.mark.parametrize(
    ("error", "message", "reason"),
    [
        (UnsuitableInputError("no_speech", "There is no speech."), "There is no speech.", "no_speech"),
        (NoRouteError("From 'en' to 'xx'."), "There is no translation into this language.", "no_route"),
        (EngineError("espeak-ng exited with 1: /usr/lib"), "The job could not be completed.", "ENGINE_FAILED"),
        (
            EngineUnavailableError("onnxruntime is not installed."),
            "This installation cannot do this at the moment.",
            "ENGINE_UNAVAILABLE",
        ),
    ],
)
async def test_facts_of_the_input_are_reported_and_messages_of_engines_are_not(
    runtime: Runtime, person: Person, error: Exception, message: str, reason: str
) -> None:
    found = await failing(runtime, person.library_id, error, attempt=MAX_ATTEMPTS)
    assert (found.message, found.details[0]) == (message, {"reason": reason})


@pytest.mark.parametrize("error", [ConnectionRefusedError(), OSError(errno.ENOSPC, "no space left on the device")])
async def test_unavailable_service_is_retried_by_temporal(runtime: Runtime, person: Person, error: OSError) -> None:
    async def step() -> None:
        async with job_step(
            runtime.database, system_clock, JobRef(person.library_id, "job", 1), "job_step", progress=10
        ):
            raise error

    environment = ActivityEnvironment()
    environment.info = dataclasses.replace(environment.info, attempt=MAX_ATTEMPTS * 10)
    with pytest.raises(OSError, check=lambda raised: raised is error):  # retried by Temporal
        await environment.run(step)


async def test_canceled_step_ends_the_loop_of_an_engine(runtime: Runtime, person: Person) -> None:
    """A thread cannot be canceled; it ends when it next reports progress."""
    chunks: list[int] = []
    started, ended = threading.Event(), threading.Event()

    def compute(report: ReportProgress) -> None:
        try:
            while True:
                chunks.append(len(chunks))
                started.set()
                report(0.1)
                time.sleep(0.01)
        finally:
            ended.set()

    async def step() -> None:
        ref = JobRef(person.library_id, "job", 1)
        async with job_step(runtime.database, system_clock, ref, "job_step", progress=10) as report:
            await asyncio.to_thread(compute, report)

    environment = ActivityEnvironment()
    running = asyncio.create_task(environment.run(step))
    assert await asyncio.to_thread(started.wait, 5)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await asyncio.to_thread(ended.wait, 5)
    assert len(chunks) > 1
