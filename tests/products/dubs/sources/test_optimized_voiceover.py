"""Dubs that say the optimized script of a transcript."""

import httpx

from cutroom.products.dubs.mixing import MIX_RATE
from cutroom.products.dubs.sources.options import DEFAULT_OPTIONS, DubTextOptions
from tests.products.dubs.editing.conftest import Regenerator


async def patch(dubbed: Regenerator, revision: int, **texts: str) -> httpx.Response:
    body = {"revision": revision, "changes": [{"id": id_, "text": text} for id_, text in texts.items()]}
    response = await dubbed.api.patch(f"/videos/{dubbed.video.video_id}/transcript/optimized", json=body)
    assert response.status_code == 200, response.text
    return response


def test_plans_name_only_what_was_chosen() -> None:
    assert DEFAULT_OPTIONS.to_plan() == {}
    assert DubTextOptions.of_plan({"video_id": "v"}) == DEFAULT_OPTIONS
    chosen = DubTextOptions(source_voiceover="optimized")
    assert chosen.to_plan() == {"source_voiceover": "optimized"}
    assert DubTextOptions.of_plan(chosen.to_plan()) == chosen


async def test_a_dub_of_the_optimized_script(regenerator: Regenerator) -> None:
    api, video_id = regenerator.api, regenerator.video.video_id
    ids = {each["start"]: each["segmentIds"][0] for each in (await regenerator.read())["segments"]}
    third, fourth = ids[10.0], ids[30.0]
    await patch(regenerator, 0, **{third: "Number three.", fourth: ""})
    both = {"languages": ["pt"], "sourceVoiceover": "optimized", "translationSource": "captions"}
    body = {"languages": ["pt"], "sourceVoiceover": "optimized"}
    assert (await api.delete(f"/videos/{video_id}/dubs/pt")).status_code == 204
    assert (await api.post(f"/videos/{video_id}/dubs", json=both)).status_code in {400, 409}
    requested = await api.post(f"/videos/{video_id}/dubs", json=body)
    assert requested.status_code == 202, requested.text
    await regenerator.rerun()
    assert "Number three." in regenerator.engines.translator.asked
    assert not {"A third line.", "A fourth line."} & {*regenerator.engines.translator.asked}
    lines = {each["start"]: each for each in (await regenerator.read())["segments"]}
    assert (lines[10.0]["source"], 30.0 in lines) == ("Number three.", False)
    assert [each["stale"] for each in lines.values()] == [[]] * len(lines)
    # In silence, only the background is heard, of which the stub leaves nothing.
    assert not (await regenerator.mixed())[:, round(30.5 * MIX_RATE) : round(33.5 * MIX_RATE)].any()

    # The transcript may change behind a text by hand; the script may not.
    await regenerator.edit_transcript(2, {"op": "replaceText", "id": third, "text": "Um, a third line."})
    assert await regenerator.stale() == {}
    await patch(regenerator, 1, **{third: "Number three and a half.", fourth: "Four."})
    assert sorted(map(tuple, (await regenerator.stale()).values())) == [("added",), ("sourceChanged",)]
    regenerator.engines.translator.asked.clear()
    await regenerator.regenerate()
    assert regenerator.engines.translator.asked == ["Number three and a half.", "Four."]
    assert await regenerator.stale() == {}
    assert (await regenerator.mixed())[:, round(30.5 * MIX_RATE) : round(31.5 * MIX_RATE)].any()
