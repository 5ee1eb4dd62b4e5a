"""Puts what is recorded of a job into the words of its timeline."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from cutroom.credits.pricing import to_credits
from cutroom.credits.receipts import HeldCredits
from cutroom.jobs.ids import JobKey, JobType
from cutroom.jobs.states import CANCELLED, JobState
from cutroom.jobs.timeline.schemas import TimelineEntry, TimelineKind
from cutroom.text.language_tags import display_name

MIN_WAIT_SECONDS = 0.5  # shorter waits are not mentioned
_NAMES = {
    JobType.IMPORT: "import",
    JobType.TRANSCRIPT: "transcript",
    JobType.DUB: "dub",
    JobType.CAPTIONS: "captions job",
    JobType.SHORTS: "shorts job",
    JobType.THUMBNAIL: "thumbnail job",
    JobType.PACKAGING: "packaging job",
    JobType.DOWNLOAD: "download",
}
_OUTCOMES = {
    "delivered": "was delivered to",
    "refused": "was refused by",
    "gone": "was refused for good by",
    "unreachable": "could not be delivered to",
    "withdrawn": "was not sent to",
}


@dataclass(frozen=True, slots=True)
class StepFact:
    """What is recorded of a step: its activities together."""

    stage: str
    started_at: datetime
    ended_at: datetime | None = None  # of the last of its activities that has ended
    runs: int = 1
    ended: int = 0
    retries: int = 0
    error: str | None = None  # why it was last repeated, if it is known

    @property
    def is_complete(self) -> bool:
        return self.ended_at is not None and self.ended >= self.runs


@dataclass(frozen=True, slots=True)
class AttemptFact:
    """One run of a job."""

    number: int
    status: JobState
    requested_at: datetime
    queued_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    error_code: str | None = None
    error_message: str | None = None
    output_deleted_at: datetime | None = None
    steps: tuple[StepFact, ...] = ()


@dataclass(frozen=True, slots=True)
class DeliveryFact:
    """One attempt to deliver an event of the job."""

    event_id: str
    endpoint_id: str
    type: str
    number: int
    at: datetime
    outcome: str
    status: int | None
    milliseconds: int


@dataclass(frozen=True, slots=True)
class TimelineFacts:
    """Everything that is recorded of a job, its attempts in order."""

    key: JobKey
    attempts: Sequence[AttemptFact]
    credits: dict[int, HeldCredits]  # by attempt
    deliveries: Sequence[DeliveryFact]
    depends_on: Sequence[str]  # what a queued job still waits for
    now: datetime

    @property
    def name(self) -> str:
        language = f" into {display_name(self.key.language)}" if self.key.language else ""
        return f"The {_NAMES[JobType(self.key.type)]}{language}"


def build_entries(facts: TimelineFacts) -> list[TimelineEntry]:
    """Entries in the order of their times; at the same time, in the order in which they follow from each other."""
    found: list[TimelineEntry] = []
    for each in facts.attempts:
        found += _attempt_entries(facts, each)
    found += _delivery_entries(facts)
    return sorted(found, key=lambda entry: entry.at)


def _attempt_entries(facts: TimelineFacts, attempt: AttemptFact) -> Iterator[TimelineEntry]:
    number, requested_at = attempt.number, attempt.requested_at
    again = "" if number == 1 else " again"
    yield TimelineEntry(
        at=requested_at, kind=TimelineKind.REQUESTED, attempt=number, text=f"{facts.name} was requested{again}."
    )
    account = facts.credits.get(number)
    if account is not None:
        yield _held_entry(attempt, account)
    waited = (attempt.queued_at - requested_at).total_seconds()
    if waited >= MIN_WAIT_SECONDS:
        yield TimelineEntry(
            at=attempt.queued_at,
            kind=TimelineKind.QUEUED,
            attempt=number,
            text=f"What it depends on became ready after {in_words(waited)}.",
            duration_seconds=waited,
        )
    if attempt.started_at is not None:
        waited = max(0.0, (attempt.started_at - attempt.queued_at).total_seconds())
        yield TimelineEntry(
            at=attempt.started_at,
            kind=TimelineKind.STARTED,
            attempt=number,
            text=f"It started after {in_words(waited)} in the queue." if waited >= MIN_WAIT_SECONDS else "It started.",
            duration_seconds=waited,
        )
    for step in attempt.steps:
        yield _step_entry(facts, attempt, step)
    if attempt.finished_at is not None:
        yield _end_entry(facts, attempt, attempt.finished_at)
    if account is not None:
        yield from _settled_entries(attempt, account)
    if attempt.output_deleted_at is not None:
        yield TimelineEntry(
            at=attempt.output_deleted_at,
            kind=TimelineKind.OUTPUT_DELETED,
            attempt=number,
            text="What it had made was deleted.",
        )


def _held_entry(attempt: AttemptFact, account: HeldCredits) -> TimelineEntry:
    reserved = f" of the reservation {account.reservation_id}" if account.reservation_id else ""
    return TimelineEntry(
        at=max(account.held_at, attempt.requested_at),
        kind=TimelineKind.CREDITS_HELD,
        attempt=attempt.number,
        text=f"{_credits(account.held)}{reserved} {_were(account.held)} set aside for it.",
        credits=to_credits(account.held),
    )


def _settled_entries(attempt: AttemptFact, account: HeldCredits) -> Iterator[TimelineEntry]:
    if account.settled_at is None:
        return
    for amount, kind, verb in (
        (account.charged, TimelineKind.CREDITS_CHARGED, "charged"),
        (account.returned, TimelineKind.CREDITS_RETURNED, "returned"),
    ):
        if amount:
            text = f"{_credits(amount)} {_were(amount)} {verb}."
            yield TimelineEntry(
                at=account.settled_at, kind=kind, attempt=attempt.number, text=text, credits=to_credits(amount)
            )


def _step_entry(facts: TimelineFacts, attempt: AttemptFact, step: StepFact) -> TimelineEntry:
    is_running = attempt.finished_at is None and not step.is_complete
    is_cut_off = not is_running and not step.is_complete and attempt.status is not JobState.READY
    end = facts.now if is_running else attempt.finished_at if is_cut_off else step.ended_at or attempt.finished_at
    seconds = max(0.0, ((end or facts.now) - step.started_at).total_seconds())
    how_long = f"for {in_words(seconds)} so far" if is_running else in_words(seconds)
    text = f"{step.stage[:1].upper()}{step.stage[1:]}: {how_long}"
    text += ", not finished" if is_cut_off else ""
    text += f", in {step.runs} parts" if step.runs > 1 else ""
    text += f", {_repeated(step)}" if step.retries else ""
    return TimelineEntry(
        at=step.started_at,
        kind=TimelineKind.STEP,
        attempt=attempt.number,
        text=text if text.endswith(".") else f"{text}.",
        duration_seconds=seconds,
        step=step.stage,
        retries=step.retries,
    )


def _repeated(step: StepFact) -> str:
    times = {1: "once", 2: "twice"}.get(step.retries, f"{step.retries} times")
    return f"repeated {times} after an error: {step.error}" if step.error else f"repeated {times}"


def _end_entry(facts: TimelineFacts, attempt: AttemptFact, at: datetime) -> TimelineEntry:
    if attempt.status is JobState.READY:
        text = f"{facts.name} is ready."
        return TimelineEntry(at=at, kind=TimelineKind.READY, attempt=attempt.number, text=text)
    code = attempt.error_code
    if code == CANCELLED:
        text = f"{facts.name} was canceled, and its work stopped."
        return TimelineEntry(at=at, kind=TimelineKind.CANCELED, attempt=attempt.number, text=text, code=code)
    text = f"{facts.name} failed: {attempt.error_message}"
    return TimelineEntry(at=at, kind=TimelineKind.FAILED, attempt=attempt.number, text=text, code=code)


def _delivery_entries(facts: TimelineFacts) -> Iterator[TimelineEntry]:
    for each in facts.deliveries:
        before = [attempt.number for attempt in facts.attempts if attempt.requested_at <= each.at]
        answer = f"status {each.status}" if each.status is not None else "no response"
        outcome = _OUTCOMES.get(each.outcome, "was sent to")
        tried = f" at the {_ordinal(each.number)} try" if each.number > 1 else ""
        yield TimelineEntry(
            at=each.at,
            kind=TimelineKind.DELIVERY,
            attempt=before[-1] if before else 1,
            text=f"The event {each.type} {outcome} the webhook endpoint {each.endpoint_id}{tried}"
            f" ({answer}, {each.milliseconds} ms).",
            event_id=each.event_id,
            endpoint_id=each.endpoint_id,
        )


def summarize(facts: TimelineFacts, *, progress: int) -> str:
    """The state of the job in a sentence or two."""
    last = facts.attempts[-1]
    account = facts.credits.get(last.number)
    seconds = ((last.finished_at or facts.now) - last.requested_at).total_seconds()
    runs = f" in attempt {last.number}" if last.number > 1 else ""
    if last.status is JobState.QUEUED:
        return f"Queued for {in_words(seconds)}{runs}.{_waiting_for(facts.depends_on)}"
    if last.status is JobState.PROCESSING:
        steps = [step.stage for step in last.steps if not step.is_complete]
        step = f" Current step: {steps[-1]}." if steps else ""
        return f"In progress for {in_words(seconds)}{runs}, {progress} % done.{step}"
    if last.status is JobState.READY:
        cost = f", for {_credits(account.charged)}" if account and account.charged else ""
        deleted = " What it had made was deleted since." if last.output_deleted_at else ""
        return f"Ready after {in_words(seconds)}{runs}{cost}.{deleted}"
    verb = "Canceled" if last.error_code == CANCELLED else "Failed"
    reason = "" if last.error_code == CANCELLED else f" {last.error_message}"
    returned = (
        f" {_credits(account.returned)} {_were(account.returned)} returned."
        if account and account.returned
        else " Nothing was charged."
    )
    return f"{verb} after {in_words(seconds)}{runs}.{reason}{returned}"


def _waiting_for(depends_on: Sequence[str]) -> str:
    names = list(dict.fromkeys(_dependency(each) for each in depends_on))
    if not names:
        return " It starts as soon as there is capacity."
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f" It waits for {listed}."


def _dependency(job_id: str) -> str:
    kind = job_id.partition("_")[0]
    return f"the {_NAMES[JobType(kind)]}" if kind in set(JobType) else "the upload of its file"


def total_charged(accounts: Iterable[HeldCredits]) -> float:
    return to_credits(sum(each.charged for each in accounts))


def in_words(seconds: float) -> str:
    """`0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min`."""
    if seconds < 10:
        return f"{seconds:.1f}".rstrip("0").rstrip(".") + " s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def _credits(millicredits: int) -> str:
    text = f"{to_credits(millicredits):,.3f}".rstrip("0").rstrip(".")
    return f"{text} credit" if text == "1" else f"{text} credits"


def _were(millicredits: int) -> str:
    return "was" if millicredits == 1_000 else "were"


def _ordinal(number: int) -> str:
    suffix = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"
