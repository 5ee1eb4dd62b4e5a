"""Thumbnail routes: validation, prices, and listing of images."""

from typing import Any

import httpx
import pytest

from cutroom.credits import ledger
from cutroom.library.branding import add_brand_voice, add_character
from cutroom.library.schemas import BrandVoiceInput
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.products.thumbnails.service import NewThumbnailImage, store_images
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.products.conftest import TranscribedVideo
from tests.products.thumbnails.validation_cases import ACCEPTED, PRECISION, REJECTED, ZERO_PROMPT, ValidationCase

FUNDS = 100_000


@pytest.fixture(autouse=True)
async def funds(accounts: Accounts, transcribed: TranscribedVideo) -> None:
    await ledger.grant(
        accounts.connection, transcribed.library_id, millicredits=FUNDS, reference="tests", now=system_clock()
    )


async def create(api: httpx.AsyncClient, transcribed: TranscribedVideo, body: dict[str, Any]) -> httpx.Response:
    return await api.post(f"/videos/{transcribed.video_id}/thumbnails", json=body)


@pytest.mark.parametrize("case", REJECTED, ids=lambda case: case.name)
async def test_invalid_combination_is_rejected(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, case: ValidationCase
) -> None:
    response = await create(api, transcribed, case.body)
    assert response.status_code == 400, response.text
    error = response.json()["error"]
    assert error["code"] == "INVALID_ARGUMENT"
    assert case.field in {each["path"] for each in error["details"]["fields"]}


@pytest.mark.parametrize("case", ACCEPTED, ids=lambda case: case.name)
async def test_valid_combination_is_accepted(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, case: ValidationCase
) -> None:
    response = await create(api, transcribed, case.body)
    assert response.status_code == 200, response.text
    created = response.json()
    assert created["jobId"] == f"thumbnail_{created['thumbnailRequestId']}"
    request = (await api.get(f"/thumbnails/{created['thumbnailRequestId']}")).json()
    assert request == {
        "id": created["thumbnailRequestId"],
        "status": "queued",
        "outputImageUrls": [],
        "outputImages": [],
        "jobId": created["jobId"],
    }


@pytest.mark.parametrize(
    ("body", "price"),
    [
        ({"prompt": "A lens", "characters": [{"name": "Ada"}]}, 5),
        (ZERO_PROMPT, 5),
        ({**ZERO_PROMPT, "characters": [{"name": "Ada"}, {"name": "Bo"}]}, 7),
        ({**ZERO_PROMPT, **PRECISION, "contentSlotCount": 2}, 5),
    ],
)
async def test_thumbnail_is_charged_on_request(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, body: dict[str, Any], price: float
) -> None:
    created = (await create(api, transcribed, body)).json()
    assert created["balance"] == FUNDS / 1000 - price


async def test_image_urls_are_returned_in_prompt_mode_only(
    api: httpx.AsyncClient, transcribed: TranscribedVideo
) -> None:
    assert (await create(api, transcribed, {"prompt": "A lens"})).json()["outputImageUrls"] == []
    assert "outputImageUrls" not in (await create(api, transcribed, ZERO_PROMPT)).json()


@pytest.mark.parametrize(
    ("body", "price"),
    [
        ({"autoDetectCharacters": True}, 6),
        ({"autoDetectCharacters": True, "characterCount": 2}, 7),
        ({**PRECISION, "autoDetectContentReferences": True}, 7),
    ],
)
async def test_detection_creates_one_packaging_run(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, body: dict[str, Any], price: float
) -> None:
    first, second = await create(api, transcribed, body), await create(api, transcribed, body)
    job_id = f"packaging_{transcribed.video_id}_zeroPromptThumbnail"
    assert (first.status_code, second.status_code) == (202, 202)
    assert first.json() == {"jobId": job_id, "status": "queued", "registered": True}
    assert second.json() == {"jobId": job_id, "status": "queued", "registered": False}
    job = (await api.get(f"/jobs/{job_id}")).json()
    assert (job["type"], job["automationType"]) == ("packaging", "zeroPromptThumbnail")
    quoted = (await api.post(f"/videos/{transcribed.video_id}/quote", json={})).json()
    assert quoted["balance"] == FUNDS / 1000 - price
    [request] = (await api.get(f"/videos/{transcribed.video_id}/thumbnails")).json()["thumbnails"]
    assert request["jobId"] == job_id


async def test_characters_and_brand_voices_of_other_libraries_are_not_found(
    api: httpx.AsyncClient, accounts: Accounts, transcribed: TranscribedVideo
) -> None:
    other = await accounts.person()
    images = [(new_id(), "elsewhere")]
    theirs = await add_character(accounts.connection, other.library_id, name="Ada", images=images, now=system_clock())
    loud = BrandVoiceInput(name="Loud", guidelines="Shout")
    voice = await add_brand_voice(accounts.connection, other.library_id, loud, now=system_clock())
    for body in (
        {**ZERO_PROMPT, "characters": [{"characterId": theirs}]},
        {**ZERO_PROMPT, "characters": [{"referenceImageIds": [images[0][0]]}]},
        {**ZERO_PROMPT, "characters": [{"characterId": "nobody"}]},
        {**ZERO_PROMPT, "brandVoiceId": voice},
        {**ZERO_PROMPT, "brandVoiceId": "none"},
    ):
        assert (await create(api, transcribed, body)).status_code == 404, body


async def test_characters_and_brand_voices_of_the_library_are_accepted(
    api: httpx.AsyncClient, accounts: Accounts, transcribed: TranscribedVideo
) -> None:
    images = [(new_id(), "one"), (new_id(), "two")]
    own = await add_character(
        accounts.connection, transcribed.library_id, name="Ada", images=images, now=system_clock()
    )
    calm = BrandVoiceInput(name="Calm", guidelines="Whisper", colors=["#102030"])
    voice = await add_brand_voice(accounts.connection, transcribed.library_id, calm, now=system_clock())
    body = {
        **ZERO_PROMPT,
        "brandVoiceId": voice,
        "characters": [{"characterId": own, "referenceImageIds": [images[1][0]], "position": "left"}],
    }
    assert (await create(api, transcribed, body)).status_code == 200


async def test_unsupported_translation_is_rejected_with_the_available_languages(
    api: httpx.AsyncClient, transcribed: TranscribedVideo
) -> None:
    body = {**ZERO_PROMPT, "autoTranslateThumbnail": True, "thumbnailTranslationLanguageCodes": ["xx"]}
    response = await create(api, transcribed, body)
    assert response.status_code == 400
    details = response.json()["error"]["details"]
    assert details["fields"][0]["path"] == "thumbnailTranslationLanguageCodes.0"
    assert "available" in details


async def test_images_are_listed_by_rank(
    api: httpx.AsyncClient, runtime: Runtime, transcribed: TranscribedVideo
) -> None:
    created = (await create(api, transcribed, {"prompt": "A lens"})).json()
    images = [
        NewThumbnailImage(
            id=new_id(),
            request_id=created["thumbnailRequestId"],
            video_id=transcribed.video_id,
            number=number,
            language=None,
            headline=None,
            layout="left",
            score=0.5,
            engine="none",
            path=f"image-{number}.jpg",
        )
        for number in (2, 0, 1)
    ]
    async with runtime.database.transaction(transcribed.library_id) as connection:
        await store_images(connection, transcribed.library_id, images, now=system_clock())
        await store_images(connection, transcribed.library_id, images, now=system_clock())  # a retried step
    request = (await api.get(f"/thumbnails/{created['thumbnailRequestId']}")).json()
    names = [url.partition("?")[0].rpartition("/")[2] for url in request["outputImageUrls"]]
    assert names == [f"image-{number}.jpg" for number in range(3)]


async def test_video_with_failed_transcript_gets_no_thumbnail(
    api: httpx.AsyncClient, transcribed: TranscribedVideo
) -> None:
    await transcribed.job(status="failed", error_code="INTERNAL", error_message="It broke.")
    response = await create(api, transcribed, ZERO_PROMPT)
    assert response.status_code == 409
    assert response.json()["error"]["details"] == {"jobId": f"transcript_{transcribed.video_id}"}


async def test_unknown_requests_and_videos_are_not_found(api: httpx.AsyncClient) -> None:
    assert (await api.get(f"/thumbnails/{new_id()}")).status_code == 404
    assert (await api.get("/thumbnails/no-id")).status_code == 404
    assert (await api.get(f"/videos/{new_id()}/thumbnails")).status_code == 404
    assert (await api.post(f"/videos/{new_id()}/thumbnails", json=ZERO_PROMPT)).status_code == 404
