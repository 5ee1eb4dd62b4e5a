"""An API with resources in every state and callers of every kind; records every response."""

import json
import re
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import httpx

from cutroom.accounts.plans import PlanName
from cutroom.accounts.principals import Role
from cutroom.accounts.scopes import ALL_SCOPES, Scope
from cutroom.credits import ledger
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from dev.scratch import GENEROUS_PLANS, Accounts, environment_of, scratch
from dev.server import Server
from proofs.contract.states import StateFixtures
from proofs.stage.access_fixtures import LibraryFactory, LibraryFixture

OWNER = "owner"
PREFIX = "/v1"
MANY_JOBS = 1_000_000
MANY_MILLICREDITS = 10**12  # millicredits
TRACEBACK_CHARACTERS = 3000
PROVOKED_ERROR = "InsufficientPrivilege"
DRAFT_LANGUAGE = "it"  # translations into it are drafts
EXPORT_SCOPES = (Scope.DOWNLOADS_WRITE, Scope.WEBHOOKS_WRITE)  # an export requires both
LANGUAGES = ("de", "es", "fr", DRAFT_LANGUAGE, "pt", "pt-BR")
_METHODS_WITH_BODY = {"POST", "PUT", "PATCH"}


@dataclass(frozen=True, slots=True)
class Caller:
    """A credential, and ids of resources in its library."""

    headers: Mapping[str, str]
    ids: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ApiResponse:
    """A response and its operation."""

    operation: str
    status: int
    document: Any  # None unless JSON
    headers: httpx.Headers
    text: str

    @property
    def code(self) -> str | None:
        error = self.document.get("error") if isinstance(self.document, dict) else None
        return error.get("code") if isinstance(error, dict) and self.status >= 400 else None

    @property
    def fields(self) -> list[str]:
        """The fields that an error names."""
        details = self.document["error"]["details"] if self.code is not None else {}
        return [each["path"] for each in details.get("fields", [])]

    def __str__(self) -> str:
        return f"{self.status} {self.text[:300]}"


@dataclass
class Stage:
    """Sends requests as any caller about resources in any state."""

    client: httpx.AsyncClient
    accounts: Accounts
    callers: dict[str, Caller]
    states: dict[str, dict[str, str]]
    lacking: dict[str, Caller]  # owner's key with every other scope
    only: dict[str, Caller]
    rows: StateFixtures  # creates rows in the owner's library
    url: str
    responses: list[ApiResponse] = field(default_factory=list)

    async def new_owner(self, *, owns_workspace: bool = False) -> Caller:
        """The owner of a new, empty personal library, optionally also of a workspace."""
        person = await self.accounts.person()
        if owns_workspace:
            await self.accounts.workspace(person)
        return Caller((await self.accounts.key(person)).headers, {"libraryId": person.library_id})

    async def call(
        self,
        operation: str,
        body: Any = None,  # noqa: ANN401 (any JSON value)
        *,
        query: Mapping[str, Any] | None = None,
        caller: str | Caller = OWNER,
        ids: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
    ) -> ApiResponse:
        """Send one request; caller and ids default to the owner's."""
        sender = self.callers[caller] if isinstance(caller, str) else caller
        method, _, path = operation.partition(" ")
        path_ids = {**sender.ids, **(ids or {})}
        path = re.sub(r"\{(\w+)\}", lambda found: quote(path_ids[found[1]], safe=""), path)
        sent: dict[str, Any] = {"content": content} if content is not None else {}
        if content is None and method in _METHODS_WITH_BODY:
            sent["json"] = {} if body is None else body
        response = await self.client.request(
            method, f"{PREFIX}{path}", params=dict(query or {}), headers={**sender.headers, **(headers or {})}, **sent
        )
        is_json = response.headers.get("Content-Type", "") == "application/json"
        document = json.loads(response.content) if is_json and response.content else None
        # Audio has no text.
        text = response.text if is_json else f"{len(response.content)} bytes"
        self.responses.append(ApiResponse(operation, response.status_code, document, response.headers, text))
        return self.responses[-1]


@asynccontextmanager
async def open_stage(name: str, *, public_url: str | None = None) -> AsyncIterator[Stage]:
    """Start an API on a scratch database, without a worker, so that no state changes by itself."""
    settings = await scratch(name)
    with TemporaryDirectory() as folder:
        changes = {
            "plans_file": _plans(Path(folder)),
            "failed_credentials_per_minute": MANY_JOBS,
            "mux_token_id": "unused",  # hosting is configured but never called
            "public_url": public_url,
        }
        settings = settings.model_copy(update=changes)
        accounts, server = await Accounts.open(settings), Server(environment_of(settings))
        server.start()
        try:
            async with httpx.AsyncClient(base_url=server.url, timeout=120) as client:
                yield await _fill(accounts, client, server.url)
        finally:
            server.stop()
            _print_tracebacks(server.read_log())
            await accounts.close()


def _print_tracebacks(log: str) -> None:
    """Print unexpected tracebacks; the errors that the proof provokes itself are left out."""
    for line in log.splitlines():
        if "Traceback" in line and PROVOKED_ERROR not in line:
            print(line[-TRACEBACK_CHARACTERS:], file=sys.stderr)


def _plans(folder: Path) -> Path:
    """Plans without limits, except one request per minute on the free plan."""
    text = GENEROUS_PLANS.read_text().replace("unfinished_jobs = 50", f"unfinished_jobs = {MANY_JOBS}")
    free, rest = text.split("[creator]")
    free = free.replace("requests_per_minute = 6000000", "requests_per_minute = 1")
    path = folder / "plans.toml"
    path.write_text(f"{free}[creator]{rest}")
    return path


async def _fill(accounts: Accounts, client: httpx.AsyncClient, url: str) -> Stage:
    factory = LibraryFactory(accounts)
    owner, team = await factory.personal(), await factory.workspace()
    states = StateFixtures(accounts, owner.library_id, owner.person.user_id)
    stage = Stage(
        client=client,
        accounts=accounts,
        callers={},
        states=await states.all(),
        lacking={},
        only={},
        rows=states,
        url=url,
    )
    await ledger.grant(
        accounts.connection, owner.library_id, millicredits=MANY_MILLICREDITS, reference=new_id(), now=system_clock()
    )
    await _publish_languages(accounts)
    for scope in Scope:
        stage.lacking[scope.value] = await _with_scopes(accounts, owner, ALL_SCOPES - {scope})
        stage.only[scope.value] = await _with_scopes(accounts, owner, frozenset({scope}))
    stage.only[" and ".join(EXPORT_SCOPES)] = await _with_scopes(accounts, owner, frozenset(EXPORT_SCOPES))
    stage.callers = {
        OWNER: _caller(owner.key.headers, owner),
        "anonymous": _caller({}, owner),
        "an invalid key": _caller({"Authorization": "Bearer cr_wrong"}, owner),
        "a member": _caller(team.key.headers, team),
        "a viewer": _caller(await _viewer(accounts, team), team),
        "another user": _caller((await factory.personal()).key.headers, owner),
        "an OAuth token": _caller({"Authorization": f"Bearer {await factory.token(owner)}"}, owner),
        **await _special_callers(factory, owner),
    }
    creator = StateFixtures(accounts, stage.callers["a creator-plan caller"].ids["libraryId"], owner.person.user_id)
    stage.states["hosted before the plan changed"] = await creator.hosting("ready")
    return stage


async def _publish_languages(accounts: Accounts) -> None:
    """Publish translation routes and voices, as workers would."""
    for language in LANGUAGES:
        await accounts.connection.execute(
            """INSERT INTO translation_routes (engine, source, target, quality, via, seen_at)
               VALUES ('proof', 'en', $1, $2, '{}', now() + interval '1 day') ON CONFLICT DO NOTHING""",
            language,
            "draft" if language == DRAFT_LANGUAGE else "publishable",
        )
        await accounts.connection.execute(
            """INSERT INTO stock_voices (id, engine, name, title, language, gender, age, seen_at)
               VALUES ($1, 'proof', $1, $1, $2, 'female', 'young', now() + interval '1 day') ON CONFLICT DO NOTHING""",
            f"proof-{language}",
            language,
        )


async def _special_callers(factory: LibraryFactory, owner: LibraryFixture) -> dict[str, Caller]:
    """Callers with a suspended library, without credits, on a smaller plan, over the rate limit, or against drafts."""
    refusing = await factory.personal()
    await factory.accounts.connection.execute(
        "UPDATE libraries SET refuses_drafts = true WHERE id = $1", refusing.library_id
    )
    suspended, connection = await factory.personal(), factory.accounts.connection
    await connection.execute("UPDATE libraries SET suspended_at = now() WHERE id = $1", suspended.library_id)
    creator = await factory.personal()
    await connection.execute("UPDATE libraries SET plan = 'creator' WHERE id = $1", creator.library_id)
    accounts = factory.accounts
    no_credits, limited = await accounts.person(PlanName.CREATOR), await accounts.person(PlanName.FREE)
    rows = StateFixtures(accounts, no_credits.library_id, no_credits.user_id)
    voice_id = await rows.voice("ready")
    return {
        "a suspended caller": _caller(suspended.key.headers, suspended),
        "a caller that refuses drafts": _caller(refusing.key.headers, refusing),
        "a creator-plan caller": _caller(creator.key.headers, creator),
        "a caller without credits": Caller(
            (await accounts.key(no_credits)).headers, {**owner.ids, "videoId": await rows.video(), "voice_id": voice_id}
        ),
        "a rate-limited caller": Caller((await accounts.key(limited)).headers, owner.ids),
    }


async def _viewer(accounts: Accounts, team: LibraryFixture) -> dict[str, str]:
    person = await accounts.person()
    await accounts.member(team.library_id, person, role=Role.VIEWER)
    return (await accounts.key(person, library_id=team.library_id)).headers


async def _with_scopes(accounts: Accounts, owner: LibraryFixture, scopes: frozenset[Scope]) -> Caller:
    return _caller((await accounts.key(owner.person, scopes=scopes)).headers, owner)


def _caller(headers: Mapping[str, str], library: LibraryFixture) -> Caller:
    return Caller(headers, {**library.ids, "libraryId": library.library_id})
