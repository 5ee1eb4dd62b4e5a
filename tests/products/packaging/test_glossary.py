"""Titles and descriptions spell the terms to keep of the glossary, and list those that they do not."""

from collections.abc import Mapping, Sequence
from typing import Any

import httpx
import pytest
from temporalio.testing import ActivityEnvironment

from cutroom.credits import ledger
from cutroom.credits.pricing import load_prices
from cutroom.engines.registry import Engines
from cutroom.engines.writing.port import TitleStyle, WritingInput, WrittenText
from cutroom.jobs import lifecycle
from cutroom.jobs.lifecycle import JobRef
from cutroom.platform.clock import system_clock
from cutroom.products.packaging.activities import PackagingActivities
from cutroom.web.runtime import Runtime
from tests.products.conftest import TranscribedVideo
from tests.support.talks import TEXTS

SECONDS_EACH = 6.0
OPTIONS = {
    "generateTitle": {"enabled": True, "titleType": "informational"},
    "generateDescription": {"enabled": True, "descriptionType": "video-summary"},
}


async def set_transcript(transcribed: TranscribedVideo, texts: Sequence[str]) -> None:
    rows = [
        {
            "start": at * SECONDS_EACH,
            "end": (at + 1) * SECONDS_EACH,
            "speaker": "speaker_1",
            "text": text,
            "deleted": False,
            "words": 0,
        }
        for at, text in enumerate(texts)
    ]
    await transcribed.accounts.connection.execute(
        "UPDATE transcripts SET segments = $2 WHERE video_id = $1", transcribed.video_id, rows
    )


async def write(
    api: httpx.AsyncClient,
    runtime: Runtime,
    transcribed: TranscribedVideo,
    automation: str,
    *,
    engines: Engines | None = None,
) -> Mapping[str, Any]:
    """The result of a job that writes a text."""
    await ledger.grant(
        transcribed.accounts.connection, transcribed.library_id, millicredits=20_000, reference="t", now=system_clock()
    )
    path, options = f"/videos/{transcribed.video_id}/packaging", {automation: OPTIONS[automation]}
    created = await api.post(path, json={"automationOptions": options})
    assert created.status_code == 202, created.text
    ref = JobRef(transcribed.library_id, f"packaging_{transcribed.video_id}_{automation}", 1)
    async with runtime.database.transaction(transcribed.library_id) as connection:
        plan = await lifecycle.start(connection, ref, prices=load_prices(None), now=system_clock())
    assert plan is not None
    activities = PackagingActivities(runtime.database, engines or Engines(runtime.settings), system_clock)
    found: dict[str, Any] = await ActivityEnvironment().run(activities.write_text, ref, dict(plan))
    return found


@pytest.mark.parametrize("automation", ["generateTitle", "generateDescription"])
async def test_terms_to_keep_are_spelled_as_the_glossary_says(
    api: httpx.AsyncClient, runtime: Runtime, transcribed: TranscribedVideo, automation: str
) -> None:
    await set_transcript(transcribed, TEXTS["en"])
    term = {"term": "Garden Hose", "language": "en", "keep": True}
    assert (await api.post("/glossary/terms", json=term)).status_code == 201
    found = await write(api, runtime, transcribed, automation)
    assert "Garden Hose" in found[automation.removeprefix("generate").lower()]
    assert not any("garden hose" in each or "Garden hose" in each for each in found["candidates"])
    assert (found["brokenTerms"], found["brokenTermCount"]) == ([], 0)
    assert found["glossaryVersion"]


class WriterOfOneTitle:
    """A language model that spells a name in its own way."""

    name = "one title"

    def title(self, source: WritingInput, *, style: TitleStyle) -> WrittenText:
        del source, style
        return WrittenText("Baking with Dough Ltd today", self.name, alternatives=("DOUGH LTD explains",))


class OnlyWriter(Engines):
    """The engines of a worker with one writer."""

    def __init__(self) -> None: ...

    def writer(self) -> Any:  # noqa: ANN401 - a part of the port
        return WriterOfOneTitle()


async def test_a_title_that_breaks_a_term_lists_it(
    api: httpx.AsyncClient, runtime: Runtime, transcribed: TranscribedVideo
) -> None:
    await set_transcript(transcribed, [*TEXTS["en"], "This loaf is made by DOUGH Ltd for all of us."])
    term = {"term": "DOUGH Ltd", "language": "en", "keep": True, "caseSensitive": True}
    assert (await api.post("/glossary/terms", json=term)).status_code == 201
    found = await write(api, runtime, transcribed, "generateTitle", engines=OnlyWriter())
    broken = {"language": "en", "term": "DOUGH Ltd", "expected": "DOUGH Ltd"}
    assert found["brokenTerms"] == [{**broken, "candidate": 0}, {**broken, "candidate": 1}]
    assert found["brokenTermCount"] == 2
