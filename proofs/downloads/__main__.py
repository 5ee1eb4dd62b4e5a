"""Downloads: every artifact in every tier and state, tracks in step, samples that end in time, archives of any size."""

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
from proofs.downloads.stage import DUBBED, MIB, SPOKEN, Shopper, described, make_clapper, offset_ms
from proofs.stage.report import Report, prove
from tests.support.stage import ends, open_stage, upload

CAP_SECONDS = 60.0
MAX_MEMORY_MB, MAX_OFFSET_MS = 300, 40.0
QUEUES = "control,media,download,egress"  # no engine, so that memory is the download's own

Case = tuple[str, object, object]


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    with TemporaryDirectory() as name:
        folder = Path(name)
        film = await asyncio.to_thread(make_clapper, folder / "film.mp4")
        async with (
            open_stage("proof_downloads", folder / "stage", environment={"CUTROOM_WORKER_QUEUES": QUEUES}) as stage,
            httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=300) as client,
        ):
            shopper = Shopper(stage, client, Storage.connect(stage.settings))
            await _prove_memory(report, shopper, folder, size_bytes=(256 if short else 5 * 1024) * MIB)
            video_id = await upload(client, film, file_name="Été à Paris: 1.mp4")
            await ends(stage, [video_id], seconds=300)
            cases = await _states(shopper, video_id)
            cases += await _files(report, shopper, video_id, film, folder)
            cases += await _failures(shopper, video_id)
    wrong = [case for case in cases if case[1] != case[2]]
    for what, wanted, measured in cases:
        report.claim(what, wanted=str(wanted), measured=measured, holds=wanted == measured)
    report.figures(cases=len(cases), wrong=len(wrong))


async def _states(shopper: Shopper, video_id: str) -> list[Case]:
    """What is answered at once: every artifact, tier and state of what it needs."""
    cases: list[Case] = []
    connection = shopper.stage.accounts.connection
    # Nobody recognises speech here. A job that has ended is not begun again, so nothing undoes what is set here.
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
        await shopper.plan(plan, suspended=suspended)
        for body in bodies:
            answer = await shopper.ask(video_id, **body)
            told = answer.json()
            wanted = (202, tier) if tier else (403, "DOWNLOAD_TIER_NONE")
            measured = (answer.status_code, told.get("tier") or told["error"]["code"])
            state = "suspended" if suspended else plan
            cases.append((f"{body['artifact']}, {state}", wanted, measured))
    await shopper.plan("business")
    for status, completion, wanted_code in (
        ("ready", "complete", 202),
        ("queued", "pending", 202),
        ("processing", "preview_ready", "PREVIEW_NOT_DOWNLOADABLE"),
        ("failed", "pending", "FAILED_PRECONDITION"),
    ):
        await shopper.set_dub(video_id, status=status, completion=completion, path="nothing")
        cases.append(await _asked(shopper, video_id, f"dub {status}, {completion}", wanted_code, language=DUBBED))
    cases.append(await _asked(shopper, video_id, "no dub in the language", "NOT_FOUND", language="fr"))
    cases.append(await _asked(shopper, video_id, "no language", "INVALID_ARGUMENT"))
    for status, code in (("processing", 202), ("failed", "FAILED_PRECONDITION")):
        await connection.execute("UPDATE videos SET import_status = $2 WHERE id = $1", video_id, status)
        cases.append(await _asked(shopper, video_id, f"import {status}", code, language=SPOKEN))
    await connection.execute("UPDATE videos SET import_status = 'ready' WHERE id = $1", video_id)
    missing = await shopper.ask(new_id(), artifact="source")
    cases.append(("no such video", 404, missing.status_code))
    await connection.execute("UPDATE jobs SET status = 'failed', error_code = 'INTERNAL', error_message = 'x', "
        "finished_at = now() WHERE type = 'download' AND status IN ('queued', 'processing')")  # fmt: skip
    return cases


async def _asked(shopper: Shopper, video_id: str, state: str, wanted: object, **body: str) -> Case:
    answer = await shopper.ask(video_id, artifact="language_video", **body)
    told = answer.status_code if answer.status_code == 202 else answer.json()["error"]["code"]
    return f"language_video, {state}", wanted, told


async def _files(report: Report, shopper: Shopper, video_id: str, film: Path, folder: Path) -> list[Case]:
    """What is made: six files, each fetched and looked into."""
    cases: list[Case] = []
    track = await shopper.put_dub_track(video_id, film, folder)
    await shopper.set_dub(video_id, status="ready", completion="complete", path=track)
    lengths, offsets = [], []
    for plan, tier in (("business", "full"), ("free", "sample")):
        await shopper.plan(plan)
        for artifact in ("source", "language_video", "bundle"):
            asked = (await shopper.ask(video_id, artifact=artifact, language=DUBBED)).json()
            made = (await shopper.wait(asked["downloadRequestId"])).json()
            told = (made["status"], made["tier"], made["truncated"], made["maxDurationSeconds"], made["error"])
            wanted = ("ready", tier, tier == "sample", CAP_SECONDS if tier == "sample" else None, None)
            cases.append((f"{artifact}, {tier}: as it is told", wanted, told))
            if made["status"] != "ready":
                continue
            path, name = await shopper.fetch(made["url"], folder / f"{artifact}-{tier}")
            safe = all(letter.isascii() and (letter.isalnum() or letter in ".-") for letter in name)
            cases.append((f"... a safe name ({name})", True, safe))
            if artifact == "bundle":
                cases.append((f"... {tier} archive opens, and its manifest verifies", [], _faults(path)))
                continue
            if artifact == "source" and tier == "full":
                cases.append(("... is what was sent in", _sha(film), _sha(path)))
                continue
            streams = described(path)
            if tier == "sample":
                lengths += [float(each["duration"]) for each in streams if each["codec_type"] != "subtitle"]
            if artifact == "language_video":
                heard = [each["tags"]["language"] for each in streams if each["codec_type"] == "audio"]
                default = [each["disposition"]["default"] for each in streams if each["codec_type"] == "audio"]
                cases.append(
                    ("... the dub is heard first, then the original", (["por", "eng"], [1, 0]), (heard, default))
                )
                offsets += [await asyncio.to_thread(offset_ms, path, each) for each in (0, 1)]
    report.claim(
        f"the longest track of {len(lengths)} in samples",
        wanted="60 s, and no more",
        measured=f"{max(lengths):.3f} s, the shortest {min(lengths):.3f} s",
        holds=max(lengths) <= CAP_SECONDS and min(lengths) > CAP_SECONDS - 0.05,
    )
    worst = max(offsets)
    report.claim(
        f"the beep that is farthest from its flash, in {len(offsets)} tracks",
        wanted="<= 40 ms",
        measured=f"{worst:.1f} ms",
        holds=worst <= MAX_OFFSET_MS,
    )
    report.figures(av_offset_ms=round(worst, 1))
    return cases


async def _failures(shopper: Shopper, video_id: str) -> list[Case]:
    """A preparation that fails is an answer."""
    await shopper.plan("business")
    await shopper.set_dub(video_id, status="ready", completion="complete", path="nothing/there")
    asked = (await shopper.ask(video_id, artifact="language_video", language=DUBBED)).json()
    await shopper.storage.delete(f"libraries/{shopper.stage.person.library_id}/videos/{video_id}/source")
    answer = await shopper.wait(asked["downloadRequestId"])
    made = answer.json()
    told = (answer.status_code, made["status"], made["url"], made["error"] is not None)
    return [("a preparation that fails", (200, "failed", None, True), told)]


async def _prove_memory(report: Report, shopper: Shopper, folder: Path, *, size_bytes: int) -> None:
    video_id = await shopper.put_large(size_bytes)
    asked = (await shopper.ask(video_id, artifact="bundle")).json()
    made = (await shopper.wait(asked["downloadRequestId"])).json()
    peak = _peak_mb(shopper.stage.worker.pid)
    path, _ = await shopper.fetch(made["url"], folder / "large.zip")
    faults = await asyncio.to_thread(_faults, path)
    size = path.stat().st_size
    path.unlink()
    report.claim(
        f"a bundle of {size / MIB / 1024:.2f} GB: the worker's memory at its highest",
        wanted=f"< {MAX_MEMORY_MB} MB",
        measured=f"{peak} MB",
        holds=peak < MAX_MEMORY_MB,
    )
    report.claim("... its manifest verifies", wanted="no fault", measured=faults or "no fault", holds=not faults)
    report.figures(bundle_memory_mb=peak, bundle_mb=round(size / MIB))


def _peak_mb(pid: int) -> int:
    """The most that the process ever had in memory, as the kernel counts it."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) // 1024
    raise RuntimeError("the kernel does not say")


def _faults(path: Path) -> list[str]:
    """Files of an archive that are not as its manifest says."""
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        told = {each["name"]: each for each in manifest["files"]}
        faults = sorted(set(archive.namelist()) ^ {*told, "manifest.json"})
        for name, each in told.items():
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
    sys.exit(prove("Downloads", proof))
