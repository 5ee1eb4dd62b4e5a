"""Downloads: every artifact, tier and state; A/V sync; sample duration; archives of any size."""

import asyncio
import hashlib
import json
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from cutroom.platform.ids import new_id
from cutroom.platform.storage.objects import Storage
from proofs.downloads.stage import DUBBED, MIB, SPOKEN, DownloadsClient, make_sync_video, offset_ms, probe_streams
from proofs.stage.report import Report, prove
from proofs.stage.requirements import GB, Needs
from tests.support.stage import open_stage, upload, wait_for_imports

CAP_SECONDS = 60.0
MAX_MEMORY_MB, MAX_OFFSET_MS = 300, 40.0
QUEUES = "control,media,download,egress"  # no engines, so that memory is the download's own

NEEDS = Needs(programs=("ffmpeg", "ffprobe"), disk_bytes=25 * GB, short_disk_bytes=2 * GB)

Case = tuple[str, object, object]


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    with TemporaryDirectory() as name:
        folder = Path(name)
        video = await asyncio.to_thread(make_sync_video, folder / "video.mp4")
        async with (
            open_stage("proof_downloads", folder / "stage", environment={"CUTROOM_WORKER_QUEUES": QUEUES}) as stage,
            httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=300) as client,
        ):
            api = DownloadsClient(stage, client, Storage.connect(stage.settings))
            await _prove_memory(report, api, folder, size_bytes=(256 if short else 5 * 1024) * MIB)
            video_id = await upload(client, video, file_name="Été à Paris: 1.mp4")
            await wait_for_imports(stage, [video_id], seconds=300)
            cases = await _prove_states(api, video_id)
            cases += await _prove_files(report, api, video_id, video, folder)
            cases += await _prove_failures(api, video_id)
    wrong = [case for case in cases if case[1] != case[2]]
    for what, expected, measured in cases:
        report.claim(what, expected=str(expected), measured=measured, holds=expected == measured)
    report.figures(cases=len(cases), wrong=len(wrong))


async def _prove_states(api: DownloadsClient, video_id: str) -> list[Case]:
    """Immediate responses: every artifact, tier and state of its inputs."""
    cases: list[Case] = []
    connection = api.stage.accounts.connection
    # No recognizer runs here. A finished job is not started again, so the state set here stays.
    ended = """UPDATE jobs SET status = 'ready', result = '{}', progress = 100, finished_at = now()
               WHERE id = $1 AND status = 'processing'"""
    while await connection.execute(ended, f"transcript_{video_id}") != "UPDATE 1":
        await asyncio.sleep(0.3)
    await connection.execute(
        "UPDATE videos SET default_language_code = $2, transcript_status = 'ready' WHERE id = $1", video_id, SPOKEN
    )
    bodies = [{"artifact": each} for each in ("source", "bundle")]
    bodies.append({"artifact": "language_video", "language": SPOKEN})
    for plan, suspended, tier in (("free", False, "sample"), ("creator", False, "full"), ("pro", True, None)):
        await api.set_plan(plan, suspended=suspended)
        for body in bodies:
            response = await api.request(video_id, **body)
            body_json = response.json()
            expected = (202, tier) if tier else (403, "DOWNLOAD_TIER_NONE")
            measured = (response.status_code, body_json.get("tier") or body_json["error"]["code"])
            state = "suspended" if suspended else plan
            cases.append((f"{body['artifact']}, {state}", expected, measured))
    await api.set_plan("business")
    for status, completion, wanted_code in (
        ("ready", "complete", 202),
        ("queued", "pending", 202),
        ("processing", "preview_ready", "PREVIEW_NOT_DOWNLOADABLE"),
        ("failed", "pending", "FAILED_PRECONDITION"),
    ):
        await api.set_dub(video_id, status=status, completion=completion, path="nothing")
        cases.append(
            await _language_video_case(api, video_id, f"dub {status}, {completion}", wanted_code, language=DUBBED)
        )
    cases.append(await _language_video_case(api, video_id, "no dub in the language", "NOT_FOUND", language="fr"))
    cases.append(await _language_video_case(api, video_id, "no language", "INVALID_ARGUMENT"))
    for status, code in (("processing", 202), ("failed", "FAILED_PRECONDITION")):
        await connection.execute("UPDATE videos SET import_status = $2 WHERE id = $1", video_id, status)
        cases.append(await _language_video_case(api, video_id, f"import {status}", code, language=SPOKEN))
    await connection.execute("UPDATE videos SET import_status = 'ready' WHERE id = $1", video_id)
    missing = await api.request(new_id(), artifact="source")
    cases.append(("no such video", 404, missing.status_code))
    await connection.execute("UPDATE jobs SET status = 'failed', error_code = 'INTERNAL', error_message = 'x', "
        "finished_at = now() WHERE type = 'download' AND status IN ('queued', 'processing')")  # fmt: skip
    return cases


async def _language_video_case(api: DownloadsClient, video_id: str, state: str, expected: object, **body: str) -> Case:
    response = await api.request(video_id, artifact="language_video", **body)
    measured = response.status_code if response.status_code == 202 else response.json()["error"]["code"]
    return f"language_video, {state}", expected, measured


async def _prove_files(report: Report, api: DownloadsClient, video_id: str, video: Path, folder: Path) -> list[Case]:
    """Finished files: download and inspect each."""
    cases: list[Case] = []
    track = await api.put_dub_track(video_id, video, folder)
    await api.set_dub(video_id, status="ready", completion="complete", path=track)
    lengths, offsets = [], []
    for plan, tier in (("business", "full"), ("free", "sample")):
        await api.set_plan(plan)
        for artifact in ("source", "language_video", "bundle"):
            created = (await api.request(video_id, artifact=artifact, language=DUBBED)).json()
            result = (await api.wait_for_download(created["downloadRequestId"])).json()
            summary = (
                result["status"],
                result["tier"],
                result["truncated"],
                result["maxDurationSeconds"],
                result["error"],
            )
            expected = ("ready", tier, tier == "sample", CAP_SECONDS if tier == "sample" else None, None)
            cases.append((f"{artifact}, {tier}: response", expected, summary))
            if result["status"] != "ready":
                continue
            path, name = await api.fetch(result["url"], folder / f"{artifact}-{tier}")
            safe = all(letter.isascii() and (letter.isalnum() or letter in ".-") for letter in name)
            cases.append((f"... safe file name ({name})", True, safe))
            if artifact == "bundle":
                cases.append((f"... {tier} archive matches its manifest", [], _archive_faults(path)))
                continue
            if artifact == "source" and tier == "full":
                cases.append(("... equals the uploaded file", _sha(video), _sha(path)))
                continue
            streams = probe_streams(path)
            if tier == "sample":
                lengths += [float(each["duration"]) for each in streams if each["codec_type"] != "subtitle"]
            if artifact == "language_video":
                languages = [each["tags"]["language"] for each in streams if each["codec_type"] == "audio"]
                default = [each["disposition"]["default"] for each in streams if each["codec_type"] == "audio"]
                cases.append(
                    (
                        "... the dub is the default track, then the original",
                        (["por", "eng"], [1, 0]),
                        (languages, default),
                    )
                )
                offsets += [await asyncio.to_thread(offset_ms, path, each) for each in (0, 1)]
    report.claim(
        f"longest of {len(lengths)} tracks in samples",
        expected="at most 60 s",
        measured=f"{max(lengths):.3f} s, shortest {min(lengths):.3f} s",
        holds=max(lengths) <= CAP_SECONDS and min(lengths) > CAP_SECONDS - 0.05,
    )
    worst = max(offsets)
    report.claim(
        f"maximum A/V offset in {len(offsets)} tracks",
        expected="<= 40 ms",
        measured=f"{worst:.1f} ms",
        holds=worst <= MAX_OFFSET_MS,
    )
    report.figures(av_offset_ms=round(worst, 1))
    return cases


async def _prove_failures(api: DownloadsClient, video_id: str) -> list[Case]:
    """A failed preparation is reported as failed."""
    await api.set_plan("business")
    await api.set_dub(video_id, status="ready", completion="complete", path="nothing/there")
    created = (await api.request(video_id, artifact="language_video", language=DUBBED)).json()
    await api.storage.delete(f"libraries/{api.stage.person.library_id}/videos/{video_id}/source")
    response = await api.wait_for_download(created["downloadRequestId"])
    result = response.json()
    summary = (response.status_code, result["status"], result["url"], result["error"] is not None)
    return [("a failed preparation", (200, "failed", None, True), summary)]


async def _prove_memory(report: Report, api: DownloadsClient, folder: Path, *, size_bytes: int) -> None:
    video_id = await api.put_large_video(size_bytes)
    created = (await api.request(video_id, artifact="bundle")).json()
    result = (await api.wait_for_download(created["downloadRequestId"])).json()
    peak = _peak_mb(api.stage.worker.pid)
    path, _ = await api.fetch(result["url"], folder / "large.zip")
    faults = await asyncio.to_thread(_archive_faults, path)
    size = path.stat().st_size
    path.unlink()
    report.claim(
        f"a bundle of {size / MIB / 1024:.2f} GB: the worker's peak memory",
        expected=f"< {MAX_MEMORY_MB} MB",
        measured=f"{peak} MB",
        holds=peak < MAX_MEMORY_MB,
    )
    report.claim("... differences from its manifest", expected="none", measured=faults or "none", holds=not faults)
    report.figures(bundle_memory_mb=peak, bundle_mb=round(size / MIB))


def _peak_mb(pid: int) -> int:
    """Peak resident memory of the process, from the kernel."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) // 1024
    raise RuntimeError("VmHWM is not available")


def _archive_faults(path: Path) -> list[str]:
    """Files of an archive that differ from its manifest."""
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        summary = {each["name"]: each for each in manifest["files"]}
        faults = sorted(set(archive.namelist()) ^ {*summary, "manifest.json"})
        for name, each in summary.items():
            digest, size = hashlib.sha256(), 0
            with archive.open(name) as file:
                while chunk := file.read(MIB):
                    digest.update(chunk)
                    size += len(chunk)
            if (digest.hexdigest(), size) != (each["sha256"], each["bytes"]):
                faults.append(name)
    return faults


def _sha(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


if __name__ == "__main__":
    sys.exit(prove("Downloads", proof, needs=NEEDS))
