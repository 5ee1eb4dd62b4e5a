"""Tests how states are put into words."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cutroom.console.framework.states import NextStep, job_label, job_name, next_step, video_labels
from cutroom.jobs.ids import AutomationType, DubProduct, JobType
from cutroom.jobs.schemas import Job, JobError
from cutroom.jobs.states import JobState
from cutroom.library.schemas import Video

NOW = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)


def job(type_: JobType = JobType.TRANSCRIPT, status: JobState = JobState.PROCESSING, **fields: Any) -> Job:  # noqa: ANN401
    return Job(id="job", type=type_, status=status, video_id="video", **fields)


@pytest.mark.parametrize(
    ("made", "dot", "text"),
    [
        (job(status=JobState.QUEUED), "queued", "Queued"),
        (job(progress=43), "processing", "Processing 43 %"),
        (
            job(progress=43, estimated_ready_at=NOW + timedelta(seconds=130)),
            "processing",
            "Processing 43 % · about 2 min left",
        ),
        (job(status=JobState.READY), "ready", "Ready"),
        (
            job(status=JobState.FAILED, error=JobError(code="INTERNAL", message="Out of memory.")),
            "failed",
            "Failed: Out of memory.",
        ),
    ],
)
def test_job_states_are_words_with_a_dot(made: Job, dot: str, text: str) -> None:
    label = job_label(made, NOW)
    assert (label.dot, label.text) == (dot, text)
    assert (label.next_step is not None) == (dot == "failed")
    assert label.job_id == (made.id if dot == "processing" else None)  # live progress replaces the text


@pytest.mark.parametrize("type_", [type_ for type_ in JobType if type_ is not JobType.PACKAGING])
def test_every_job_has_a_name_and_something_to_do_when_it_fails(type_: JobType) -> None:
    failed = job(type_, JobState.FAILED, error=JobError(code="INTERNAL", message="Out of memory."))
    assert job_name(failed)
    assert job_label(failed, NOW).next_step is not None


@pytest.mark.parametrize(
    ("code", "details", "text", "href"),
    [
        ("INTERNAL", {}, "Change options", "/videos/video?tab=dubs&dub=es&product=plus"),
        ("CANCELLED", {}, "Change options", "/videos/video?tab=dubs&dub=es&product=plus"),
        ("INSUFFICIENT_CREDITS", {}, "See credits", "/credits"),
        (
            "FAILED_PRECONDITION",
            {"reason": "no_route"},
            "Choose another language",
            "/videos/video?tab=dubs&product=plus",
        ),
        ("FAILED_PRECONDITION", {"reason": "no_speech"}, "Upload another file", "/library#add"),
    ],
)
def test_failure_names_one_thing_to_do(code: str, details: dict[str, Any], text: str, href: str) -> None:
    error = JobError(code=code, message="It broke.", details=details)
    made = job(JobType.DUB, JobState.FAILED, language="es", product=DubProduct.PLUS, error=error)
    assert next_step(made) == NextStep(text, href)


@pytest.mark.parametrize("automation", AutomationType)
def test_packaging_jobs_are_named_after_their_output(automation: AutomationType) -> None:
    failed = JobError(code="INTERNAL", message="Out of memory.")
    made = job(JobType.PACKAGING, JobState.FAILED, automation_type=automation, error=failed)
    assert job_name(made) in {"Title", "Description", "Thumbnail"}
    assert job_label(made, NOW).next_step is not None


@pytest.mark.parametrize(
    ("video", "jobs", "texts"),
    [
        ({"status": "queued", "provider": "upload"}, [], ["Waiting for the upload"]),
        ({"status": "processing"}, [job(JobType.IMPORT, progress=10)], ["Processing 10 %"]),
        ({"status": "ready", "transcript": {"status": "ready"}}, [], ["Ready"]),
        (
            {"status": "ready", "transcript": {"status": "processing"}},
            [job(progress=8)],
            ["Ready", "Transcript: Processing 8 %"],
        ),
        (
            {"status": "ready", "transcript": {"status": "failed"}},
            [job(status=JobState.FAILED, error=JobError(code="INTERNAL", message="Out of memory."))],
            ["Ready", "Transcript: Failed: Out of memory."],
        ),
        ({"status": "failed", "transcript": {"status": "failed"}}, [], ["Failed"]),
    ],
)
def test_video_and_transcript_are_two_states(video: dict[str, Any], jobs: list[Job], texts: list[str]) -> None:
    labels = video_labels(Video.model_validate({"id": "video", **video}), jobs, NOW)
    assert [label.text for label in labels] == texts
