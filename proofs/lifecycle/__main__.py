"""The life of videos and jobs: created, changed, canceled, deleted, restored and purged, with processes killed."""

import asyncio
import re
import sys
import tempfile
import time
from pathlib import Path

import httpx
from rich.markup import escape

from cutroom.accounts.plans import BUNDLED_PLANS
from cutroom.credits.ledger import grant
from cutroom.platform.clock import system_clock
from cutroom.platform.storage.objects import Storage
from cutroom.platform.temporal import connect
from dev.fixtures.speech_clips import clips_folder, ensure_clips
from dev.scratch import Keyring
from proofs.lifecycle.leftovers import (
    find_contents,
    find_orphan_objects,
    find_orphan_processes,
    find_orphan_rows,
    wait_for_purges,
)
from proofs.lifecycle.library import MAX_NOTES, Library
from proofs.lifecycle.machine import KILLED, Budget, run_machine
from proofs.lifecycle.stopping import measure_stops
from proofs.lifecycle.urls import LIMIT_SECONDS, measure_revocation
from proofs.stage.ledger_audit import audit_ledger
from proofs.stage.report import Report, prove
from proofs.stage.requirements import GB, Needs
from tests.support.stage import Stage, make_video, open_stage

STOP_SECONDS = 10.0
MILLICREDITS = 100_000_000
TRANSCRIPT_SECONDS = 300.0
RUNNING = "WorkflowType IN ('purge-video', 'cancel-job') AND ExecutionStatus = 'Running'"
SPOKEN = "0880.wav"  # three seconds


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    operations = 300 if short else 2_000
    clips = await asyncio.to_thread(ensure_clips, clips_folder())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        video = make_video(folder / "video.mp4", 1, size="160x90", rate=10)
        async with open_stage("proof_lifecycle", folder, playback="on", plans_file=write_plans(folder)) as stage:
            library_id = stage.person.library_id
            await grant(
                stage.accounts.connection, library_id, millicredits=MILLICREDITS, reference="proof", now=system_clock()
            )
            library, other = open_library(stage, stage.key), open_library(stage, await second_key(stage))
            shown = other.create_file(video)
            spoken = [library.create_file(clips / SPOKEN, is_spoken=True) for _ in range(1 if short else 3)]
            await wait_for_transcripts(library, spoken)
            stops = [] if short else await measure_stops(library, spoken[0], rounds=3)
            budget = Budget(30, dubs=20, worker_kills=15, api_kills=25)
            if short:
                budget = Budget(2, dubs=1, worker_kills=1, api_kills=2)
            await asyncio.to_thread(run_machine, library, operations=operations, budget=budget, file=video)
            (revoked_seconds, faults), _ = await asyncio.gather(
                measure_revocation(other, shown), end_work(report, stage, library)
            )
            rows, objects = await count_leftovers(report, stage, library_id)
            ledger = (await audit_ledger(stage.accounts.connection, library_id)).faults
        processes = find_orphan_processes(folder)
    for fault in [*library.violations, *library.lost_updates, *faults, *ledger, *processes][:MAX_NOTES]:
        report.note(escape(str(fault)))
    total, violations, lost = library.operations.total(), len(library.violations), len(library.lost_updates)
    killed = dict(library.kills)
    report.claim(
        "operations on a library, with processes killed at random",
        expected=f"at least {operations}",
        measured=f"{total}, {killed}",
        holds=total >= operations and killed.keys() >= KILLED,
    )
    for claim, count in (
        ("responses that differ from the model", violations),
        ("changes that overwrote another one unseen", lost),
        ("rows left of purged videos", len(rows)),
        ("objects left of purged videos", len(objects)),
        ("programs left once the worker has stopped", len(processes)),
        ("faults of the ledger", len(ledger)),
        ("URLs that do not work before the deletion or after the restore", len(faults)),
    ):
        report.claim(claim, expected="0", measured=count, holds=count == 0)
    report.claim_time(
        "the last URL of a deleted video stops",
        expected=f"within {LIMIT_SECONDS:.0f} s",
        measured=f"{revoked_seconds:.1f} s",
        holds=revoked_seconds <= LIMIT_SECONDS,
    )
    if stops:
        report.claim_time(
            "a canceled job frees its worker",
            expected=f"within {STOP_SECONDS:.0f} s",
            measured=f"{max(stops):.1f} s",
            holds=max(stops) <= STOP_SECONDS,
        )
        report.figures(stopped_s_max=round(max(stops), 1))
    report.figures(
        operations=total,
        kinds=dict(sorted(library.operations.items())),
        kills=sum(killed.values()),
        model_violations=violations,
        lost_updates=lost,
        orphan_rows=len(rows),
        orphan_objects=len(objects),
        orphan_processes=len(processes),
        ledger_violations=len(ledger),
        url_after_delete_s=round(revoked_seconds, 1),
    )


def write_plans(folder: Path) -> Path:
    """Plans that admit what one key does here: thousands of requests, and uploads whose file never comes."""
    text = BUNDLED_PLANS.read_text(encoding="utf-8")
    text = re.sub(r"^((?:library_)?requests_per_minute) = .*$", r"\1 = 100000", text, flags=re.MULTILINE)
    text = re.sub(r"^(library_\w+_per_day) = .*$", r"\1 = 100000", text, flags=re.MULTILINE)
    text = re.sub(r"^unfinished_jobs = .*$", "unfinished_jobs = 10000", text, flags=re.MULTILINE)
    text = re.sub(r"^library_unfinished_jobs = .*$", "library_unfinished_jobs = 10000", text, flags=re.MULTILINE)
    path = folder / "plans.toml"
    path.write_text(text, encoding="utf-8")
    return path


def open_library(stage: Stage, key: Keyring) -> Library:
    alone = httpx.Limits(max_keepalive_connections=0)  # a kept connection would break with its process
    return Library(stage, httpx.Client(base_url=stage.api.url, headers=key.headers, timeout=120, limits=alone))


async def second_key(stage: Stage) -> Keyring:
    """A key of another library, whose video is deleted while the first one's are purged."""
    return await stage.accounts.key(await stage.accounts.person())


async def wait_for_transcripts(library: Library, videos: list[str]) -> None:
    deadline = time.monotonic() + TRANSCRIPT_SECONDS
    for video_id in videos:
        while library.request("read", "GET", f"/jobs/transcript_{video_id}").json()["status"] != "ready":
            if time.monotonic() > deadline:
                raise RuntimeError(library.stage.worker.read_log()[-3000:])
            await asyncio.sleep(0.3)


async def end_work(report: Report, stage: Stage, library: Library) -> None:
    """Delete half of the remaining videos permanently, so that the leftovers include running work, and wait."""
    for video_id in library.at("library")[::2]:
        library.delete(video_id, permanently=True)
    left = await wait_for_purges(stage)
    report.claim("purges end after kills", expected="all", measured=f"{left} left", holds=left == 0)
    # The purge deletes objects once more at its end, and canceled jobs theirs, after the heartbeat timeout.
    client = await connect(stage.settings)
    deadline = time.monotonic() + TRANSCRIPT_SECONDS
    while (await client.count_workflows(RUNNING)).count and time.monotonic() < deadline:
        await asyncio.sleep(0.5)


async def count_leftovers(report: Report, stage: Stage, library_id: str) -> tuple[list[str], list[str]]:
    connection = stage.accounts.connection
    rows = [*await find_orphan_rows(connection), *await find_contents(connection)]
    objects = await find_orphan_objects(connection, Storage.connect(stage.settings), library_id)
    for each in [*rows, *objects][:MAX_NOTES]:
        report.note(escape(each))
    return rows, objects


if __name__ == "__main__":
    sys.exit(prove("Lifecycle", proof, needs=Needs(model_set="ci", programs=("ffmpeg",), disk_bytes=GB)))
