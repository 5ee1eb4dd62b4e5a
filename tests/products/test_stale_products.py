"""The list of stale products through HTTP: each kind becomes stale by the edits that concern it, and current again."""

from datetime import timedelta
from typing import Any

import httpx
import pytest

from cutroom.capabilities.rules import AdvertisedTranslator
from cutroom.capabilities.service import publish_routes
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.products.playback import service as playback
from cutroom.products.transcripts.document import DocumentSegment
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.products.captions.editing.track_stage import ROUTE, CaptionTrackStage, CountingTranslator
from tests.products.conftest import TranscribedVideo
from tests.products.dubs.editing.published import DubbedVideo

DELETE_FIRST = {"op": "delete", "ids": ["s1"]}
CHANGE_SECOND = {"op": "replaceText", "id": "s2", "text": "The train leaves at 10:45 from platform 4."}


class EditedVideo:
    """A video with products of every kind, whose transcript is edited."""

    def __init__(self, api: httpx.AsyncClient, video: TranscribedVideo) -> None:
        self.api, self.video = api, video
        self.connection = video.accounts.connection
        self.created_at = system_clock()
        self.base = {"library_id": video.library_id, "video_id": video.video_id, "created_at": self.created_at}
        self.short, self.request, self.download = new_id(), new_id(), new_id()

    async def job(self, id_: str, type_: str, **columns: Any) -> None:  # noqa: ANN401 (columns)
        started = self.created_at + timedelta(milliseconds=1)
        times = {"started_at": started, "finished_at": started + timedelta(seconds=8), "updated_at": started}
        plain = {"status": "ready", "attempt": 1, "plan": {}, "depends_on": [], "progress": 100}
        await insert(self.connection, "jobs", {**self.base, "id": id_, "type": type_, **plain, **times, **columns})

    async def make_products(self) -> None:
        """Rows as the jobs leave them: of the first revision of the transcript."""
        made = {"transcriptRevision": 1}
        video_id = self.video.video_id
        await self.connection.execute("UPDATE videos SET title = 'Trains' WHERE id = $1", video_id)
        title = {"automation_type": "generateTitle", "result": {**made, "title": "Trains"}}
        await self.job(f"packaging_{video_id}_generateTitle", "packaging", **title)
        await self.job(f"shorts_{self.request}", "shorts", plan={"kind": "shorts"}, result={"outputs": 2})
        moments = [{"start": 0.5, "seconds": 1.2}]  # the first sentence
        output = {"id": self.short, "request_id": self.request, "number": 0, "kind": "shorts", "moments": moments}
        texts = dict.fromkeys(("title", "description", "reason", "video_path", "thumbnail_path", "plan_path"), "")
        row = {**self.base, **output, **texts, "duration_seconds": 1.2, "transcript_revision": 1}
        await insert(self.connection, "shorts_outputs", row)
        await self.job(
            f"thumbnail_{self.request}",
            "thumbnail",
            plan={"mode": "prompt"},
            result={**made, "spokenRange": [1.0, 1.6]},
        )
        thumbnail = {"id": self.request, "job_id": f"thumbnail_{self.request}"}
        await insert(self.connection, "thumbnail_requests", {**self.base, **thumbnail})
        image = {"id": new_id(), "request_id": self.request, "number": 0, "layout": "", "score": 1.0, "engine": ""}
        await insert(self.connection, "thumbnails", {**self.base, **image, "path": ""})
        for id_, artifact in ((self.download, "bundle"), (new_id(), "source")):
            plan = {"artifact": artifact, "language": "en", "tier": "full"}
            await self.job(f"download_{id_}", "download", plan=plan, result=made)

    async def edit(self, revision: int, *operations: dict[str, Any]) -> None:
        body = {"revision": revision, "operations": list(operations)}
        response = await self.api.patch(f"/videos/{self.video.video_id}/transcript", json=body)
        assert response.status_code == 200, response.text

    async def stale(self) -> dict[str, dict[str, Any]]:
        """The stale products by their kind."""
        response = await self.api.get(f"/videos/{self.video.video_id}/stale-products")
        assert response.status_code == 200, response.text
        body = response.json()
        assert body["credits"] == pytest.approx(sum(each["credits"] for each in body["products"]))
        return {each["product"]: each for each in body["products"]}


@pytest.fixture
async def edited(api: httpx.AsyncClient, transcribed: TranscribedVideo) -> EditedVideo:
    video = EditedVideo(api, transcribed)
    await video.make_products()
    return video


async def test_nothing_is_stale_before_an_edit(edited: EditedVideo) -> None:
    assert await edited.stale() == {}


async def test_products_are_stale_by_what_they_were_made_from(edited: EditedVideo) -> None:
    await edited.edit(1, CHANGE_SECOND)
    found = await edited.stale()
    assert set(found) == {"title", "download"}  # the short and the headline are of the first sentence
    assert found["title"] == {
        "product": "title",
        "id": f"packaging_{edited.video.video_id}_generateTitle",
        "reasons": ["sourceChanged"],
        "transcriptRevision": 1,
        "credits": 0.0,
        "estimatedSeconds": 8.0,
    }
    assert found["download"]["id"] == edited.download
    await edited.edit(2, DELETE_FIRST)
    found = await edited.stale()
    assert set(found) == {"title", "download", "short", "thumbnail"}
    assert (found["short"]["id"], found["short"]["reasons"]) == (edited.short, ["removed"])
    assert found["short"]["estimatedSeconds"] == 4.0
    assert found["short"]["credits"] > 0
    assert (found["thumbnail"]["id"], found["thumbnail"]["reasons"]) == (edited.request, ["removed"])
    assert found["title"]["reasons"] == ["sourceChanged", "removed"]


async def test_undoing_an_edit_leaves_nothing_stale(edited: EditedVideo) -> None:
    await edited.edit(1, DELETE_FIRST)
    assert await edited.stale()
    response = await edited.api.post(f"/videos/{edited.video.video_id}/transcript/undo", json={"revision": 2})
    assert response.status_code == 200
    assert await edited.stale() == {}


async def test_a_title_by_hand_is_not_stale(edited: EditedVideo) -> None:
    await edited.connection.execute("UPDATE videos SET title = 'Mine' WHERE id = $1", edited.video.video_id)
    await edited.edit(1, CHANGE_SECOND)
    assert "title" not in await edited.stale()


async def test_products_without_a_recorded_revision_have_that_of_their_start(edited: EditedVideo) -> None:
    await edited.connection.execute("UPDATE shorts_outputs SET transcript_revision = NULL")
    await edited.edit(1, DELETE_FIRST)
    assert (await edited.stale())["short"]["transcriptRevision"] == 1


async def test_a_revision_that_is_not_kept_counts_as_changed(edited: EditedVideo) -> None:
    await edited.edit(1, {"op": "replaceText", "id": "s2", "text": "A."})
    await edited.edit(2, CHANGE_SECOND)
    await edited.connection.execute(
        "DELETE FROM transcript_revisions WHERE video_id = $1 AND revision = 2", edited.video.video_id
    )
    await edited.connection.execute(
        "UPDATE transcripts SET published_revision = 3 WHERE video_id = $1", edited.video.video_id
    )
    assert (await edited.stale())["short"]["reasons"] == ["sourceChanged"]


async def test_captions_and_dubs_are_listed_by_their_own_rules(
    edited: EditedVideo, api: httpx.AsyncClient, runtime: Runtime, accounts: Accounts
) -> None:
    await accounts.connection.execute("DELETE FROM translation_routes")
    async with runtime.database.connection() as connection, connection.transaction():
        await publish_routes(connection, [AdvertisedTranslator("one", (ROUTE,))], now=system_clock())
    await CaptionTrackStage(runtime, api, edited.video, CountingTranslator("one", ROUTE, [])).make()
    rows = (await api.get(f"/videos/{edited.video.video_id}/transcript/revisions/1")).json()["segments"]
    dub = DubbedVideo(edited.video, api)
    await dub.publish([DocumentSegment.from_row(each) for each in rows])
    assert not {"captions", "dub"} & set(await edited.stale())
    await edited.edit(1, CHANGE_SECOND)
    found = await edited.stale()
    regeneration = (await dub.read())["regeneration"]
    assert found["dub"] == {
        "product": "dub",
        "id": dub.job_id,
        "language": "pt",
        "dubProduct": "plus",
        "reasons": ["sourceChanged"],
        "segments": 1,
        "transcriptRevision": 1,
        "credits": regeneration["credits"],
        "estimatedSeconds": regeneration["estimatedSeconds"],
    }
    captions = (await api.get(f"/videos/{edited.video.video_id}/captions/pt/segments")).json()
    assert (found["captions"]["id"], found["captions"]["segments"]) == (f"captions_{edited.video.video_id}_pt", 1)
    assert found["captions"]["credits"] == captions["regeneration"]["credits"] > 0


async def test_a_stream_is_stale_until_its_subtitles_are_those_of_now(edited: EditedVideo) -> None:
    library_id, video_id = edited.video.library_id, edited.video.video_id
    expected = await playback.expected_tracks(edited.connection, library_id, video_id, language="en", has_audio=False)
    track = {"library_id": library_id, "video_id": video_id, "packaged": {}, "created_at": system_clock()}
    for each in expected:
        columns = {"kind": each.kind, "name": each.name, "language": each.language, "source": each.source}
        await insert(edited.connection, "playback_tracks", {**track, **columns})
    assert await edited.stale() == {}
    await edited.connection.execute(
        "UPDATE transcripts SET created_at = created_at + interval '1 s'"
    )  # as another recognition does
    assert (await edited.stale())["playback"] == {
        "product": "playback",
        "id": video_id,
        "reasons": ["subtitlesChanged"],
        "credits": 0.0,
        "estimatedSeconds": 3.0,
    }


async def test_a_video_without_a_transcript_has_nothing_stale(edited: EditedVideo) -> None:
    await edited.connection.execute("DELETE FROM transcripts WHERE video_id = $1", edited.video.video_id)
    response = await edited.api.get(f"/videos/{edited.video.video_id}/stale-products")
    assert response.json() == {"videoId": edited.video.video_id, "credits": 0.0, "products": []}
