"""Words are deleted: a download leaves them out, and no word of its dub is cut in half."""

import asyncio
import json
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from cutroom.engines.registry import Engines
from cutroom.engines.types import SAMPLE_RATE
from proofs.editing.dubbed_video import POLL_SECONDS, EditedDub
from proofs.editing.transcripts import EditedTranscript
from proofs.stage.report import Report
from tests.support.dub_stage import WAIT_SECONDS, decode_samples

FRAME_RATE = "25"  # of the video
MAX_LENGTH_ERROR_MS = 45.0  # a frame of the picture, rounded up
CUTS, SLOWEST_FRAME_SECONDS = 2, 0.1  # videos are cut at no less than 10 frames per second
MIN_WORDS = 5  # of a line in which two words are deleted
MAX_LOST_SHARE = 0.1  # of the words that recognition understands in the whole track


@dataclass(frozen=True)
class CutDownload:
    """A video without deleted words, with its dub."""

    path: Path
    text: str  # what recognition understands of the dub
    seconds: list[float]  # of picture, dub and original

    @property
    def length_error_ms(self) -> float:
        """How much the lengths of its tracks differ from that of the picture."""
        return max(abs(each - self.seconds[0]) for each in self.seconds) * 1000


async def prove_cut_dub(report: Report, edited: EditedDub, engines: Engines) -> None:
    """One line loses words in its middle, one all of its words; the dub follows, before and after a regeneration."""
    read = await edited.read()
    whole = await _download(edited, engines, "whole")
    understood = _understood(_said(read), whole.text)
    spoken = [each for each in read["segments"] if each.get("published")]
    partly = max(spoken, key=lambda each: len(each["source"].split()))
    removed = next(each for each in spoken if each["id"] != partly["id"])
    texts = {each["id"]: each["text"] for each in (await _document(edited))["segments"]}
    segment = max(partly["segmentIds"], key=lambda id_: len(texts[id_].split()))
    words = texts[segment].split()
    first = len(" ".join(words[: len(words) // 2])) + 1
    cut = {"from": first, "to": first + len(" ".join(words[len(words) // 2 : len(words) // 2 + 2]))}
    changed = await edited.edit_transcript(
        {"op": "deleteWords", "id": segment, "ranges": [cut]}, {"op": "delete", "ids": removed["segmentIds"]}
    )
    revision = changed.raise_for_status().json()["revision"]
    await EditedTranscript(edited.stage, edited.client, edited.video_id).wait_for_words(
        revision
    )  # which the cuts follow
    stale = {each["id"]: each["stale"] for each in (await edited.read())["segments"] if each["stale"]}
    listed = stale == {partly["id"]: ["cut"], removed["id"]: ["removed"]} and len(words) >= MIN_WORDS
    report.claim("lines with deleted words that are listed", expected="True", measured=stale, holds=listed)
    kept = float(
        (await _get(edited.client, f"/v1/videos/{edited.video_id}/transcript/edit-list?frameRate={FRAME_RATE}"))[
            "keptDuration"
        ]
    )
    before = await _download(edited, engines, "stale")
    quote, charged = await edited.regenerate()
    now = await edited.read()
    after = await _download(edited, engines, "made-again")
    others = [each for each in spoken if each["id"] not in stale]
    shares = [
        _understood([each["published"]["text"] for each in others], before.text),
        _understood(_said(now), after.text),
    ]
    error = max(each.length_error_ms for each in (before, after))
    # The edit list is asked for at another frame rate than that of the video: each edge of a cut may move by a frame.
    lost = max(abs(each.seconds[0] - kept) for each in (before, after))
    report.claim(
        "tracks of the cut downloads are as long as their picture",
        expected=f"within {MAX_LENGTH_ERROR_MS:g} ms, about {kept:.2f} s",
        measured=f"{error:.0f} ms, {after.seconds[0]:.2f} s",
        holds=error <= MAX_LENGTH_ERROR_MS and lost <= CUTS * 2 * SLOWEST_FRAME_SECONDS,
    )
    holds = min(shares) >= understood - MAX_LOST_SHARE
    report.claim(
        "words of the dub that are understood: whole, cut, and cut after a regeneration",
        expected=f">= {understood - MAX_LOST_SHARE:.3f}",
        measured=f"{understood:.3f}, {shares[0]:.3f}, {shares[1]:.3f}",
        holds=holds,
    )
    lines = [each for each in now["segments"] if each["id"] == partly["id"]]
    one = len(lines) == 1 and not any(each["stale"] for each in now["segments"])
    charge = charged == round(quote["credits"] * 1000)
    report.claim(
        "... what remains of the line is one line, at the price of the quote",
        expected="True",
        measured=one and charge,
        holds=one and charge,
    )
    report.figures(
        cut_dub_understood=round(min(shares), 3),
        whole_dub_understood=round(understood, 3),
        cut_length_error_ms=round(error, 1),
    )


def _said(read: dict[str, Any]) -> list[str]:
    return [each["published"]["text"] for each in read["segments"] if each.get("published")]


def _understood(texts: list[str], heard: str) -> float:
    """The share of words of these lines that are heard, in order."""
    expected, found = _words(" ".join(texts)), _words(heard)
    row = [0] * (len(found) + 1)  # the longest common subsequence
    for word in expected:
        diagonal = 0
        for at, other in enumerate(found, start=1):
            diagonal, row[at] = row[at], diagonal + 1 if word == other else max(row[at], row[at - 1])
    return row[-1] / len(expected)


def _words(text: str) -> list[str]:
    return ["".join(each for each in word.casefold() if each.isalnum()) for word in text.split()]


async def _document(edited: EditedDub) -> dict[str, Any]:
    revision = (await edited.read())["transcriptRevision"]
    return await _get(edited.client, f"/v1/videos/{edited.video_id}/transcript/revisions/{revision}")


async def _download(edited: EditedDub, engines: Engines, name: str) -> CutDownload:
    body = {"artifact": "language_video", "language": edited.language}
    created = (await edited.client.post(f"/v1/videos/{edited.video_id}/downloads", json=body)).raise_for_status().json()
    deadline = time.monotonic() + WAIT_SECONDS
    while (found := await _get(edited.client, f"/v1/downloads/{created['downloadRequestId']}"))["status"] != "ready":
        if found["status"] == "failed" or time.monotonic() > deadline:
            raise RuntimeError(f"{found}\n{edited.stage.worker.read_log()[-3000:]}")
        await asyncio.sleep(POLL_SECONDS)
    path = edited.folder / f"{name}.mp4"
    content = (await edited.client.get(found["url"], headers={"Authorization": ""})).raise_for_status().content
    await asyncio.to_thread(path.write_bytes, content)
    return CutDownload(path, *await asyncio.to_thread(_measured, path, engines, edited.language))


def _measured(path: Path, engines: Engines, language: str) -> tuple[str, list[float]]:
    command = ["ffprobe", "-v", "error", "-show_entries", "stream=codec_type,duration", "-of", "json", str(path)]
    streams = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["streams"]
    seconds = [float(each["duration"]) for each in streams if each["codec_type"] in {"video", "audio"}]
    samples = decode_samples(path, rate=SAMPLE_RATE, channels=1)[0]  # of the first track, which is the dub
    speech = list(engines.voice_activity_detector().detect([samples]))
    words = engines.recognizer().transcribe(samples, language=language, speech=speech).words
    return " ".join(each.text for each in words), seconds


async def _get(client: httpx.AsyncClient, path: str) -> dict[str, Any]:
    found: dict[str, Any] = (await client.get(path)).raise_for_status().json()
    return found
