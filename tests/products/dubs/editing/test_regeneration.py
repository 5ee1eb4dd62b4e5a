"""A dub and its regenerations by the real workflows: what is made again, and what stays as it is to the sample."""

from typing import TYPE_CHECKING

import numpy as np
import pytest

from cutroom.capabilities.rules import stock_voice_id
from cutroom.products.dubs.mixing import MIX_RATE
from dev.scratch import Accounts
from tests.products.dubs.editing.conftest import Regenerator
from tests.products.dubs.editing.stub_engines import PREFIX, FixedUtterances

if TYPE_CHECKING:
    from tests.support.dub_stage import AudioSamples

FUNDS = 50_000
INSERTED = [(10.0, 13.0, "A third line."), (30.0, 34.0, "A fourth line."), (64.0, 68.0, "The last line.")]
OTHER_VOICE = stock_voice_id("fake", "pm_two")
MARGIN_SECONDS = 0.2  # by which a line may start earlier, with the filter of resampling


def changed_seconds(before: "AudioSamples", after: "AudioSamples") -> tuple[float, float] | None:
    """The time in which two mixes differ."""
    assert before.shape == after.shape
    differing = np.nonzero(np.any(before != after, axis=0))[0]
    return (differing[0] / MIX_RATE, differing[-1] / MIX_RATE) if len(differing) else None


async def test_one_edited_line_is_made_again_and_no_other_sample_changes(regenerator: Regenerator) -> None:
    read = await regenerator.read()
    assert [each["stale"] for each in read["segments"]] == [[]] * len(read["segments"])
    assert {each["segmentIds"][0] for each in read["segments"]} >= {"s1"}
    before, path, funds = await regenerator.mixed(), await regenerator.audio_path(), await regenerator.balance()
    line = next(each for each in read["segments"] if each["start"] == 30.0)
    edited = (await regenerator.patch(1, {"id": line["id"], "text": "Agora diz outra coisa."})).json()
    assert edited["regeneration"]["segmentIds"] == [line["id"]]
    job = await regenerator.regenerate()
    assert job["status"] == "ready"
    assert {text for text, _ in regenerator.engines.voice.spoken} == {"Agora diz outra coisa."}
    assert (regenerator.engines.translator.asked, regenerator.engines.ears.spans) == ([], 1)
    assert funds - await regenerator.balance() == edited["regeneration"]["credits"] * 1000
    after = await regenerator.read()
    assert (after["regeneration"]["segmentIds"], after["job"]["status"]) == ([], "ready")
    assert [each["id"] for each in after["segments"]] == [each["id"] for each in read["segments"]]
    now = next(each for each in after["segments"] if each["id"] == line["id"])
    assert (now["published"]["text"], now["text"]) == ("Agora diz outra coisa.", "Agora diz outra coisa.")
    others = [each["published"] for each in after["segments"] if each["id"] != line["id"]]
    assert others == [each["published"] for each in read["segments"] if each["id"] != line["id"]]
    changed = changed_seconds(before, await regenerator.mixed())
    assert changed is not None
    assert line["start"] - MARGIN_SECONDS <= changed[0] < changed[1] <= line["end"] + 3.0
    assert await regenerator.audio_path() != path
    dub = (await regenerator.api.get(regenerator.path)).json()
    assert (dub["status"], len(dub["segments"])) == ("ready", len(read["segments"]))
    assert "Agora diz outra coisa." in {each["text"] for each in dub["segments"]}
    assert all("score" in each for each in dub["sync"]["segments"])


async def test_an_edited_transcript_changes_only_its_lines(regenerator: Regenerator) -> None:
    segments = (await regenerator.read())["segments"]
    ids = {each["start"]: (each["id"], each["segmentIds"][0]) for each in segments}
    before = await regenerator.mixed()
    await regenerator.edit_transcript(
        2,
        {"op": "replaceText", "id": ids[10.0][1], "text": "Another third line."},
        {"op": "delete", "ids": [ids[30.0][1]]},
        {"op": "insert", "start": 50.0, "end": 53.0, "text": "A new line.", "speaker": "guest"},
    )
    stale = await regenerator.stale()
    assert (stale.pop(ids[10.0][0]), stale.pop(ids[30.0][0])) == (["sourceChanged"], ["removed"])
    assert list(stale.values()) == [["added"]]
    await regenerator.regenerate(segmentIds=[ids[30.0][0]])  # without speech there is only the background
    assert regenerator.engines.voice.spoken == []
    removed = await regenerator.mixed()
    changed = changed_seconds(before, removed)
    assert changed is not None
    assert 30.0 - MARGIN_SECONDS <= changed[0] < changed[1] <= 37.0
    assert not removed[:, round(30.5 * MIX_RATE) : round(33.5 * MIX_RATE)].any()
    await regenerator.regenerate()
    assert regenerator.engines.translator.asked == ["Another third line.", "A new line."]
    read = await regenerator.read()
    assert await regenerator.stale() == {}
    assert [each["start"] for each in read["segments"]] == [1.0, 1.667, 10.0, 50.0, 64.0]
    assert f"{PREFIX} A new line." in {each["published"]["text"] for each in read["segments"]}
    assert read["publishedTranscriptRevision"] == 3


@pytest.mark.parametrize(
    ("read", "spans", "score"),
    [("agora diz, outra coisa", 0, 1.0), ("Agora vi outra coisa.", 1, 0.25)],
    ids=["as it is written", "differently"],
)
async def test_a_line_that_is_read_as_it_is_written_is_not_transcribed_again(
    regenerator: Regenerator, read: str, spans: int, score: float
) -> None:
    """The recognizer, which hears one other word, decides on every line that is read differently."""
    line = next(each for each in (await regenerator.read())["segments"] if each["start"] == 30.0)
    await regenerator.patch(1, {"id": line["id"], "text": "Agora diz outra coisa."})
    regenerator.engines.utterances = FixedUtterances(read)
    assert (await regenerator.regenerate())["status"] == "ready"
    assert (regenerator.engines.utterances.utterances, regenerator.engines.ears.spans) == (1, spans)
    dub = (await regenerator.api.get(f"/videos/{regenerator.video.video_id}/dubs/pt")).json()
    assert [each["score"] for each in dub["sync"]["segments"] if each["start"] == 30.0] == [score]


async def test_voice_gain_mute_and_original_sound(regenerator: Regenerator) -> None:
    segments = {each["start"]: each for each in (await regenerator.read())["segments"]}
    before = await regenerator.mixed()
    await regenerator.patch(
        1,
        {"id": segments[10.0]["id"], "keepOriginal": True},
        {"id": segments[30.0]["id"], "gainDb": -6},
        {"id": segments[64.0]["id"], "mute": True},
    )
    quote = (await regenerator.read())["regeneration"]
    assert (quote["seconds"], quote["credits"]) == (0.0, 0.1)
    await regenerator.regenerate()
    assert (regenerator.engines.voice.spoken, regenerator.engines.ears.spans) == ([], 0)
    after = await regenerator.mixed()

    def level(samples: "AudioSamples", start: float, end: float) -> float:
        return float(np.sqrt(np.mean(np.square(samples[:, round(start * MIX_RATE) : round(end * MIX_RATE)]))))

    assert level(after, 30.5, 32) / level(before, 30.5, 32) == pytest.approx(0.501, abs=0.01)
    assert level(after, 65, 67) == 0
    assert level(after, 11, 12) == pytest.approx(0.2 / np.sqrt(2) / 2, rel=0.05)  # the source, with headroom
    published = {each["start"]: each.get("published") for each in (await regenerator.read())["segments"]}
    assert (published[10.0], published[64.0]) == (None, None)
    await regenerator.patch(
        2,
        *({"id": segments[at]["id"], "keepOriginal": None, "mute": None, "gainDb": None} for at in (10.0, 30.0, 64.0)),
        {"id": segments[1.0]["id"], "voice": OTHER_VOICE, "speed": 1.2, "pronunciation": {"diz": "dis"}},
    )
    await regenerator.regenerate()
    assert ("dis Good morning.", "pm_two") in regenerator.engines.voice.spoken
    assert await regenerator.stale() == {}
    restored = changed_seconds(before[:, 5 * MIX_RATE :], (await regenerator.mixed())[:, 5 * MIX_RATE :])
    assert restored is None


async def test_a_failed_regeneration_leaves_the_dub_and_returns_the_credits(regenerator: Regenerator) -> None:
    segment = (await regenerator.read())["segments"][0]
    path, funds, dub = await regenerator.audio_path(), await regenerator.balance(), regenerator.path
    before = (await regenerator.api.get(dub)).json()
    await regenerator.edit_transcript(2, {"op": "replaceText", "id": segment["segmentIds"][0], "text": "Good night."})
    regenerator.engines.translator.refuses = True
    job = await regenerator.regenerate()
    assert job["status"] == "failed"
    assert (await regenerator.audio_path(), await regenerator.balance()) == (path, funds)
    after = (await regenerator.api.get(dub)).json()
    assert (after["segments"], after["status"]) == (before["segments"], "ready")
    assert await regenerator.stale() == {segment["id"]: ["sourceChanged"]}
    regenerator.engines.translator.refuses = False
    assert (await regenerator.regenerate())["status"] == "ready"
    assert await regenerator.stale() == {}
    assert await regenerator.balance() == funds - 100


async def test_a_dub_from_before_lines_had_ids_can_be_edited(regenerator: Regenerator, accounts: Accounts) -> None:
    identified = (await regenerator.read())["segments"]
    await accounts.connection.execute(
        "UPDATE dubs SET lines = NULL WHERE video_id = $1", regenerator.video.video_id
    )  # as 0.1.0 leaves it
    read = (await regenerator.read())["segments"]
    assert [each["id"] for each in read] == [f"l{number + 1}" for number in range(len(read))]
    assert [each["segmentIds"] for each in read] == [each["segmentIds"] for each in identified]
    assert await regenerator.stale() == {}
    before = await regenerator.mixed()
    await regenerator.patch(1, {"id": "l1", "text": "Bom dia!"})
    await regenerator.regenerate()
    assert {text for text, _ in regenerator.engines.voice.spoken} == {"Bom dia!"}
    after = (await regenerator.read())["segments"]
    assert [each["id"] for each in after] == [each["id"] for each in read]
    changed = changed_seconds(before, await regenerator.mixed())
    assert changed is not None
    assert changed[1] <= read[1]["start"] + MARGIN_SECONDS
