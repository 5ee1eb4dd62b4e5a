"""Runs the demo video through the products of an installation, as a caller outside the containers."""

import re
import secrets
import ssl
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from rich.console import Console

from dev.demo import VIDEO
from dev.demo_progress import DemoProgress
from dev.demo_walkthrough import Walkthrough
from proofs.images.installation import Installation

EMAIL = "operator@example.com"
CREDITS = "1000"
SENTENCE = "Every process in this container runs without rights."
PLAYLIST = b"#EXTM3U"
PLAYBACK_SECONDS = 1800.0  # on a busy machine
POLL_SECONDS = 0.5


@dataclass
class Caller:
    """A client with an API key, which remembers every URL in the responses."""

    installation: Installation
    context: ssl.SSLContext
    key: str
    seen: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)

    def client(self) -> httpx.Client:
        return httpx.Client(
            base_url=self.installation.url,
            headers={"Authorization": f"Bearer {self.key}"},
            timeout=300,
            verify=self.context,
            event_hooks={"response": [self._remember]},
        )

    def _remember(self, response: httpx.Response) -> None:
        if response.is_success:
            self.used.add(str(response.request.url))
        if response.headers.get("content-type", "").startswith("application/json"):
            response.read()
            self.seen |= set(_urls(response.json()))
        if location := response.headers.get("location"):
            self.seen.add(location)

    def unreachable(self) -> list[str]:
        """URLs of responses and playlists that lead elsewhere than to the public address, or to nothing."""
        missing, waiting, done = [], sorted(self.seen), set(self.used)
        self.seen |= self.used
        with httpx.Client(verify=self.context, timeout=60) as outside:
            while waiting:
                url = waiting.pop()
                if url in done:
                    continue
                done.add(url)
                if not url.startswith(f"{self.installation.url}/"):
                    missing.append(url)
                    continue
                answer = outside.get(url)
                if not answer.is_success:
                    missing.append(f"{answer.status_code} {url}")
                elif answer.content.startswith(PLAYLIST):
                    waiting += _playlist_urls(answer)
                    self.seen |= set(waiting)
        return missing


def _urls(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for each in value.values():
            yield from _urls(each)
    elif isinstance(value, list):
        for each in value:
            yield from _urls(each)
    elif isinstance(value, str) and re.match(r"https?://", value):
        yield value


def _playlist_urls(playlist: httpx.Response) -> list[str]:
    """Media playlists of a multivariant playlist; the first and last segment of a media playlist."""
    lines = playlist.text.splitlines()
    names = [line for line in lines if line and not line.startswith("#")]
    attributes = re.findall(r'URI="([^"]+)"', playlist.text)
    chosen = [*names[:1], *names[-1:]] if "#EXTINF" in playlist.text else names
    return [str(playlist.url.join(each)) for each in (*attributes, *chosen)]


def open_account(installation: Installation, context: ssl.SSLContext) -> tuple[Caller, str]:
    """A user with credits and an API key, made by the operator's commands; returns their password too."""
    password = secrets.token_urlsafe(12)
    installation.administer("user", "create", EMAIL, "--plan", "creator")
    installation.administer("user", "password", EMAIL, "--password", password)
    installation.administer("credits", "grant", EMAIL, CREDITS)
    key = installation.administer("key", "create", EMAIL)
    return Caller(installation, context, key["key"]), password


def run_products(caller: Caller, folder: Path, *, short: bool) -> tuple[str, dict[str, bool]]:
    """The id of the demo video, and whether each product delivered."""
    progress = DemoProgress(Console(stderr=True))
    with caller.client() as client:
        walkthrough = Walkthrough(client, progress, output_dir=folder)
        if short:  # without a worker, nothing happens to the upload
            video_id = walkthrough.upload(VIDEO)
            return video_id, {"upload": client.get(f"/v1/jobs/import_{video_id}").is_success}
        video_id = walkthrough.run(VIDEO)
        found = {step.name: step.job.get("status") == "ready" for step in walkthrough.steps}
        found |= {"playback": _plays(client, video_id), "speech": _speaks(client)}
    return video_id, found


def _plays(client: httpx.Client, video_id: str) -> bool:
    """Whether the playback URL appears and is a playlist."""
    video: dict[str, Any] = {}

    def ready() -> bool:
        video.update(client.get(f"/v1/videos/{video_id}").json())
        return "url" in video

    deadline = time.monotonic() + PLAYBACK_SECONDS
    while not ready() and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    if "url" not in video:
        return False
    return client.get(video["url"], headers={"Authorization": ""}).content.startswith(PLAYLIST)


def _speaks(client: httpx.Client) -> bool:
    voices = client.get("/v2/voices").raise_for_status().json()["voices"]
    answer = client.post(f"/v1/text-to-speech/{voices[0]['voice_id']}", json={"text": SENTENCE})
    return answer.is_success and len(answer.content) > len(SENTENCE)
