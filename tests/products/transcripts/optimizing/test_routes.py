"""Optimized scripts through HTTP and their workflow's activity."""

from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from temporalio.testing import ActivityEnvironment

from cutroom.credits.pricing import load_prices
from cutroom.engines.registry import Engines
from cutroom.engines.types import OnProgress
from cutroom.jobs import lifecycle
from cutroom.jobs.lifecycle import JobRef
from cutroom.platform.clock import system_clock
from cutroom.products.transcripts.optimizing.activities import OptimizingActivities
from cutroom.web.runtime import Runtime
from tests.products.conftest import TranscribedVideo

FIRST, SECOND = "Good morning.", "The train leaves at 10:30 from platform 4."
DISFLUENT = {"op": "replaceText", "id": "s1", "text": "Um, good good morning."}


class FakeTightener:
    """Returns the scripted text of each line."""

    name = "chat"

    def __init__(self, **texts: str) -> None:
        self.texts = texts

    def tighten(self, lines: list[str], *, language: str, on_progress: OnProgress) -> list[str | None]:
        assert language == "en"
        on_progress(1.0)
        return [self.texts.get(line.split()[0]) for line in lines]


class WordingEngines(Engines):
    def __init__(self, tightener: Any = None) -> None:  # noqa: ANN401 (a fake)
        self._fake = tightener

    def tightener(self) -> Any:  # noqa: ANN401 (a fake)
        return self._fake


@dataclass(frozen=True)
class ScriptStage:
    """The script of a transcribed video, as a client and a worker see it."""

    runtime: Runtime
    api: httpx.AsyncClient
    video: TranscribedVideo

    @property
    def url(self) -> str:
        return f"/videos/{self.video.video_id}/transcript"

    async def get(self) -> dict[str, Any]:
        response = await self.api.get(f"{self.url}/optimized")
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found

    async def request(self, **body: Any) -> httpx.Response:  # noqa: ANN401 (fields of the body)
        return await self.api.post(f"{self.url}/optimize", json=body)

    async def patch(self, revision: int, **texts: str | None) -> httpx.Response:
        changes = [{"id": id_, "text": text} for id_, text in texts.items()]
        return await self.api.patch(f"{self.url}/optimized", json={"revision": revision, "changes": changes})

    async def edit_transcript(self, revision: int, *operations: dict[str, Any]) -> None:
        response = await self.api.patch(self.url, json={"revision": revision, "operations": list(operations)})
        assert response.status_code == 200, response.text

    async def run(self, job_id: str, engines: Engines | None = None) -> dict[str, Any]:
        """Every step of a job."""
        library_id = self.video.library_id
        activities = OptimizingActivities(self.runtime.database, engines or WordingEngines(), system_clock)
        async with self.runtime.database.transaction(library_id) as connection:
            attempt = await connection.fetchval("SELECT attempt FROM jobs WHERE id = $1", job_id)
            ref = JobRef(library_id, job_id, attempt)
            plan = await lifecycle.start(connection, ref, prices=load_prices(), now=system_clock())
        assert plan is not None
        arguments = (plan["optimized_video_id"], plan["transcript_revision"])
        result: dict[str, Any] = await ActivityEnvironment().run(activities.optimize_transcript, ref, *arguments)
        async with self.runtime.database.transaction(library_id) as connection:
            assert await lifecycle.complete(connection, ref, result=result, now=system_clock(), prices=load_prices())
        return result

    async def make(self, engines: Engines | None = None) -> dict[str, Any]:
        response = await self.request()
        assert response.status_code == 202, response.text
        return await self.run(response.json()["job"]["id"], engines)


@pytest.fixture
def stage(runtime: Runtime, api: httpx.AsyncClient, transcribed: TranscribedVideo) -> ScriptStage:
    return ScriptStage(runtime, api, transcribed)


async def test_a_script_is_made_once_for_a_revision(stage: ScriptStage) -> None:
    assert (await stage.get())["status"] == "none"
    await stage.edit_transcript(1, DISFLUENT)
    started = (await stage.request(transcriptRevision=2)).json()
    assert (started["transcriptRevision"], started["segments"], started["job"]["status"]) == (2, 2, "queued")
    assert started["estimatedSeconds"] > 0
    assert (await stage.request()).json()["job"] == started["job"]
    assert (await stage.get())["status"] == "processing"
    result = await stage.run(started["job"]["id"])
    assert (result["madeSegments"], result["changedSegments"], result["engines"]) == (2, 1, ["rules"])
    found = await stage.get()
    assert (found["status"], found["revision"], found["staleSegments"], found["job"]["status"]) == (
        "ready",
        1,
        0,
        "ready",
    )
    assert [(each["source"], each["text"], each["engine"]) for each in found["segments"]] == [
        ("Um, good good morning.", "Good morning.", "rules"),
        (SECOND, SECOND, "rules"),
    ]
    assert (await stage.request()).json()["job"]["status"] == "ready"
    jobs = (await stage.api.get(f"/videos/{stage.video.video_id}/jobs")).json()["jobs"]
    assert {each["type"] for each in jobs} == {"transcript"}


async def test_only_stale_segments_are_made_again(stage: ScriptStage) -> None:
    await stage.make()
    assert (await stage.patch(1, s2="The train leaves at 10:30.")).json()["revision"] == 2
    await stage.edit_transcript(
        1, DISFLUENT, {"op": "replaceText", "id": "s2", "text": "The train leaves at 11:30 from platform 4."}
    )
    found = await stage.get()
    assert [(each["stale"], each["review"]) for each in found["segments"]] == [(["sourceChanged"], False), ([], True)]
    result = await stage.make()
    assert result["madeSegments"] == 1
    found = await stage.get()
    assert [(each["text"], each["edited"]) for each in found["segments"]] == [
        ("Good morning.", False),
        ("The train leaves at 10:30.", True),
    ]
    assert (found["revision"], found["reviewSegments"]) == (3, 1)
    reset = (await stage.patch(3, s2=None)).json()
    assert (reset["segments"][0]["text"], reset["segments"][0]["stale"]) == (SECOND, ["sourceChanged"])
    assert (await stage.make())["madeSegments"] == 1  # the job of this revision runs again


async def test_faithful_wordings_of_a_model_are_used(stage: ScriptStage) -> None:
    result = await stage.make(WordingEngines(FakeTightener(The="The train leaves 10:30, platform 4.")))
    assert (result["engines"], result["changedSegments"]) == (["chat", "rules"], 1)
    assert [each["text"] for each in (await stage.get())["segments"]] == [FIRST, "The train leaves 10:30, platform 4."]


async def test_a_script_by_hand_needs_no_job(stage: ScriptStage) -> None:
    written = await stage.patch(0, s1="")
    assert (written.status_code, written.json()["revision"]) == (200, 1)
    found = await stage.get()
    assert (found["status"], [each["stale"] for each in found["segments"]]) == ("ready", [[], ["added"]])
    assert found["segments"][0]["text"] == ""


async def test_conflicts_and_unknown_segments(stage: ScriptStage) -> None:
    assert (await stage.patch(1, s1="x")).json()["error"]["details"] == {"revision": 0}
    unknown = (await stage.patch(0, s9="x")).json()["error"]["details"]["fields"]
    assert [each["path"] for each in unknown] == ["changes.0.id"]
    control = (await stage.patch(0, s1="a\u0007b")).json()["error"]["details"]["fields"]
    assert [each["path"] for each in control] == ["changes.0.text"]
    assert (await stage.request(transcriptRevision=7)).json()["error"]["details"] == {"transcriptRevision": 1}
    await stage.video.job(status="failed", error_code="INTERNAL", error_message="x")
    assert (await stage.request()).json()["error"]["details"]["reason"] == "transcript"


async def test_a_script_by_hand_that_is_complete_has_nothing_to_optimize(stage: ScriptStage) -> None:
    await stage.patch(0, s1="One.", s2="Two.")
    refused = await stage.request()
    assert (refused.status_code, refused.json()["error"]["details"]["reason"]) == (409, "nothing_stale")
