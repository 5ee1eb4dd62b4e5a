"""Waits for jobs, with progress bars on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Annotated, Any

import typer

from cutroom_client.cli.commands import Interrupted
from cutroom_client.cli.exits import CommandError, Exit, exit_code_of
from cutroom_client.cli.output import printable
from cutroom_client.cli.service import Json
from cutroom_client.cli.session import Session

Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until the jobs have ended.")]
ENDED = frozenset({"ready", "failed"})
LONG_WAIT_SECONDS = 30
SHORT_WAIT_SECONDS = 1  # between updates of a progress bar


def wait_for_jobs(
    session: Session, job_ids: Sequence[str], *, changed: Callable[[Json], None] | None = None
) -> list[Json]:
    """Waits until all have ended; `changed` gets a job whenever its status or progress is another than before."""
    jobs: dict[str, Json] = {}
    try:
        with ExitStack() as stack:
            bars = stack.enter_context(_Bars()) if session.output.shows_progress else None
            while unfinished := [each for each in job_ids if jobs.get(each, {}).get("status") not in ENDED]:
                quick = bars is not None or changed is not None
                for job_id in unfinished:
                    seconds = _wait_seconds(known=job_id in jobs, quick=quick, alone=len(unfinished) == 1)
                    job = session.service.get("/v1/jobs/{}", job_id, wait=seconds or None)
                    if changed is not None and _state(job) != _state(jobs.get(job_id, {})):
                        changed(job)
                    jobs[job_id] = job
                    if bars is not None:
                        bars.show(job)
    except KeyboardInterrupt:
        ids = " ".join(job_ids)
        raise Interrupted(f"The work continues. Follow it with: cutroom jobs {ids} --watch") from None
    return [jobs[each] for each in job_ids]


def _wait_seconds(*, known: bool, quick: bool, alone: bool) -> int:
    """The first look is at once; after that the service holds the request."""
    if not known:
        return 0
    return SHORT_WAIT_SECONDS if quick or not alone else LONG_WAIT_SECONDS


def _state(job: Json) -> tuple[object, ...]:
    return job.get("status"), job.get("progress"), job.get("stage")


class _Bars:
    """A bar for each job, on standard error."""

    def __init__(self) -> None:
        from rich.console import Console  # noqa: PLC0415 (slow to load)
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

        self._progress: Any = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeElapsedColumn(),
            console=Console(stderr=True, highlight=False),
        )
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> _Bars:  # noqa: PYI034 (no Self before 3.11)
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def show(self, job: Json) -> None:
        job_id, status = str(job.get("id")), job.get("status")
        name = " ".join(str(each) for each in (job.get("type"), job.get("language")) if each)
        stage = job.get("stage") or status
        done = 100 if status == "ready" else job.get("progress", 0)
        if job_id not in self._tasks:
            self._tasks[job_id] = self._progress.add_task(name, total=100)
        self._progress.update(self._tasks[job_id], completed=done, description=f"{name}: {printable(stage)}")


def job_rows(jobs: Sequence[Json]) -> list[dict[str, object]]:
    return [
        {
            "Job": each.get("id"),
            "Type": each.get("type"),
            "Language": each.get("language"),
            "Status": each.get("status"),
            "Progress": f"{each['progress']} %" if "progress" in each else None,
            "Stage": each.get("stage"),
            "Error": (each.get("error") or {}).get("message"),
        }
        for each in jobs
    ]


def finish(session: Session, document: Json, job_ids: Sequence[str], *, wait: bool) -> list[Json]:
    """Waits for the jobs of a request if asked to, prints the request with them, and fails if one has failed."""
    if wait:
        jobs = wait_for_jobs(session, job_ids)
        document = document | {"jobs": jobs}
    else:
        known = {str(each.get("id")): each for each in document.get("jobs", [])}
        jobs = [known.get(each, {"id": each, "status": "queued"}) for each in job_ids]
    session.output.result(document, rows=job_rows(jobs))
    check_jobs(jobs)
    return jobs


def check_jobs(jobs: Sequence[Json]) -> None:
    """Raises if a job has failed."""
    failed = sorted(
        (each for each in jobs if each.get("status") == "failed"),
        key=lambda job: job.get("type") != "import",  # the others have failed because of it
    )
    if failed:
        error = failed[0].get("error") or {}
        details = {"jobIds": [each.get("id") for each in failed], "error": error}
        code = str(error.get("code", ""))
        is_credits = exit_code_of(code, error.get("details") or {}) is Exit.CREDITS
        others = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
        raise CommandError(
            f"{failed[0].get('id')} failed{others}: {error.get('message', 'no reason was given')}",
            exit_code=Exit.CREDITS if is_credits else Exit.JOB_FAILED,
            code=code or "JOB_FAILED",
            details=details,
            hint="Nothing was charged for it." if error else "",
        )
