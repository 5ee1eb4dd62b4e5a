"""What the proof of playback stands on: a film in which somebody speaks, and what was made of it."""

import asyncio
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import obstore
from temporalio.client import Client

from cutroom.library.playback import PlaybackLinks
from cutroom.platform.clock import system_clock
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.storage.objects import Storage
from cutroom.platform.temporal import connect
from dev.fixtures.speech_clips import clips_folder, ensure_clips
from tests.support.stage import Stage

WAIT_SECONDS = 1200.0
ENCODE = "encode_ladder_chunk"


def make_spoken_film(path: Path, *, seconds: int, size: str) -> Path:
    """A moving test picture over a person who reads."""
    speech = ensure_clips(clips_folder()) / "two_cities.wav"
    command = ["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", f"testsrc2=s={size}:r=25:d={seconds}"]
    command += ["-i", str(speech), "-t", str(seconds), "-c:v", "libx264", "-preset", "ultrafast", "-g", "100"]
    subprocess.run([*command, "-c:a", "aac", "-ar", "48000", str(path)], check=True)
    return path


@dataclass(frozen=True)
class Owner:
    """Whose video it is, and what lies where."""

    stage: Stage
    client: httpx.AsyncClient
    video_id: str

    @property
    def prefix(self) -> str:
        return f"libraries/{self.stage.person.library_id}/videos/{self.video_id}/playback"

    async def video(self) -> dict[str, Any]:
        found: dict[str, Any] = (await self.client.get(f"/v1/videos/{self.video_id}")).json()
        return found

    async def until(
        self, what: Callable[[dict[str, Any]], bool], *, meanwhile: Callable[[], None] | None = None
    ) -> dict[str, Any]:
        """The video once it is as wanted."""
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline:
            self.stage.worker.keep_running()
            video = await self.video()
            if what(video):
                return video
            if meanwhile is not None:
                meanwhile()
            await asyncio.sleep(0.3)
        raise RuntimeError(f"it never came\n{self.stage.worker.read_log()[-3000:]}")

    async def settled(self) -> None:
        """Nobody is at work on the playback any more."""
        while await self.stage.accounts.connection.fetchval(
            "SELECT runner IS NOT NULL FROM playbacks WHERE video_id = $1", self.video_id
        ):
            await asyncio.sleep(0.3)

    async def text_languages(self) -> set[str]:
        rows = await self.stage.accounts.connection.fetch(
            "SELECT language FROM playback_tracks WHERE video_id = $1 AND kind = 'text'", self.video_id
        )
        return {row["language"] for row in rows}

    async def pictures(self) -> dict[str, str]:
        """Every segment of the picture, by name: a tag that changes when it is written again."""
        storage = Storage.connect(self.stage.settings)
        found = {}
        async for batch in obstore.list(storage.store, f"{self.prefix}/v"):
            for each in batch:
                found[each["path"]] = f"{each['e_tag']} {each['last_modified']}"
        return found

    async def pieces(self) -> int:
        storage = Storage.connect(self.stage.settings)
        return len(await storage.names(f"{self.prefix}/pieces"))

    async def encodings(self) -> list[tuple[str, list[int]]]:
        """Of each workflow of this playback in order: which attempt at each piece of the ladder was the good one."""
        client: Client = await connect(self.stage.settings)
        found = []
        async for each in client.list_workflows("WorkflowType = 'playback'"):
            if self.video_id not in each.id:
                continue
            history = await client.get_workflow_handle(each.id).fetch_history()
            scheduled, attempts = {}, []
            for event in history.events:
                if event.HasField("activity_task_scheduled_event_attributes"):
                    scheduled[event.event_id] = event.activity_task_scheduled_event_attributes.activity_type.name
                if event.HasField("activity_task_started_event_attributes"):
                    started = event.activity_task_started_event_attributes
                    if scheduled.get(started.scheduled_event_id) == ENCODE:
                        attempts.append(started.attempt)
            found.append((each.start_time, each.id, attempts))
        return [(name, attempts) for _, name, attempts in sorted(found)]


async def in_the_past(stage: Stage, url: str, *, age: timedelta) -> str:
    """The same path with a token of ours whose time is over."""
    links = PlaybackLinks(SecretBox(stage.settings.secret_key.get_secret_value()), "")
    pieces = url.split("/")
    at = pieces.index("media") + 1
    expired = int((system_clock() - age).timestamp())
    pieces[at] = links.token(pieces[at + 1], pieces[at + 2], expired)
    return "/".join(pieces)
