"""Dubs that speak the texts of captions."""

from typing import Any

import pytest

from cutroom.engines.translation.port import Quality
from cutroom.products.captions.editing.current_texts import current_texts
from cutroom.products.captions.editing.segments import CaptionSegment
from cutroom.products.dubs.script_lines import DubSource, TranslatedLines, translate_lines
from cutroom.products.transcripts.document import DocumentSegment
from cutroom.products.transcripts.segmentation import TranscriptSegment
from tests.products.dubs.editing.conftest import Regenerator
from tests.products.dubs.editing.stub_engines import PREFIX, DubbingEngines

TIMES = [(0.0, 2.0), (5.0, 8.0), (12.0, 14.0)]
SPOKEN = ["One.", "Well, you know, this is number two.", "Three."]
LONG = "Bem, na verdade, isto é o número dois, que tem que ser dito assim, e não com menos palavras."


def lines(engines: DubbingEngines, texts: dict[str, str], quality: Quality | None) -> TranslatedLines:
    segments = [
        TranscriptSegment(start, end, "speaker_1", text, ()) for (start, end), text in zip(TIMES, SPOKEN, strict=True)
    ]
    source = DubSource(
        segments, "en", (), None, 20.0, ["s1", "s2", "s3"], translations=texts, translations_quality=quality
    )
    return translate_lines(engines, source, "pt", on_progress=lambda _: None)


def test_texts_of_captions_are_spoken_as_they_are() -> None:
    engines = DubbingEngines()
    made = lines(engines, {"s1": "Um.", "s2": LONG, "s3": "Três."}, Quality.REVIEW)
    assert [each.texts for each in made.lines] == [("Um.",), (LONG,), ("Três.",)]
    assert (engines.translator.asked, made.engines, made.quality) == ([], (), "review")


def test_what_captions_lack_is_translated() -> None:
    engines = DubbingEngines()
    made = lines(engines, {"s1": "Um.", "s3": "Três."}, Quality.REVIEW)
    assert [each.texts[0] for each in made.lines] == ["Um.", f"{PREFIX} {SPOKEN[1]}", "Três."]
    assert engines.translator.asked[0] == SPOKEN[1]
    assert not {*engines.translator.asked} & {SPOKEN[0], SPOKEN[2]}
    assert (made.engines, made.quality) == (("one",), "review")


def caption(id_: str, text: str, source: str, **more: Any) -> CaptionSegment:  # noqa: ANN401 (fields)
    return CaptionSegment(id_, 0.0, 1.0, "speaker_1", text, source, 1, **more)


@pytest.mark.parametrize(
    ("captions", "texts"),
    [
        (caption("s1", "Um.", "One."), {"s1": "Um."}),
        (caption("s1", "Um.", "Two."), {}),  # translated from other words
        (caption("s1", "Um.", "Two.", edited=True), {"s1": "Um."}),  # kept, and to be reviewed
        (caption("s9", "Nove.", "Nine.", edited=True), {}),
    ],
)
def test_only_texts_that_belong_to_the_transcript_are_used(captions: CaptionSegment, texts: dict[str, str]) -> None:
    assert current_texts([captions], [DocumentSegment("s1", 0.0, 1.0, "One.", "speaker_1")]) == texts


async def test_a_dub_of_imported_captions(regenerator: Regenerator) -> None:
    api, video_id = regenerator.api, regenerator.video.video_id
    segments = (await regenerator.read())["segments"]
    at = {each["start"]: each for each in segments}
    cues = "\n\n".join(
        f"00:{start:02.0f}.000 --> 00:{at[start]['end']:06.3f}\n{text}"
        for start, text in ((10.0, "Uma terceira linha."), (30.0, "Uma quarta linha."))
    )
    body = {"revision": 0, "format": "vtt", "content": f"WEBVTT\n\n{cues}\n"}
    imported = await api.post(f"/videos/{video_id}/captions/pt/import", json=body)
    assert imported.status_code == 200, imported.text
    assert (await api.delete(f"/videos/{video_id}/dubs/pt")).status_code == 204
    requested = await api.post(f"/videos/{video_id}/dubs", json={"languages": ["pt"], "translationSource": "captions"})
    assert requested.status_code == 202, requested.text
    await regenerator.rerun()
    assert not {"A third line.", "A fourth line."} & {*regenerator.engines.translator.asked}
    read = await regenerator.read()
    published = {each["start"]: each["published"]["text"] for each in read["segments"]}
    assert (published[10.0], published[30.0]) == ("Uma terceira linha.", "Uma quarta linha.")
    assert published[64.0] == f"{PREFIX} The last line."
    assert [each["stale"] for each in read["segments"]] == [[]] * len(read["segments"])
    # A line whose source changes is translated, unless the captions are up to date.
    regenerator.engines.translator.asked.clear()
    third = at[10.0]["segmentIds"][0]
    await regenerator.edit_transcript(2, {"op": "replaceText", "id": third, "text": "Another line."})
    edit = {"op": "setText", "id": third, "text": "Uma outra linha."}
    edited = await api.patch(f"/videos/{video_id}/captions/pt/segments", json={"revision": 1, "operations": [edit]})
    assert edited.status_code == 200, edited.text
    await regenerator.regenerate()
    assert regenerator.engines.translator.asked == []
    assert "Uma outra linha." in {each["published"]["text"] for each in (await regenerator.read())["segments"]}


async def test_captions_that_are_edited_after_a_dub_outdate_its_lines(regenerator: Regenerator) -> None:
    api, video_id = regenerator.api, regenerator.video.video_id
    at = {each["start"]: each for each in (await regenerator.read())["segments"]}
    cues = "\n\n".join(
        f"00:{start:02.0f}.000 --> 00:{at[start]['end']:06.3f}\n{text}"
        for start, text in ((10.0, "Uma terceira linha."), (30.0, "Uma quarta linha."))
    )
    body = {"revision": 0, "format": "vtt", "content": f"WEBVTT\n\n{cues}\n"}
    assert (await api.post(f"/videos/{video_id}/captions/pt/import", json=body)).status_code == 200
    assert (await api.delete(f"/videos/{video_id}/dubs/pt")).status_code == 204
    requested = await api.post(f"/videos/{video_id}/dubs", json={"languages": ["pt"], "translationSource": "captions"})
    assert requested.status_code == 202, requested.text
    await regenerator.rerun()
    before = {each["start"]: each["published"] for each in (await regenerator.read())["segments"]}
    third = at[10.0]["segmentIds"][0]
    captions = f"/videos/{video_id}/captions/pt/segments"

    async def say(revision: int, text: str) -> None:
        edit = {"op": "setText", "id": third, "text": text}
        edited = await api.patch(captions, json={"revision": revision, "operations": [edit]})
        assert edited.status_code == 200, edited.text

    await say(1, "Uma outra linha.")
    read = await regenerator.read()
    [stale] = [each for each in read["segments"] if each["stale"]]
    assert (stale["segmentIds"], stale["stale"], stale["text"]) == ([third], ["captionsChanged"], "Uma outra linha.")
    listed = (await api.get(f"/videos/{video_id}/stale-products")).json()["products"]
    [product] = [each for each in listed if each["product"] == "dub"]
    quote = read["regeneration"]
    assert (product["reasons"], product["segments"]) == (["captionsChanged"], 1)
    assert (product["credits"], product["estimatedSeconds"]) == (quote["credits"], quote["estimatedSeconds"])
    await say(2, "Uma terceira linha.")
    assert await regenerator.stale() == {}, "the captions are as before"
    await say(3, "Uma outra linha.")
    funds = await regenerator.balance()
    regenerator.engines.forget()
    await regenerator.regenerate()
    assert funds - await regenerator.balance() == quote["credits"] * 1000
    assert (regenerator.engines.translator.asked, await regenerator.stale()) == ([], {})
    assert {text for text, _ in regenerator.engines.voice.spoken} == {"Uma outra linha."}
    after = {each["start"]: each["published"] for each in (await regenerator.read())["segments"]}
    assert after.pop(10.0)["text"] == "Uma outra linha."
    before.pop(10.0)
    assert after == before
