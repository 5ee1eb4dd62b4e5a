"""Drafts are confirmed before they are made, and labeled afterwards; a library can refuse them."""

import re

import pytest

from cutroom.credits import ledger
from cutroom.engines.translation.port import Quality
from cutroom.platform.clock import system_clock
from dev.scratch import Accounts, Person
from tests.console.conftest import Browser
from tests.console.pages.test_library import put_video
from tests.console.pages.test_video import put_job, text_of
from tests.support.transcribed_videos import advertise_languages

DRAFT, REVIEW = "it", "fr"
FLAGGED = {"line": 0, "start": 1.5, "source": "We walk.", "translation": "Caminamos <b>.", "reasons": ["name"]}


@pytest.fixture
async def video_id(accounts: Accounts, person: Person) -> str:
    connection = accounts.connection
    await connection.execute("DELETE FROM translation_routes")
    await connection.execute("DELETE FROM stock_voices")
    await advertise_languages(connection, [DRAFT], quality=Quality.DRAFT)
    await advertise_languages(connection, [REVIEW], quality=Quality.REVIEW)
    await ledger.grant(connection, person.library_id, millicredits=100_000, reference="a", now=system_clock())
    return await put_video(accounts, person.library_id, title="Walk", spoken="We walk along the harbor.")


async def made(accounts: Accounts, video_id: str) -> list[str]:
    sql = "SELECT language FROM jobs WHERE video_id = $1 AND type IN ('dub', 'captions') ORDER BY language"
    return [row["language"] for row in await accounts.connection.fetch(sql, video_id)]


@pytest.mark.parametrize(("kind", "price"), [("dub", "3 credits"), ("captions", "0.75 credits")])
async def test_draft_is_confirmed(browser: Browser, accounts: Accounts, video_id: str, kind: str, price: str) -> None:
    order: dict[str, str | list[str]] = {"kind": kind, kind: [DRAFT, REVIEW]}
    button = (await browser.get(f"/videos/{video_id}/price", params=order)).text
    assert re.search(r'<input type="checkbox" name="draft"[^>]* required>', button)
    assert "Draft in Italian. It shows what is said, but is wrong too often to publish." in text_of(button)
    assert "French: check before publishing." in text_of(button)
    assert price in button
    refused = await browser.post(f"/videos/{video_id}/make", order)
    assert refused.status_code == 400
    assert "Confirm that you want a draft in Italian." in refused.text
    assert await made(accounts, video_id) == []
    accepted = await browser.post(f"/videos/{video_id}/make", {**order, "draft": "yes"})
    assert accepted.status_code == 303
    assert await made(accounts, video_id) == [REVIEW, DRAFT]
    kept = (await browser.get(f"/videos/{video_id}/price", params={**order, "draft": "yes"})).text
    assert re.search(r'<input type="checkbox" name="draft"[^>]* required checked>', kept)


async def test_review_needs_no_confirmation(browser: Browser, accounts: Accounts, video_id: str) -> None:
    order: dict[str, str | list[str]] = {"kind": "captions", "captions": [REVIEW]}
    assert 'name="draft"' not in (await browser.get(f"/videos/{video_id}/price", params=order)).text
    assert (await browser.post(f"/videos/{video_id}/make", order)).status_code == 303
    assert await made(accounts, video_id) == [REVIEW]


@pytest.mark.parametrize(
    ("quality", "note"),
    [("draft", "Draft. It shows what is said"), ("review", "Check before publishing , these lines first")],
)
async def test_results_show_the_class_and_doubtful_lines(
    browser: Browser, accounts: Accounts, person: Person, video_id: str, quality: str, note: str
) -> None:
    result = {"quality": quality, "flagged": [FLAGGED], "flaggedLines": 1}
    ready = {"status": "ready", "language": "fr", "result": result, "finished_at": system_clock()}
    await put_job(accounts, person, video_id, id=f"captions_{video_id}_fr", type="captions", **ready)
    await put_job(accounts, person, video_id, id=f"dub_{video_id}_fr_plus", type="dub", product="plus", **ready)
    for tab in ("transcript", "dubs"):
        page = (await browser.get(f"/videos/{video_id}?tab={tab}")).text
        assert note in text_of(page), tab
        assert "Caminamos &lt;b&gt;." in page
        assert 'data-start="1.5"' in page


async def test_library_refuses_drafts(browser: Browser, accounts: Accounts, person: Person, video_id: str) -> None:
    saved = await browser.post("/credits/drafts", {"drafts": "refuse"})
    assert saved.headers["location"] == "/credits?notice=drafts"
    assert '<option value="refuse" selected>' in (await browser.get("/credits")).text
    order: dict[str, str | list[str]] = {"kind": "captions", "captions": [DRAFT]}
    button = (await browser.get(f"/videos/{video_id}/price", params=order)).text
    assert "disabled" in button
    assert "which this library refuses" in button
    await browser.post("/credits/drafts", {"drafts": "allow"})
    sql = "SELECT refuses_drafts FROM libraries WHERE id = $1"
    assert await accounts.connection.fetchval(sql, person.library_id) is False


@pytest.mark.parametrize(("role", "status"), [("viewer", 403), ("editor", 403), ("admin", 303)])
async def test_admins_decide(browser: Browser, accounts: Accounts, person: Person, role: str, status: int) -> None:
    sql = "UPDATE members SET role = $2 WHERE library_id = $1"
    await accounts.connection.execute(sql, person.library_id, role)
    assert (await browser.post("/credits/drafts", {"drafts": "refuse"})).status_code == status
    found = await accounts.connection.fetchval("SELECT refuses_drafts FROM libraries WHERE id = $1", person.library_id)
    assert found is (status == 303)
