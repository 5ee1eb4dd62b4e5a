"""People who are signed in: their sessions, the library each looks at, and invitations into workspaces."""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

import asyncpg

from cutroom.accounts.passwords import check_password, hash_aside, is_password
from cutroom.accounts.plans import Plan, PlanName, Plans
from cutroom.accounts.principals import Principal, Role
from cutroom.accounts.scopes import ALL_SCOPES
from cutroom.errors import Code, CutroomError, invalid_field
from cutroom.platform.db import Connection
from cutroom.platform.ids import new_id
from cutroom.platform.secret_box import SecretBox

SESSION_LIFETIME = timedelta(days=30)
IDLE_LIFETIME = timedelta(days=7)
MAX_NAME = 120
MAX_EMAIL = 254
SESSION_PURPOSE = "console-session"
_SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class Known:
    """Somebody who gave the right password, and the library that is theirs alone."""

    user_id: str
    library_id: str


@dataclass(frozen=True, slots=True)
class LibraryChoice:
    """A library that a person may work in."""

    id: str
    name: str
    is_workspace: bool
    role: Role
    plan: Plan
    suspended: bool


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A person behind a session, as a principal in the library they chose."""

    user_id: str
    email: str
    name: str
    library_name: str
    principal: Principal


@dataclass(frozen=True, slots=True)
class SessionService:
    """Lets people in, and out again."""

    secrecy: SecretBox
    plans: Plans

    async def recognise(self, connection: Connection, email: str, password: str) -> Known | None:
        """Whoever has this address and password; nothing that tells which of the two was wrong."""
        row = await connection.fetchrow("SELECT * FROM password_of($1)", clean_email(email))
        if not await is_password(password, row["hash"] if row else None) or row is None:
            return None
        return Known(row["user_id"], row["library_id"])

    async def begin(self, connection: Connection, known: Known, *, now: datetime) -> str:
        """A new session; its token, of which only a keyed hash is kept."""
        token = secrets.token_urlsafe(_SECRET_BYTES)
        await connection.execute(
            "SELECT begin_session($1, $2, $3, $4, $5, $6)",
            new_id(),
            known.user_id,
            self._hash(token),
            known.library_id,
            now,
            now + SESSION_LIFETIME,
        )
        return token

    async def enter(self, connection: Connection, token: str, *, now: datetime) -> SignedIn | None:
        """Who a session belongs to; the connection is confined to the library they chose."""
        row = await connection.fetchrow(
            "SELECT * FROM enter_with_session($1, $2, $3)", self._hash(token), now, IDLE_LIFETIME
        )
        return None if row is None else self._signed_in(row)

    def _signed_in(self, row: asyncpg.Record) -> SignedIn:
        library_id: str = row["library_id"]
        principal = Principal(
            id=row["session_id"],
            user_id=row["user_id"],
            library_id=library_id,
            workspace_id=library_id if row["library_kind"] == "workspace" else None,
            role=Role(row["role"]),
            plan=self.plans[row["plan"]],
            suspended=row["suspended"],
            scopes=frozenset(ALL_SCOPES),  # a person may do what their role allows
        )
        return SignedIn(row["user_id"], row["email"], row["name"], row["library_name"], principal)

    async def end(self, connection: Connection, token: str) -> None:
        await connection.execute("SELECT end_session($1)", self._hash(token))

    async def choose(self, connection: Connection, token: str, library_id: str) -> bool:
        """Look at another library from now on; whether the person may."""
        return bool(await connection.fetchval("SELECT choose_library($1, $2)", self._hash(token), library_id))

    async def libraries(self, connection: Connection, user_id: str) -> list[LibraryChoice]:
        """The personal one first, then workspaces by name."""
        rows = await connection.fetch("SELECT * FROM libraries_of($1)", user_id)
        return [
            LibraryChoice(
                id=row["library_id"],
                name=row["name"],
                is_workspace=row["kind"] == "workspace",
                role=Role(row["role"]),
                plan=self.plans[row["plan"]],
                suspended=row["suspended"],
            )
            for row in rows
        ]

    def _hash(self, token: str) -> bytes:
        return self.secrecy.keyed_hash(SESSION_PURPOSE, token)


async def sign_up(
    connection: Connection, email: str, *, name: str, password: str, plan: PlanName, now: datetime
) -> Known:
    """A new person with a personal library."""
    address = clean_email(email)
    if "@" not in address.strip("@") or len(address) > MAX_EMAIL or any(sign.isspace() for sign in address):
        raise invalid_field("email", "This is not an e-mail address.")
    called = clean_name(name) if name.strip() else address
    check_password(password)
    known = Known(new_id(), new_id())
    opened = await connection.fetchval(
        "SELECT open_account($1, $2, $3, $4, $5, $6, $7)",
        known.user_id,
        address,
        called,
        await hash_aside(password),
        known.library_id,
        plan.value,
        now,
    )
    if not opened:
        raise CutroomError(Code.ALREADY_EXISTS, message="A user with this e-mail address exists.")
    return known


async def change_password(connection: Connection, user_id: str, password: str, *, now: datetime) -> None:
    """Set a new password; every session of the person ends."""
    check_password(password)
    await connection.execute("SELECT put_password($1, $2, $3)", user_id, await hash_aside(password), now)


async def found_workspace(connection: Connection, name: str, *, owner_id: str, plan: PlanName, now: datetime) -> str:
    """A workspace that a person makes for themselves and others; its id."""
    library_id = new_id()
    await connection.execute(
        "SELECT found_workspace($1, $2, $3, $4, $5)", library_id, clean_name(name), owner_id, plan.value, now
    )
    return library_id


def clean_email(email: str) -> str:
    return email.strip().lower()


def clean_name(name: str) -> str:
    cleaned = " ".join(name.split())
    if not 1 <= len(cleaned) <= MAX_NAME:
        raise invalid_field("name", f"A name has 1 to {MAX_NAME} characters.")
    return cleaned
