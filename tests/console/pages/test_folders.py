"""Tests folders, moving videos, and setting the thumbnail."""

from cutroom.accounts.principals import Role
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from dev.scratch import Accounts, Person
from tests.console.conftest import Browser, SignIn
from tests.console.pages.test_library import MARKUP, SHOWN, put_video


async def folder(browser: Browser, name: str, *, inside: str = "") -> str:
    made = await browser.post("/library/folders", {"name": name, "folder": inside})
    return made.headers["location"].partition("folder=")[2]


async def folders_of(accounts: Accounts, video_id: str) -> list[str]:
    found: list[str] = await accounts.connection.fetchval("SELECT folder_ids FROM videos WHERE id = $1", video_id)
    return found


async def test_videos_are_moved_into_and_out_of_a_folder(browser: Browser, accounts: Accounts, person: Person) -> None:
    place = await folder(browser, "Interviews")
    videos = [await put_video(accounts, person.library_id, title=f"Video {number}") for number in range(2)]
    assert (await browser.post("/library/move", {"video": videos, "to": place})).status_code == 303
    assert [await folders_of(accounts, each) for each in videos] == [[place], [place]]
    assert f'href="/library?folder={place}"' in (await browser.get(f"/videos/{videos[0]}")).text
    stays = await browser.post("/library/move", {"video": videos[0], "to": "none", "stay": "1"})
    assert stays.headers["location"].startswith(f"/videos/{videos[0]}")
    assert await folders_of(accounts, videos[0]) == []


async def test_moving_a_video_of_another_library_moves_nothing(
    browser: Browser, accounts: Accounts, person: Person
) -> None:
    place, outsider = await folder(browser, "Mine"), await accounts.person()
    own = await put_video(accounts, person.library_id, title="Own")
    theirs = await put_video(accounts, outsider.library_id, title="Theirs")
    assert (await browser.post("/library/move", {"video": [own, theirs], "to": place})).status_code == 404
    assert await folders_of(accounts, own) == []
    assert (await browser.post("/library/move", {"video": own, "to": new_id()})).status_code == 404
    assert (await browser.post("/library/move", {"to": place})).status_code == 400


async def test_folder_names_are_escaped(browser: Browser) -> None:
    place = await folder(browser, "Old")
    assert (await browser.post(f"/library/folders/{place}/rename", {"name": MARKUP})).status_code == 303
    page = (await browser.get(f"/library?folder={place}")).text
    assert MARKUP not in page
    assert SHOWN in page
    assert (await browser.post(f"/library/folders/{place}/rename", {"name": "all videos"})).status_code == 400


async def test_deleting_a_folder_keeps_its_videos_and_requires_no_subfolders(
    browser: Browser, accounts: Accounts, person: Person
) -> None:
    outer = await folder(browser, "Outer")
    inner = await folder(browser, "Inner", inside=outer)
    video_id = await put_video(accounts, person.library_id, title="In", folder_ids=[inner])
    assert (await browser.post(f"/library/folders/{outer}/delete")).status_code == 409
    assert (await browser.post(f"/library/folders/{inner}/delete")).status_code == 303
    assert await folders_of(accounts, video_id) == []
    assert (await browser.post(f"/library/folders/{outer}/delete")).status_code == 303


async def test_other_libraries_and_viewers_cannot_edit_folders(
    browser: Browser, sign_in: SignIn, accounts: Accounts, person: Person
) -> None:
    place = await folder(browser, "Mine")
    outsider = await sign_in(await accounts.person())
    assert (await outsider.post(f"/library/folders/{place}/delete")).status_code == 404
    assert (await outsider.post(f"/library/folders/{place}/rename", {"name": "Theirs"})).status_code == 404
    workspace_id, viewer = await accounts.workspace(person), await accounts.person()
    await accounts.member(workspace_id, viewer, role=Role.VIEWER)
    video_id = await put_video(accounts, workspace_id, title="Ours")
    looking = await sign_in(viewer)
    await looking.post("/switch", {"library": workspace_id})
    assert (await looking.post("/library/move", {"video": video_id, "to": "none"})).status_code == 403
    assert 'form="bulk"' not in (await looking.get("/library")).text


async def test_thumbnail_of_the_video_can_be_set(
    browser: Browser, sign_in: SignIn, accounts: Accounts, person: Person
) -> None:
    video_id = await put_video(accounts, person.library_id, title="Walk", spoken="We walk.")
    here = {"library_id": person.library_id, "video_id": video_id, "created_at": system_clock()}
    request_id = new_id()
    await insert(accounts.connection, "thumbnail_requests", {**here, "id": request_id, "job_id": "none"})
    ids = [new_id(), new_id()]
    for number, each in enumerate(ids):
        drawn = {"request_id": request_id, "number": number, "layout": "plain", "score": 1.0, "engine": "none"}
        row = {**here, **drawn, "id": each, "headline": MARKUP, "path": f"libraries/picture-{each}.jpg"}
        await insert(accounts.connection, "thumbnails", row)
    page = (await browser.get(f"/videos/{video_id}?tab=thumbnails")).text
    assert MARKUP not in page
    assert page.count("Set as thumbnail") == 2
    assert page.count("Another video") == 2 * 2 * 3  # two thumbnails on two pages, with three neighbors
    assert (await browser.post(f"/videos/{video_id}/thumbnail", {"thumbnail": ids[1]})).status_code == 303
    poster = await accounts.connection.fetchval("SELECT poster_path FROM videos WHERE id = $1", video_id)
    assert poster == f"libraries/picture-{ids[1]}.jpg"
    page = (await browser.get(f"/videos/{video_id}?tab=thumbnails")).text
    assert page.count("Set as thumbnail") == 1
    assert "Current thumbnail" in page
    other = await put_video(accounts, person.library_id, title="Ride")
    await accounts.connection.execute("UPDATE videos SET poster_path = 'libraries/ride.jpg' WHERE id = $1", other)
    page = (await browser.get(f"/videos/{video_id}?tab=thumbnails")).text
    assert (page.count("<span>Ride</span>"), page.count("Another video")) == (2 * 2, 2 * 2 * 2)
    outsider = await sign_in(await accounts.person())
    assert (await outsider.post(f"/videos/{video_id}/thumbnail", {"thumbnail": ids[0]})).status_code == 404
