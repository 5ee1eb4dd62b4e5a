"""What the demo does with a film: everything over HTTP, as any caller would, with the price of each step."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.table import Table

LANGUAGE = "pt-BR"
POLL_SECONDS = 0.5
WAIT_SECONDS = 1800.0
ENDED = frozenset({"ready", "failed"})
VOICES_SECONDS = 120.0


class DemoError(Exception):
    """Something did not come out; the message says what."""


@dataclass
class Step:
    """A job that was asked for, and what it costs."""

    name: str
    job_id: str
    quoted: float = 0.0
    began: float = field(default_factory=time.monotonic)
    seconds: float = 0.0
    job: dict[str, Any] = field(default_factory=dict)

    @property
    def charged(self) -> float:
        receipt = self.job.get("result", {}).get("receipt", {})
        return float(receipt.get("captured", 0.0))


@dataclass
class Walk:
    """Asks, waits with bars, and keeps what comes out."""

    client: httpx.Client
    console: Console
    keep: Path
    steps: list[Step] = field(default_factory=list)
    came_out: dict[str, str] = field(default_factory=dict)  # by the name of a step

    def go(self, film: Path) -> str:
        """From the film to everything that is made of it; the id of the video."""
        self.keep.mkdir(parents=True, exist_ok=True)
        video_id = self._upload(film)
        path = f"/v1/videos/{video_id}"
        self._wait([Step("import", f"import_{video_id}"), Step("transcript", f"transcript_{video_id}")])
        self._wait(self._ask(path))
        download = self._post(f"{path}/downloads", artifact="language_video", language=LANGUAGE)
        self._wait([Step("download", download["jobId"], self._quote(path))])
        self._take(path, download["downloadRequestId"])
        self.console.print(self._table())
        return video_id

    def _upload(self, film: Path) -> str:
        made = self._post("/v1/videos", source={"type": "upload", "fileName": film.name})
        video_id: str = made["videoId"]
        session = self._post(f"/v1/videos/{video_id}/uploads", fileName=film.name)
        plain = {"Authorization": ""}  # from here on the URL is the credential
        started = self.client.post(session["url"], headers={**plain, "x-goog-resumable": "start"})
        started.raise_for_status()
        self.client.put(started.headers["location"], content=film.read_bytes(), headers=plain).raise_for_status()
        self.console.print(f"{film.name} is uploaded: {film.stat().st_size / 1e6:.1f} MB")
        return video_id

    def _ask(self, path: str) -> list[Step]:
        """The dub first: it takes longest. What can be priced is priced before it is asked for."""
        prices = {
            "dub": self._quote(path, dubs=[{"languages": [LANGUAGE]}]),
            "captions": self._quote(path, captionLanguageCodes=[LANGUAGE]),
            "short": self._quote(path, shorts={"kind": "shorts", "numClips": 1}),
            "thumbnail": self._quote(path, zeroPromptThumbnail={"enabled": True}),
        }
        dub = self._post_when_able(f"{path}/dubs", languages=[LANGUAGE])["jobs"][0]
        captions = self._post(f"{path}/captions", languages=[LANGUAGE])["jobs"][0]
        wanted = {"kind": "shorts", "numClips": 1, "captionStyle": "karaoke"}
        short = self._post(f"{path}/shorts", **wanted)
        options = {
            "generateTitle": {"enabled": True, "titleType": "informational", "overwriteMode": "always"},
            "generateDescription": {"enabled": True, "descriptionType": "youtube-description"},
            "zeroPromptThumbnail": {"enabled": True, "promoteToPrimary": True},
        }
        packaging = self._post(f"{path}/packaging", automationOptions=options)["jobs"]
        self.came_out["short request"] = short["shortsRequestId"]
        by_type = {each["automationType"]: each["id"] for each in packaging}
        return [
            Step("dub", dub["id"], prices["dub"]),
            Step("captions", captions["id"], prices["captions"]),
            Step("short", short["jobId"], prices["short"]),
            Step("thumbnail", by_type["zeroPromptThumbnail"], prices["thumbnail"]),
            Step("title", by_type["generateTitle"]),
            Step("description", by_type["generateDescription"]),
        ]

    def _post_when_able(self, path: str, **body: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
        """The worker tells of its languages and voices soon after it starts; until then they are not known."""
        deadline = time.monotonic() + VOICES_SECONDS
        while True:
            answer = self.client.post(path, json=body)
            if answer.is_success or time.monotonic() > deadline:
                return _told(answer)
            time.sleep(POLL_SECONDS)

    def _quote(self, path: str, **bundle: Any) -> float:  # noqa: ANN401 (JSON)
        return float(self._post(f"{path}/quote", **bundle)["total"])

    def _wait(self, steps: list[Step]) -> None:
        """Until each has ended; a bar for each, and a line that stays when it is done."""
        self.steps += steps
        columns = (TextColumn("{task.description:<12}"), BarColumn(), TextColumn("{task.percentage:3.0f} %"))
        with Progress(*columns, TextColumn("{task.fields[stage]}"), console=self.console, transient=True) as bars:
            shown = {step.job_id: bars.add_task(step.name, total=100, stage="") for step in steps}
            deadline = time.monotonic() + WAIT_SECONDS
            waiting = list(steps)
            while waiting:
                waiting = [step for step in waiting if not self._look(step, bars, shown[step.job_id])]
                if time.monotonic() > deadline:
                    raise DemoError(f"{waiting[0].name} has not ended after {WAIT_SECONDS:.0f} s")
                time.sleep(POLL_SECONDS)

    def _look(self, step: Step, bars: Progress, bar: TaskID) -> bool:
        """Whether it has ended."""
        job = _told(self.client.get(f"/v1/jobs/{step.job_id}"))
        if job["status"] == "failed":
            error = job["error"]
            raise DemoError(f"{step.name} failed with {error['code']}: {error['message']}")
        bars.update(bar, completed=job.get("progress", 0), stage=job.get("stage", ""))
        if job["status"] != "ready":
            return False
        step.job, step.seconds = job, time.monotonic() - step.began
        bars.remove_task(bar)
        bars.console.print(f"{step.name} is ready after {step.seconds:.0f} s, for {step.charged:g} credits")
        return True

    def _take(self, path: str, download_id: str) -> None:
        """The files that somebody wants to look at."""
        transcript = _told(self.client.get(f"{path}/transcript"))
        lines = len(transcript["segments"])
        self.came_out["transcript"] = f"{lines} lines by {len(transcript['speakers'])} speakers"
        subtitles = _told(self.client.get(f"{path}/subtitles/{LANGUAGE}"))
        self.came_out["captions"] = self._save(subtitles["downloadUrl"], f"launch.{LANGUAGE}.srt")
        dub = _told(self.client.get(f"{path}/dubs/{LANGUAGE}"))
        self.came_out["dub"] = self._save(dub["audioUrl"], f"launch.{LANGUAGE}.m4a")
        short = _told(self.client.get(f"/v1/shorts/{self.came_out.pop('short request')}"))["outputs"][0]
        self.came_out["short"] = self._save(short["videoUrl"], "short.mp4")
        packaged = _told(self.client.get(f"{path}/packaging"))
        self.came_out |= {"title": packaged["title"], "description": packaged["description"].partition("\n")[0]}
        self.came_out["thumbnail"] = self._save(packaged["thumbnail"]["outputImageUrls"][0], "thumbnail.jpg")
        download = _told(self.client.get(f"/v1/downloads/{download_id}"))
        self.came_out["download"] = self._save(download["url"], f"launch.{LANGUAGE}.mp4")

    def _save(self, url: str, name: str) -> str:
        answer = self.client.get(url, headers={"Authorization": ""})
        answer.raise_for_status()
        (self.keep / name).write_bytes(answer.content)
        return name

    def _table(self) -> Table:
        table = Table("step", "took", "quoted", "charged", "what came out")
        for step in self.steps:
            cost = (f"{step.quoted:g}", f"{step.charged:g}")
            table.add_row(step.name, f"{step.seconds:.0f} s", *cost, self.came_out.get(step.name, ""))
        quoted, charged = sum(step.quoted for step in self.steps), sum(step.charged for step in self.steps)
        table.add_section()
        table.add_row("all", "", f"{quoted:g}", f"{charged:g}", "credits")
        return table

    def _post(self, path: str, **body: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
        return _told(self.client.post(path, json=body))


def _told(answer: httpx.Response) -> dict[str, Any]:
    if not answer.is_success:
        raise DemoError(f"{answer.request.url.path} was answered with {answer.status_code}: {answer.text[:300]}")
    told: dict[str, Any] = answer.json()
    return told
