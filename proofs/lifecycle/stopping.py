"""How soon a worker is free after the job that it runs was canceled."""

import asyncio
import time

from proofs.lifecycle.library import Library

START_SECONDS = 300.0


async def measure_stops(library: Library, video_id: str, *, rounds: int) -> list[float]:
    """Cancel a running dub while another waits for the worker's only slot; seconds until the other one works."""
    languages = ("pt", "es")
    found = []
    for number in range(rounds):
        first, second = (languages[(number + each) % 2] for each in range(2))
        jobs = [_request_dub(library, video_id, language) for language in (first, second)]
        running = await _wait_for_stage(library, jobs)
        other = next(each for each in jobs if each != running)
        library.request("cancel", "POST", f"/jobs/{running}/cancel").raise_for_status()
        started = time.monotonic()
        await _wait_for_stage(library, [other])
        found.append(time.monotonic() - started)
        library.request("cancel", "POST", f"/jobs/{other}/cancel")
        for job_id in jobs:
            library.expect(_job(library, job_id)["status"] in {"failed", "ready"}, "a canceled dub", job_id)
    return found


def _request_dub(library: Library, video_id: str, language: str) -> str:
    made = library.request("dub", "POST", f"/videos/{video_id}/dubs", json={"languages": [language]})
    job_id: str = made.raise_for_status().json()["jobs"][0]["id"]
    if job_id not in library.videos[video_id].jobs:
        library.videos[video_id].jobs.append(job_id)
    return job_id


def _job(library: Library, job_id: str) -> dict[str, object]:
    found: dict[str, object] = library.request("read", "GET", f"/jobs/{job_id}").json()
    return found


async def _wait_for_stage(library: Library, jobs: list[str]) -> str:
    """The first of the jobs whose work has started."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        for job_id in jobs:
            job = _job(library, job_id)
            if job.get("stage") is not None and job["status"] == "processing":
                return job_id
        await asyncio.sleep(0.1)
    raise RuntimeError(f"no work on {jobs} has started")
