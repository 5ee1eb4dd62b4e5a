"""The running service with people and things in every state, and a record of all that it answers."""

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
from proofs.contract.states import States
from proofs.stage.access_fixtures import Founder, Holding

OWNER = "owner"
PREFIX = "/v1"
MANY_JOBS = 1_000_000
RICH = 10**12  # millicredits
FAULT_CHARACTERS = 3000
BROKEN = "InsufficientPrivilege"
LANGUAGES = ("de", "es", "fr", "pt", "pt-BR")
_METHODS_WITH_BODY = {"POST", "PUT", "PATCH"}


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody with a key, and what is in their library."""

    headers: Mapping[str, str]
    ids: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, and what had been asked."""

    operation: str
    status: int
    document: Any  # None where there is no JSON
    headers: httpx.Headers
    text: str

    @property
    def code(self) -> str | None:
        error = self.document.get("error") if isinstance(self.document, dict) else None
        return error.get("code") if isinstance(error, dict) and self.status >= 400 else None

    @property
    def fields(self) -> list[str]:
        """The paths that a refusal names."""
        details = self.document["error"]["details"] if self.code is not None else {}
        return [each["path"] for each in details.get("fields", [])]

    def __str__(self) -> str:
        return f"{self.status} {self.text[:300]}"


@dataclass
class Stage:
    """Asks as anybody, of anything."""

    client: httpx.AsyncClient
    accounts: Accounts
    callers: dict[str, Caller]
    states: dict[str, dict[str, str]]
    lacking: dict[str, Caller]  # a key of the owner's with every scope but this
    only: dict[str, Caller]
    rows: States  # of the owner's library
    url: str
    answers: list[Answer] = field(default_factory=list)

    async def ask(
        self,
        operation: str,
        body: Any = None,  # noqa: ANN401 (any JSON value)
        *,
        query: Mapping[str, Any] | None = None,
        caller: str | Caller = OWNER,
        ids: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
    ) -> Answer:
        """One request; what is not said is the owner's."""
        who = self.callers[caller] if isinstance(caller, str) else caller
        method, _, path = operation.partition(" ")
        known = {**who.ids, **(ids or {})}
        path = re.sub(r"\{(\w+)\}", lambda found: quote(known[found[1]], safe=""), path)
        sent: dict[str, Any] = {"content": content} if content is not None else {}
        if content is None and method in _METHODS_WITH_BODY:
            sent["json"] = {} if body is None else body
        response = await self.client.request(
            method, f"{PREFIX}{path}", params=dict(query or {}), headers={**who.headers, **(headers or {})}, **sent
        )
        is_json = response.headers.get("Content-Type", "") == "application/json"
        document = json.loads(response.content) if is_json and response.content else None
        # Sound is not text.
        text = response.text if is_json else f"{len(response.content)} bytes"
        answer = Answer(operation, response.status_code, document, response.headers, text)
        self.answers.append(answer)
        return answer


@asynccontextmanager
async def open_stage(name: str) -> AsyncIterator[Stage]:
    """Services, a database of its own, the API; no worker, so nothing is fetched and nothing changes by itself."""
    settings = await scratch(name)
    with TemporaryDirectory() as folder:
        changes = {
            "plans_file": _plans(Path(folder)),
            "failed_credentials_per_minute": MANY_JOBS,
            "mux_token_id": "nobody",  # a host that nobody asks
        }
        settings = settings.model_copy(update=changes)
        accounts, server = await Accounts.open(settings), Server(environment_of(settings))
        server.start()
        try:
            async with httpx.AsyncClient(base_url=server.url, timeout=120) as client:
                yield await _fill(accounts, client, server.url)
        finally:
            server.stop()
            _show_faults(server.read_log())
            await accounts.close()


def _show_faults(log: str) -> None:
    """What the service did not foresee, so that a 500 can be mended; the proof breaks the database once itself."""
    for line in log.splitlines():
        if "Traceback" in line and BROKEN not in line:
            print(line[-FAULT_CHARACTERS:], file=sys.stderr)


def _plans(folder: Path) -> Path:
    """Plans without limits but for the free one: one request a minute."""
    text = GENEROUS_PLANS.read_text().replace("unfinished_jobs = 50", f"unfinished_jobs = {MANY_JOBS}")
    free, rest = text.split("[creator]")
    free = free.replace("requests_per_minute = 6000000", "requests_per_minute = 1")
    path = folder / "plans.toml"
    path.write_text(f"{free}[creator]{rest}")
    return path


async def _fill(accounts: Accounts, client: httpx.AsyncClient, url: str) -> Stage:
    founder = Founder(accounts)
    owner, team = await founder.personal(), await founder.workspace()
    states = States(accounts, owner.library_id, owner.person.user_id)
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
    await ledger.grant(accounts.connection, owner.library_id, millicredits=RICH, reference=new_id(), now=system_clock())
    await _tell_languages(accounts)
    for scope in Scope:
        stage.lacking[scope.value] = await _with_scopes(accounts, owner, ALL_SCOPES - {scope})
        stage.only[scope.value] = await _with_scopes(accounts, owner, frozenset({scope}))
    stage.callers = {
        OWNER: _caller(owner.key.headers, owner),
        "nobody": _caller({}, owner),
        "a wrong key": _caller({"Authorization": "Bearer cr_wrong"}, owner),
        "a member": _caller(team.key.headers, team),
        "a viewer": _caller(await _viewer(accounts, team), team),
        "a stranger": _caller((await founder.personal()).key.headers, owner),
        "an OAuth token": _caller({"Authorization": f"Bearer {await founder.token(owner)}"}, owner),
        **await _others(founder, owner),
    }
    return stage


async def _tell_languages(accounts: Accounts) -> None:
    """What workers would tell: languages that can be translated into and spoken."""
    for language in LANGUAGES:
        await accounts.connection.execute(
            """INSERT INTO translation_routes (translator, source, target, quality, via, seen_at)
               VALUES ('proof', 'en', $1, 'good', '{}', now() + interval '1 day') ON CONFLICT DO NOTHING""",
            language,
        )
        await accounts.connection.execute(
            """INSERT INTO service_voices (id, speaker, name, title, language, gender, age, seen_at)
               VALUES ($1, 'proof', $1, $1, $2, 'female', 'young', now() + interval '1 day') ON CONFLICT DO NOTHING""",
            f"proof-{language}",
            language,
        )


async def _others(founder: Founder, owner: Holding) -> dict[str, Caller]:
    """A suspended library, one without credits, plans that are too small, and a key that has had its requests."""
    suspended, connection = await founder.personal(), founder.accounts.connection
    await connection.execute("UPDATE libraries SET suspended_at = now() WHERE id = $1", suspended.library_id)
    creator = await founder.personal()
    await connection.execute("UPDATE libraries SET plan = 'creator' WHERE id = $1", creator.library_id)
    accounts = founder.accounts
    poor, limited = await accounts.person(PlanName.CREATOR), await accounts.person(PlanName.FREE)
    rows = States(accounts, poor.library_id, poor.user_id)
    voice_id = await rows.voice("ready")
    return {
        "somebody suspended": _caller(suspended.key.headers, suspended),
        "somebody on creator": _caller(creator.key.headers, creator),
        "somebody poor": Caller(
            (await accounts.key(poor)).headers, {**owner.ids, "videoId": await rows.video(), "voice_id": voice_id}
        ),
        "somebody limited": Caller((await accounts.key(limited)).headers, owner.ids),
    }


async def _viewer(accounts: Accounts, team: Holding) -> dict[str, str]:
    person = await accounts.person()
    await accounts.member(team.library_id, person, role=Role.VIEWER)
    return (await accounts.key(person, library_id=team.library_id)).headers


async def _with_scopes(accounts: Accounts, owner: Holding, scopes: frozenset[Scope]) -> Caller:
    return _caller((await accounts.key(owner.person, scopes=scopes)).headers, owner)


def _caller(headers: Mapping[str, str], holding: Holding) -> Caller:
    return Caller(headers, {**holding.ids, "libraryId": holding.library_id})
