"""Scratch databases and accounts for tests, proofs and benchmarks, on the running services."""

import hashlib
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg
from google.protobuf.duration_pb2 import Duration
from pydantic import SecretStr
from temporalio.api.workflowservice.v1 import RegisterNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError

from cutroom.accounts import service
from cutroom.accounts.plans import PlanName, load_plans
from cutroom.accounts.principals import Role
from cutroom.accounts.scopes import Scope
from cutroom.platform.clock import system_clock
from cutroom.platform.db import register_json_codec
from cutroom.platform.ids import new_id
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.settings import Settings
from dev.environment import PROJECT, locked
from dev.services import control

REDIS_DATABASES = 15  # of Redis's sixteen, number 0 is the development server's
NAMESPACE_RETENTION_SECONDS = 24 * 60 * 60
GENEROUS_PLANS = PROJECT / "dev" / "generous_plans.toml"


async def scratch(name: str) -> Settings:
    """Creates an empty, migrated database, replacing one of the same name; returns its settings."""
    variables = control.environment()
    owner_url = variables["CUTROOM_OWNER_DATABASE_URL"]
    template = await _template(owner_url)
    database = f"cutroom_{name}"
    connection = await asyncpg.connect(owner_url)
    try:
        await _drop(connection, database)
        await connection.execute(f'CREATE DATABASE "{database}" TEMPLATE "{template}"')
    finally:
        await connection.close()
    for variable in (each for each in variables if each.endswith("DATABASE_URL")):
        variables[variable] = _with_path(variables[variable], database)
    number = 1 + int.from_bytes(hashlib.sha256(name.encode()).digest()[:2]) % REDIS_DATABASES
    variables["CUTROOM_REDIS_URL"] = _with_path(variables["CUTROOM_REDIS_URL"], str(number))
    variables["CUTROOM_PLANS_FILE"] = str(GENEROUS_PLANS)
    variables["CUTROOM_ACCOUNT_REQUESTS_PER_MINUTE"] = "6000000"
    variables["CUTROOM_ACCOUNT_FREE_WORK_PER_DAY"] = "1000000"
    variables["CUTROOM_PREFLIGHT_SECONDS"] = "0"  # most tests run no worker for the preflight check
    variables["CUTROOM_PLAYBACK"] = "off"  # packaging every import would distort measurements
    for variable in ("CUTROOM_METRICS_PORT", "CUTROOM_WORKER_METRICS_PORT"):
        del variables[variable]
    variables["CUTROOM_TEMPORAL_NAMESPACE"] = await _namespace(variables["CUTROOM_TEMPORAL_ADDRESS"], database)
    given = {key.removeprefix("CUTROOM_").lower(): value for key, value in variables.items()}
    # Use defaults for everything else, not the caller's environment.
    defaults = {name: field.default for name, field in Settings.model_fields.items() if not field.is_required()}
    return Settings.model_validate({**defaults, **given})


async def drop_scratch(name: str) -> None:
    """Drops a scratch database; keeps its Temporal namespace, which costs nothing."""
    connection = await asyncpg.connect(control.environment()["CUTROOM_OWNER_DATABASE_URL"])
    try:
        await _drop(connection, f"cutroom_{name}")
    finally:
        await connection.close()


async def _drop(connection: "asyncpg.Connection[asyncpg.Record]", database: str) -> None:
    with suppress(asyncpg.InsufficientPrivilegeError):  # cannot terminate connections of another role
        await connection.execute(f'DROP DATABASE IF EXISTS "{database}" WITH (FORCE)')
        return
    try:  # autovacuum is such a connection; without FORCE, PostgreSQL ends it and waits
        await connection.execute(f'DROP DATABASE IF EXISTS "{database}"')
    except asyncpg.ObjectInUseError as error:
        message = f"an API or worker from an earlier run still uses the database {database}: stop it and try again"
        raise RuntimeError(message) from error


async def _namespace(address: str, name: str) -> str:
    """Registers a separate Temporal namespace, so that no other worker polls its tasks."""
    client = await Client.connect(address)
    request = RegisterNamespaceRequest(
        namespace=name, workflow_execution_retention_period=Duration(seconds=NAMESPACE_RETENTION_SECONDS)
    )
    with suppress(RPCError):  # it may exist from an earlier run; other errors surface on first use
        await client.workflow_service.register_namespace(request)
    return name


def write_plans(path: Path, *, free: Mapping[str, int]) -> Path:
    """Writes plans without practical limits, except for the given limits of the free plan."""
    plans = tomllib.loads(GENEROUS_PLANS.read_text())
    plans["free"].update(free)
    lines = []
    for name, fields in plans.items():
        lines += [f"[{name}]", *(f"{field} = {json.dumps(value)}" for field, value in fields.items())]
    path.write_text("\n".join(lines) + "\n")
    return path


def environment_of(settings: Settings) -> dict[str, str]:
    """The settings as environment variables, for a subprocess."""
    variables = {key: value for key, value in os.environ.items() if not key.startswith("CUTROOM_")}
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if value is not None:
            variables[f"CUTROOM_{name.upper()}"] = _variable_text(value)
    return variables


def _variable_text(value: object) -> str:
    """Formats a setting as its environment variable."""
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


async def _template(owner_url: str) -> str:
    """Name of a migrated template database, created once per version of the migrations."""
    digest = hashlib.sha256()
    for path in sorted(each for each in (PROJECT / "migrations").rglob("*") if each.suffix in {".py", ".sql"}):
        digest.update(path.read_bytes())
    template = f"cutroom_template_{digest.hexdigest()[:12]}"
    with locked("template"):
        connection = await asyncpg.connect(owner_url)
        try:
            if await connection.fetchval("SELECT 1 FROM pg_database WHERE datname = $1", template):
                return template
            fresh = f"{template}_new"
            await connection.execute(f'DROP DATABASE IF EXISTS "{fresh}" WITH (FORCE)')
            await connection.execute(f'CREATE DATABASE "{fresh}"')
            migrate(_with_path(owner_url, fresh))
            await connection.execute(f'ALTER DATABASE "{fresh}" RENAME TO "{template}"')
        finally:
            await connection.close()
    return template


def migrate(owner_url: str) -> None:
    alembic = Path(sys.executable).with_name("alembic")
    subprocess.run(
        [alembic, "upgrade", "head"],
        cwd=PROJECT,
        env={**os.environ, "CUTROOM_OWNER_DATABASE_URL": owner_url},
        check=True,
        timeout=120,
    )


def _with_path(url: str, path: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{path}"))


@dataclass(frozen=True, slots=True)
class Person:
    """A user with a personal library."""

    user_id: str
    library_id: str
    email: str


@dataclass(frozen=True, slots=True)
class Keyring:
    """An API key with its secret."""

    id: str
    secret: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.secret}"}


@dataclass(frozen=True, slots=True)
class Accounts:
    """Creates users, workspaces and keys, as an operator would."""

    settings: Settings
    connection: "asyncpg.Connection[asyncpg.Record]"

    @classmethod
    async def open(cls, settings: Settings) -> "Accounts":
        assert settings.owner_database_url is not None
        connection = await asyncpg.connect(settings.owner_database_url.get_secret_value())
        await register_json_codec(connection)
        return cls(settings, connection)

    async def close(self) -> None:
        await self.connection.close()

    async def person(self, plan: PlanName = PlanName.BUSINESS) -> Person:
        email = f"{new_id()}@example.com"
        made = await service.create_user(self.connection, email, name="Test", plan=plan, now=system_clock())
        return Person(user_id=made.user_id, library_id=made.library_id, email=email)

    async def workspace(self, owner: Person, plan: PlanName = PlanName.BUSINESS) -> str:
        return await service.create_workspace(
            self.connection, "Team", owner_id=owner.user_id, plan=plan, now=system_clock()
        )

    async def member(self, workspace_id: str, person: Person, *, role: Role) -> None:
        await service.upsert_member(
            self.connection, workspace_id, user_id=person.user_id, role=role, now=system_clock()
        )

    async def key(self, person: Person, *, library_id: str | None = None, scopes: Iterable[Scope] = ()) -> Keyring:
        issuer = service.KeyIssuer(
            secret_box=SecretBox(self.settings.secret_key.get_secret_value()),
            plans=load_plans(self.settings.plans_file),
        )
        made = await issuer.create_key(
            self.connection,
            library_id or person.library_id,
            user_id=person.user_id,
            name="test",
            scopes=scopes,
            now=system_clock(),
        )
        return Keyring(id=made.key_id, secret=made.secret)
