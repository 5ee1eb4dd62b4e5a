"""Attacks on a running API and worker: each fails, and another tenant hardly notices."""

import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from rich.markup import escape

from cutroom.platform.task_queues import TaskQueue
from cutroom.web.runtime import open_runtime
from proofs.hardening import sources, uploads
from proofs.hardening.attacks import AttackLog, Scene, open_tenant
from proofs.hardening.bodies import attack_with_bodies
from proofs.hardening.hosts import AttackHost, Canary
from proofs.hardening.jobs import attack_jobs
from proofs.hardening.links import attack_links
from proofs.hardening.offboarding import attack_after_removal, poster_url
from proofs.hardening.payloads import attack_payloads
from proofs.hardening.requests import attack_requests
from proofs.hardening.responses import attack_responses
from proofs.hardening.revocation import attack_suspended_library, attack_with_revoked_key
from proofs.hardening.rotation import rotated_keys
from proofs.hardening.sign_ins import attack_sign_ins
from proofs.hardening.sources import attack_with_sources
from proofs.hardening.system_calls import MIN_CALLS, attack_sandbox
from proofs.hardening.uploads import attack_uploads
from proofs.hardening.victim import VictimReads
from proofs.hardening.worker import CERTIFICATE
from proofs.stage.report import Report, prove
from proofs.stage.requirements import Needs
from tests.support.stage import make_video, open_stage, upload

MIN_ATTACKS = 60
MAX_RATIO = 3.0
MAX_RSS_MB = 400
BASELINE_READS = {True: 120, False: 600}  # by the form
MAX_NOTES = 20
ATTACKER_NICENESS = 10  # attackers compute elsewhere: on this machine they must not take the service's cores
# No engines: nothing here is about what is made of a file.
QUEUES = [TaskQueue.CONTROL, TaskQueue.MEDIA, TaskQueue.EGRESS, TaskQueue.DOWNLOAD]


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    with tempfile.TemporaryDirectory() as name:
        async with open_scene(Path(name), short=short) as scene:
            await run_attacks(report, scene)
            rss_mb = _peak_rss_mb(scene.stage.api.pid)
            failures, log = scene.reads.failures, scene.log
    log.show()
    for attack in log.succeeded[:MAX_NOTES]:
        report.note(escape(f"{attack.family}: {attack.tried}: {attack.happened}"))
    attacks, succeeded = len(log.attacks), len(log.succeeded)
    ratio = max(log.ratios.values())
    report.claim("attacks", expected=f"at least {MIN_ATTACKS}", measured=attacks, holds=attacks >= MIN_ATTACKS)
    report.claim("… that succeed", expected="0", measured=succeeded, holds=succeeded == 0)
    leaks = len(log.offboarding_leaks)
    report.claim("what a removed member can still use after a minute", expected="0", measured=leaks, holds=leaks == 0)
    allowed, tried = len(log.syscalls_allowed), log.syscalls_tried
    report.claim(
        "forbidden system calls that a program in the sandbox can make",
        expected=f"0 of at least {MIN_CALLS}",
        measured=f"{allowed} of {tried}",
        holds=allowed == 0 and tried >= MIN_CALLS,
    )
    plain, errors = log.plaintext_payloads, len(log.rotation_errors)
    report.claim("payloads that Temporal stores in plain text", expected="0", measured=plain, holds=plain == 0)
    report.claim("requests that fail while keys are rotated", expected="0", measured=errors, holds=errors == 0)
    report.claim("another tenant's reads that fail meanwhile", expected="0", measured=failures, holds=failures == 0)
    report.claim_time(
        "p95 of another tenant's reads during a load, relative to before",
        expected=f"at most {MAX_RATIO}",
        measured=f"{ratio} ({log.ratios})",
        holds=ratio <= MAX_RATIO,
    )
    report.claim(
        "peak memory of the API",
        expected=f"at most {MAX_RSS_MB} MB",
        measured=f"{rss_mb} MB",
        holds=rss_mb <= MAX_RSS_MB,
    )
    report.figures(
        attacks=attacks,
        succeeded=succeeded,
        victim_p95_ratio=ratio,
        victim_p95_ms=round(scene.reads.baseline_seconds * 1000, 1),
        ratios=log.ratios,
        load_requests=log.load_requests,
        api_rss_peak_mb=rss_mb,
        offboarding_leaks=leaks,
        syscalls_allowed=allowed,
        syscalls_tried=tried,
        plaintext_payloads=plain,
        rotation_errors=errors,
    )


@asynccontextmanager
async def open_scene(folder: Path, *, short: bool) -> AsyncIterator[Scene]:
    """An installation with small bounds, an attacker, and a victim with a video."""
    file = await asyncio.to_thread(make_video, folder / "video.mp4", 1, size="160x90", rate=10)
    canary = Canary()
    host = AttackHost(folder, file.read_bytes(), canary)
    # Transcripts start and stay unfinished here, so they must not count against the jobs of a library.
    settings: dict[str, Any] = {**uploads.SETTINGS, **sources.SETTINGS, "worker_queues": QUEUES}
    settings["running_jobs_per_library"] = 100
    environment = {CERTIFICATE: str(host.certificate)}
    await canary.start()
    await host.start()
    async with open_stage(
        "proof_hardening",
        folder / "stage",
        environment=environment,
        worker_module="proofs.hardening.worker",
        **settings,
    ) as stage:
        attacker, victim = await open_tenant(stage, "127.0.0.2"), await open_tenant(stage, "127.0.0.3")
        video_id = await upload(victim.client, file)
        await poster_url(victim.client, video_id)
        reads = VictimReads(stage.api.url, victim.key.headers, ["/v1/videos", f"/v1/videos/{video_id}"])
        reads.start()
        os.nice(ATTACKER_NICENESS)
        try:
            async with open_runtime(stage.settings) as runtime:
                yield Scene(stage, runtime, host, attacker, victim, video_id, reads, AttackLog(), file, short)
        finally:
            reads.stop()
            await attacker.client.aclose()
            await victim.client.aclose()
            await host.stop()
            await canary.stop()


async def run_attacks(report: Report, scene: Scene) -> None:
    """Loads are measured one after another. In the short form, attacks that mostly wait run beside others."""
    client = scene.attacker.client
    poster = await poster_url(client, await upload(client, scene.video_file))
    with report.timed("baseline"):
        await scene.reads.measure_baseline(BASELINE_READS[scene.short])
    with report.timed("bodies"):
        await attack_with_bodies(scene)
    with report.timed("sign-ins"):
        await attack_sign_ins(scene)
    with report.timed("forms and headers"):
        await attack_responses(scene, poster)
    with report.timed("uploads"):
        await attack_uploads(scene)
    with report.timed("sources, revocation, requests and jobs"):
        async with rotated_keys(scene):
            if scene.short:
                waiting = (attack_with_sources, attack_suspended_library, attack_after_removal)
                await asyncio.gather(*(attack(scene) for attack in waiting), _attack_in_turn(scene, poster))
            else:
                await attack_with_sources(scene)
                await asyncio.gather(attack_suspended_library(scene), attack_after_removal(scene))
                await _attack_in_turn(scene, poster)
    with report.timed("payloads"):
        await attack_payloads(scene)


async def _attack_in_turn(scene: Scene, poster: str) -> None:
    await attack_links(scene, poster)
    await attack_requests(scene)
    await attack_with_revoked_key(scene)
    await attack_sandbox(scene)
    await attack_jobs(scene)


def _peak_rss_mb(pid: int) -> int:
    """The most memory that a process has had since it started."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return round(int(peak.split()[1]) * 1024 / 1e6)


if __name__ == "__main__":
    sys.exit(prove("Hardening", proof, needs=Needs(programs=("ffmpeg", "bwrap"))))
