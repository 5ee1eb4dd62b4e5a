"""The hottest queries of the service, as their callers send them.

The first ten are those with the largest share of PostgreSQL's time in the first part of `just prove story`, by
pg_stat_statements. The other four are what people and integrations read, which the story rarely does.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TypeAlias

from cutroom.jobs.progress import MEASURED_RUNS, REPORT_PROGRESS
from cutroom.jobs.service import GET_JOB, LIST_JOBS, MAX_LISTED
from cutroom.library.service import GET_VIDEO, LIST_VIDEOS, NEWEST
from cutroom.platform.ids import new_id
from cutroom.platform.relay import BATCH
from cutroom.web.paging import DEFAULT_PAGE

Argument: TypeAlias = "str | int | float | bytes | datetime | list[str] | list[int] | list[datetime] | None"
RUNNING_CAP = 8
ACTIVE_LIBRARIES = 8  # whose keys and limits a process has in memory


@dataclass(frozen=True, slots=True)
class Subject:
    """What one execution is about: a library, one of its videos, and a running job of it."""

    library_id: str
    video_id: str
    running_job_id: str
    neighbors: list[str]  # other libraries
    outbox_ids: list[int]


@dataclass(frozen=True, slots=True)
class HotQuery:
    """A statement and the arguments for a subject."""

    name: str
    sql: str
    arguments: Callable[[Subject, datetime], tuple[Argument, ...]]


def _progress(subject: Subject, now: datetime) -> tuple[Argument, ...]:
    return (subject.library_id, subject.running_job_id, 1, "encoding", 1.0, 0.0, 99.0, now)


def _stale(_subject: Subject, now: datetime) -> tuple[Argument, ...]:
    """No generated job is that old, whenever it was generated: in operation, the sweep rarely finds one."""
    return (now - timedelta(days=1), now - timedelta(days=8), 200)


HOT_QUERIES = (
    HotQuery("claim workflow starts", "SELECT * FROM claim_outbox_rows($1, $2)", lambda *_: (BATCH, RUNNING_CAP)),
    HotQuery("remove workflow starts", "SELECT delete_outbox_rows($1)", lambda subject, _: (subject.outbox_ids,)),
    HotQuery(
        "hold credits",
        "SELECT move_credits($1, $2, 'hold', $3, $4, $5)",
        lambda subject, now: (subject.library_id, new_id(), new_id(), 1, now),
    ),
    HotQuery(
        "authenticate a key",
        "SELECT * FROM authenticate_key($1)",
        lambda subject, _: (sha256(subject.library_id.encode()).digest(),),
    ),
    HotQuery("report progress", REPORT_PROGRESS, _progress),
    HotQuery("measure the outbox", "SELECT * FROM outbox_backlog($1)", lambda *_: (RUNNING_CAP,)),
    HotQuery(
        "find finished runs",
        "SELECT * FROM measured_runs($1, $2, $3, $4)",
        lambda *_: ("dub", "plus", None, MEASURED_RUNS),
    ),
    HotQuery("get a job", GET_JOB, lambda subject, _: (subject.library_id, f"import_{subject.video_id}")),
    HotQuery(
        "record the use of keys",
        "SELECT touch_keys($1, $2)",
        lambda subject, now: ([subject.library_id], [now]),
    ),
    HotQuery(
        "find erased libraries", "SELECT library_id FROM erased_libraries($1)", lambda subject, _: (subject.neighbors,)
    ),
    HotQuery("get a video", GET_VIDEO, lambda subject, _: (subject.library_id, subject.video_id)),
    HotQuery("list videos", LIST_VIDEOS, lambda subject, _: (subject.library_id, NEWEST, DEFAULT_PAGE + 1)),
    HotQuery(
        "list the jobs of a video", LIST_JOBS, lambda subject, _: (subject.library_id, subject.video_id, MAX_LISTED)
    ),
    HotQuery("find stale jobs", "SELECT * FROM stale_jobs($1, $2, $3)", _stale),
)


def now() -> datetime:
    return datetime.now(UTC)
