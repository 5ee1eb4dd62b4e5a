"""Uploads media and reads transcripts as an API client."""

import asyncio
import subprocess
import time
import wave
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from cutroom.engines.types import SAMPLE_RATE
from dev.fixtures.speech_clips import normalize_words
from tests.support.dialogue import Samples
from tests.support.stage import Stage, upload

POLL_SECONDS = 0.2
THREADS = 2  # of the recognizer, and of the bare one it is compared with
BEFORE_WORK = frozenset({None, "queued"})
WORD_KEYS = ("text", "start", "end", "speaker")


@dataclass(frozen=True, slots=True)
class TranscriptResult:
    """A ready transcript, its aligned words, and the processing time from the first stage on."""

    transcript: dict[str, Any]
    words: list[dict[str, Any]]
    seconds: float

    @property
    def text(self) -> str:
        return " ".join(word["text"] for word in self.words)

    @property
    def is_empty(self) -> bool:
        return not self.words and not self.transcript["segments"] and not self.transcript["speakers"]

    @property
    def flaws(self) -> int:
        """Words of zero length, overlapping words, and one if segments and words differ in text."""
        segment_text = normalize_words(" ".join(segment["text"] for segment in self.transcript["segments"]))
        wrong = 0 if segment_text == normalize_words(self.text) else 1
        end = 0.0
        for word in self.words:
            wrong += not end <= word["start"] < word["end"]
            end = word["end"]
        return wrong

    def same_as(self, other: "TranscriptResult") -> bool:
        """Whether every word, time, speaker and segment is equal."""
        words = [[{key: word[key] for key in WORD_KEYS} for word in each.words] for each in (self, other)]
        return words[0] == words[1] and self.transcript["segments"] == other.transcript["segments"]


@asynccontextmanager
async def open_client(stage: Stage) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=300) as client:
        yield client


async def upload_file(client: httpx.AsyncClient, path: Path) -> str:
    return await upload(client, path, file_name=path.name)


async def wait_for_transcript(
    stage: Stage,
    client: httpx.AsyncClient,
    video_id: str,
    *,
    seconds: float,
    while_waiting: Callable[[], None] | None = None,
) -> TranscriptResult:
    """Poll until the transcript is ready; `meanwhile` is called between polls."""
    deadline = time.monotonic() + seconds
    began: float | None = None
    while True:
        response = await client.get(f"/v1/videos/{video_id}/transcript")
        response.raise_for_status()
        transcript: dict[str, Any] = response.json()
        now = time.monotonic()
        if began is None and transcript.get("processingStatus") not in BEFORE_WORK:
            began = now
        if transcript["status"] == "ready":
            break
        if transcript["status"] == "failed" or now > deadline:
            log = stage.worker.read_log()[-3000:]
            raise RuntimeError(f"the transcript of {video_id} is still {transcript['status']}\n{log}")
        if while_waiting:
            while_waiting()
        await asyncio.sleep(POLL_SECONDS)
    aligned = await client.get(transcript["wordAlignmentUrl"], headers={"Authorization": ""})
    aligned.raise_for_status()
    return TranscriptResult(transcript, aligned.json()["words"], now - (began if began is not None else now))


def write_wav(path: Path, samples: Samples) -> Path:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE)
        file.writeframes(to_pcm(samples))
    return path


def to_pcm(samples: Samples) -> bytes:
    return (np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes()


def make_silent_video(path: Path, *, seconds: int) -> Path:
    """A moving test pattern without an audio track."""
    pattern = f"testsrc2=s=320x180:r=10:d={seconds}"
    command = ["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", pattern, "-c:v", "libx264", "-preset", "ultrafast"]
    subprocess.run([*command, str(path)], check=True)
    return path
