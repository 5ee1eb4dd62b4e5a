"""Who works in a workspace: members, their roles, and invitations to become one."""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

import asyncpg

from cutroom.accounts import service
from cutroom.accounts.principals import Principal, Role
from cutroom.accounts.sessions import MAX_EMAIL, clean_email
from cutroom.errors import Code, CutroomError, invalid_field, not_found
from cutroom.platform.db import Connection, insert
from cutroom.platform.ids import new_id
from cutroom.platform.secret_box import SecretBox

INVITATION_LIFETIME = timedelta(days=7)
INVITATION_PURPOSE = "invitation"
MAX_INVITATIONS = 100
MAX_MEMBERS = 500
_SECRET_BYTES = 24
_LEADING = frozenset({Role.OWNER, Role.ADMIN})


@dataclass(frozen=True, slots=True)
class Colleague:
    """A member as the others see them."""

    user_id: str
    name: str
    email: str
    role: Role
    since: datetime


@dataclass(frozen=True, slots=True)
class OpenInvitation:
    """An invitation that nobody has taken yet."""

    id: str
    email: str
    role: Role
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Welcome:
    """What somebody who follows an invitation is shown."""

    invitation_id: str
    library_id: str
    library_name: str
    email: str
    role: Role


def check_leads(principal: Principal) -> None:
    """Only owners and admins of a workspace decide who is in it."""
    if principal.workspace_id is None or principal.role not in _LEADING:
        raise CutroomError(Code.PERMISSION_DENIED)


async def members_of(connection: Connection, principal: Principal) -> list[Colleague]:
    rows = await connection.fetch(
        """SELECT u.id, u.name, u.email, m.role, m.created_at FROM members m JOIN users u ON u.id = m.user_id
           WHERE m.library_id = $1 ORDER BY m.created_at, u.id LIMIT $2""",
        principal.library_id,
        MAX_MEMBERS,
    )
    return [Colleague(row["id"], row["name"], row["email"], Role(row["role"]), row["created_at"]) for row in rows]


async def change_role(connection: Connection, principal: Principal, user_id: str, *, role: Role, now: datetime) -> None:
    """Give a member another role; a workspace always keeps an owner, and only owners make owners."""
    await _check_change(connection, principal, user_id, to=role)
    await service.put_member(connection, principal.library_id, user_id=user_id, role=role, now=now)


async def dismiss(connection: Connection, principal: Principal, user_id: str) -> None:
    """Take a member out; anybody may leave by themselves, but for the last owner."""
    await _check_change(connection, principal, user_id, to=None)
    await service.remove_member(connection, principal.library_id, user_id=user_id)


async def _check_change(connection: Connection, principal: Principal, user_id: str, *, to: Role | None) -> None:
    if not (to is None and user_id == principal.user_id and principal.workspace_id is not None):
        check_leads(principal)
    rows = await connection.fetch(  # locked, so that two owners cannot both step down
        "SELECT user_id, role FROM members WHERE library_id = $1 ORDER BY user_id FOR UPDATE", principal.library_id
    )
    roles = {row["user_id"]: Role(row["role"]) for row in rows}
    if user_id not in roles:
        raise not_found()
    if Role.OWNER in {roles[user_id], to} and principal.role is not Role.OWNER:
        raise CutroomError(Code.PERMISSION_DENIED)
    owners = [each for each, role in roles.items() if role is Role.OWNER]
    if owners == [user_id] and to is not Role.OWNER:
        raise CutroomError(Code.CONFLICT, message="A workspace keeps at least one owner.")


async def invite(
    connection: Connection, principal: Principal, email: str, *, role: Role, secrecy: SecretBox, now: datetime
) -> str:
    """Invite the person with this address; the secret of the link, which is known this once."""
    check_leads(principal)
    address = clean_email(email)
    if "@" not in address.strip("@") or len(address) > MAX_EMAIL:
        raise invalid_field("email", "This is not an e-mail address.")
    if role is Role.OWNER and principal.role is not Role.OWNER:
        raise CutroomError(Code.PERMISSION_DENIED)
    if len(await invitations_of(connection, principal, now=now)) >= MAX_INVITATIONS:
        raise CutroomError(Code.CONFLICT, message=f"At most {MAX_INVITATIONS} invitations are open at once.")
    secret = secrets.token_urlsafe(_SECRET_BYTES)
    row = {
        "library_id": principal.library_id,
        "id": new_id(),
        "email": address,
        "role": role.value,
        "hash": secrecy.keyed_hash(INVITATION_PURPOSE, secret),
        "invited_by": principal.user_id,
        "created_at": now,
        "expires_at": now + INVITATION_LIFETIME,
    }
    await insert(connection, "invitations", row)
    return secret


async def invitations_of(connection: Connection, principal: Principal, *, now: datetime) -> list[OpenInvitation]:
    rows = await connection.fetch(
        """SELECT id, email, role, expires_at FROM invitations
           WHERE library_id = $1 AND ended_at IS NULL AND expires_at > $2 ORDER BY id DESC LIMIT $3""",
        principal.library_id,
        now,
        MAX_INVITATIONS,
    )
    return [OpenInvitation(row["id"], row["email"], Role(row["role"]), row["expires_at"]) for row in rows]


async def take_back(connection: Connection, principal: Principal, invitation_id: str, *, now: datetime) -> None:
    check_leads(principal)
    await _end(connection, principal.library_id, invitation_id, now=now)


async def welcome(connection: Connection, secret: str, *, secrecy: SecretBox, now: datetime) -> Welcome:
    """What an invitation is for; the connection is confined to its workspace."""
    hashed = secrecy.keyed_hash(INVITATION_PURPOSE, secret)
    row: asyncpg.Record | None = await connection.fetchrow("SELECT * FROM enter_with_invitation($1, $2)", hashed, now)
    if row is None:
        raise not_found()
    return Welcome(row["invitation_id"], row["library_id"], row["library_name"], row["email"], Role(row["role"]))


async def accept(connection: Connection, offered: Welcome, *, user_id: str, email: str, now: datetime) -> None:
    """Become a member; inside the invitation's own workspace, and only as whom it was meant for."""
    if clean_email(email) != offered.email:
        raise CutroomError(Code.PERMISSION_DENIED, message="This invitation is for another e-mail address.")
    await _end(connection, offered.library_id, offered.invitation_id, now=now)
    await connection.execute(  # whoever is in already keeps the role they have
        """INSERT INTO members (library_id, user_id, role, created_at) VALUES ($1, $2, $3, $4)
           ON CONFLICT (library_id, user_id) DO NOTHING""",
        offered.library_id,
        user_id,
        offered.role.value,
        now,
    )


async def _end(connection: Connection, library_id: str, invitation_id: str, *, now: datetime) -> None:
    done = await connection.execute(
        "UPDATE invitations SET ended_at = $3 WHERE library_id = $1 AND id = $2 AND ended_at IS NULL",
        library_id,
        invitation_id,
        now,
    )
    if done == "UPDATE 0":
        raise not_found()
