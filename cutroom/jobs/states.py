"""The states of a job, and which may follow which."""

from enum import StrEnum


class JobState(StrEnum):
    """Queued and processing are on the way; ready and failed are ends."""

    QUEUED = "queued"
    PROCESSING = "processing"
    READY = "ready"
    FAILED = "failed"


TERMINAL = frozenset({JobState.READY, JobState.FAILED})

# A job that failed may be asked for again, under the same id; one that is ready where what it wrote may be replaced.
LEGAL: dict[JobState, frozenset[JobState]] = {
    JobState.QUEUED: frozenset({JobState.PROCESSING, JobState.FAILED}),
    JobState.PROCESSING: frozenset({JobState.READY, JobState.FAILED}),
    JobState.READY: frozenset({JobState.QUEUED}),
    JobState.FAILED: frozenset({JobState.QUEUED}),
}


def may_become(state: JobState, following: JobState) -> bool:
    return following in LEGAL[state]
