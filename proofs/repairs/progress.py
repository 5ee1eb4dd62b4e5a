"""Progress of jobs as a caller sees it: it moves, and the ready time that it promises comes true."""

import asyncio
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from proofs.repairs.stage import RepairsStage, Rows
from proofs.stage.recorded_speech import make_speech
from proofs.stage.transcript_stage import upload_file, write_wav

PROMISE = 14
POLL_SECONDS = 0.25
WAIT_SECONDS = 3600.0
LONG_JOB_SECONDS = 20.0  # jobs that must show progress and an estimate
MAX_STALL_SHARE = 0.1
MIN_PERCENTAGES = 10
MAX_MEDIAN_ERROR = 0.5
ENDED = frozenset({"ready", "failed"})
# Long enough for a clip; most of it is pauses, so that the dub does not take most of the time of the proof.
SPEECH_SECONDS, PAUSES_SECONDS = 100.0, (18.0, 22.0)
VIDEO_SEED = 14
FRAME_RATE = 10  # a clip is at least five minutes, and its time is that of its frames
PREMIUM_DUB = {"languages": ["pt"], "product": "premium"}
PRODUCTS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("captions", {"languages": ["pt"]}),
    ("dubs", {"languages": ["pt"]}),
    ("shorts", {"kind": "shorts", "numClips": 2}),
    ("shorts", {"kind": "promo"}),
    ("shorts", {"kind": "clips", "numClips": 1}),
    ("thumbnails", {"mode": "zero_prompt"}),
    (
        "packaging",
        {
            "automationOptions": {
                "generateTitle": {"enabled": True, "titleType": "informational"},
                "generateDescription": {"enabled": True, "descriptionType": "youtube-description"},
            }
        },
    ),
    ("downloads", {"artifact": "language_video", "language": "pt"}),
    ("downloads", {"artifact": "bundle"}),
)


@dataclass(frozen=True, slots=True)
class Observation:
    """A job as the API returned it."""

    at: float
    job: dict[str, Any]
    remaining_seconds: float | None  # until estimatedReadyAt


@dataclass
class WatchedJob:
    """Everything that was observed of a job while it ran."""

    observations: list[Observation] = field(default_factory=list)

    def see(self, job: dict[str, Any]) -> None:
        ready_at = job.get("estimatedReadyAt")
        remaining = None
        if ready_at is not None:
            estimated = datetime.fromisoformat(ready_at)
            remaining = (estimated - datetime.now(estimated.tzinfo)).total_seconds()
        self.observations.append(Observation(time.monotonic(), job, remaining))

    @property
    def name(self) -> str:
        job = self.observations[-1].job
        return " ".join(filter(None, (job["type"], job.get("product"), job.get("automationType"))))

    @property
    def running(self) -> list[Observation]:
        return [each for each in self.observations if each.job["status"] == "processing"]

    @property
    def seconds(self) -> float:
        return self.observations[-1].at - self.running[0].at if self.running else 0.0

    @property
    def percentages(self) -> int:
        return len({each.job["progress"] for each in self.running})

    @property
    def stall_share(self) -> float:
        """The longest time without a change of the progress, as a share of the run."""
        shown = [(self.running[0].at, self.running[0].job["progress"])]
        for each in self.running:
            if each.job["progress"] != shown[-1][1]:
                shown.append((each.at, each.job["progress"]))
        times = [at for at, _ in shown] + [self.observations[-1].at]
        return max(after - before for before, after in pairwise(times)) / self.seconds

    @property
    def flaws(self) -> list[str]:
        percentages = [each.job["progress"] for each in self.running]
        flaws = []
        if any(not isinstance(each, int) or not 0 <= each <= 100 for each in percentages):
            flaws.append("progress is not a whole percentage")
        if any(after < before for before, after in pairwise(percentages)):
            flaws.append("progress decreased")
        if not all(each.job.get("stage") for each in self.running if each.job["progress"]):
            flaws.append("no stage")
        if all(each.remaining_seconds is None for each in self.running):
            flaws.append("no estimate")
        if any(each.remaining_seconds is not None and each.remaining_seconds < -1 for each in self.running):
            flaws.append("estimate in the past")
        return flaws

    @property
    def estimate_error(self) -> float | None:
        """The relative error of the remaining time halfway through the run."""
        end = self.observations[-1].at
        halfway = end - self.seconds / 2
        estimates = [each for each in self.running if each.at >= halfway and each.remaining_seconds is not None]
        if not estimates:
            return None
        actual = end - estimates[0].at
        return abs((estimates[0].remaining_seconds or 0.0) - actual) / actual


async def check(stage: RepairsStage, rows: Rows) -> None:
    watched = await _watch_dub(stage) if stage.short else await _watch_every_product(stage)
    watched = [job for job in watched if job.running]  # others ended between two polls
    long = [job for job in watched if job.seconds > LONG_JOB_SECONDS]
    for job in watched:
        rows.report.note(f"{job.name}: {job.seconds:.0f} s, longest stall {job.stall_share:.2f}")
    worst = max(long, key=lambda job: job.stall_share, default=None)
    share = round(worst.stall_share, 3) if worst is not None else None
    claim = f"jobs of more than {LONG_JOB_SECONDS:.0f} s: longest time without progress, as a share of the run"
    measured = f"{share} ({worst.name}), {len(long)} jobs" if worst is not None else "no job took that long"
    holds = share is not None and share <= MAX_STALL_SHARE
    if stage.short:  # another proof may take the processor away for seconds: count the steps that were seen
        rows.report.claim_time(f"{PROMISE}. {claim}", expected=f"<= {MAX_STALL_SHARE}", measured=measured, holds=holds)
        rows.check(
            PROMISE,
            "different percentages that a caller sees of one dub",
            expected=f">= {MIN_PERCENTAGES}",
            measured=", ".join(f"{job.percentages} in {job.seconds:.0f} s" for job in watched),
            holds=all(job.percentages >= MIN_PERCENTAGES for job in watched),
        )
    else:
        rows.check(PROMISE, claim, expected=f"<= {MAX_STALL_SHARE}", measured=measured, holds=holds)
    rows.report.figures(progress_stall_share=share)
    flaws = {job.name: job.flaws for job in long if job.flaws}
    rows.check(
        PROMISE,
        "their progress is whole and never decreases, with a stage and an estimate of when they are ready",
        expected="no flaws",
        measured=flaws or "no flaws",
        holds=not flaws,
    )
    errors = [error for job in long if (error := job.estimate_error) is not None]
    rows.report.claim_time(
        f"{PROMISE}. remaining time halfway through the run: median relative error",
        expected=f"<= {MAX_MEDIAN_ERROR}",
        measured=f"{median(errors):.2f} of {len(errors)} jobs" if errors else "no estimate",
        holds=bool(errors) and median(errors) <= MAX_MEDIAN_ERROR,
    )


async def _watch_dub(stage: RepairsStage) -> list[WatchedJob]:
    """The dub of a short talk takes long enough."""
    await _request(stage, stage.talk, "dubs", {"languages": ["pt"]})
    return await _watch(stage, stage.talk)


async def _watch_every_product(stage: RepairsStage) -> list[WatchedJob]:
    video = await upload_file(stage.client, _make_talk_video(stage.folder))
    watched = await _watch(stage, video)
    for product, body in PRODUCTS:
        await _request(stage, video, product, body)
        watched += await _watch(stage, video)
    await _request(stage, stage.talk, "dubs", PREMIUM_DUB)  # every line in a cloned voice: the slowest product
    return watched + await _watch(stage, stage.talk)


async def _request(stage: RepairsStage, video_id: str, product: str, body: Mapping[str, Any]) -> None:
    (await stage.client.post(f"/v1/videos/{video_id}/{product}", json=body)).raise_for_status()


async def _watch(stage: RepairsStage, video_id: str) -> list[WatchedJob]:
    """Poll the video's unfinished jobs until all have ended."""
    watched: dict[str, WatchedJob] = {}
    deadline = time.monotonic() + WAIT_SECONDS
    unfinished: list[dict[str, Any]] = []
    while time.monotonic() < deadline:
        jobs = (await stage.client.get(f"/v1/videos/{video_id}/jobs")).raise_for_status().json()["jobs"]
        unfinished = [job for job in jobs if job["status"] not in ENDED]
        for job in jobs:
            if job in unfinished or (
                job["id"] in watched and watched[job["id"]].observations[-1].job["status"] not in ENDED
            ):
                watched.setdefault(job["id"], WatchedJob()).see(job)
        if not unfinished:
            failed = [job for job in jobs if job["id"] in watched and job["status"] == "failed"]
            if failed:
                raise RuntimeError(f"{failed}\n{stage.running.worker.read_log()[-3000:]}")
            return list(watched.values())
        await asyncio.sleep(POLL_SECONDS)
    raise RuntimeError(f"still running: {[job['id'] for job in unfinished]}")


def _make_talk_video(folder: Path) -> Path:
    """A test pattern over a recorded talk."""
    sound = write_wav(
        folder / "long-talk.wav", make_speech(SPEECH_SECONDS, seed=VIDEO_SEED, pauses=PAUSES_SECONDS).samples
    )
    video = folder / "long-talk.mp4"
    pattern = ["-f", "lavfi", "-i", f"testsrc2=s=640x360:r={FRAME_RATE}"]
    encoder = ["-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", "-shortest"]
    subprocess.run(["ffmpeg", "-v", "error", "-y", *pattern, "-i", str(sound), *encoder, str(video)], check=True)
    return video
