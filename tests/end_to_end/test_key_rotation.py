"""Rotates the key ring under load: two API processes accept what the other one has signed, at every moment."""

import asyncio
import itertools
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx
import pytest

from cutroom.accounts.plans import load_plans
from cutroom.accounts.sessions import AuthenticatedUser, SessionService
from cutroom.library.rules import poster_path
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.settings import Settings
from cutroom.platform.storage.objects import Storage
from dev.scratch import Accounts, Keyring, Person, drop_scratch, environment_of, scratch
from dev.server import Server

CLIENTS = 4
LAST_ROUNDS = 10  # of each client, after the new key was seen at both processes
POSTER = b"a poster"
CSRF = re.compile(r'name="csrf" value="([0-9a-f]+)"')
FILE_TOKEN = re.compile(r"/files/fl_[0-9a-f]{8}([0-9a-f]{8})")


@dataclass
class Load:
    """Clients that get something signed or sealed by one API process, and use it at the other."""

    processes: tuple[httpx.AsyncClient, httpx.AsyncClient]
    session: str
    video_id: str
    file_urls: list[str] = field(default_factory=list)
    requests: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    signing_keys: tuple[set[str], set[str]] = field(default_factory=lambda: (set(), set()))

    def check(self, name: str, response: httpx.Response, *statuses: int) -> bool:
        self.requests[name] += 1
        if response.status_code not in statuses:
            self.errors.append(f"{name}: {response.status_code} {response.text[:200]}")
        return response.status_code in statuses

    async def run_round(self, number: int, upload_id: str) -> None:
        first = number % 2
        issuer, verifier = self.processes[first], self.processes[1 - first]
        await self.open_file(issuer, verifier, self.signing_keys[first])
        await self.read_pages(issuer, verifier)
        await self.submit_form(issuer, verifier)
        await self.start_upload(issuer, verifier, upload_id)

    async def open_file(self, issuer: httpx.AsyncClient, verifier: httpx.AsyncClient, keys: set[str]) -> None:
        found = await issuer.get(f"/v1/videos/{self.video_id}")
        if self.check("video", found, 200):
            url = urlsplit(found.json()["posterUrl"]).path
            keys.add(FILE_TOKEN.match(url)[1])  # type: ignore[index]
            self.file_urls.append(url)
            self.check("file", await verifier.get(url), 200)

    async def read_pages(self, issuer: httpx.AsyncClient, verifier: httpx.AsyncClient) -> None:
        page = await issuer.get("/v1/videos", params={"limit": 1})
        if self.check("page", page, 200):
            next_page = {"limit": 1, "pageToken": page.json()["nextPageToken"]}
            self.check("next page", await verifier.get("/v1/videos", params=next_page), 200)

    async def submit_form(self, issuer: httpx.AsyncClient, verifier: httpx.AsyncClient) -> None:
        cookies = {"Cookie": f"cutroom-session={self.session}", "Authorization": ""}
        page = await issuer.get("/account", headers=cookies)
        if self.check("form", page, 200):
            fields = {"csrf": CSRF.search(page.text)[1], "drafts": "refuse"}  # type: ignore[index]
            self.check("submission", await verifier.post("/credits/drafts", data=fields, headers=cookies), 303)

    async def start_upload(self, issuer: httpx.AsyncClient, verifier: httpx.AsyncClient, video_id: str) -> None:
        """Grants an upload, whose response is stored sealed, replays the response, and starts the upload."""
        path, headers = f"/v1/videos/{video_id}/uploads", {"Idempotency-Key": new_id()}
        granted = await issuer.post(path, json={"fileName": "a.mp4"}, headers=headers)
        if not self.check("grant", granted, 200):
            return
        replayed = await verifier.post(path, json={"fileName": "a.mp4"}, headers=headers)
        if self.check("replay", replayed, 200) and replayed.json() != granted.json():
            self.errors.append(f"replay: {replayed.text}")
        url = urlsplit(granted.json()["url"])
        start = {"Authorization": "", "x-goog-resumable": "start"}
        self.check("upload", await verifier.post(f"{url.path}?{url.query}", headers=start), 201)


@dataclass(frozen=True)
class Installation:
    """Two API processes on a fresh database."""

    settings: Settings
    accounts: Accounts
    person: Person
    key: Keyring
    servers: tuple[Server, Server]

    async def admin(self, *arguments: str) -> dict[str, object]:
        """Runs an admin command as a process of its own."""
        command = [sys.executable, "-m", "cutroom.entrypoints.cli", "admin", *arguments]
        process = await asyncio.create_subprocess_exec(
            *command, env=environment_of(self.settings), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        output, errors = await process.communicate()
        assert process.returncode == 0, errors.decode()
        printed: dict[str, object] = json.loads(output)
        return printed

    async def session_token(self) -> str:
        secret_box = SecretBox(self.settings.secret_key.get_secret_value())
        sessions = SessionService(secret_box=secret_box, plans=load_plans(self.settings.plans_file))
        user = AuthenticatedUser(self.person.user_id, self.person.library_id)
        return await sessions.create(self.accounts.connection, user, now=system_clock())

    async def video_with_poster(self) -> str:
        library_id, video_id = self.person.library_id, new_id()
        path = poster_path(library_id, video_id)
        await Storage.connect(self.settings).put(path, POSTER)
        for each, poster in ((new_id(), None), (video_id, path)):  # two, so that lists have a second page
            row = {"library_id": library_id, "id": each, "created_at": system_clock(), "status": "ready"}
            await insert(self.accounts.connection, "videos", {**row, "poster_path": poster})
        return video_id


@pytest.fixture
async def installation() -> AsyncIterator[Installation]:
    name = f"rotation_{os.getpid()}"
    settings = await scratch(name)
    accounts = await Accounts.open(settings)
    person = await accounts.person()
    servers = (Server(environment_of(settings)), Server(environment_of(settings)))
    try:
        for server in servers:
            server.start()
        yield Installation(settings, accounts, person, await accounts.key(person), servers)
    finally:
        for server in servers:
            server.stop()
        await accounts.close()
        await drop_scratch(name)


async def reserve_upload(client: httpx.AsyncClient) -> str:
    created = await client.post("/v1/videos", json={"source": {"type": "upload", "fileName": "a.mp4"}})
    video_id: str = created.raise_for_status().json()["videoId"]
    return video_id


async def test_rotation_under_load_causes_no_errors(installation: Installation) -> None:
    async with AsyncExitStack() as stack:
        first, second = [
            await stack.enter_async_context(
                httpx.AsyncClient(base_url=each.url, headers=installation.key.headers, timeout=60)
            )
            for each in installation.servers
        ]
        load = Load((first, second), await installation.session_token(), await installation.video_with_poster())
        uploads = [await reserve_upload(first) for _ in range(CLIENTS)]
        await load.run_round(0, uploads[0])
        assert (load.errors, load.signing_keys[0]) == ([], {"00000000"})
        rotated = asyncio.Event()

        async def client(offset: int) -> None:
            left = LAST_ROUNDS
            for number in itertools.count(offset):
                await load.run_round(number, uploads[offset])
                left -= rotated.is_set()
                if not left or load.errors:
                    return
                if all("00000001" in seen for seen in load.signing_keys):
                    rotated.set()

        clients = [asyncio.create_task(client(offset)) for offset in range(CLIENTS)]
        try:
            assert (await installation.admin("keys", "rotate"))["id"] == 1
            await asyncio.gather(*clients)
        finally:
            for task in clients:
                task.cancel()
        # The first one was signed with the earlier key, which is in its grace period.
        for url in (load.file_urls[0], load.file_urls[-1]):
            assert (await first.get(url)).content == (await second.get(url)).content == POSTER
    assert load.errors == []
    assert load.signing_keys == ({"00000000", "00000001"}, {"00000000", "00000001"})
    assert set(load.requests) >= {"file", "next page", "replay", "submission", "upload"}
    assert sum(load.requests.values()) > 200, load.requests
