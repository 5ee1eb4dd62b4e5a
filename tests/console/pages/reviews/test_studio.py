"""Guests in the studio: what each role may read and change, without prices."""

import json
import re
from typing import Any

import httpx
import pytest

from cutroom.credits import ledger
from cutroom.platform.clock import system_clock
from cutroom.reviews.rules import GuestRole
from dev.scratch import Accounts, Person
from tests.console.pages.reviews.conftest import GuestBrowser, OpenLink
from tests.support.studio.videos import StudioVideo, insert_studio_video

JSON = {"accept": "application/json"}
_CSRF = re.compile(r'data-csrf="([0-9a-f]{40})"')
EDIT = {"revision": 1, "operations": [{"op": "replaceText", "id": "s1", "text": "By a guest."}]}


@pytest.fixture
async def video(accounts: Accounts, person: Person) -> StudioVideo:
    await ledger.grant(accounts.connection, person.library_id, millicredits=50_000, reference="a", now=system_clock())
    return await insert_studio_video(accounts.connection, person.library_id)


@pytest.fixture
async def video_id(video: StudioVideo) -> str:
    return video.id


async def send(guest: GuestBrowser, video: StudioVideo, path: str, body: Any) -> httpx.Response:  # noqa: ANN401 (JSON)
    found = _CSRF.search((await guest.get(video.path)).text)
    assert found is not None
    headers = {**JSON, "x-csrf-token": found[1]}
    return await guest.client.post(f"{video.path}/{path}", data={"body": json.dumps(body)}, headers=headers)


@pytest.mark.parametrize("role", [GuestRole.VIEW, GuestRole.COMMENT])
async def test_who_may_not_edit_reads_only(open_link: OpenLink, video: StudioVideo, role: GuestRole) -> None:
    guest = await open_link(role)
    page = (await guest.get(video.path, params={"lang": "pt"})).text
    assert video.segments[0].text in page
    assert f'hx-get="{video.path}/comments"' in page
    for absent in ('data-command="undo"', 'href="/library"', "credits"):
        assert absent not in page
    refused = await send(guest, video, "transcript", EDIT)
    assert refused.headers.get("location", "").startswith("/sign-in")


async def test_who_may_edit_changes_texts_and_spends_nothing(
    open_link: OpenLink, video: StudioVideo, accounts: Accounts, person: Person
) -> None:
    guest = await open_link(GuestRole.EDIT)
    answer = (await send(guest, video, "transcript?lang=pt", EDIT)).json()
    assert (answer["revision"], answer["rows"][0]["text"]) == (2, "By a guest.")
    assert (answer["track"]["stale"], answer["track"]["price"]) == (1, None)
    line = answer["rows"][0]["line"]["id"]
    body = {"id": line, "revision": 1, "transcriptRevision": 2, "text": "De um convidado."}
    written = (await send(guest, video, "line?lang=pt", body)).json()
    assert written["rows"][0]["line"]["text"] == "De um convidado."
    refused = await send(guest, video, "regenerate?lang=pt", {"revision": 2, "transcriptRevision": 2})
    assert refused.headers.get("location", "").startswith("/sign-in")
    assert await ledger.wallet_balance(accounts.connection, person.library_id) == 50_000
    row = await accounts.connection.fetchrow(
        "SELECT actor_kind, user_id FROM transcript_revisions WHERE video_id = $1", video.id
    )
    assert row is not None
    assert dict(row) == {"actor_kind": "guest", "user_id": None}


async def test_a_link_of_another_video_opens_nothing(open_link: OpenLink, accounts: Accounts, person: Person) -> None:
    guest = await open_link(GuestRole.EDIT)
    other = await insert_studio_video(accounts.connection, person.library_id)
    for path in ("", "/rows", "/changes"):
        response = await guest.get(f"{other.path}{path}")
        assert response.headers.get("location", "").startswith("/sign-in"), path
