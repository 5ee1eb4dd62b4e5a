"""A spoken test video, and access to its playback objects, tracks and workflow histories."""

import asyncio
import subprocess
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import obstore
from temporalio.api.enums.v1 import PendingActivityState
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


def make_spoken_video(path: Path, *, seconds: int, size: str) -> Path:
    """A moving test pattern with recorded speech."""
    speech = ensure_clips(clips_folder()) / "two_cities.wav"
    command = ["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", f"testsrc2=s={size}:r=25:d={seconds}"]
    command += ["-i", str(speech), "-t", str(seconds), "-c:v", "libx264", "-preset", "ultrafast", "-g", "100"]
    subprocess.run([*command, "-c:a", "aac", "-ar", "48000", str(path)], check=True)
    return path


@dataclass(frozen=True)
class PlaybackUser:
    """The owner of a video, with access to its API resources and stored objects."""

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
        self, condition: Callable[[dict[str, Any]], bool], *, meanwhile: Callable[[], Awaitable[None]] | None = None
    ) -> dict[str, Any]:
        """Poll the video until the condition holds."""
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline:
            self.stage.worker.keep_running()
            video = await self.video()
            if condition(video):
                return video
            if meanwhile is not None:
                await meanwhile()
            await asyncio.sleep(0.3)
        raise RuntimeError(f"the video did not reach the expected state\n{self.stage.worker.read_log()[-3000:]}")

    async def settled(self) -> None:
        """Wait until no workflow runs for the playback."""
        while await self.stage.accounts.connection.fetchval(
            "SELECT lease_holder IS NOT NULL FROM playbacks WHERE video_id = $1", self.video_id
        ):
            await asyncio.sleep(0.3)

    async def text_languages(self) -> set[str]:
        rows = await self.stage.accounts.connection.fetch(
            "SELECT language FROM playback_tracks WHERE video_id = $1 AND kind = 'text'", self.video_id
        )
        return {row["language"] for row in rows}

    async def video_segments(self) -> dict[str, str]:
        """Path of every video segment with its ETag and modification time, which change when it is rewritten."""
        return await self._objects("v")

    async def _objects(self, folder: str) -> dict[str, str]:
        storage = Storage.connect(self.stage.settings)
        found = {}
        async for batch in obstore.list(storage.store, f"{self.prefix}/{folder}"):
            for each in batch:
                found[each["path"]] = f"{each['e_tag']} {each['last_modified']}"
        return found

    async def chunks(self) -> dict[str, str]:
        """Path of every stored ladder chunk with its ETag and modification time."""
        return await self._objects("chunks")

    async def started_encodings(self) -> int:
        """Ladder chunks whose encoding a worker has started, finished or not, as Temporal knows them."""
        client: Client = await connect(self.stage.settings)
        started = 0
        for name, attempts in await self.encodings():
            started += len(attempts)  # the history lists an activity as started once it has ended
            description = await client.get_workflow_handle(name).describe()
            started += sum(
                each.activity_type.name == ENCODE
                and (each.attempt > 1 or each.state == PendingActivityState.PENDING_ACTIVITY_STATE_STARTED)
                for each in description.raw_description.pending_activities
            )
        return started

    async def encodings(self) -> list[tuple[str, list[int]]]:
        """Playback workflows in order of start, each with the attempt numbers of its ladder chunk activities."""
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


async def expire_token(stage: Stage, url: str, *, age: timedelta) -> str:
    """The same URL with a validly signed token that has expired."""
    links = PlaybackLinks(SecretBox(stage.settings.secret_key.get_secret_value()), "")
    segments = url.split("/")
    at = segments.index("media") + 1
    expired = int((system_clock() - age).timestamp())
    segments[at] = links.token(segments[at + 1], segments[at + 2], expired)
    return "/".join(segments)
