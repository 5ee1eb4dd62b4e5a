"""Regenerating stale segments: prices, what stays as it is, retries, failures, and files."""

import httpx

from cutroom.jobs.lifecycle import JobRef
from dev.scratch import Accounts
from tests.products.captions.editing.track_stage import CaptionTrackStage

CHANGED = {"op": "replaceText", "id": "s1", "text": "Good evening."}
MOVED = {"op": "setTimes", "id": "s2", "start": 2.0, "end": 4.2}


def insert(at: int) -> dict[str, object]:
    return {"op": "insert", "start": 10.0 + at, "end": 10.9 + at, "text": f"Sentence {at}.", "speaker": "b"}


async def test_only_stale_segments_are_translated_at_the_quoted_price(track: CaptionTrackStage) -> None:
    await track.edit_transcript(1, *(insert(at) for at in range(10)))
    first = (await track.regenerate(1)).json()["job"]["id"]
    await track.finish(first)
    await track.edit(2, {"op": "setText", "id": "s2", "text": "By hand."})
    before, balance = await track.rows(), await track.balance()
    await track.edit_transcript(2, CHANGED)
    quote = (await track.get())["regeneration"]
    track.translator.seen.clear()
    response = await track.regenerate(3)
    assert response.status_code == 202, response.text
    job = response.json()["job"]
    assert (job["id"], job["type"], job["language"]) == (
        f"captions_{track.transcribed.video_id}_pt_3",
        "captions",
        "pt",
    )
    assert await track.balance() == balance - quote["credits"] * 1000 == balance - 100
    result = await track.finish(job["id"])
    assert (result["lines"], result["revision"], result["engines"]) == (1, 4, ["one"])
    after = await track.rows()
    assert after["s1"]["text"] == "Good evening."
    assert {id_: row for id_, row in after.items() if id_ != "s1"} == {
        id_: row for id_, row in before.items() if id_ != "s1"
    }
    assert "Sentence 9." not in track.translator.seen  # too far away to be context
    found = await track.get()
    assert (found["staleSegments"], found["revision"]) == (0, 4)
    assert "Good evening." in await track.file()
    assert "By hand." in await track.file()
    receipt = (await track.api.get(f"/jobs/{job['id']}")).json()["result"]["receipt"]
    assert (receipt["captured"], receipt["returned"]) == (quote["credits"], 0.0)


async def test_a_repeated_request_returns_the_job_without_a_charge(track: CaptionTrackStage) -> None:
    await track.edit_transcript(1, CHANGED)
    job = (await track.regenerate(1)).json()["job"]
    assert (await track.regenerate(1)).json()["job"] == job
    other = await track.edit(1, {"op": "setText", "id": "s2", "text": "By hand."})
    assert other.status_code == 200
    running = (await track.regenerate(2)).json()["error"]
    assert running["details"] == {"reason": "regenerating", "jobId": job["id"]}
    await track.finish(job["id"])
    assert (await track.regenerate(1)).json()["job"]["status"] == "ready"
    assert await track.balance() == 10_000 - 100
    nothing = (await track.regenerate(3)).json()["error"]
    assert (nothing["code"], nothing["details"]) == ("FAILED_PRECONDITION", {"reason": "nothing_stale"})
    assert (await track.rows())["s2"]["text"] == "By hand."


async def test_changed_times_speakers_and_removed_segments_are_free(
    track: CaptionTrackStage, accounts: Accounts
) -> None:
    await track.edit_transcript(1, MOVED, {"op": "delete", "ids": ["s1"]})
    await accounts.connection.execute("DELETE FROM translation_routes")
    assert (await track.get())["regeneration"]["credits"] == 0
    job = (await track.regenerate(1)).json()["job"]
    result = await track.finish(job["id"])
    assert (result["lines"], result["updatedSegments"]) == (0, 2)
    assert track.translator.seen == []
    assert await track.balance() == 10_000
    rows = await track.rows()
    assert (list(rows), rows["s2"]["start"], rows["s2"]["end"]) == (["s2"], 2.0, 4.2)
    assert "morning" not in await track.file()


async def test_chosen_segments_only(track: CaptionTrackStage) -> None:
    await track.edit_transcript(1, CHANGED, insert(0))
    job = (await track.regenerate(1, segmentIds=["s1"], transcriptRevision=2)).json()["job"]
    await track.finish(job["id"])
    found = await track.get()
    assert [each["stale"] for each in found["segments"]] == [[], [], ["added"]]


async def test_a_transcript_that_changed_since_the_quote_is_a_conflict(track: CaptionTrackStage) -> None:
    await track.edit_transcript(1, CHANGED)
    await track.edit_transcript(2, insert(0))
    error = (await track.regenerate(1, transcriptRevision=2)).json()["error"]
    assert (error["code"], error["details"]) == ("CONFLICT", {"revision": 1, "transcriptRevision": 3})
    stale = (await track.regenerate(5)).json()["error"]
    assert (stale["code"], stale["details"]) == ("CONFLICT", {"revision": 1})
    assert await track.balance() == 10_000


async def test_what_changes_while_the_job_runs_is_not_lost(track: CaptionTrackStage) -> None:
    """A text by hand stays, and a segment whose source changes again stays stale."""
    await track.edit_transcript(1, CHANGED, insert(0))
    added = (await track.get())["segments"][2]["id"]
    started = await track.start((await track.regenerate(1)).json()["job"]["id"])
    assert started is not None
    await track.edit(1, {"op": "setText", "id": "s1", "text": "Boa noite."})
    await track.edit_transcript(2, {"op": "replaceText", "id": added, "text": "Another one."})
    await track.complete(started[0], await track.run(*started))
    found = {each["id"]: each for each in (await track.get())["segments"]}
    assert (found["s1"]["text"], found["s1"]["edited"]) == ("Boa noite.", True)
    assert (found[added]["text"], found[added]["stale"]) == ("Sentence 0.", ["sourceChanged"])
    assert "Boa noite." in await track.file()


async def test_an_activity_that_is_run_again_changes_nothing_more(track: CaptionTrackStage) -> None:
    """As after a worker that was killed between the commit and its report."""
    await track.edit_transcript(1, CHANGED)
    started = await track.start((await track.regenerate(1)).json()["job"]["id"])
    assert started is not None
    first = await track.run(*started)
    rows, seen = await track.rows(), list(track.translator.seen)
    assert await track.run(*started) == first
    assert (await track.rows(), track.translator.seen) == (rows, seen)
    assert (await track.get())["revision"] == 2


async def test_a_failed_job_leaves_the_captions_and_is_refunded(track: CaptionTrackStage) -> None:
    before, content = await track.rows(), await track.file()
    await track.edit_transcript(1, CHANGED)
    job_id = (await track.regenerate(1)).json()["job"]["id"]
    started = await track.start(job_id)
    assert started is not None
    await track.fail(started[0])
    assert (await track.rows(), await track.file(), await track.balance()) == (before, content, 10_000)
    assert (await track.regenerate(1)).json()["job"]["id"] == job_id
    await track.finish(job_id)
    assert (await track.balance(), (await track.get())["staleSegments"]) == (9_900, 0)


async def test_a_canceled_job_leaves_the_captions(track: CaptionTrackStage, api: httpx.AsyncClient) -> None:
    before = await track.rows()
    await track.edit_transcript(1, CHANGED)
    job_id = (await track.regenerate(1)).json()["job"]["id"]
    assert (await api.post(f"/jobs/{job_id}/cancel")).status_code == 200
    assert (await track.rows(), await track.balance()) == (before, 10_000)
    assert (await api.post(f"/jobs/{job_id}/retry")).status_code == 202
    assert await track.balance() == 9_900


async def test_captions_are_not_deleted_while_segments_are_translated(
    track: CaptionTrackStage, api: httpx.AsyncClient
) -> None:
    await track.edit_transcript(1, CHANGED)
    job_id = (await track.regenerate(1)).json()["job"]["id"]
    refused = await api.delete(track.url)
    assert (refused.status_code, refused.json()["error"]["details"]["jobId"]) == (409, job_id)
    await track.finish(job_id)
    assert (await api.delete(track.url)).status_code == 204
    assert (await api.get(f"{track.url}/segments")).status_code == 404


async def test_captions_made_again_are_regenerated_under_the_same_id(
    track: CaptionTrackStage, api: httpx.AsyncClient, accounts: Accounts
) -> None:
    await track.edit_transcript(1, CHANGED)
    job_id = (await track.regenerate(1)).json()["job"]["id"]
    await track.finish(job_id)
    await api.delete(track.url)
    await track.make()
    await track.edit_transcript(2, {"op": "replaceText", "id": "s1", "text": "Good night."})
    assert (await track.regenerate(1)).json()["job"]["id"] == job_id
    attempt = await accounts.connection.fetchval("SELECT attempt FROM jobs WHERE id = $1", job_id)
    assert JobRef("", job_id, attempt).attempt == 2
    await track.finish(job_id)
    assert (await track.rows())["s1"]["text"] == "Good night."


async def test_files_follow_edits_once_for_each_burst(track: CaptionTrackStage, accounts: Accounts) -> None:
    for revision in range(1, 4):
        await track.edit(revision, {"op": "setText", "id": "s1", "text": f"Text {revision}."})
    assert not await track.publish(3)
    assert "Text" not in await track.file()
    assert await track.publish(4)
    assert "Text 3." in await track.file()
    assert "platform 4" in await track.file()
    assert not await track.publish(4)
    playback = await accounts.connection.fetchval(
        "SELECT count(*) FROM outbox WHERE library_id = $1 AND workflow = 'playback'", track.transcribed.library_id
    )
    assert playback == 1
    made = await accounts.connection.fetchrow(
        """SELECT c.created_at AS made, p.created_at AS published FROM captions c JOIN published_captions p
           USING (library_id, video_id, language) WHERE video_id = $1""",
        track.transcribed.video_id,
    )
    assert made is not None
    assert made["published"] > made["made"]  # so that playback packages the track again
