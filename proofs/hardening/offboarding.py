"""Everything a removed member could still use: each is tried again after the removal, for up to a minute."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import httpx

from cutroom.accounts.oauth import register_client
from cutroom.accounts.principals import Role
from cutroom.platform.clock import system_clock
from dev.scratch import Keyring, Person
from proofs.hardening.attacks import Scene, client_at
from proofs.hardening.sources import publish
from proofs.hardening.uploads import start_url
from proofs.stage.oauth_client import CALLBACK, AuthorizationRequest, BrowserUser, OAuthClient
from tests.support.stage import upload

FAMILY = "off-boarding"
LIMIT_SECONDS = 60.0
IMPORT_SECONDS = 120.0

Check = Callable[[], Awaitable[int]]


@dataclass(frozen=True)
class Team:
    """A workspace with its owner and a member, both signed in, and a video."""

    library_id: str
    owner: BrowserUser
    owner_key: Keyring
    guest: BrowserUser
    key: Keyring
    video_id: str


async def open_team(scene: Scene) -> Team:
    async with scene.lock:
        owner, guest = await scene.accounts.person(), await scene.accounts.person()
        library_id = await scene.accounts.workspace(owner)
        await scene.accounts.member(library_id, guest, role=Role.ADMIN)
        owner_key = await scene.accounts.key(owner, library_id=library_id)
        key = await scene.accounts.key(guest, library_id=library_id)
    users = [await _sign_in(scene, person, library_id) for person in (owner, guest)]
    async with client_at(scene.stage.api.url, "127.0.4.1", key.headers) as client:
        video_id = await upload(client, scene.video_file)
    return Team(library_id, users[0], owner_key, users[1], key, video_id)


async def _sign_in(scene: Scene, person: Person, library_id: str) -> BrowserUser:
    user = await BrowserUser.sign_in(scene.runtime, scene.stage.api.url, person)
    await user.client.post("/switch", data={"csrf": await user.csrf(), "library": library_id})
    return user


async def poster_url(client: httpx.AsyncClient, video_id: str) -> str:
    """The signed URL of the poster, once there is one."""
    deadline = time.monotonic() + IMPORT_SECONDS
    while "posterUrl" not in (video := (await client.get(f"/v1/videos/{video_id}")).json()):
        if time.monotonic() > deadline:
            raise RuntimeError(f"the import did not finish: {video}")
        await asyncio.sleep(0.1)
    return str(video["posterUrl"])


async def attack_after_removal(scene: Scene) -> None:
    team = await open_team(scene)
    api = client_at(scene.stage.api.url, "127.0.4.1", team.key.headers)
    anonymous = scene.anonymous
    checks = await _collect(scene, team, api, anonymous)
    before = {name: await check() for name, check in checks.items()}
    for name, status in before.items():
        if status >= 400:
            raise RuntimeError(f"{name} does not work before the removal: {status}")
    invitation = await _invite(team)
    removed = await team.owner.client.post(
        f"/workspace/members/{team.guest.person.user_id}", data={"csrf": await team.owner.csrf(), "role": "remove"}
    )
    if removed.status_code != 303:
        raise RuntimeError(f"the member could not be removed: {removed.status_code}")
    started, hooked = time.monotonic(), scene.host.requests["/hook/guest"]
    await publish(scene, team.library_id)
    for name, check in checks.items():
        status, seconds = await _until_refused(check, started)
        _record(scene, name, f"{status} after {seconds:.1f} s", leaked=status < 400)
    joined = await team.guest.client.get(invitation, follow_redirects=True)
    _record(scene, "an invitation that they sent", joined.status_code, leaked=joined.status_code < 400)
    await _check_deliveries(scene, team, hooked)
    async with scene.lock:
        await scene.accounts.member(team.library_id, team.guest.person, role=Role.VIEWER)
    again = (await api.get("/v1/videos")).status_code
    _record(scene, "their key, once they are invited again", again, leaked=again < 400)
    for client in (api, anonymous, team.owner.client, team.guest.client):
        await client.aclose()


def _record(scene: Scene, tried: str, happened: object, *, leaked: bool) -> None:
    scene.log.add(FAMILY, tried, happened, succeeded=leaked)
    if leaked:
        scene.log.offboarding_leaks.append(tried)


async def _collect(scene: Scene, team: Team, api: httpx.AsyncClient, anonymous: httpx.AsyncClient) -> dict[str, Check]:
    """What the member holds: each returns a status, 400 and above once it has ended."""
    app = await _register_app(scene, anonymous)
    access, refresh = await _tokens(app, team)
    hook = scene.host.url("hook", "/hook/guest")
    (await api.post("/v1/webhook-endpoints", json={"url": hook})).raise_for_status()
    poster = await poster_url(api, team.video_id)
    _, grant_url = await start_url(api)
    _, second_url = await start_url(api)
    started = await anonymous.post(second_url, headers={"x-goog-resumable": "start"})
    session = started.raise_for_status().headers["location"]
    page = (await api.get("/v1/videos", params={"limit": 1})).json().get("nextPageToken", "")

    async def get(path: str, **params: str) -> int:
        return (await api.get(path, params=params)).status_code

    async def create_folder() -> int:
        headers = {"Idempotency-Key": "before the removal"}
        return (await api.post("/v1/folders", json={"name": "Guest"}, headers=headers)).status_code

    async def refreshed() -> int:
        nonlocal refresh
        response = await app.refresh(refresh)
        refresh = response.json().get("refresh_token", refresh)
        return response.status_code

    async def open_page() -> int:
        return (await team.guest.client.get(f"/videos/{team.video_id}")).status_code

    async def switch() -> int:
        form = {"csrf": await team.guest.csrf(), "library": team.library_id}
        return (await team.guest.client.post("/switch", data=form)).status_code

    async def open_file() -> int:
        return (await anonymous.get(poster)).status_code

    async def start_upload() -> int:
        return (await anonymous.post(grant_url, headers={"x-goog-resumable": "start"})).status_code

    async def send() -> int:
        return (await anonymous.put(session, content=b"", headers={"Content-Range": "bytes */*"})).status_code

    return {
        "their key, reading": lambda: get("/v1/videos"),
        "their key, with a page token": lambda: get("/v1/videos", pageToken=page),
        "their key, reading one video": lambda: get(f"/v1/videos/{team.video_id}"),
        "their key, replaying a request": create_folder,
        "an OAuth access token": lambda: app.voices(access),
        "an OAuth refresh token": refreshed,
        "their session, opening a page of the workspace": open_page,
        "their session, switching to the workspace": switch,
        "the signed URL of a file": open_file,
        "an upload URL": start_upload,
        "an open upload session": send,
    }


async def _register_app(scene: Scene, client: httpx.AsyncClient) -> OAuthClient:
    async with scene.lock:
        made = await register_client(
            scene.accounts.connection, "Guest's app", [CALLBACK], owner_id=None, now=system_clock()
        )
    return OAuthClient(client, made.id)


async def _tokens(app: OAuthClient, team: Team) -> tuple[str, str]:
    request = AuthorizationRequest(app.id)
    tokens = (await app.exchange(request, await team.guest.code(request, team.library_id))).json()
    return tokens["access_token"], tokens["refresh_token"]


async def _invite(team: Team) -> str:
    """The path of an invitation that the member sends to a second address of theirs."""
    form = {"csrf": await team.guest.csrf(), "email": "second@example.com", "role": "viewer"}
    shown = (await team.guest.client.post("/workspace/invitations", data=form)).text
    return "/invitations/" + shown.partition("/invitations/")[2].partition("<")[0]


async def _until_refused(check: Check, started: float) -> tuple[int, float]:
    """The status once it is refused, or the last one when the minute is over; and the seconds since the removal."""
    while (status := await check()) < 400 and time.monotonic() - started < LIMIT_SECONDS:
        await asyncio.sleep(0.25)
    return status, time.monotonic() - started


async def _check_deliveries(scene: Scene, team: Team, before: int) -> None:
    """The delivery of an event after the removal has ended, and nothing has arrived."""
    (endpoint,) = await scene.fetch("SELECT id FROM webhook_endpoints WHERE library_id = $1", team.library_id)
    sql = "SELECT outcome FROM delivery_attempts WHERE endpoint_id = $1"
    waiting = "SELECT 1 FROM outbox WHERE library_id = $1 AND workflow = 'deliver-webhook'"
    deadline = time.monotonic() + LIMIT_SECONDS
    while await scene.fetch(waiting, team.library_id) and time.monotonic() < deadline:
        await asyncio.sleep(0.1)
    outcomes = [row["outcome"] for row in await scene.fetch(sql, endpoint["id"])]
    received = scene.host.requests["/hook/guest"] - before
    _record(scene, "a webhook endpoint", f"{received} received, {outcomes}", leaked=received > 0)
