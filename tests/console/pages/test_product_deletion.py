"""Tests the buttons that delete one product, on every tab that has some."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from cutroom.accounts.principals import Role
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from dev.scratch import Accounts, Person
from tests.console.conftest import Browser, SignIn
from tests.console.pages.test_library import put_video
from tests.console.pages.test_video import put_job, text_of

SEGMENT = {"start": 0, "end": 1, "speaker": "speaker_1", "text": "Hola.", "deleted": False, "words": 0}


@dataclass(frozen=True)
class Placed:
    """A product, the tab that shows it, and the address of its button below the video."""

    tab: str
    action: str
    question: str
    job_id: str
    gone: bool = True  # the job has no other output


Place = Callable[[Accounts, Person, str], Awaitable[Placed]]


async def place_dub(accounts: Accounts, person: Person, video_id: str) -> Placed:
    job_id = f"dub_{video_id}_es_plus"
    await put_finished(accounts, person, video_id, id=job_id, type="dub", language="es", product="plus")
    row = {"language": "es", "product": "plus", "completion": "complete", "segments": [SEGMENT], "speakers": []}
    more = {"edits": {}, "sync": {}, "audio_path": "audio", "updated_at": system_clock()}
    await insert(accounts.connection, "dubs", {"library_id": person.library_id, "video_id": video_id, **row, **more})
    return Placed("dubs", "dubs/es/plus", "Delete the Spanish dub with stock voices?", job_id)


async def place_captions(accounts: Accounts, person: Person, video_id: str) -> Placed:
    job_id = f"captions_{video_id}_es"
    await put_finished(accounts, person, video_id, id=job_id, type="captions", language="es")
    row = {"language": "es", "segments": [SEGMENT], "quality": "publishable"}
    await put(accounts, person, "captions", video_id=video_id, **row)
    return Placed("transcript", "captions/es", "Delete the Spanish captions?", job_id)


async def place_shorts(accounts: Accounts, person: Person, video_id: str) -> Placed:
    request_id = new_id()
    job_id = f"shorts_{request_id}"
    await put_finished(accounts, person, video_id, id=job_id, type="shorts", plan={"kind": "shorts", "numClips": 2})
    for number in (0, 1):
        row = {"number": number, "kind": "shorts", "title": f"Part {number}", "description": "", "reason": ""}
        paths = {"video_path": "a", "thumbnail_path": "b", "plan_path": "c", "moments": [], "duration_seconds": 20.0}
        keys = {"id": f"{request_id[:-1]}{number}", "request_id": request_id, "video_id": video_id}
        await put(accounts, person, "shorts_outputs", **keys, **row, **paths)
    return Placed("shorts", f"shorts/{request_id}", "Delete these shorts?", job_id)


async def place_short(accounts: Accounts, person: Person, video_id: str) -> Placed:
    made = await place_shorts(accounts, person, video_id)
    request_id = made.job_id.partition("_")[2]
    return Placed("shorts", f"{made.action}/{request_id[:-1]}1", "Delete “Part 1”?", made.job_id, gone=False)


async def place_thumbnail(accounts: Accounts, person: Person, video_id: str) -> Placed:
    request_id, image_id = new_id(), new_id()
    job_id = f"thumbnail_{request_id}"
    await put_finished(accounts, person, video_id, id=job_id, type="thumbnail")
    await put(accounts, person, "thumbnail_requests", id=request_id, video_id=video_id, job_id=job_id)
    image = {"number": 0, "layout": "left", "score": 0.5, "engine": "none", "path": "image"}
    await put(accounts, person, "thumbnails", id=image_id, request_id=request_id, video_id=video_id, **image)
    return Placed("thumbnails", f"thumbnails/{request_id}/{image_id}", "Delete this thumbnail?", job_id, gone=False)


async def place_download(accounts: Accounts, person: Person, video_id: str) -> Placed:
    request_id = new_id()
    job_id = f"download_{request_id}"
    more = {
        "plan": {"artifact": "bundle", "language": "en", "tier": "full"},
        "result": {"storagePath": "a", "fileName": "a.zip", "artifact": "bundle", "language": "en"},
    }
    await put_finished(accounts, person, video_id, id=job_id, type="download", **more)
    return Placed("publish", f"downloads/{request_id}", "Delete this download?", job_id)


PLACES: list[Place] = [place_dub, place_captions, place_shorts, place_short, place_thumbnail, place_download]


async def put_finished(accounts: Accounts, person: Person, video_id: str, **row: Any) -> None:  # noqa: ANN401 (columns)
    state = {"status": "ready", "finished_at": system_clock(), "result": {}}
    await put_job(accounts, person, video_id, **{**state, **row})


async def put(accounts: Accounts, person: Person, table: str, **row: Any) -> None:  # noqa: ANN401 (columns)
    await insert(accounts.connection, table, {"library_id": person.library_id, "created_at": system_clock(), **row})


@pytest.fixture
async def video_id(accounts: Accounts, person: Person) -> str:
    return await put_video(accounts, person.library_id, title="Walk", spoken="We walk along the harbor.")


@pytest.mark.parametrize("place", PLACES)
async def test_product_is_deleted_from_its_tab(
    browser: Browser, accounts: Accounts, person: Person, video_id: str, place: Place
) -> None:
    placed = await place(accounts, person, video_id)
    address = f"/videos/{video_id}?tab={placed.tab}"
    form = rf'<form method="post" action="/videos/{video_id}/{placed.action}/delete" data-confirm="([^"]+)">'
    (question,) = re.findall(form, (await browser.get(address)).text)
    assert question.startswith(placed.question)
    deleted = await browser.post(f"/videos/{video_id}/{placed.action}/delete")
    assert deleted.headers["location"] == f"{address}&notice=deleted"
    page = (await browser.get(deleted.headers["location"])).text
    assert "Deleted." in text_of(page)
    assert re.findall(form, page) == []
    activity = text_of((await browser.get(f"/videos/{video_id}?tab=activity")).text)
    assert ("Deleted" in activity) == placed.gone
    assert (await browser.post(f"/videos/{video_id}/{placed.action}/delete")).status_code == 404


@pytest.mark.parametrize("place", PLACES)
async def test_viewer_cannot_delete(accounts: Accounts, person: Person, sign_in: SignIn, place: Place) -> None:
    workspace = await accounts.workspace(person)
    viewer = await accounts.person()
    await accounts.member(workspace, viewer, role=Role.VIEWER)
    shared = Person(user_id=person.user_id, library_id=workspace, email=person.email)
    video_id = await put_video(accounts, workspace, title="Walk", spoken="We walk along the harbor.")
    placed = await place(accounts, shared, video_id)
    browser = await sign_in(viewer)
    await browser.post("/switch", {"library": workspace})
    page = (await browser.get(f"/videos/{video_id}?tab={placed.tab}")).text
    assert "/delete" not in page
    assert (await browser.post(f"/videos/{video_id}/{placed.action}/delete")).status_code == 403


async def test_running_product_has_no_delete_button(
    browser: Browser, accounts: Accounts, person: Person, video_id: str
) -> None:
    dub = {"type": "dub", "language": "es", "product": "plus", "status": "processing"}
    await put_job(accounts, person, video_id, id=f"dub_{video_id}_es_plus", **dub)
    page = (await browser.get(f"/videos/{video_id}?tab=dubs")).text
    assert "/cancel" in page
    assert "/dubs/es/plus/delete" not in page
    assert (await browser.post(f"/videos/{video_id}/dubs/es/plus/delete")).status_code == 409
    assert (await browser.post(f"/videos/{video_id}/dubs/es/other/delete")).status_code == 404
