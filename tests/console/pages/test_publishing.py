"""Tests the publishing forms of the video page."""

import pytest

from cutroom.accounts.principals import Role
from cutroom.credits import ledger
from cutroom.library.branding import add_character
from cutroom.platform.clock import system_clock
from dev.scratch import Accounts, Person
from tests.console.conftest import Browser, SignIn
from tests.console.pages.test_library import put_video


@pytest.fixture
async def video_id(accounts: Accounts, person: Person) -> str:
    await ledger.grant(accounts.connection, person.library_id, millicredits=100_000, reference="a", now=system_clock())
    return await put_video(accounts, person.library_id, title="Walk", spoken="We walk along the harbor.")


@pytest.mark.parametrize(
    ("fields", "tab", "name"),
    [
        ({"kind": "title", "style": "informational"}, "publish", "Title"),
        ({"kind": "description", "style": "social-post"}, "publish", "Description"),
        ({"kind": "thumbnail"}, "thumbnails", "Thumbnail"),
        ({"kind": "thumbnail", "review": "on", "poster": "on"}, "thumbnails", "Thumbnail"),
    ],
)
async def test_publishing_form_creates_a_job_and_shows_its_tab(
    browser: Browser, accounts: Accounts, video_id: str, fields: dict[str, str], tab: str, name: str
) -> None:
    made = await browser.post(f"/videos/{video_id}/publish", fields)
    assert (made.status_code, made.headers["location"]) == (303, f"/videos/{video_id}?tab={tab}")
    sql = "SELECT count(*) FROM jobs WHERE video_id = $1 AND type = 'packaging'"
    assert await accounts.connection.fetchval(sql, video_id) == 1
    page = (await browser.get(made.headers["location"])).text
    assert f"<strong>{name}</strong>" in page
    assert "Queued" in page


@pytest.mark.parametrize(
    "fields", [{"kind": "title", "style": "loud"}, {"kind": "other"}, {"kind": "download", "artifact": "none"}]
)
async def test_invalid_publishing_form_is_rejected(browser: Browser, video_id: str, fields: dict[str, str]) -> None:
    assert (await browser.post(f"/videos/{video_id}/publish", fields)).status_code == 400


async def test_thumbnail_button_shows_the_price(browser: Browser, video_id: str) -> None:
    price = f"/videos/{video_id}/price"
    assert "Generate thumbnail · 5 credits" in (await browser.get(price, params={"kind": "thumbnail"})).text
    with_review = await browser.get(price, params={"kind": "thumbnail", "review": "on"})
    assert "Generate thumbnail · 7 credits" in with_review.text


async def test_headline_of_a_thumbnail_is_written_by_hand(browser: Browser, accounts: Accounts, video_id: str) -> None:
    fields = {"kind": "thumbnail", "headline": "See more"}
    assert (await browser.post(f"/videos/{video_id}/publish", fields)).status_code == 303
    sql = "SELECT plan FROM jobs WHERE video_id = $1 AND type = 'packaging'"
    assert (await accounts.connection.fetchval(sql, video_id))["textOverlay"] == "See more"
    too_long = {**fields, "headline": "x" * 201}
    assert (await browser.post(f"/videos/{video_id}/publish", too_long)).status_code == 400


async def test_review_requires_a_pending_review(browser: Browser, video_id: str) -> None:
    refused = await browser.post(f"/videos/{video_id}/review", {"answer": "approve"})
    assert refused.status_code in {404, 409}


async def test_viewer_cannot_publish(sign_in: SignIn, accounts: Accounts, person: Person) -> None:
    workspace_id, viewer = await accounts.workspace(person), await accounts.person()
    await accounts.member(workspace_id, viewer, role=Role.VIEWER)
    video = await put_video(accounts, workspace_id, title="Ours", spoken="words")
    browser = await sign_in(viewer)
    await browser.post("/switch", {"library": workspace_id})
    for path, fields in {"publish": {"kind": "title", "style": "funny"}, "review": {"answer": "approve"}}.items():
        assert (await browser.post(f"/videos/{video}/{path}", fields)).status_code == 403


async def test_brand_voice_is_selected_from_the_own_library_only(
    browser: Browser, accounts: Accounts, person: Person, video_id: str
) -> None:
    await browser.post("/brand-voices", {"name": "Calm", "guidelines": "Whisper.", "colors": ""})
    sql = "SELECT id FROM brand_voices WHERE library_id = $1"
    brand_id = await accounts.connection.fetchval(sql, person.library_id)
    for tab in ("publish", "thumbnails"):  # for the description and the thumbnail
        page = (await browser.get(f"/videos/{video_id}?tab={tab}")).text
        assert page.count(f'<option value="{brand_id}">Calm</option>') == 1
    fields = {"kind": "description", "style": "social-post"}
    unknown = await browser.post(f"/videos/{video_id}/publish", {**fields, "brand": video_id})
    assert unknown.status_code == 404
    assert (await browser.post(f"/videos/{video_id}/publish", {**fields, "brand": brand_id})).status_code == 303
    plan = "SELECT plan FROM jobs WHERE video_id = $1 AND type = 'packaging'"
    assert (await accounts.connection.fetchval(plan, video_id))["brandVoiceId"] == brand_id


async def test_characters_are_priced_and_selected_from_the_own_library_only(
    browser: Browser, accounts: Accounts, person: Person, video_id: str
) -> None:
    connection, now = accounts.connection, system_clock()
    ada, bo, cy, di = [
        await add_character(connection, person.library_id, name=name, images=[(f"{name}-1", "a/b.png")], now=now)
        for name in ("Ada", "Bo", "Cy", "Di")
    ]
    await add_character(connection, person.library_id, name="Unseen", images=[], now=now)
    page = (await browser.get(f"/videos/{video_id}?tab=thumbnails")).text
    assert page.count('name="character"') == 4  # one without a picture cannot be drawn
    price = f"/videos/{video_id}/price"
    both = await browser.get(price, params={"kind": "thumbnail", "character": [ada, bo]})
    assert "Generate thumbnail · 7 credits" in both.text
    many = await browser.get(price, params={"kind": "thumbnail", "character": [ada, bo, cy, di]})
    assert "at most 3 characters" in many.text
    mixed = await browser.get(price, params={"kind": "thumbnail", "character": ada, "review": "on"})
    assert "but not both" in mixed.text
    publish = f"/videos/{video_id}/publish"
    other = (await accounts.person()).library_id
    theirs = await add_character(connection, other, name="Theirs", images=[("Theirs-1", "a/b.png")], now=now)
    assert (await browser.post(publish, {"kind": "thumbnail", "character": theirs})).status_code == 404
    assert (await browser.post(publish, {"kind": "thumbnail", "character": [ada, bo]})).status_code == 303
    plan = "SELECT plan FROM jobs WHERE video_id = $1 AND type = 'packaging'"
    characters = (await connection.fetchval(plan, video_id))["characters"]
    assert [each["characterId"] for each in characters] == [ada, bo]
