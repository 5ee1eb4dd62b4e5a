"""Previews of a line by the real workflow: free takes that differ, and a chosen one that is heard to the sample."""

from typing import Any

from cutroom.products.dubs.editing.takes.service import WAV_HEADER_BYTES
from cutroom.products.dubs.editing.takes.workflow import TakesWorkflow
from cutroom.products.dubs.mixing import LINE_RATE
from tests.products.dubs.editing.conftest import Regenerator

TEXT = "Agora diz outra coisa."


async def preview(video: Regenerator, line: str, **body: Any) -> dict[str, Any]:  # noqa: ANN401 (fields of the body)
    """Request a preview, run its job, and read the takes."""
    url = f"{video.path}/segments/{line}/preview"
    response = await video.api.post(url, json=body)
    assert response.status_code == 202, response.text
    requested = response.json()
    assert (requested["status"], requested["takes"]) == ("queued", [])
    await video.run(f"takes_{requested['id']}", TakesWorkflow.run)
    read = (await video.api.get(f"{url}/{requested['id']}")).json()
    assert read["status"] == "ready"
    found: dict[str, Any] = read
    return found


async def line_at(video: Regenerator, start: float) -> dict[str, Any]:
    return next(each for each in (await video.read())["segments"] if each["start"] == start)


async def test_takes_are_free_and_a_chosen_one_is_used_to_the_sample(regenerator: Regenerator) -> None:
    before, funds = await regenerator.read(), await regenerator.balance()
    line = await line_at(regenerator, 30.0)
    made = await preview(regenerator, line["id"], text=TEXT, count=3)
    first, calm, lively = made["takes"]
    assert [each["variation"] for each in made["takes"]] == ["none", "pace", "pace"]
    assert {each["text"] for each in made["takes"]} == {TEXT}
    assert calm["seconds"] > first["seconds"] * 1.05
    assert lively["seconds"] < first["seconds"] * 0.95
    for number, each in enumerate(made["takes"]):
        samples = await samples_of(regenerator, made["id"], number)
        assert round(len(samples) / 2 / LINE_RATE, 3) == each["seconds"]
        assert each["fit"] == {"availableSeconds": line["fit"]["availableSeconds"], "excessSeconds": 0.0}
        assert each["audioUrl"].endswith(f"/{number}.wav")
    assert (await regenerator.read(), await regenerator.balance()) == (before, funds)
    spoken = len(regenerator.engines.voice.spoken)
    body = {"text": TEXT, "count": 3}
    again = await regenerator.api.post(f"{regenerator.path}/segments/{line['id']}/preview", json=body)
    assert again.json() | {"takes": 0} == made | {"takes": 0}  # apart from the signatures of URLs
    take = calm["id"]
    refused = await regenerator.patch(1, {"id": line["id"], "take": take})
    assert refused.json()["error"]["details"]["fields"][0]["path"] == "changes.0.take"  # the line has another text
    chosen = (await regenerator.patch(1, {"id": line["id"], "text": TEXT, "take": take})).json()
    assert (chosen["segments"][0]["edits"]["take"], chosen["segments"][0]["stale"]) == (take, ["edited"])
    assert chosen["regeneration"]["seconds"] == 4.0  # charged as any line that is spoken
    await regenerator.regenerate()
    assert len(regenerator.engines.voice.spoken) == spoken  # nothing was spoken again
    assert await published_samples(regenerator, line["id"]) == await samples_of(regenerator, made["id"], 1)
    assert await regenerator.stale() == {}
    louder = (await regenerator.patch(2, {"id": line["id"], "gainDb": 3})).json()["segments"][0]
    assert louder["edits"]["take"] == take
    unchosen = (await regenerator.patch(3, {"id": line["id"], "take": None})).json()["segments"][0]
    assert "take" not in unchosen["edits"]
    await regenerator.regenerate()  # without the take, it is what the first one was
    assert await published_samples(regenerator, line["id"]) == await samples_of(regenerator, made["id"], 0)
    await regenerator.patch(4, {"id": line["id"], "take": take})
    other = (await regenerator.patch(5, {"id": line["id"], "text": "Outra."})).json()["segments"][0]
    assert "take" not in other["edits"]


async def samples_of(video: Regenerator, preview_id: str, number: int) -> bytes:
    return (await video.artifacts.read(video.dub.shared_path(f"takes/{preview_id}/{number}.wav")))[WAV_HEADER_BYTES:]


async def published_samples(video: Regenerator, line: str) -> bytes:
    rows = await video.video.accounts.connection.fetchval(
        "SELECT lines FROM dubs WHERE video_id = $1", video.video.video_id
    )
    placed = next(each["placed"] for each in rows["lines"] if each["source"]["id"] == line)
    return await video.artifacts.read(video.dub.line_path(placed["key"]))


async def test_takes_of_the_translation_end_with_it_and_expire_after_a_day(regenerator: Regenerator) -> None:
    line = await line_at(regenerator, 30.0)
    take = (await preview(regenerator, line["id"], count=2))["takes"][1]["id"]
    await regenerator.patch(1, {"id": line["id"], "take": take})
    await regenerator.edit_transcript(
        2, {"op": "replaceText", "id": line["segmentIds"][0], "text": "Another fourth line."}
    )
    changed = await line_at(regenerator, 30.0)
    assert ("take" in changed["edits"], changed["stale"]) == (False, ["sourceChanged"])
    url = f"{regenerator.path}/segments/{line['id']}/preview"
    untranslated = await regenerator.api.post(url, json={})
    assert untranslated.json()["error"]["details"] == {"reason": "untranslated"}
    made = await preview(regenerator, line["id"], text=TEXT)
    await regenerator.video.accounts.connection.execute(
        "UPDATE jobs SET finished_at = finished_at - interval '24 hours' WHERE id = $1", f"takes_{made['id']}"
    )
    assert (await regenerator.api.get(f"{url}/{made['id']}")).status_code == 404
    refused = await regenerator.patch(2, {"id": line["id"], "text": TEXT, "take": made["takes"][0]["id"]})
    assert refused.status_code == 400
    again = await preview(regenerator, line["id"], text=TEXT)
    assert again["takes"][0]["id"] == made["takes"][0]["id"]
