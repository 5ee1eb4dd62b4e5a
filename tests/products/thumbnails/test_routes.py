"""Asking for thumbnails: what goes together, what it costs, what is shown, and what is refused."""

from typing import Any

import httpx
import pytest

from cutroom.credits import ledger
from cutroom.library.branding import Brand, put_brand_voice, put_character
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.products.thumbnails.service import NewPicture, put_pictures
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.products.conftest import Spoken
from tests.products.thumbnails.refusals import PRECISE, REFUSED, TAKEN, ZERO, Case

FUNDS = 100_000


@pytest.fixture(autouse=True)
async def funds(accounts: Accounts, spoken: Spoken) -> None:
    await ledger.grant(
        accounts.connection, spoken.library_id, millicredits=FUNDS, reference="tests", now=system_clock()
    )


async def ask(api: httpx.AsyncClient, spoken: Spoken, body: dict[str, Any]) -> httpx.Response:
    return await api.post(f"/videos/{spoken.video_id}/thumbnails", json=body)


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
async def test_what_does_not_go_together_is_refused(api: httpx.AsyncClient, spoken: Spoken, case: Case) -> None:
    answer = await ask(api, spoken, case.body)
    assert answer.status_code == 400, answer.text
    error = answer.json()["error"]
    assert error["code"] == "INVALID_ARGUMENT"
    assert case.field in {each["path"] for each in error["details"]["fields"]}


@pytest.mark.parametrize("case", TAKEN, ids=lambda case: case.name)
async def test_what_goes_together_is_taken(api: httpx.AsyncClient, spoken: Spoken, case: Case) -> None:
    answer = await ask(api, spoken, case.body)
    assert answer.status_code == 200, answer.text
    asked = answer.json()
    assert asked["jobId"] == f"thumbnail_{asked['thumbnailRequestId']}"
    got = (await api.get(f"/thumbnails/{asked['thumbnailRequestId']}")).json()
    assert got == {
        "id": asked["thumbnailRequestId"],
        "status": "queued",
        "outputImageUrls": [],
        "jobId": asked["jobId"],
    }


@pytest.mark.parametrize(
    ("body", "price"),
    [
        ({"prompt": "A lens", "characters": [{"name": "Ada"}]}, 5),
        (ZERO, 5),
        ({**ZERO, "characters": [{"name": "Ada"}, {"name": "Bo"}]}, 7),
        ({**ZERO, **PRECISE, "contentSlotCount": 2}, 5),
    ],
)
async def test_thumbnails_are_charged_when_they_are_asked_for(
    api: httpx.AsyncClient, spoken: Spoken, body: dict[str, Any], price: float
) -> None:
    asked = (await ask(api, spoken, body)).json()
    assert asked["balance"] == FUNDS / 1000 - price


async def test_only_prompts_are_answered_with_their_images(api: httpx.AsyncClient, spoken: Spoken) -> None:
    assert (await ask(api, spoken, {"prompt": "A lens"})).json()["outputImageUrls"] == []
    assert "outputImageUrls" not in (await ask(api, spoken, ZERO)).json()


@pytest.mark.parametrize(
    ("body", "price"),
    [
        ({"autoDetectCharacters": True}, 6),
        ({"autoDetectCharacters": True, "characterCount": 2}, 7),
        ({**PRECISE, "autoDetectContentReferences": True}, 7),
    ],
)
async def test_detection_is_a_run_of_packaging_that_begins_once(
    api: httpx.AsyncClient, spoken: Spoken, body: dict[str, Any], price: float
) -> None:
    first, second = await ask(api, spoken, body), await ask(api, spoken, body)
    job_id = f"packaging_{spoken.video_id}_zeroPromptThumbnail"
    assert (first.status_code, second.status_code) == (202, 202)
    assert first.json() == {"jobId": job_id, "status": "queued", "registered": True}
    assert second.json() == {"jobId": job_id, "status": "queued", "registered": False}
    job = (await api.get(f"/jobs/{job_id}")).json()
    assert (job["type"], job["automationType"]) == ("packaging", "zeroPromptThumbnail")
    quoted = (await api.post(f"/videos/{spoken.video_id}/quote", json={})).json()
    assert quoted["balance"] == FUNDS / 1000 - price
    [request] = (await api.get(f"/videos/{spoken.video_id}/thumbnails")).json()["thumbnails"]
    assert request["jobId"] == job_id


async def test_figures_and_brand_voices_of_others_are_not_found(
    api: httpx.AsyncClient, accounts: Accounts, spoken: Spoken
) -> None:
    stranger = await accounts.person()
    images = [(new_id(), "elsewhere")]
    theirs = await put_character(
        accounts.connection, stranger.library_id, name="Ada", images=images, now=system_clock()
    )
    loud = Brand(name="Loud", guidelines="Shout")
    voice = await put_brand_voice(accounts.connection, stranger.library_id, loud, now=system_clock())
    for body in (
        {**ZERO, "characters": [{"characterId": theirs}]},
        {**ZERO, "characters": [{"referenceImageIds": [images[0][0]]}]},
        {**ZERO, "characters": [{"characterId": "nobody"}]},
        {**ZERO, "brandVoiceId": voice},
        {**ZERO, "brandVoiceId": "none"},
    ):
        assert (await ask(api, spoken, body)).status_code == 404, body


async def test_figures_and_brand_voices_of_the_library_are_taken(
    api: httpx.AsyncClient, accounts: Accounts, spoken: Spoken
) -> None:
    images = [(new_id(), "one"), (new_id(), "two")]
    own = await put_character(accounts.connection, spoken.library_id, name="Ada", images=images, now=system_clock())
    calm = Brand(name="Calm", guidelines="Whisper", colors=["#102030"])
    voice = await put_brand_voice(accounts.connection, spoken.library_id, calm, now=system_clock())
    body = {
        **ZERO,
        "brandVoiceId": voice,
        "characters": [{"characterId": own, "referenceImageIds": [images[1][0]], "position": "left"}],
    }
    assert (await ask(api, spoken, body)).status_code == 200


async def test_a_translation_that_nobody_can_make_is_refused_with_those_that_can_be(
    api: httpx.AsyncClient, spoken: Spoken
) -> None:
    body = {**ZERO, "autoTranslateThumbnail": True, "thumbnailTranslationLanguageCodes": ["xx"]}
    answer = await ask(api, spoken, body)
    assert answer.status_code == 400
    details = answer.json()["error"]["details"]
    assert details["fields"][0]["path"] == "thumbnailTranslationLanguageCodes.0"
    assert "available" in details


async def test_images_are_shown_in_the_order_of_merit(api: httpx.AsyncClient, runtime: Runtime, spoken: Spoken) -> None:
    asked = (await ask(api, spoken, {"prompt": "A lens"})).json()
    pictures = [
        NewPicture(
            id=new_id(),
            request_id=asked["thumbnailRequestId"],
            video_id=spoken.video_id,
            number=number,
            language=None,
            headline=None,
            layout="left",
            score=0.5,
            engine="none",
            path=f"picture-{number}.jpg",
        )
        for number in (2, 0, 1)
    ]
    async with runtime.database.transaction(spoken.library_id) as connection:
        await put_pictures(connection, spoken.library_id, pictures, now=system_clock())
        await put_pictures(connection, spoken.library_id, pictures, now=system_clock())  # a step that is repeated
    got = (await api.get(f"/thumbnails/{asked['thumbnailRequestId']}")).json()
    names = [url.partition("?")[0].rpartition("/")[2] for url in got["outputImageUrls"]]
    assert names == [f"picture-{number}.jpg" for number in range(3)]


async def test_a_video_whose_transcript_failed_gets_no_thumbnail(api: httpx.AsyncClient, spoken: Spoken) -> None:
    await spoken.job(status="failed", error_code="INTERNAL", error_message="It broke.")
    answer = await ask(api, spoken, ZERO)
    assert answer.status_code == 409
    assert answer.json()["error"]["details"] == {"jobId": f"transcript_{spoken.video_id}"}


async def test_unknown_requests_and_videos_are_not_found(api: httpx.AsyncClient) -> None:
    assert (await api.get(f"/thumbnails/{new_id()}")).status_code == 404
    assert (await api.get("/thumbnails/no-id")).status_code == 404
    assert (await api.get(f"/videos/{new_id()}/thumbnails")).status_code == 404
    assert (await api.post(f"/videos/{new_id()}/thumbnails", json=ZERO)).status_code == 404
