"""Job states and their legal transitions."""

from enum import StrEnum


class JobState(StrEnum):
    """`ready` and `failed` are terminal."""

    QUEUED = "queued"
    PROCESSING = "processing"
    READY = "ready"
    FAILED = "failed"


CANCELLED = "CANCELLED"  # error code of a failed job that the caller canceled; no request fails with it

TERMINAL = frozenset({JobState.READY, JobState.FAILED})

# A failed job can be requested again under the same id, and a ready one if its output may be replaced or was deleted.
TRANSITIONS: dict[JobState, frozenset[JobState]] = {
    JobState.QUEUED: frozenset({JobState.PROCESSING, JobState.FAILED}),
    JobState.PROCESSING: frozenset({JobState.READY, JobState.FAILED}),
    JobState.READY: frozenset({JobState.QUEUED}),
    JobState.FAILED: frozenset({JobState.QUEUED}),
}


def can_transition(state: JobState, new_state: JobState) -> bool:
    return new_state in TRANSITIONS[state]
