"""Results of the captions activity."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx
from temporalio.testing import ActivityEnvironment

from cutroom.engines.registry import Engines
from cutroom.engines.translation.language_identification import FastLanguageIdentifier
from cutroom.engines.translation.port import LanguageIdentifier, Quality, Route, Translator
from cutroom.engines.types import OnProgress
from cutroom.jobs.lifecycle import JobRef
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.products.captions.activities import CaptionActivities
from cutroom.products.transcripts.service import subtitle_path
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.products.conftest import TranscribedVideo


@dataclass(frozen=True)
class EchoTranslator:
    """Returns sentences unchanged."""

    name: str
    route: Route

    def routes(self) -> Sequence[Route]:
        return [self.route]

    def translate(
        self, sentences: Sequence[str], *, source: str, target: str, on_progress: OnProgress | None = None
    ) -> list[str]:
        assert (source, target) == (self.route.source, self.route.target)
        if on_progress:
            on_progress(1.0)
        return list(sentences)


class FakeEngines(Engines):
    def __init__(self, *translators: Translator) -> None:
        self._fakes = translators

    def translators(self) -> Sequence[Translator]:
        return self._fakes

    def language_identifier(self) -> LanguageIdentifier:
        return FastLanguageIdentifier()

    def text_embedder(self) -> None:
        """Without one, translations are not compared with the source by meaning."""


async def result(
    runtime: Runtime, transcribed: TranscribedVideo, *translators: Translator, language: str = "pt"
) -> dict[str, Any]:
    activities = CaptionActivities(runtime.database, runtime.storage, FakeEngines(*translators), system_clock)
    job = JobRef(transcribed.library_id, f"captions_{transcribed.video_id}_{language}", 1)
    now = system_clock()
    row = {
        "library_id": job.library_id,
        "id": job.job_id,
        "type": "captions",
        "status": "processing",
        "video_id": transcribed.video_id,
        "language": language,
        "attempt": job.attempt,
        "plan": {},
        "depends_on": [],
        "progress": 0,
        "created_at": now,
        "updated_at": now,
    }
    await transcribed.accounts.connection.execute("DELETE FROM jobs WHERE id = $1", job.job_id)
    await insert(transcribed.accounts.connection, "jobs", row)
    return await ActivityEnvironment().run(activities.translate_captions, job, transcribed.video_id, language)


async def test_reading_speed_exceptions_count_only_fast_cues(
    runtime: Runtime, transcribed: TranscribedVideo, accounts: Accounts
) -> None:
    route = Route("en", "pt", Quality.PUBLISHABLE)
    assert (await result(runtime, transcribed, EchoTranslator("one", route)))["readingSpeedExceptions"] == 0
    # The file ends before the last word, so that its cue is too short and too fast.
    await accounts.connection.execute("UPDATE videos SET duration_seconds = 2.0 WHERE id = $1", transcribed.video_id)
    outcome = await result(runtime, transcribed, EchoTranslator("one", route))
    assert outcome["readingSpeedExceptions"] == len(outcome["fastCues"]) == 1
    assert outcome["fastCues"][0]["charactersPerSecond"] > 17


async def test_flagged_lines_have_reasons(runtime: Runtime, transcribed: TranscribedVideo) -> None:
    outcome = await result(runtime, transcribed, EchoTranslator("one", Route("en", "pt", Quality.PUBLISHABLE)))
    assert outcome["flaggedLines"] == len(outcome["flagged"]) > 0
    assert {tuple(each["reasons"]) for each in outcome["flagged"]} <= {("untranslated",), ("language",), ("leftover",)}
    assert outcome["fallbackLines"] == 0


async def test_broken_terms_of_the_glossary_are_listed(
    runtime: Runtime, api: httpx.AsyncClient, transcribed: TranscribedVideo
) -> None:
    route = Route("en", "pt", Quality.PUBLISHABLE)
    before = await result(runtime, transcribed, EchoTranslator("one", route))
    assert (before["brokenTerms"], before["brokenTermCount"]) == ([], 0)
    terms = "term,language,keep,translation pt\nplatform,en,false,plataforma\ntrain,en,true,\n"
    imported = await api.post("/glossary/import", json={"csv": terms})
    assert imported.status_code == 200, imported.text
    outcome = await result(runtime, transcribed, EchoTranslator("one", route))
    assert outcome["glossaryVersion"] != before["glossaryVersion"]
    assert (outcome["brokenTerms"], outcome["brokenTermCount"]) == ([], 0)
    row = await transcribed.accounts.connection.fetchval(
        "SELECT segments FROM captions WHERE video_id = $1", transcribed.video_id
    )
    assert "plataforma" in row[-1]["text"]


async def test_translation_through_two_engines_has_the_class_of_both(
    runtime: Runtime, transcribed: TranscribedVideo
) -> None:
    first, second = (
        EchoTranslator("one", Route("en", "pt", Quality.PUBLISHABLE)),
        EchoTranslator("two", Route("pt", "es", Quality.PUBLISHABLE)),
    )
    outcome = await result(runtime, transcribed, first, second, language="es")
    assert (outcome["quality"], outcome["engines"], outcome["via"]) == ("review", ["one", "two"], ["pt"])
    assert (await result(runtime, transcribed, first, second))["quality"] == "publishable"


async def test_captions_are_those_of_the_edited_transcript_without_its_deleted_segments(
    runtime: Runtime, api: httpx.AsyncClient, transcribed: TranscribedVideo
) -> None:
    operations = [{"op": "replaceText", "id": "s2", "text": "The bus leaves at noon."}, {"op": "delete", "ids": ["s1"]}]
    response = await api.patch(
        f"/videos/{transcribed.video_id}/transcript", json={"revision": 1, "operations": operations}
    )
    assert response.status_code == 200
    await result(runtime, transcribed, EchoTranslator("one", Route("en", "pt", Quality.PUBLISHABLE)))
    path = subtitle_path(transcribed.library_id, transcribed.video_id, language="pt", format_="srt")
    cues = b"".join([chunk async for chunk in runtime.storage.read(path)]).decode()
    assert "bus leaves" in cues
    assert "train" not in cues
    assert "Good morning" not in cues
