"""The comments panel and who may do what in it: guests role by role, members, viewers, hostile texts."""

import html
import re

import pytest

from cutroom.accounts.principals import Role
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.reviews.rules import GuestRole
from dev.scratch import Accounts, Person
from tests.console.conftest import Browser, SignIn
from tests.console.pages.reviews.conftest import FRAGMENT, GuestBrowser, OpenLink
from tests.console.pages.test_library import put_video

HOSTILE = "<script>alert(1)</script>\"'&{{ 7*7 }}"


def comments_of(video_id: str) -> str:
    return f"/videos/{video_id}/studio/comments"


async def ids(accounts: Accounts, video_id: str) -> list[str]:
    sql = "SELECT id FROM review_comments WHERE video_id = $1 ORDER BY id"
    return [row["id"] for row in await accounts.connection.fetch(sql, video_id)]


async def act(browser: Browser, video_id: str, comment_id: str, action: str, **fields: str) -> int:
    guest = GuestBrowser(browser.client)
    token = guest.form_token(await guest.get(comments_of(video_id)))
    path = f"{comments_of(video_id)}/{comment_id}/{action}"
    return (await guest.client.post(path, data={"csrf": token, **fields}, headers=FRAGMENT)).status_code


async def test_comments_are_listed_by_time_and_seek(open_link: OpenLink, video_id: str, accounts: Accounts) -> None:
    guest = await open_link(GuestRole.COMMENT)
    for text, time in (("third", "1:02:03"), ("first", "4.5"), ("second", "1:05.2")):
        added = await guest.comment(video_id, text, time)
        assert added.status_code == 200, added.text
    panel = (await guest.get(comments_of(video_id), headers=FRAGMENT)).text
    assert re.findall(r'data-seek="([^"]*)"', panel) == ["4.5", "65.2", "3723.0"]
    assert re.findall(r">(first|second|third)<", panel) == ["first", "second", "third"]
    only_list = await guest.get(comments_of(video_id), headers={**FRAGMENT, "HX-Target": "comment-list"})
    assert ('<form method="post" action="/videos/' in only_list.text, "<textarea" in only_list.text) == (True, False)
    entries = await accounts.connection.fetch(
        "SELECT actor_kind, details FROM audit_entries WHERE targets ->> 'videoId' = $1", video_id
    )
    assert [row["actor_kind"] for row in entries] == ["guest"] * 4
    assert not any("first" in str(row["details"]) or "Ana" in str(row["details"]) for row in entries)


async def test_names_and_texts_are_escaped(open_link: OpenLink, video_id: str, browser: Browser) -> None:
    guest = await open_link(GuestRole.COMMENT, name="<i>Ana</i>")
    await guest.comment(video_id, HOSTILE)
    for reader in (guest, browser):
        page = (await reader.get(comments_of(video_id))).text
        assert "<script>alert" not in page
        assert "<i>" not in page
        assert HOSTILE in html.unescape(page)
    presence = f"/videos/{video_id}/studio/presence"
    await guest.get(presence)
    seen = (await browser.get(presence)).text
    assert ("&lt;i&gt;Ana" in seen, "<i>" in seen) == (True, False)


@pytest.mark.parametrize(
    "fields", [{"time": "x"}, {"time": "-1"}, {"time": "nan"}, {"text": " "}, {"text": "x" * 2_001}]
)
async def test_unusable_comments_are_shown_again(
    open_link: OpenLink, video_id: str, accounts: Accounts, fields: dict[str, str]
) -> None:
    guest = await open_link(GuestRole.COMMENT)
    token = guest.form_token(await guest.get(comments_of(video_id)))
    data = {"csrf": token, "time": "1:00", "text": "Kept", **fields}
    answer = await guest.client.post(comments_of(video_id), data=data, headers=FRAGMENT)
    assert (answer.status_code, "HX-Reswap" in answer.headers) == (400, True)
    assert 'role="alert"' in answer.text
    assert data["text"].strip() in answer.text
    assert await ids(accounts, video_id) == []


async def test_role_by_role(open_link: OpenLink, video_id: str, accounts: Accounts) -> None:
    author, colleague, viewer = [await open_link(role) for role in (GuestRole.COMMENT, GuestRole.EDIT, GuestRole.VIEW)]
    await author.comment(video_id, "Mine")
    [comment_id] = await ids(accounts, video_id)
    page = await viewer.get(comments_of(video_id))
    assert ("Mine" in page.text, "Add comment" in page.text, "Resolve" in page.text) == (True, False, False)
    sent = await viewer.client.post(comments_of(video_id), data={"text": "No", "time": "1"}, headers=FRAGMENT)
    assert (sent.status_code, sent.headers.get("hx-redirect")) == (204, "/sign-in")
    assert await act(colleague, video_id, comment_id, "delete") == 403
    assert await act(colleague, video_id, comment_id, "resolve", resolved="true") == 200
    assert "Resolved" in (await author.get(comments_of(video_id))).text
    assert await act(author, video_id, comment_id, "delete") == 200
    assert await ids(accounts, video_id) == []


async def test_guest_reaches_no_comment_of_another_video(
    open_link: OpenLink, video_id: str, accounts: Accounts, person: Person
) -> None:
    guest = await open_link(GuestRole.EDIT)
    await guest.comment(video_id, "So that there is a token")
    other = await put_video(accounts, person.library_id, title="Other", spoken="No.")
    hidden = new_id()
    row = {"library_id": person.library_id, "id": hidden, "video_id": other, "time_seconds": 1.0, "text": "Hidden"}
    await insert(
        accounts.connection,
        "review_comments",
        {**row, "author_kind": "key", "user_id": person.user_id, "created_at": system_clock()},
    )
    for action in ("resolve", "delete"):
        assert await act(guest, video_id, hidden, action, resolved="true") == 404
    assert await ids(accounts, other) == [hidden]


async def test_members_comment_and_delete_all(
    browser: Browser, open_link: OpenLink, video_id: str, accounts: Accounts
) -> None:
    guest = await open_link(GuestRole.COMMENT)
    await guest.comment(video_id, "Of a guest")
    member = GuestBrowser(browser.client)
    assert (await member.comment(video_id, "Of a member")).status_code == 200
    first, second = await ids(accounts, video_id)
    assert await act(guest, video_id, second, "delete") == 403
    assert await act(browser, video_id, first, "delete") == 200
    kinds = await accounts.connection.fetch("SELECT author_kind FROM review_comments WHERE video_id = $1", video_id)
    assert [row["author_kind"] for row in kinds] == ["person"]


async def test_viewers_of_a_workspace_only_read(accounts: Accounts, person: Person, sign_in: SignIn) -> None:
    team, viewer = await accounts.workspace(person), await accounts.person()
    await accounts.member(team, viewer, role=Role.VIEWER)
    video_id = await put_video(accounts, team, title="Walk", spoken="We walk.")
    browser = await sign_in(viewer)
    await browser.post("/switch", {"library": team})
    page = await browser.get(comments_of(video_id))
    assert (page.status_code, "Add comment" in page.text) == (200, False)
    refused = await browser.post(comments_of(video_id), {"text": "x", "time": "1"})
    assert "Your role" in refused.text or refused.status_code == 403
    assert await ids(accounts, video_id) == []


async def test_presence_names_others_only(open_link: OpenLink, video_id: str, browser: Browser) -> None:
    path = f"/videos/{video_id}/studio/presence"
    ana, rui = await open_link(GuestRole.VIEW, "Ana"), await open_link(GuestRole.VIEW, "Rui")
    assert "Also here" not in (await ana.get(path)).text
    assert "Also here: Ana<" in (await rui.get(path)).text
    assert "Also here: Ana, Rui<" in (await browser.get(path)).text
    assert "Ana" not in (await ana.get(path)).text


async def test_presence_needs_a_video_of_the_library(browser: Browser) -> None:
    assert (await browser.get(f"/videos/{new_id()}/studio/presence")).status_code == 404
    assert (await browser.get(comments_of(new_id()))).status_code == 404
