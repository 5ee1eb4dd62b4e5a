"""Creates and changes users, workspaces, members and API keys."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import asyncpg

from cutroom.accounts.keys import KEY_PREFIX, generate_credential
from cutroom.accounts.plans import PlanName, Plans, Quotas
from cutroom.accounts.principals import CREDENTIAL_PURPOSE, Principal, Role
from cutroom.accounts.scopes import Scope, grant_scopes
from cutroom.errors import Code, CutroomError, not_found
from cutroom.platform.db import Connection, insert
from cutroom.platform.ids import new_id
from cutroom.platform.secret_box import SecretBox

MAX_LISTED_KEYS = 500
URL_PRECISION = timedelta(seconds=1)  # of the time at which a URL was signed


@dataclass(frozen=True, slots=True)
class NewUser:
    """A new user and their personal library."""

    user_id: str
    library_id: str


@dataclass(frozen=True, slots=True)
class NewKey:
    """A new key with its secret, of which only a hash is stored."""

    key_id: str
    secret: str
    scopes: frozenset[Scope]


async def create_user(connection: Connection, email: str, *, name: str, plan: PlanName, now: datetime) -> NewUser:
    """Create a user and their personal library."""
    user_id = new_id()
    user = {"id": user_id, "email": email.strip().lower(), "name": name, "created_at": now}
    try:
        await insert(connection, "users", user)
    except asyncpg.UniqueViolationError as error:
        raise CutroomError(Code.ALREADY_EXISTS, message="A user with this e-mail address already exists.") from error
    library_id = await _create_library(connection, "personal", owner_id=user_id, name=name, plan=plan, now=now)
    return NewUser(user_id=user_id, library_id=library_id)


async def create_workspace(connection: Connection, name: str, *, owner_id: str, plan: PlanName, now: datetime) -> str:
    """Create a workspace library and return its id."""
    return await _create_library(connection, "workspace", owner_id=owner_id, name=name, plan=plan, now=now)


async def _create_library(
    connection: Connection, kind: str, *, owner_id: str, name: str, plan: PlanName, now: datetime
) -> str:
    library_id = new_id()
    library = {"id": library_id, "kind": kind, "name": name, "plan": plan.value, "created_at": now}
    await insert(connection, "libraries", library)
    owner = {"library_id": library_id, "user_id": owner_id, "role": Role.OWNER.value, "created_at": now}
    await insert(connection, "members", owner)
    return library_id


async def set_draft_policy(connection: Connection, principal: Principal, *, refuses_drafts: bool) -> bool:
    """Set whether the library refuses translations of draft quality, and return what was set before.

    Only owners and admins may.
    """
    if not principal.is_admin:
        raise CutroomError(Code.PERMISSION_DENIED)
    before = await connection.fetchval("SELECT refuses_drafts FROM libraries WHERE id = $1", principal.library_id)
    await connection.execute(
        "UPDATE libraries SET refuses_drafts = $2 WHERE id = $1", principal.library_id, refuses_drafts
    )
    return bool(before)


async def upsert_member(connection: Connection, library_id: str, *, user_id: str, role: Role, now: datetime) -> None:
    """Add a workspace member or change their role; personal libraries are rejected."""
    done = await connection.execute(
        """INSERT INTO members (library_id, user_id, role, created_at)
           SELECT id, $2, $3, $4 FROM libraries WHERE id = $1 AND kind = 'workspace'
           ON CONFLICT (library_id, user_id) DO UPDATE SET role = excluded.role""",
        library_id,
        user_id,
        role.value,
        now,
    )
    if done == "INSERT 0 0":
        raise not_found()


async def remove_member(connection: Connection, library_id: str, *, user_id: str) -> None:
    done = await connection.execute(
        """DELETE FROM members m USING libraries l
           WHERE m.library_id = $1 AND m.user_id = $2 AND l.id = m.library_id AND l.kind = 'workspace'""",
        library_id,
        user_id,
    )
    if done == "DELETE 0":
        raise not_found()


async def is_active_member(connection: Connection, library_id: str, user_id: str) -> bool:
    """Whether a user is a member of the transaction's library, and the library is not suspended."""
    found: bool = await connection.fetchval(
        """SELECT EXISTS (SELECT FROM members m JOIN libraries l ON l.id = m.library_id
           WHERE m.library_id = $1 AND m.user_id = $2 AND l.suspended_at IS NULL)""",
        library_id,
        user_id,
    )
    return found


async def may_still_use(connection: Connection, library_id: str, user_id: str | None) -> bool:
    """Whether what a user was given may still be used: the transaction's library is not suspended, they are a member.

    Without a user, only the library is checked.
    """
    found: bool = await connection.fetchval(
        """SELECT EXISTS (SELECT FROM libraries l WHERE l.id = $1 AND l.suspended_at IS NULL
             AND ($2::text IS NULL
                  OR EXISTS (SELECT FROM members m WHERE m.library_id = l.id AND m.user_id = $2)))""",
        library_id,
        user_id,
    )
    return found


async def set_suspended(connection: Connection, library_id: str, *, at: datetime | None) -> None:
    """Suspend a library, or resume it; only the owner of the schema can."""
    done = await connection.execute("UPDATE libraries SET suspended_at = $2 WHERE id = $1", library_id, at)
    if done == "UPDATE 0":
        raise not_found()


async def set_plan(connection: Connection, library_id: str, *, plan: PlanName) -> str:
    """Change the plan of a library, and return the one before; only the owner of the schema can."""
    before: str | None = await connection.fetchval(
        "SELECT plan FROM libraries WHERE id = $1 AND erased_at IS NULL FOR UPDATE", library_id
    )
    if before is None:
        raise not_found()
    await connection.execute("UPDATE libraries SET plan = $2 WHERE id = $1", library_id, plan.value)
    return before


async def set_quotas(
    connection: Connection, library_id: str, *, quotas: Mapping[str, int], reset: bool = False
) -> Mapping[str, int | None]:
    """Set quotas of a library in place of its plan's, and return all that are set; only the owner of the schema can.

    With `reset`, those that are not given become the plan's again.
    """
    names = list(Quotas.__dataclass_fields__)
    row = await connection.fetchrow(
        """UPDATE libraries SET
               storage_bytes_quota = coalesce($3, CASE WHEN NOT $2 THEN storage_bytes_quota END),
               media_minutes_quota = coalesce($4, CASE WHEN NOT $2 THEN media_minutes_quota END),
               unfinished_jobs_quota = coalesce($5, CASE WHEN NOT $2 THEN unfinished_jobs_quota END)
           WHERE id = $1 AND erased_at IS NULL
           RETURNING storage_bytes_quota, media_minutes_quota, unfinished_jobs_quota""",
        library_id,
        reset,
        *(quotas.get(name) for name in names),
    )
    if row is None:
        raise not_found()
    return {name: row[f"{name}_quota"] for name in names}


@dataclass(frozen=True, slots=True)
class RevokedAccess:
    """What a removed member could have kept using, by id."""

    keys: list[str]
    grants: list[str]
    invitations: list[str]

    @property
    def recordable(self) -> dict[str, list[str]]:
        """For the audit log."""
        named = {"keyIds": self.keys, "grantIds": self.grants, "invitationIds": self.invitations}
        return {name: ids for name, ids in named.items() if ids}


async def revoke_access(connection: Connection, library_id: str, *, user_id: str, now: datetime) -> RevokedAccess:
    """Revoke a member's keys, OAuth grants and tokens for good, and pending invitations by or to them.

    Called before the member is removed. Being invited again does not bring any of it back. Signed URLs name no person,
    so all that the library has issued end; the other members get new ones with their next request.
    """
    await connection.execute("UPDATE libraries SET urls_valid_from = $2 WHERE id = $1", library_id, now + URL_PRECISION)
    await connection.execute(
        "UPDATE oauth_tokens SET revoked_at = $3 WHERE library_id = $1 AND user_id = $2 AND revoked_at IS NULL",
        library_id,
        user_id,
        now,
    )
    keys = await connection.fetch(
        """UPDATE api_keys SET revoked_at = $3 WHERE library_id = $1 AND user_id = $2 AND revoked_at IS NULL
           RETURNING id""",
        library_id,
        user_id,
        now,
    )
    grants = await connection.fetch(
        """UPDATE oauth_grants SET revoked_at = $3 WHERE library_id = $1 AND user_id = $2 AND revoked_at IS NULL
           RETURNING id""",
        library_id,
        user_id,
        now,
    )
    invitations = await connection.fetch(
        """UPDATE invitations SET ended_at = $3
           WHERE library_id = $1 AND ended_at IS NULL
             AND (invited_by = $2 OR email = (SELECT u.email FROM users u WHERE u.id = $2)) RETURNING id""",
        library_id,
        user_id,
        now,
    )
    found = [sorted(row["id"] for row in rows) for rows in (keys, grants, invitations)]
    return RevokedAccess(*found)


@dataclass(frozen=True, slots=True)
class KeyIssuer:
    """Creates API keys."""

    secret_box: SecretBox
    plans: Plans

    async def create_key(
        self,
        connection: Connection,
        library_id: str,
        *,
        user_id: str,
        name: str,
        scopes: Iterable[Scope],
        now: datetime,
        key_id: str | None = None,
    ) -> NewKey:
        """Create a key for a member of the library, with a new id unless one is given; no scopes means all of them."""
        row = await connection.fetchrow(
            """SELECT l.plan FROM libraries l JOIN members m ON m.library_id = l.id AND m.user_id = $2
               WHERE l.id = $1""",
            library_id,
            user_id,
        )
        if row is None:
            raise not_found()
        granted = grant_scopes(scopes, self.plans[row["plan"]])
        secret = generate_credential(KEY_PREFIX)
        key_id = key_id or new_id()
        key = {
            "id": key_id,
            "library_id": library_id,
            "user_id": user_id,
            "name": name,
            "hash": self.secret_box.keyed_hash(CREDENTIAL_PURPOSE, secret),
            "hint": secret[-4:],
            "scopes": sorted(granted),
            "created_at": now,
        }
        await insert(connection, "api_keys", key)
        return NewKey(key_id=key_id, secret=secret, scopes=granted)


async def revoke_key(connection: Connection, key_id: str, *, now: datetime) -> str:
    """Revoke a key, effective immediately, and return its library."""
    library_id: str | None = await connection.fetchval(
        "UPDATE api_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL RETURNING library_id", key_id, now
    )
    if library_id is None:
        raise not_found()
    return library_id


@dataclass(frozen=True, slots=True)
class KeyInfo:
    """A key without its secret."""

    id: str
    name: str
    hint: str
    scopes: tuple[str, ...]
    owner_id: str
    owner: str
    created_at: datetime
    last_used_at: datetime | None


async def list_keys(connection: Connection, library_id: str, *, user_id: str | None = None) -> list[KeyInfo]:
    """List active keys, newest first, optionally of one user."""
    rows = await connection.fetch(
        """SELECT k.id, k.name, k.hint, k.scopes, k.user_id, u.name AS owner, k.created_at, k.last_used_at
           FROM api_keys k JOIN users u ON u.id = k.user_id
           WHERE k.library_id = $1 AND k.revoked_at IS NULL AND ($2::text IS NULL OR k.user_id = $2)
           ORDER BY k.id DESC LIMIT $3""",
        library_id,
        user_id,
        MAX_LISTED_KEYS,
    )
    return [
        KeyInfo(
            id=row["id"],
            name=row["name"],
            hint=row["hint"],
            scopes=tuple(row["scopes"]),
            owner_id=row["user_id"],
            owner=row["owner"],
            created_at=row["created_at"],
            last_used_at=row["last_used_at"],
        )
        for row in rows
    ]


async def rate_limit_subjects(connection: Connection, library_id: str) -> list[str]:
    """Whatever limits are counted for: a library, its keys and tokens, and its members and their e-mail addresses."""
    rows = await connection.fetch(
        """SELECT id FROM api_keys WHERE library_id = $1
           UNION ALL SELECT id FROM oauth_tokens WHERE library_id = $1
           UNION ALL SELECT unnest(ARRAY['library:' || $1, 'free-work:library:' || $1])
           UNION ALL SELECT unnest(ARRAY['sign-in:' || left(u.email, 254), 'account:' || u.id,
                          'free-work:account:' || u.id]) FROM members m JOIN users u ON u.id = m.user_id
                      WHERE m.library_id = $1""",
        library_id,
    )
    return [row["id"] for row in rows]
