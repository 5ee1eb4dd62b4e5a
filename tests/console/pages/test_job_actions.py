"""Tests the buttons that cancel a running job and try a failed one again."""

import re
from typing import Any

import pytest

from cutroom.accounts.principals import Role
from cutroom.credits import ledger
from cutroom.credits.pricing import Action, BillableItem
from cutroom.credits.rules import Charge
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.products.declaration import VideoTab
from dev.scratch import Accounts, Person
from tests.console.conftest import Browser, SignIn
from tests.console.pages.test_library import put_video
from tests.console.pages.test_video import put_job, text_of

CHARGE = Charge((BillableItem(Action.DUB, "plus", "es"),), is_subscriber=True)


@pytest.fixture
async def video_id(accounts: Accounts, person: Person) -> str:
    await ledger.grant(accounts.connection, person.library_id, millicredits=100_000, reference="a", now=system_clock())
    return await put_video(accounts, person.library_id, title="Walk", spoken="We walk along the harbor.")


@pytest.fixture
async def job_id(accounts: Accounts, person: Person, video_id: str) -> str:
    """A dub that is being made."""
    job_id = f"dub_{video_id}_es_plus"
    dub = {"type": "dub", "language": "es", "product": "plus", "charge": CHARGE.as_json()}
    await put_job(accounts, person, video_id, id=job_id, status="processing", **dub)
    return job_id


def forms(page: str, job_id: str) -> list[str]:
    return re.findall(rf'action="/videos/\w+/jobs/{job_id}/(\w+)"', page)


@pytest.mark.parametrize("tab", [VideoTab.OVERVIEW, VideoTab.DUBS, VideoTab.ACTIVITY])
async def test_running_job_is_canceled_and_tried_again(
    browser: Browser, accounts: Accounts, video_id: str, job_id: str, tab: VideoTab
) -> None:
    running = (await browser.get(f"/videos/{video_id}?tab={tab}")).text
    assert forms(running, job_id) == ["cancel"]
    canceled = await browser.post(f"/videos/{video_id}/jobs/{job_id}/cancel", {"tab": tab})
    assert canceled.headers["location"] == f"/videos/{video_id}?tab={tab}"
    page = (await browser.get(canceled.headers["location"])).text
    assert forms(page, job_id) == ["retry"]
    assert "Canceled" in text_of(page)
    assert "Try again · 2 credits" in text_of(page)
    again = await browser.post(f"/videos/{video_id}/jobs/{job_id}/retry", {"tab": tab})
    assert again.headers["location"] == f"/videos/{video_id}?tab={tab}"
    row = await accounts.connection.fetchrow("SELECT status, attempt FROM jobs WHERE id = $1", job_id)
    assert row is not None
    assert tuple(row) == ("queued", 2)


async def test_retry_that_cannot_help_is_not_offered(
    browser: Browser, accounts: Accounts, person: Person, video_id: str
) -> None:
    failed = {"status": "failed", "error_code": "FAILED_PRECONDITION", "error_message": "No route.", "type": "captions"}
    job_id, finished = (
        f"captions_{video_id}_es",
        {"finished_at": system_clock(), "error_details": {"reason": "no_route"}},
    )
    await put_job(accounts, person, video_id, id=job_id, language="es", **failed, **finished)
    page = (await browser.get(f"/videos/{video_id}?tab=activity")).text
    assert "Choose another language" in page
    assert forms(page, job_id) == []


async def test_viewer_sees_no_buttons_and_cannot_cancel(accounts: Accounts, person: Person, sign_in: SignIn) -> None:
    viewer = await accounts.person()
    workspace = await accounts.workspace(person)
    await accounts.member(workspace, viewer, role=Role.VIEWER)
    video_id = await put_video(accounts, workspace, title="Walk", spoken="We walk along the harbor.")
    job_id = f"dub_{video_id}_es_plus"
    shared = Person(user_id=person.user_id, library_id=workspace, email=person.email)
    dub = {"type": "dub", "language": "es", "product": "plus"}
    await put_job(accounts, shared, video_id, id=job_id, status="queued", **dub)
    browser = await sign_in(viewer)
    await browser.post("/switch", {"library": workspace})
    assert forms((await browser.get(f"/videos/{video_id}?tab=activity")).text, job_id) == []
    assert (await browser.post(f"/videos/{video_id}/jobs/{job_id}/cancel")).status_code == 403


@pytest.mark.parametrize("status", ["processing", "failed"])
@pytest.mark.parametrize(
    ("tab", "job_type", "more"),
    [
        (VideoTab.TRANSCRIPT, "captions", {"language": "es"}),
        (VideoTab.SHORTS, "shorts", {"plan": {"kind": "promo"}}),
        (VideoTab.THUMBNAILS, "packaging", {"automation_type": "zeroPromptThumbnail"}),
        (VideoTab.PUBLISH, "packaging", {"automation_type": "generateTitle"}),
    ],
)
async def test_every_tab_has_the_buttons_of_its_jobs(
    browser: Browser,
    accounts: Accounts,
    person: Person,
    video_id: str,
    *,
    tab: VideoTab,
    job_type: str,
    more: dict[str, Any],
    status: str,
) -> None:
    names = {"captions": f"{video_id}_es", "shorts": new_id(), "packaging": f"{video_id}_{more.get('automation_type')}"}
    job_id = f"{job_type}_{names[job_type]}"
    failure = {"error_code": "INTERNAL", "error_message": "It broke.", "finished_at": system_clock()}
    row = {"id": job_id, "type": job_type, "status": status, **more, **(failure if status == "failed" else {})}
    await put_job(accounts, person, video_id, **row)
    page = (await browser.get(f"/videos/{video_id}?tab={tab}")).text
    assert forms(page, job_id) == ["cancel" if status == "processing" else "retry"]
    assert ("Try again · Free" in text_of(page)) == (status == "failed")
