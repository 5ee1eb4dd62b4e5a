"""The panel that shares a video for review."""

import re

from cutroom.accounts.principals import Role
from cutroom.platform.ids import new_id
from cutroom.reviews.rules import GuestRole
from dev.scratch import Accounts, Person
from tests.console.conftest import Browser, NewBrowser, SignIn
from tests.console.pages.reviews.conftest import FRAGMENT, GuestBrowser, OpenLink
from tests.console.pages.test_library import MARKUP, put_video


def links_of(video_id: str) -> str:
    return f"/videos/{video_id}/review-links"


async def test_link_is_created_shown_once_and_revoked(browser: Browser, new_browser: NewBrowser, video_id: str) -> None:
    fields = {"role": "comment", "days": "7", "label": MARKUP}
    made = await browser.post(links_of(video_id), fields)
    found = re.search(r'id="review-url">([^<]*/review/(rev_[0-9a-f]+))<', made.text)
    assert found is not None
    assert MARKUP not in made.text  # escaped
    guest = GuestBrowser(new_browser().client)
    assert (await guest.open(found[2])).status_code == 303
    page = (await browser.get(links_of(video_id))).text
    assert found[2] not in page
    revoke = re.search(r'action="(/videos/[^"]*/revoke)"', page)
    assert revoke is not None
    assert (await browser.post(revoke[1])).status_code == 303
    assert "No active links." in (await browser.get(links_of(video_id))).text
    assert (await guest.get(f"/videos/{video_id}/studio/comments")).status_code == 303


async def test_wrong_fields_are_explained(browser: Browser, video_id: str) -> None:
    token = await browser.token()
    for fields in ({"role": "owner", "days": "7"}, {"role": "view", "days": "91"}, {"role": "view", "days": "x"}):
        answer = await browser.client.post(links_of(video_id), data={"csrf": token, **fields}, headers=FRAGMENT)
        assert (answer.status_code, 'role="alert"' in answer.text, "HX-Reswap" in answer.headers) == (400, True, True)
    assert "No active links." in (await browser.get(links_of(video_id))).text


async def test_panel_is_on_the_publish_tab(browser: Browser, video_id: str) -> None:
    assert f'hx-get="{links_of(video_id)}"' in (await browser.get(f"/videos/{video_id}?tab=publish")).text
    assert links_of(video_id) not in (await browser.get(f"/videos/{video_id}?tab=dubs")).text
    assert (await browser.get(links_of(new_id()))).status_code == 404


async def test_guests_and_viewers_share_nothing(
    open_link: OpenLink, video_id: str, accounts: Accounts, person: Person, sign_in: SignIn
) -> None:
    guest = await open_link(GuestRole.EDIT)
    for response in (
        await guest.get(links_of(video_id)),
        await guest.client.post(links_of(video_id), data={"role": "edit", "days": "7"}),
    ):
        assert (response.status_code, response.headers["location"].startswith("/sign-in")) == (303, True)
    team, viewer = await accounts.workspace(person), await accounts.person()
    await accounts.member(team, viewer, role=Role.VIEWER)
    of_team = await put_video(accounts, team, title="Walk", spoken="We walk.")
    browser = await sign_in(viewer)
    await browser.post("/switch", {"library": team})
    assert "Create link" not in (await browser.get(links_of(of_team))).text
    assert (await browser.post(links_of(of_team), {"role": "view", "days": "7"})).status_code == 403
    assert not await accounts.connection.fetchval("SELECT count(*) FROM review_links WHERE video_id = $1", of_team)
