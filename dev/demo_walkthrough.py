"""The requests of the demo: processes a video with every product over HTTP and reports the price of each job."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from rich.table import Table

from dev.demo_progress import DemoProgress, JobProgress

LANGUAGE = "pt-BR"
POLL_SECONDS = 0.5
IDLE_SECONDS = 900.0  # without any progress; a busy machine is slow, but it moves


class DemoError(Exception):
    """A request or job of the demo failed."""


@dataclass
class Step:
    """A requested job with its quoted price."""

    name: str
    job_id: str
    quoted: float = 0.0
    started: float = field(default_factory=time.monotonic)
    seconds: float = 0.0
    job: dict[str, Any] = field(default_factory=dict)

    @property
    def charged(self) -> float:
        receipt = self.job.get("result", {}).get("receipt", {})
        return float(receipt.get("captured", 0.0))


@dataclass
class Walkthrough:
    """Requests the jobs, waits with progress bars, and downloads the results."""

    client: httpx.Client
    progress: DemoProgress
    output_dir: Path
    steps: list[Step] = field(default_factory=list)
    results: dict[str, str] = field(default_factory=dict)  # by step name

    def run(self, video: Path) -> str:
        """Processes the video and returns its id."""
        self.output_dir.mkdir(parents=True, exist_ok=True)
        self.progress.say(f"Uploading {video.name}, {video.stat().st_size / 1e6:.1f} MB, and transcribing it")
        video_id = self.upload(video)
        path = f"/v1/videos/{video_id}"
        self.wait([Step("import", f"import_{video_id}"), Step("transcript", f"transcript_{video_id}")])
        self.progress.say(f"Waiting for the worker to offer {LANGUAGE}")
        self._wait_for_language()
        self.progress.say("Making a dub, captions, a short, a thumbnail, a title and a description")
        self.wait(self._request_jobs(path))
        self.progress.say("Rendering the dubbed video")
        download = self._post(f"{path}/downloads", artifact="language_video", language=LANGUAGE)
        self.wait([Step("download", download["jobId"], self._quote(path))])
        self._download_results(path, download["downloadRequestId"])
        self.progress.console.print(self._table())
        return video_id

    def upload(self, video: Path) -> str:
        """Uploads the video and returns its id."""
        created = self._post("/v1/videos", source={"type": "upload", "fileName": video.name})
        video_id: str = created["videoId"]
        session = self._post(f"/v1/videos/{video_id}/uploads", fileName=video.name)
        no_auth = {"Authorization": ""}  # the upload URL is the credential
        started = self.client.post(session["url"], headers={**no_auth, "x-goog-resumable": "start"})
        started.raise_for_status()
        self.client.put(started.headers["location"], content=video.read_bytes(), headers=no_auth).raise_for_status()
        return video_id

    def _request_jobs(self, path: str) -> list[Step]:
        """Requests quotes and jobs, the dub first because it takes longest."""
        prices = {
            "dub": self._quote(path, dubs=[{"languages": [LANGUAGE]}]),
            "captions": self._quote(path, captionLanguageCodes=[LANGUAGE]),
            "short": self._quote(path, shorts={"kind": "shorts", "numClips": 1}),
            "thumbnail": self._quote(path, zeroPromptThumbnail={"enabled": True}),
        }
        dub = self._post(f"{path}/dubs", languages=[LANGUAGE])["jobs"][0]
        captions = self._post(f"{path}/captions", languages=[LANGUAGE])["jobs"][0]
        shorts_options = {"kind": "shorts", "numClips": 1, "captionStyle": "karaoke"}
        short = self._post(f"{path}/shorts", **shorts_options)
        options = {
            "generateTitle": {"enabled": True, "titleType": "informational", "overwriteMode": "always"},
            "generateDescription": {"enabled": True, "descriptionType": "youtube-description"},
            "zeroPromptThumbnail": {"enabled": True, "promoteToPrimary": True},
        }
        packaging = self._post(f"{path}/packaging", automationOptions=options)["jobs"]
        self.results["short request"] = short["shortsRequestId"]
        by_type = {each["automationType"]: each["id"] for each in packaging}
        return [
            Step("dub", dub["id"], prices["dub"]),
            Step("captions", captions["id"], prices["captions"]),
            Step("short", short["jobId"], prices["short"]),
            Step("thumbnail", by_type["zeroPromptThumbnail"], prices["thumbnail"]),
            Step("title", by_type["generateTitle"]),
            Step("description", by_type["generateDescription"]),
        ]

    def _wait_for_language(self) -> None:
        """Waits until the worker has published its languages and voices, shortly after it starts."""
        deadline = time.monotonic() + IDLE_SECONDS
        while LANGUAGE.partition("-")[0] not in self._dub_languages():
            if time.monotonic() > deadline:
                raise DemoError(f"no worker offers dubs in {LANGUAGE}")
            time.sleep(POLL_SECONDS)

    def _dub_languages(self) -> set[str]:
        languages = _json(self.client.get("/v1/capabilities"))["languages"]
        return {each["code"].partition("-")[0] for each in languages if each["dubs"]}

    def _quote(self, path: str, **bundle: Any) -> float:  # noqa: ANN401 (JSON)
        return float(self._post(f"{path}/quote", **bundle)["total"])

    def wait(self, steps: list[Step]) -> None:
        """Waits for the jobs and shows their progress; gives up only when none of them moves."""
        self.steps += steps
        waiting = list(steps)
        with self.progress.jobs() as jobs:
            while waiting:
                waiting = [step for step in waiting if not self._update(step, jobs)]
                if jobs.idle_seconds > IDLE_SECONDS:
                    raise DemoError(f"{waiting[0].name} has made no progress for {IDLE_SECONDS / 60:.0f} minutes")
                time.sleep(POLL_SECONDS)

    def _update(self, step: Step, jobs: JobProgress) -> bool:
        """Shows the job as it is now; returns whether it is ready."""
        job = _json(self.client.get(f"/v1/jobs/{step.job_id}"))
        if job["status"] == "failed":
            error = job["error"]
            raise DemoError(f"{step.name} failed with {error['code']}: {error['message']}")
        jobs.update(step.name, job)
        if job["status"] != "ready":
            return False
        step.job, step.seconds = job, time.monotonic() - step.started
        verb = "are" if step.name.endswith("s") else "is"
        price = f"{step.charged:g} credits" if step.charged else "free"
        jobs.finish(step.name, f"{step.name} {verb} ready after {step.seconds:.0f} s, {price}")
        return True

    def _download_results(self, path: str, download_id: str) -> None:
        """Downloads the output files."""
        transcript = _json(self.client.get(f"{path}/transcript"))
        lines = len(transcript["segments"])
        self.results["transcript"] = f"{lines} lines by {len(transcript['speakers'])} speakers"
        subtitles = _json(self.client.get(f"{path}/subtitles/{LANGUAGE}"))
        self.results["captions"] = self._save(subtitles["downloadUrl"], f"launch.{LANGUAGE}.srt")
        dub = _json(self.client.get(f"{path}/dubs/{LANGUAGE}"))
        self.results["dub"] = self._save(dub["audioUrl"], f"launch.{LANGUAGE}.m4a")
        short = _json(self.client.get(f"/v1/shorts/{self.results.pop('short request')}"))["outputs"][0]
        self.results["short"] = self._save(short["videoUrl"], "short.mp4")
        packaged = _json(self.client.get(f"{path}/packaging"))
        self.results |= {"title": packaged["title"], "description": packaged["description"].partition("\n")[0]}
        self.results["thumbnail"] = self._save(packaged["thumbnail"]["outputImageUrls"][0], "thumbnail.jpg")
        download = _json(self.client.get(f"/v1/downloads/{download_id}"))
        self.results["download"] = self._save(download["url"], f"launch.{LANGUAGE}.mp4")

    def _save(self, url: str, name: str) -> str:
        response = self.client.get(url, headers={"Authorization": ""})
        response.raise_for_status()
        (self.output_dir / name).write_bytes(response.content)
        return name

    def _table(self) -> Table:
        table = Table("step", "time", "quoted", "charged", "result")
        for step in self.steps:
            cost = (f"{step.quoted:g}", f"{step.charged:g}")
            table.add_row(step.name, f"{step.seconds:.0f} s", *cost, self.results.get(step.name, ""))
        quoted, charged = sum(step.quoted for step in self.steps), sum(step.charged for step in self.steps)
        table.add_section()
        table.add_row("total", "", f"{quoted:g}", f"{charged:g}", "credits")
        return table

    def _post(self, path: str, **body: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
        return _json(self.client.post(path, json=body))


def _json(response: httpx.Response) -> dict[str, Any]:
    if not response.is_success:
        raise DemoError(f"{response.request.url.path} returned {response.status_code}: {response.text[:300]}")
    body: dict[str, Any] = response.json()
    return body
