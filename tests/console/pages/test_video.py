"""Tests the tabs of the video page, what they offer, and the states they show."""

import re
from fractions import Fraction
from typing import Any

import pytest

from cutroom.credits import ledger
from cutroom.media.cutting.timeline import CutTimeline, FrameSpan
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.products.declaration import VideoTab
from cutroom.products.playback.edits import PackagedEdit, RequestedEdit, store_timeline
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.console.conftest import Browser
from tests.console.pages.test_library import put_video


@pytest.fixture
async def video_id(accounts: Accounts, person: Person) -> str:
    await ledger.grant(accounts.connection, person.library_id, millicredits=100_000, reference="a", now=system_clock())
    return await put_video(accounts, person.library_id, title="Walk", spoken="We walk along the harbor.")


@pytest.fixture
async def languages(accounts: Accounts) -> None:
    """Two languages that can be translated into and spoken."""
    for code in ("es", "fr"):
        await accounts.connection.execute(
            """INSERT INTO translation_routes (engine, source, target, quality, via, seen_at)
               VALUES ('proof', 'en', $1, 'publishable', '{}', now()) ON CONFLICT DO NOTHING""",
            code,
        )
        await accounts.connection.execute(
            """INSERT INTO stock_voices (id, engine, name, title, language, gender, age, seen_at)
               VALUES ($1, 'proof', $1, $1, $1, 'female', 'adult', now()) ON CONFLICT DO NOTHING""",
            code,
        )


async def put_job(accounts: Accounts, person: Person, video_id: str, **row: Any) -> None:  # noqa: ANN401 (columns)
    now = system_clock()
    state = {"attempt": 1, "plan": {}, "depends_on": [], "progress": 0, "created_at": now, "updated_at": now}
    await insert(accounts.connection, "jobs", {"library_id": person.library_id, "video_id": video_id, **state, **row})


def text_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


@pytest.mark.parametrize("tab", VideoTab)
async def test_every_tab_is_a_page_and_a_fragment(browser: Browser, video_id: str, tab: VideoTab) -> None:
    page = (await browser.get(f"/videos/{video_id}?tab={tab}")).text
    assert re.findall(r'id="tab-(\w+)"[^>]* aria-current', page) == [tab]
    assert re.findall(r'id="tab-(\w+)"', page) == list(VideoTab)
    assert '<video id="player"' in page
    headers = {"hx-request": "true", "hx-target": "tab"}
    fragment = (await browser.get(f"/videos/{video_id}?tab={tab}", headers=headers)).text
    assert '<video id="player"' not in fragment
    assert fragment.strip() in page


async def test_unknown_tab_is_not_found(browser: Browser, video_id: str) -> None:
    assert (await browser.get(f"/videos/{video_id}?tab=other")).status_code == 404


@pytest.mark.usefixtures("languages")
async def test_overview_offers_what_can_be_made_with_its_price(browser: Browser, video_id: str) -> None:
    page = (await browser.get(f"/videos/{video_id}")).text
    offers = [text_of(each) for each in re.findall(r'<a class="offer".*?</a>', page, re.DOTALL)]
    assert offers == [
        "Captions 0.5 credits per language",
        "Dub 2 credits per language",
        "Shorts and clips 6 credits for 3 shorts",
        "Thumbnail 5 credits for 3 images",
        "Download Free",
        "Title Free",
        "Description Free",
    ]


@pytest.mark.usefixtures("languages")
async def test_several_languages_are_one_order_at_one_price(
    browser: Browser, accounts: Accounts, video_id: str
) -> None:
    form = (await browser.get(f"/videos/{video_id}?tab=dubs")).text
    assert len(re.findall(r'<input type="checkbox" name="dub" value="(es|fr)">', form)) == 2
    assert "<noscript>" in form  # the form can be sent without scripts
    asked: dict[str, str | list[str]] = {"kind": "dub", "dub": ["es", "fr"], "product": "plus"}
    button = (await browser.get(f"/videos/{video_id}/price", params=asked)).text
    assert "Dub into Spanish and French · 4 credits" in button
    made = await browser.post(f"/videos/{video_id}/make", asked)
    assert made.headers["location"] == f"/videos/{video_id}?tab=dubs"
    sql = "SELECT language FROM jobs WHERE video_id = $1 AND type = 'dub' ORDER BY language"
    assert [row["language"] for row in await accounts.connection.fetch(sql, video_id)] == ["es", "fr"]
    assert text_of((await browser.get(made.headers["location"])).text).count("stock voices Queued") == 2


async def test_failed_transcript_shows_beside_a_ready_video(
    browser: Browser, accounts: Accounts, video_id: str
) -> None:
    connection = accounts.connection
    await connection.execute("UPDATE videos SET transcript_status = 'failed' WHERE id = $1", video_id)
    await connection.execute(
        "UPDATE jobs SET status = 'failed', error_code = 'INTERNAL', error_message = 'Out of memory.' WHERE id = $1",
        f"transcript_{video_id}",
    )
    for path in (f"/videos/{video_id}", "/library"):
        page = text_of((await browser.get(path)).text)
        assert "Ready Transcript: Failed: Out of memory. Upload another file" in page, path


async def test_running_job_shows_its_progress(
    browser: Browser, accounts: Accounts, person: Person, video_id: str
) -> None:
    running: dict[str, Any] = {"status": "processing", "progress": 43, "stage": "mixing"}
    await put_job(
        accounts, person, video_id, id=f"dub_{video_id}_es_plus", type="dub", language="es", product="plus", **running
    )
    for tab in ("overview", "dubs", "activity"):
        page = (await browser.get(f"/videos/{video_id}?tab={tab}")).text
        assert "stock voices Processing 43 %" in text_of(page), tab
        assert f'data-job="dub_{video_id}_es_plus"' in page, tab  # the bar that live progress moves
        assert f'data-job-state="dub_{video_id}_es_plus"' in page, tab


@pytest.mark.usefixtures("languages")
async def test_retry_fills_in_the_form_and_shows_the_price_first(
    browser: Browser, accounts: Accounts, person: Person, video_id: str
) -> None:
    key = {"id": f"dub_{video_id}_es_premium", "type": "dub", "language": "es", "product": "premium"}
    failed = {"status": "failed", "error_code": "INTERNAL", "error_message": "It broke.", "finished_at": system_clock()}
    await put_job(accounts, person, video_id, **key, **failed)
    page = (await browser.get(f"/videos/{video_id}?tab=activity")).text
    assert "cloned voices Failed: It broke. Change options" in text_of(page)
    link = re.search(r'<a href="([^"]+)">Change options</a>', page)
    assert link is not None
    form = (await browser.get(link[1].replace("&amp;", "&"))).text
    assert 'value="es" checked' in form
    assert "Dub into Spanish · 4 credits" in form


@pytest.mark.parametrize(("import_status", "offers"), [("ready", ["Download"]), ("failed", [])])
async def test_nothing_is_offered_that_cannot_be_made(
    browser: Browser, accounts: Accounts, video_id: str, import_status: str, offers: list[str]
) -> None:
    sql = "UPDATE videos SET status = $2, import_status = $2, transcript_status = 'failed' WHERE id = $1"
    await accounts.connection.execute(sql, video_id, import_status)
    page = (await browser.get(f"/videos/{video_id}")).text
    assert re.findall(r'<a class="offer"[^>]*><strong>([^<]+)', page) == offers
    publish = (await browser.get(f"/videos/{video_id}?tab=publish")).text
    assert '<button class="main">Generate title' not in publish


async def test_stock_voice_dub_plays_separately_if_the_stream_has_the_cloned_one(
    browser: Browser, accounts: Accounts, person: Person, video_id: str
) -> None:
    now = system_clock()
    await accounts.connection.execute("UPDATE videos SET playback_languages = '{en,es}' WHERE id = $1", video_id)
    for product in ("plus", "premium"):
        done = {"type": "dub", "language": "es", "product": product, "status": "ready", "finished_at": now}
        await put_job(accounts, person, video_id, id=f"dub_{video_id}_es_{product}", **done)
        made = {"completion": "complete", "segments": [], "speakers": [], "edits": {}, "sync": {}, "updated_at": now}
        row = {"library_id": person.library_id, "video_id": video_id, "language": "es", "product": product}
        await insert(accounts.connection, "dubs", {**row, **made, "audio_path": f"libraries/{product}.flac"})
    page = (await browser.get(f"/videos/{video_id}")).text
    buttons = re.findall(r'<button[^>]*data-language="es"[^>]*>[^<]*', page)
    assert len(buttons) == 2
    assert ["Spanish, cloned" in each for each in buttons] == ["data-in-stream" in each for each in buttons]


async def test_the_original_plays_instead_of_a_stream_that_is_cut(
    browser: Browser, accounts: Accounts, person: Person, video_id: str, runtime: Runtime
) -> None:
    """The transcript on the page has the times of the recording."""
    await accounts.connection.execute("UPDATE videos SET playback_languages = '{en}' WHERE id = $1", video_id)
    assert 'data-manifest="http' in (await browser.get(f"/videos/{video_id}")).text
    timeline = CutTimeline(Fraction(25), (FrameSpan(0, 50), FrameSpan(75, 100)))
    cut = await store_timeline(runtime.storage, person.library_id, video_id, timeline)
    edit = PackagedEdit(RequestedEdit(2), ((2.0, 3.0),), cut, timeline.seconds).to_row()
    row = {"library_id": person.library_id, "video_id": video_id, "state": "ready", "revision": 1}
    times = {"updated_at": system_clock(), "packaged_edit": edit}
    await insert(accounts.connection, "playbacks", {**row, **times})
    assert 'data-manifest=""' in (await browser.get(f"/videos/{video_id}")).text
