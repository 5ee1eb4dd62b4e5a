"""Which videos may be served, and for how long the answer is cached."""

import pytest

from cutroom.accounts import service as accounts_service
from cutroom.library import live_videos as module
from cutroom.library.live_videos import VALID_SECONDS, LiveVideos, owner_of_path, video_of_path
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.library.conftest import AddRow

NOW = 1_800_000_000  # when a URL was signed, in seconds of the epoch


class Ticks:
    """A monotonic clock that stands still."""

    def __init__(self) -> None:
        self.seconds = 1_000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def ticks() -> Ticks:
    return Ticks()


@pytest.fixture
def live(runtime: Runtime, ticks: Ticks) -> LiveVideos:
    return LiveVideos(runtime.database, ticks)


@pytest.fixture
async def video_id(add: AddRow) -> str:
    return await add("videos", status="ready")


async def trash(accounts: Accounts, video_id: str, *, columns: str = "deleted_at = now()") -> None:
    await accounts.connection.execute(f"UPDATE videos SET {columns} WHERE id = $1", video_id)  # noqa: S608 (a constant)


@pytest.mark.parametrize("columns", ["deleted_at = now()", "deleted_at = now(), purged_at = now()"])
async def test_trash_and_purge_end_serving(
    live: LiveVideos, accounts: Accounts, person: Person, video_id: str, ticks: Ticks, columns: str
) -> None:
    assert await live.is_live(person.library_id, video_id, NOW)
    await trash(accounts, video_id, columns=columns)
    ticks.seconds += VALID_SECONDS
    assert not await live.is_live(person.library_id, video_id, NOW)


async def test_answers_are_cached_for_a_bounded_time(
    live: LiveVideos, accounts: Accounts, person: Person, video_id: str, ticks: Ticks
) -> None:
    assert await live.is_live(person.library_id, video_id, NOW)
    await trash(accounts, video_id)
    ticks.seconds += VALID_SECONDS - 0.1
    assert await live.is_live(person.library_id, video_id, NOW)  # a hit does not extend the entry
    ticks.seconds += 0.1
    assert not await live.is_live(person.library_id, video_id, NOW)


async def test_restored_video_is_served_again(
    live: LiveVideos, accounts: Accounts, person: Person, video_id: str, ticks: Ticks
) -> None:
    await trash(accounts, video_id)
    assert not await live.is_live(person.library_id, video_id, NOW)
    await trash(accounts, video_id, columns="deleted_at = NULL")
    ticks.seconds += VALID_SECONDS
    assert await live.is_live(person.library_id, video_id, NOW)


async def test_unknown_videos_and_those_of_other_libraries_are_not_served(
    live: LiveVideos, accounts: Accounts, person: Person, video_id: str
) -> None:
    other = await accounts.person()
    assert not await live.is_live(person.library_id, new_id(), NOW)
    assert not await live.is_live(other.library_id, video_id, NOW)


async def test_urls_from_before_a_member_left_are_refused(
    live: LiveVideos, accounts: Accounts, person: Person, video_id: str, ticks: Ticks
) -> None:
    left = system_clock()
    signed = int(left.timestamp())
    for about in (video_id, None):
        assert await live.is_live(person.library_id, about, signed)
    await accounts_service.revoke_access(accounts.connection, person.library_id, user_id=new_id(), now=left)
    ticks.seconds += VALID_SECONDS
    for about in (video_id, None):
        assert not await live.is_live(person.library_id, about, signed)
        assert await live.is_live(person.library_id, about, signed + 1)


async def test_objects_of_a_suspended_library_are_not_served(
    live: LiveVideos, accounts: Accounts, person: Person, ticks: Ticks
) -> None:
    assert await live.is_live(person.library_id, None, NOW)
    await accounts_service.set_suspended(accounts.connection, person.library_id, at=system_clock())
    ticks.seconds += VALID_SECONDS
    assert not await live.is_live(person.library_id, None, NOW)


@pytest.mark.parametrize(
    ("path", "owner"),
    [
        ("libraries/l/videos/v/poster.jpg", ("l", "v")),
        ("libraries/l/characters/i.png", ("l", None)),
        ("erasures/e.json", None),
    ],
)
def test_owner_of_an_object(path: str, owner: tuple[str, str | None] | None) -> None:
    assert owner_of_path(path) == owner


async def test_oldest_entry_is_evicted(
    live: LiveVideos, accounts: Accounts, person: Person, add: AddRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_ENTRIES", 2)
    first, second, third = [await add("videos", status="ready") for _ in range(3)]
    for each in (first, second, third):
        assert await live.is_live(person.library_id, each, NOW)
    for each in (first, second, third):
        await trash(accounts, each)
    assert await live.is_live(person.library_id, second, NOW)
    assert await live.is_live(person.library_id, third, NOW)
    assert not await live.is_live(person.library_id, first, NOW)


@pytest.mark.parametrize(
    ("path", "video"),
    [
        ("libraries/l/videos/v/poster.jpg", ("l", "v")),
        ("libraries/l/videos/v/shorts/r/output-0.mp4", ("l", "v")),
        ("libraries/l/characters/i.png", None),
        ("libraries/l/voices/v/preview.wav", None),
    ],
)
def test_video_of_path(path: str, video: tuple[str, str] | None) -> None:
    assert video_of_path(path) == video
