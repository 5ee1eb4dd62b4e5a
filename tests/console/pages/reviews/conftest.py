"""Fixtures: videos, review links, and browsers of guests who opened them."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

import httpx
import pytest

from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.reviews.links import hash_of
from cutroom.reviews.rules import GuestRole
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.console.conftest import Browser, NewBrowser
from tests.console.pages.test_library import put_video

FRAGMENT = {"HX-Request": "true"}
_CSRF = re.compile(r'name="csrf" value="([0-9a-f]{40})"')


@pytest.fixture
async def video_id(accounts: Accounts, person: Person) -> str:
    return await put_video(accounts, person.library_id, title="Walk", spoken="We walk.")


@dataclass(frozen=True)
class PutLink:
    """Inserts a review link, and returns its secret."""

    accounts: Accounts
    runtime: Runtime
    person: Person

    async def __call__(self, video_id: str, role: GuestRole, *, days: float = 14, person: Person | None = None) -> str:
        secret, now, owner = f"rev_{new_id()}", system_clock(), person or self.person
        row = {
            "library_id": owner.library_id,
            "id": new_id(),
            "video_id": video_id,
            "hash": hash_of(secret, self.runtime.secret_box),
            "role": role.value,
            "created_by": owner.user_id,
            "created_at": now,
            "expires_at": now + timedelta(days=days),
        }
        await insert(self.accounts.connection, "review_links", row)
        return secret


@pytest.fixture
def put_link(accounts: Accounts, runtime: Runtime, person: Person) -> PutLink:
    return PutLink(accounts, runtime, person)


class GuestBrowser(Browser):
    """A browser whose forms carry the token of the page that they are on."""

    def form_token(self, page: httpx.Response) -> str:
        found = _CSRF.search(page.text)
        assert found is not None, page.text
        return found[1]

    async def open(self, secret: str, name: str = "Ana") -> httpx.Response:
        entry = await self.get(f"/review/{secret}")
        assert entry.status_code == 200, entry.text
        return await self.client.post(f"/review/{secret}", data={"csrf": self.form_token(entry), "name": name})

    async def comment(self, video_id: str, text: str, time: str = "0:12.5") -> httpx.Response:
        path = f"/videos/{video_id}/studio/comments"
        token = self.form_token(await self.get(path))
        return await self.client.post(path, data={"csrf": token, "text": text, "time": time}, headers=FRAGMENT)


OpenLink = Callable[..., Awaitable[GuestBrowser]]


@pytest.fixture
def open_link(new_browser: NewBrowser, put_link: PutLink, video_id: str) -> OpenLink:
    """Returns the browser of a guest of the video."""

    async def open_link(role: GuestRole, name: str = "Ana") -> GuestBrowser:
        made = new_browser()
        guest = GuestBrowser(made.client, made.address)
        assert (await guest.open(await put_link(video_id, role), name)).status_code == 303
        return guest

    return open_link
