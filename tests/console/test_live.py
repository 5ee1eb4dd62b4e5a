"""Tests the event stream of pages: nothing is missed, and it ends with the session and the membership."""

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest

import cutroom.console
from cutroom.accounts.principals import Role
from cutroom.console.pages import live
from cutroom.events.service import topic_of
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.platform.messages.announcements import Announcement
from cutroom.platform.messages.broadcast import Broadcaster
from cutroom.platform.messages.changes import Snapshot
from cutroom.platform.slots import SlotLimit
from cutroom.web.outer_middleware import RequestMiddleware
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.conftest import MovableClock
from tests.console.conftest import Browser, SignIn
from tests.console.live_stage import StreamMessage, open_stream, seen_by

TEMPLATES = Path(cutroom.console.__file__).parent / "templates"
_SECTION = re.compile(r"<\w+ [^>]*data-live=[^>]*>")


async def add_video(runtime: Runtime, library_id: str) -> str:
    async with runtime.database.transaction(library_id) as connection:
        video_id = new_id()
        row = {"library_id": library_id, "id": video_id, "title": "A", "status": "ready"}
        await insert(connection, "videos", {**row, "created_at": system_clock()})
    return video_id


# Guests have no event stream, and a poll says that they are still there.
STUDIO = 'id="studio-live"'  # its script reads what has changed, and keeps what is being typed
POLLING = {"comment_list.html", "presence.html"}


def test_every_live_section_reloads_itself_and_none_polls() -> None:
    sections = []
    for path in TEMPLATES.rglob("*.html"):
        text = path.read_text()
        assert path.name in POLLING or "every " not in "".join(re.findall(r'hx-trigger="[^"]*"', text)), path
        sections += [(path, each) for each in _SECTION.findall(text) if STUDIO not in each]
    assert len(sections) >= 8
    for path, each in sections:
        assert re.search(r' id="\w[\w-]*"', each), path
        assert re.search(r' hx-get="[^"]+', each), path
        assert re.search(r' hx-trigger="live\b', each), path


async def test_stream_names_what_has_changed(
    service: RequestMiddleware, browser: Browser, person: Person, runtime: Runtime
) -> None:
    async with open_stream(service, browser, await seen_by(browser)) as stream:
        assert await stream.next() == StreamMessage("ready", "")
        assert (stream.status, stream.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
        assert stream.headers["cache-control"] == "no-store"
        video_id = await add_video(runtime, person.library_id)
        topics: set[str] = set()
        while topics < {"videos", f"details:{video_id}"}:
            topics |= set(json.loads((await stream.until("changed")).data))
        assert topics == {"videos", f"details:{video_id}"}


async def test_what_changed_between_the_page_and_its_stream_is_named(
    service: RequestMiddleware, browser: Browser, person: Person, runtime: Runtime
) -> None:
    async with open_stream(service, browser, await seen_by(browser)) as witness:
        seen = await seen_by(browser)
        await add_video(runtime, person.library_id)
        await witness.until("changed")
        async with open_stream(service, browser, seen) as stream:
            assert "videos" in json.loads((await stream.until("changed")).data)
        async with open_stream(service, browser, await seen_by(browser)) as stream:
            assert await stream.next() == StreamMessage("ready", "")
            await add_video(runtime, (person.library_id))
            assert "videos" in json.loads((await stream.until("changed")).data)


@pytest.mark.parametrize("after", ["", "1:1:", "nonsense"])
async def test_page_from_long_ago_reloads_everything(service: RequestMiddleware, browser: Browser, after: str) -> None:
    seen = {**await seen_by(browser), "after": after}
    async with open_stream(service, browser, seen) as stream:
        await stream.until("missed")


async def test_other_libraries_are_not_followed(
    service: RequestMiddleware, browser: Browser, person: Person, accounts: Accounts, runtime: Runtime
) -> None:
    outside = await accounts.person()
    async with open_stream(service, browser, {"library": outside.library_id, "after": ""}) as stream:
        assert await stream.next() == StreamMessage("end", "no-access")
        assert await stream.next() is None
    async with open_stream(service, browser, await seen_by(browser)) as stream:
        await stream.until("ready")
        await add_video(runtime, outside.library_id)
        video_id = await add_video(runtime, person.library_id)
        named: list[str] = []
        while f"details:{video_id}" not in named:
            named += json.loads((await stream.until("changed")).data)
        assert set(named) <= {"videos", f"details:{video_id}"}


async def test_without_a_session_the_page_has_to_stop(service: RequestMiddleware, outsider: Browser) -> None:
    async with open_stream(service, outsider, {"library": "x", "after": ""}) as stream:
        assert await stream.next() == StreamMessage("end", "signed-out")
        assert await stream.next() is None


async def test_stream_ends_when_the_session_does(service: RequestMiddleware, browser: Browser) -> None:
    async with open_stream(service, browser, await seen_by(browser)) as stream:
        await stream.until("ready")
        assert (await browser.post("/sign-out")).status_code == 303
        assert await stream.until("end") == StreamMessage("end", "signed-out")
        assert await stream.next() is None


async def test_stream_of_a_removed_member_ends(service: RequestMiddleware, accounts: Accounts, sign_in: SignIn) -> None:
    owner, member = await accounts.person(), await accounts.person()
    workspace = await accounts.workspace(owner)
    await accounts.member(workspace, member, role=Role.EDITOR)
    browser, owners = await sign_in(member), await sign_in(owner)
    for each in (browser, owners):
        await each.post("/switch", {"library": workspace})
    async with open_stream(service, browser, await seen_by(browser)) as stream:
        await stream.until("ready")
        removed = await owners.post(f"/workspace/members/{member.user_id}", {"role": "remove"})
        assert removed.status_code == 303
        assert await stream.until("end") == StreamMessage("end", "no-access")


async def test_stream_of_a_suspended_library_ends(
    service: RequestMiddleware, browser: Browser, person: Person, accounts: Accounts
) -> None:
    seen = await seen_by(browser)
    async with open_stream(service, browser, seen) as stream:
        await stream.until("ready")
        await accounts.connection.execute("UPDATE libraries SET suspended_at = now() WHERE id = $1", person.library_id)
        assert await stream.until("end") == StreamMessage("end", "no-access")
    async with open_stream(service, browser, seen) as stream:
        assert await stream.next() == StreamMessage("end", "no-access")


async def test_open_page_does_not_prolong_its_session(
    service: RequestMiddleware,
    browser: Browser,
    person: Person,
    accounts: Accounts,
    clock: MovableClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(live, "BEAT_SECONDS", 0.01)
    last_use = "SELECT seen_at FROM sessions WHERE user_id = $1"
    async with open_stream(service, browser, await seen_by(browser)) as stream:
        await stream.until("ready")
        before = await accounts.connection.fetchval(last_use, person.user_id)
        clock.shift = timedelta(minutes=5)
        beats = [await stream.until("beat") for _ in range(3)]
        assert all(Snapshot.parse(each.id or "") is not None for each in beats)
        assert await accounts.connection.fetchval(last_use, person.user_id) == before
        clock.shift = timedelta(days=8)
        assert await stream.until("end") == StreamMessage("end", "signed-out")


async def test_progress_is_passed_on_in_words(
    service: RequestMiddleware, browser: Browser, person: Person, runtime: Runtime
) -> None:
    broadcaster = Broadcaster(runtime.settings.redis_url.get_secret_value())
    payload = {"id": "dub_a", "progress": 43, "stage": "mixing"}
    async with open_stream(service, browser, await seen_by(browser)) as stream:
        await stream.until("ready")
        broadcaster.send_all([Announcement(topic_of(person.library_id), f"dub_a {json.dumps(payload)}")])
        message = json.loads((await stream.until("progress")).data)
    await broadcaster.close()
    assert message == {"job": "dub_a", "percent": 43, "text": "Processing 43 %", "stage": "Mixing"}


async def test_pages_of_a_library_are_limited_apart_from_waiting_requests(
    service: RequestMiddleware,
    browser: Browser,
    person: Person,
    runtime: Runtime,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(live, "MAX_PAGES", 1)
    seen = await seen_by(browser)
    async with (
        runtime.slots.hold([SlotLimit(f"waits:{person.library_id}", 1)]),
        open_stream(service, browser, seen) as first,
    ):
        await first.until("ready")
        async with open_stream(service, browser, seen) as second:
            assert await second.response() == 429
