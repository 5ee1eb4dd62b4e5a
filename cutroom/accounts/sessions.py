"""Console sign-up, sign-in, sessions and workspace creation."""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

import asyncpg

from cutroom.accounts.passwords import check_password, hash_password_async, verify_password
from cutroom.accounts.plans import Plan, PlanName, Plans
from cutroom.accounts.principals import Principal, PrincipalKind, Role
from cutroom.accounts.scopes import ALL_SCOPES
from cutroom.errors import Code, CutroomError, invalid_field
from cutroom.platform.db import Connection, Database
from cutroom.platform.ids import new_id
from cutroom.platform.secret_box import SecretBox

SESSION_LIFETIME = timedelta(days=30)
IDLE_LIFETIME = timedelta(days=7)
MAX_NAME = 120
MAX_EMAIL = 254
MAX_LIBRARIES = 200  # that are listed for a user
MAX_USER_AGENT = 300
SESSION_PURPOSE = "console-session"
FINGERPRINT_PURPOSE = "password-fingerprint"
_SECRET_BYTES = 32
_NOT_IN_ADDRESSES = frozenset(' ,;:<>()[]"\\')


@dataclass(frozen=True, slots=True)
class AuthenticatedUser:
    """A user whose password was verified, and their personal library."""

    user_id: str
    library_id: str


@dataclass(frozen=True, slots=True)
class LibraryChoice:
    """A library that a user is a member of."""

    id: str
    name: str
    is_workspace: bool
    role: Role
    plan: Plan
    suspended: bool


@dataclass(frozen=True, slots=True)
class ActiveSession:
    """A session's user and their principal in the selected library."""

    user_id: str
    email: str
    name: str
    library_name: str
    principal: Principal
    snapshot: str  # of the database, from before anything else is read


@dataclass(frozen=True, slots=True)
class AccessCheck:
    """Whether a session and the membership of its user last, and the snapshot of the database that says so."""

    is_signed_in: bool
    is_member: bool  # of a library that is not suspended
    snapshot: str


@dataclass(frozen=True, slots=True)
class SessionClient:
    """Where a session was started."""

    address: str | None = None
    user_agent: str | None = None


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A session as its user sees it."""

    id: str
    is_current: bool
    created_at: datetime
    seen_at: datetime
    client: SessionClient


@dataclass(frozen=True, slots=True)
class SessionService:
    """Authenticates users and manages their sessions."""

    secret_box: SecretBox
    plans: Plans
    refuses_drafts: bool = False  # for all libraries

    async def authenticate(self, database: Database, email: str, password: str) -> AuthenticatedUser | None:
        """Return the user with this e-mail address and password; None does not reveal which was wrong.

        No connection is held while the hash waits for its turn.
        """
        async with database.connection() as connection:
            row = await connection.fetchrow("SELECT * FROM find_password($1)", normalize_email(email))
        if not await verify_password(password, row["hash"] if row else None) or row is None:
            return None
        return AuthenticatedUser(row["user_id"], row["library_id"])

    async def password_fingerprint(self, database: Database, email: str) -> str:
        """Changes with the password; for a sign-in that has several steps."""
        async with database.connection() as connection:
            row = await connection.fetchrow("SELECT hash FROM find_password($1)", normalize_email(email))
        return self.secret_box.keyed_hash(FINGERPRINT_PURPOSE, row["hash"] if row else "").hex()

    async def create(
        self, connection: Connection, user: AuthenticatedUser, *, now: datetime, client: SessionClient | None = None
    ) -> str:
        """Create a session and return its token, of which only a keyed hash is stored."""
        token, client = secrets.token_urlsafe(_SECRET_BYTES), client or SessionClient()
        await connection.execute(
            "SELECT create_session($1, $2, $3, $4, $5, $6, $7, $8)",
            new_id(),
            user.user_id,
            self._hash(token),
            user.library_id,
            now,
            now + SESSION_LIFETIME,
            client.address,
            client.user_agent[:MAX_USER_AGENT] if client.user_agent else None,
        )
        return token

    async def load(self, connection: Connection, token: str, *, now: datetime) -> ActiveSession | None:
        """Return the session's user; the connection is scoped to the selected library."""
        row = await connection.fetchrow(
            "SELECT *, pg_current_snapshot()::text AS snapshot FROM authenticate_session($1, $2, $3)",
            self._hash(token),
            now,
            IDLE_LIFETIME,
        )
        return None if row is None else self._active_session(row)

    async def check_access(
        self, connection: Connection, token: str, *, user_id: str, library_id: str, now: datetime
    ) -> AccessCheck:
        """Check a session without using it: a page that is only open does not keep its session alive."""
        row = await connection.fetchrow(
            """SELECT EXISTS (SELECT FROM list_sessions($1, $2, $3) WHERE is_current) AS is_signed_in,
                   EXISTS (SELECT FROM list_libraries($4) WHERE library_id = $5 AND NOT suspended) AS is_member,
                   pg_current_snapshot()::text AS snapshot""",
            self._hash(token),
            now,
            IDLE_LIFETIME,
            user_id,
            library_id,
        )
        assert row is not None
        return AccessCheck(**dict(row))

    def _active_session(self, row: asyncpg.Record) -> ActiveSession:
        library_id: str = row["library_id"]
        principal = Principal(
            id=row["session_id"],
            user_id=row["user_id"],
            library_id=library_id,
            workspace_id=library_id if row["library_kind"] == "workspace" else None,
            role=Role(row["role"]),
            plan=self.plans[row["plan"]],
            suspended=row["suspended"],
            scopes=frozenset(ALL_SCOPES),  # sessions are limited by role only
            refuses_drafts=self.refuses_drafts or row["refuses_drafts"],
            kind=PrincipalKind.PERSON,
        )
        return ActiveSession(row["user_id"], row["email"], row["name"], row["library_name"], principal, row["snapshot"])

    async def end(self, connection: Connection, token: str) -> None:
        await connection.execute("SELECT end_session($1)", self._hash(token))

    async def list_sessions(self, connection: Connection, token: str, *, now: datetime) -> list[SessionInfo]:
        """List the live sessions of the token's user: this one first, then the others by their last use."""
        rows = await connection.fetch("SELECT * FROM list_sessions($1, $2, $3)", self._hash(token), now, IDLE_LIFETIME)
        return [
            SessionInfo(
                id=row["session_id"],
                is_current=row["is_current"],
                created_at=row["created_at"],
                seen_at=row["seen_at"],
                client=SessionClient(row["client_address"], row["user_agent"]),
            )
            for row in rows
        ]

    async def end_others(self, connection: Connection, token: str, *, only: str | None = None) -> list[str]:
        """End one other session of the token's user, or all others; return the ids of those that ended."""
        rows = await connection.fetch("SELECT session_id FROM end_other_sessions($1, $2)", self._hash(token), only)
        return sorted(row["session_id"] for row in rows)

    async def switch_library(self, connection: Connection, token: str, library_id: str) -> bool:
        """Select another library; return False if the user is not a member."""
        return bool(await connection.fetchval("SELECT select_library($1, $2)", self._hash(token), library_id))

    async def list_libraries(self, connection: Connection, user_id: str) -> list[LibraryChoice]:
        """List the personal library first, then workspaces by name."""
        rows = await connection.fetch("SELECT * FROM list_libraries($1)", user_id)
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
        return self.secret_box.keyed_hash(SESSION_PURPOSE, token)


@dataclass(frozen=True, slots=True)
class CheckedSignUp:
    """A valid sign-up, with its password hashed."""

    email: str
    name: str
    hash: str


async def check_sign_up(email: str, *, name: str, password: str) -> CheckedSignUp:
    """Validate a sign-up and hash its password, before a connection is acquired."""
    address = normalize_email(email)
    if not is_email(address):
        raise invalid_field("email", "This is not a valid e-mail address.")
    display_name = normalize_name(name) if name.strip() else address
    return CheckedSignUp(address, display_name, await hash_new_password(password))


async def sign_up(
    connection: Connection, checked: CheckedSignUp, *, plan: PlanName, now: datetime
) -> AuthenticatedUser:
    """Create a user with a password and a personal library."""
    user = AuthenticatedUser(new_id(), new_id())
    created = await connection.fetchval(
        "SELECT create_account($1, $2, $3, $4, $5, $6, $7)",
        user.user_id,
        checked.email,
        checked.name,
        checked.hash,
        user.library_id,
        plan.value,
        now,
    )
    if not created:
        raise CutroomError(Code.ALREADY_EXISTS, message="A user with this e-mail address already exists.")
    return user


async def change_password(connection: Connection, user_id: str, password: str, *, now: datetime) -> None:
    """Set a new password and end all sessions of the user; for commands, which share no connection pool."""
    await store_password(connection, user_id, await hash_new_password(password), now=now)


async def hash_new_password(password: str) -> str:
    check_password(password)
    return await hash_password_async(password)


async def store_password(connection: Connection, user_id: str, hashed: str, *, now: datetime) -> None:
    """Store the hash of a new password, and end all sessions and reset links of the user.

    The transaction is in the user's personal library, or the schema owner's.
    """
    await connection.execute("SELECT set_password($1, $2, $3)", user_id, hashed, now)
    await connection.execute(
        """UPDATE account_mails SET used_at = $2, sealed_secret = NULL
           WHERE kind = 'reset_password' AND used_at IS NULL
             AND library_id IN (SELECT m.library_id FROM members m WHERE m.user_id = $1)""",
        user_id,
        now,
    )


async def end_all_sessions(connection: Connection, user_id: str) -> None:
    """End all sessions of a user; for commands, which run as the schema owner."""
    await connection.execute("DELETE FROM sessions WHERE user_id = $1", user_id)


async def create_workspace(
    connection: Connection, name: str, *, owner_id: str, plan: PlanName, now: datetime, at_most: int
) -> str:
    """Create a workspace owned by the user and return its id. Each has its own quotas, so their number is limited."""
    library_id = new_id()
    await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('workspaces ' || $1, 0))", owner_id)
    rows = await connection.fetch("SELECT kind, role FROM list_libraries($1)", owner_id)
    owned = sum(row["kind"] == "workspace" and row["role"] == Role.OWNER for row in rows)
    if owned >= at_most or len(rows) >= MAX_LIBRARIES:
        details = {"reason": "quota", "limit": at_most}
        message = "You own as many workspaces as an account can have."
        raise CutroomError(Code.FAILED_PRECONDITION, message=message, details=details)
    await connection.execute(
        "SELECT create_workspace($1, $2, $3, $4, $5)", library_id, normalize_name(name), owner_id, plan.value, now
    )
    return library_id


def is_email(address: str) -> bool:
    """Whether mail can be sent to it: one address, without the characters that separate or quote addresses."""
    is_one = address.count("@") == 1 and not address.startswith("@") and not address.endswith("@")
    is_plain = all(character.isprintable() and character not in _NOT_IN_ADDRESSES for character in address)
    return is_one and is_plain and len(address) <= MAX_EMAIL


def normalize_email(email: str) -> str:
    return email.strip().lower()


def normalize_name(name: str) -> str:
    cleaned = " ".join(name.split())
    if not 1 <= len(cleaned) <= MAX_NAME:
        raise invalid_field("name", f"A name has 1 to {MAX_NAME} characters.")
    return cleaned
