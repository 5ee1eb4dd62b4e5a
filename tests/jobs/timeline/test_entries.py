"""What is recorded of a job reads correctly, whatever happened to it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from cutroom.credits.receipts import HeldCredits
from cutroom.jobs.ids import DubProduct, JobKey, JobType
from cutroom.jobs.states import JobState
from cutroom.jobs.timeline.entries import (
    AttemptFact,
    DeliveryFact,
    StepFact,
    TimelineFacts,
    build_entries,
    in_words,
    summarize,
)

START = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
DUB = JobKey(JobType.DUB, "video", language="pt", product=DubProduct.PLUS)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


FAILED = AttemptFact(
    number=1,
    status=JobState.FAILED,
    requested_at=at(0),
    queued_at=at(40),
    started_at=at(45),
    finished_at=at(90),
    error_code="INTERNAL",
    error_message="The job could not be completed.",
    steps=(
        StepFact("translating", at(45), at(60), runs=1, ended=1),
        StepFact("mixing", at(60), at(80), runs=3, ended=2, retries=2, error="It was busy."),
    ),
)
READY = AttemptFact(2, JobState.READY, at(300), at(300), at(300.2), at(400), steps=(StepFact("mixing", at(301)),))
QUEUED = AttemptFact(1, JobState.QUEUED, at(0), at(0), None, None)
RUNNING = replace(QUEUED, status=JobState.PROCESSING, started_at=at(2), steps=(StepFact("mixing", at(3)),))
CANCELED = replace(RUNNING, status=JobState.FAILED, finished_at=at(9), error_code="CANCELLED", error_message="x")
RETURNED = HeldCredits("a", 6_400, 0, 6_400, at(0), at(90), None)
CHARGED = HeldCredits("a.2", 6_400, 6_400, 0, at(200), at(400), "reservation")


def facts(
    *attempts: AttemptFact, held: dict[int, HeldCredits] | None = None, depends_on: tuple[str, ...] = ()
) -> TimelineFacts:
    return TimelineFacts(DUB, attempts, held or {}, (), depends_on, now=at(500))


def texts(found: TimelineFacts) -> list[tuple[float, str]]:
    return [((each.at - START).total_seconds(), each.text) for each in build_entries(found)]


def test_failed_attempt_and_the_next_one() -> None:
    assert texts(facts(FAILED, READY, held={1: RETURNED, 2: CHARGED})) == [
        (0, "The dub into Portuguese was requested."),
        (0, "6.4 credits were set aside for it."),
        (40, "What it depends on became ready after 40 s."),
        (45, "It started after 5 s in the queue."),
        (45, "Translating: 15 s."),
        (60, "Mixing: 30 s, not finished, in 3 parts, repeated twice after an error: It was busy."),
        (90, "The dub into Portuguese failed: The job could not be completed."),
        (90, "6.4 credits were returned."),
        (300, "The dub into Portuguese was requested again."),
        (300, "6.4 credits of the reservation reservation were set aside for it."),
        (300.2, "It started."),
        (301, "Mixing: 1 min 39 s."),
        (400, "The dub into Portuguese is ready."),
        (400, "6.4 credits were charged."),
    ]


def test_canceled_job() -> None:
    assert texts(facts(CANCELED))[2:] == [
        (3, "Mixing: 6 s, not finished."),
        (9, "The dub into Portuguese was canceled, and its work stopped."),
    ]


def test_running_step_has_no_end() -> None:
    assert texts(facts(RUNNING))[2:] == [(3, "Mixing: for 8 min 17 s so far.")]


@pytest.mark.parametrize(
    ("found", "summary"),
    [
        (facts(QUEUED), "Queued for 8 min 20 s. It starts as soon as there is capacity."),
        (
            facts(QUEUED, depends_on=("import_a", "transcript_a")),
            "Queued for 8 min 20 s. It waits for the import and the transcript.",
        ),
        (
            facts(QUEUED, depends_on=("upload:a",)),
            "Queued for 8 min 20 s. It waits for the upload of its file.",
        ),
        (facts(RUNNING), "In progress for 8 min 20 s, 43 % done. Current step: mixing."),
        (
            facts(FAILED, held={1: RETURNED}),
            "Failed after 1 min 30 s. The job could not be completed. 6.4 credits were returned.",
        ),
        (facts(FAILED, READY, held={2: CHARGED}), "Ready after 1 min 40 s in attempt 2, for 6.4 credits."),
        (facts(CANCELED), "Canceled after 9 s. Nothing was charged."),
        (
            facts(replace(READY, output_deleted_at=at(450))),
            "Ready after 1 min 40 s in attempt 2. What it had made was deleted since.",
        ),
    ],
)
def test_summary(found: TimelineFacts, summary: str) -> None:
    assert summarize(found, progress=43) == summary


@pytest.mark.parametrize(
    ("outcome", "status", "number", "text"),
    [
        ("delivered", 200, 1, "was delivered to the webhook endpoint endpoint (status 200, 120 ms)."),
        ("refused", 500, 2, "was refused by the webhook endpoint endpoint at the 2nd try (status 500, 120 ms)."),
        ("gone", 410, 3, "was refused for good by the webhook endpoint endpoint at the 3rd try (status 410, 120 ms)."),
        (
            "unreachable",
            None,
            11,
            "could not be delivered to the webhook endpoint endpoint at the 11th try (no response, 120 ms).",
        ),
    ],
)
def test_deliveries(outcome: str, status: int | None, number: int, text: str) -> None:
    delivery = DeliveryFact("event", "endpoint", "job.ready", number, at(401), outcome, status, 120)
    last = build_entries(replace(facts(FAILED, READY), deliveries=(delivery,)))[-1]
    assert (last.text, last.attempt) == (f"The event job.ready {text}", 2)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.04, "0 s"),
        (0.44, "0.4 s"),
        (9.0, "9 s"),
        (59.4, "59 s"),
        (60, "1 min"),
        (192, "3 min 12 s"),
        (7_800, "2 h 10 min"),
    ],
)
def test_durations_in_words(seconds: float, words: str) -> None:
    assert in_words(seconds) == words
