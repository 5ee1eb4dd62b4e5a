"""Records attacks with their outcome, and the tenants that take part in them."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg
import httpx
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Keyring, Person
from proofs.hardening.hosts import AttackHost
from proofs.hardening.victim import VictimReads
from tests.support.stage import Stage

MAX_SHOWN = 90  # characters of what happened


@dataclass(frozen=True, slots=True)
class Attack:
    """What was tried, what happened, and whether the attacker got what they wanted."""

    family: str
    tried: str
    happened: str
    succeeded: bool


@dataclass
class AttackLog:
    """All attacks of a run."""

    attacks: list[Attack] = field(default_factory=list)
    offboarding_leaks: list[str] = field(default_factory=list)
    ratios: dict[str, float] = field(default_factory=dict)  # of the victim's latency, by load
    load_requests: dict[str, int] = field(default_factory=dict)  # that were answered, by load
    syscalls_tried: int = 0
    syscalls_allowed: list[str] = field(default_factory=list)
    plaintext_payloads: int = 0
    rotation_errors: list[str] = field(default_factory=list)

    @property
    def succeeded(self) -> list[Attack]:
        return [attack for attack in self.attacks if attack.succeeded]

    def add(self, family: str, tried: str, happened: object, *, succeeded: bool) -> None:
        self.attacks.append(Attack(family, tried, str(happened)[:MAX_SHOWN], succeeded))

    def expect(self, family: str, tried: str, response: httpx.Response, *statuses: int) -> None:
        """Record a request that must get one of these statuses."""
        self.add(family, tried, summary(response), succeeded=response.status_code not in statuses)

    def show(self) -> None:
        table = Table("family", "tried", "happened", "succeeded", title="Attacks")
        for attack in sorted(self.attacks, key=lambda each: each.family):
            outcome = "[bold red]YES[/]" if attack.succeeded else "no"
            table.add_row(attack.family, escape(attack.tried), escape(attack.happened), outcome)
        Console(width=180).print(table)


def summary(response: httpx.Response) -> str:
    """Status and error code of a response."""
    code = ""
    if response.headers.get("content-type", "").startswith("application/json"):
        document = response.json()
        error = document.get("error") if isinstance(document, dict) else None
        if isinstance(error, Mapping):
            code = f" {error.get('code', '')}"
        elif error is not None:
            code = f" {error}"
    return f"{response.status_code}{code}"


@dataclass(frozen=True)
class Tenant:
    """A person with a key, and a client at an address of their own."""

    person: Person
    key: Keyring
    client: httpx.AsyncClient  # sends the key

    @property
    def library_id(self) -> str:
        return self.person.library_id


@dataclass(frozen=True)
class Scene:
    """A running installation, the attacker, the victim, and what was recorded."""

    stage: Stage
    runtime: Runtime
    host: AttackHost
    attacker: Tenant
    victim: Tenant
    victim_video: str  # ready
    reads: VictimReads
    log: AttackLog
    video_file: Path
    short: bool
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)  # of the owner's connection, which attacks share

    @property
    def load_seconds(self) -> float:
        return 1.2 if self.short else 5.0

    @property
    def anonymous(self) -> httpx.AsyncClient:
        """A new client without credentials."""
        return client_at(self.stage.api.url, "127.0.0.1")

    @property
    def accounts(self) -> Accounts:
        """Used with the lock."""
        return self.stage.accounts

    async def tenant(self, address: str) -> Tenant:
        async with self.lock:
            return await open_tenant(self.stage, address)

    async def fetch(self, sql: str, *arguments: object) -> list[asyncpg.Record]:
        """Run a query as the owner of the schema."""
        async with self.lock:
            return await self.stage.accounts.connection.fetch(sql, *arguments)


def client_at(url: str, address: str, headers: Mapping[str, str] | None = None) -> httpx.AsyncClient:
    """A client that connects from an address of the loopback network."""
    transport = httpx.AsyncHTTPTransport(local_address=address, limits=httpx.Limits(max_connections=200))
    return httpx.AsyncClient(transport=transport, base_url=url, headers=headers, timeout=60)


async def open_tenant(stage: Stage, address: str) -> Tenant:
    person = await stage.accounts.person()
    key = await stage.accounts.key(person)
    return Tenant(person, key, client_at(stage.api.url, address, key.headers))
