"""A library as its client sees it, and a model of what it should contain."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import httpx

from cutroom.platform.ids import new_id
from tests.support.stage import Stage

PAGE = 100
MAX_NOTES = 20


@dataclass
class VideoModel:
    """What is known of a video."""

    fields: dict[str, Any]
    place: Literal["library", "trash", "gone"] = "library"
    is_spoken: bool = False
    jobs: list[str] = field(default_factory=list)


@dataclass
class Library:
    """Requests of one client, with the model and the differences found."""

    stage: Stage
    client: httpx.Client
    videos: dict[str, VideoModel] = field(default_factory=dict)
    folders: dict[str, str] = field(default_factory=dict)
    operations: Counter[str] = field(default_factory=Counter)
    kills: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)
    lost_updates: list[str] = field(default_factory=list)

    def request(self, name: str, method: str, path: str, **options: Any) -> httpx.Response:  # noqa: ANN401
        """Send a request and count it as an operation."""
        self.operations[name] += 1
        return self.client.request(method, f"/v1{path}", **options)

    def expect(self, holds: bool, what: str, found: object) -> None:  # noqa: FBT001 (a condition)
        if not holds:
            text = f"{found.status_code} {found.text[:300]}" if isinstance(found, httpx.Response) else str(found)[:300]
            self.violations.append(f"{what}: {text}")

    def expect_status(self, response: httpx.Response, *expected: int, what: str) -> bool:
        self.expect(response.status_code in expected, f"{what} (expected {expected})", response)
        return response.status_code in expected

    def at(self, place: str) -> list[str]:
        return [video_id for video_id, video in self.videos.items() if video.place == place]

    def interrupt(self, name: str, method: str, path: str, *, after: float, **options: Any) -> httpx.Response:  # noqa: ANN401
        """Send a request, kill the API while it runs, and send it again to the next process, as a client would."""
        self.operations[name] += 1
        thread = threading.Thread(target=self._try, args=(method, path, options))
        thread.start()
        time.sleep(after)
        self.kill_api()
        thread.join()
        return self.request(name, method, path, **options)

    def _try(self, method: str, path: str, options: Mapping[str, Any]) -> None:
        headers = {**self.client.headers, **options.get("headers", {})}
        others = {name: value for name, value in options.items() if name != "headers"}
        with suppress(httpx.HTTPError):  # the process was killed
            httpx.request(method, f"{self.stage.api.url}/v1{path}", headers=headers, timeout=60, **others)

    def kill_api(self) -> None:
        self.stage.api.kill()
        self.stage.api.start()
        self.kills["api"] += 1

    def kill_worker(self) -> None:
        self.stage.worker.kill()
        self.stage.worker.start()
        self.kills["worker"] += 1

    def create_upload(self) -> str:
        """A video whose file has not been sent."""
        name = f"{new_id()}.mp4"
        body = {"source": {"type": "upload", "fileName": name}}
        key = {"Idempotency-Key": new_id()}
        made = self.request("create", "POST", "/videos", json=body, headers=key)
        made.raise_for_status()
        video_id: str = made.json()["videoId"]
        self.videos[video_id] = VideoModel({"title": name}, jobs=[job["id"] for job in made.json()["jobs"]])
        return video_id

    def create_file(self, file: Path, *, is_spoken: bool = False) -> str:
        """A video with a file, whose import has started."""
        video_id = self.create_upload()
        self.videos[video_id].is_spoken = is_spoken
        session = self.request("upload", "POST", f"/videos/{video_id}/uploads", json={"fileName": file.name})
        session.raise_for_status()
        no_key = {"Authorization": ""}
        started = self.client.post(session.json()["url"], headers={**no_key, "x-goog-resumable": "start"})
        started.raise_for_status()
        self.client.put(started.headers["location"], content=file.read_bytes(), headers=no_key).raise_for_status()
        return video_id

    def delete(self, video_id: str, *, permanently: bool, send: Callable[..., httpx.Response] | None = None) -> None:
        """Delete a video; afterwards it is not found, and none of its jobs is unfinished."""
        video, name = self.videos[video_id], "purge" if permanently else "delete"
        params = {"permanently": str(permanently).lower()}
        response = (send or self.request)(name, "DELETE", f"/videos/{video_id}", params=params)
        accepted = (204, 404) if send is not None else (204,)  # the killed process may have deleted it
        self.expect_status(response, *accepted, what=name)
        video.place = "gone" if permanently else "trash"
        self.expect_status(self.request("read", "GET", f"/videos/{video_id}"), 404, what="a deleted video")
        for job_id in video.jobs:
            job = self.request("read", "GET", f"/jobs/{job_id}")
            self.expect(job.json().get("status") in {"ready", "failed"}, "a job of a deleted video is unfinished", job)

    def listed(self, path: str) -> list[str]:
        """All ids of a paginated list."""
        found: list[str] = []
        token: str | None = None
        while True:
            params = {"limit": PAGE, **({"pageToken": token} if token else {})}
            page = self.request("list", "GET", path, params=params).raise_for_status().json()
            found += [each["id"] for each in page["videos"]]
            token = page.get("nextPageToken")
            if token is None:
                return found
