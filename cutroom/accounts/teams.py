"""Manages workspace members, roles and invitations."""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

import asyncpg

from cutroom.accounts import service
from cutroom.accounts.principals import Principal, Role
from cutroom.accounts.sessions import MAX_EMAIL, normalize_email
from cutroom.errors import Code, CutroomError, invalid_field, not_found
from cutroom.platform.db import Connection, insert
from cutroom.platform.ids import new_id
from cutroom.platform.secret_box import SecretBox

INVITATION_LIFETIME = timedelta(days=7)
INVITATION_PURPOSE = "invitation"
SECRET_PREFIX = "inv_"  # which logs redact  # noqa: S105
MAX_INVITATIONS = 100
MAX_MEMBERS = 500
_SECRET_BYTES = 24
_ADMIN_ROLES = frozenset({Role.OWNER, Role.ADMIN})


@dataclass(frozen=True, slots=True)
class MemberInfo:
    """A workspace member."""

    user_id: str
    name: str
    email: str
    role: Role
    since: datetime


@dataclass(frozen=True, slots=True)
class OpenInvitation:
    """A pending invitation."""

    id: str
    email: str
    role: Role
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class NewInvitation:
    """A new invitation and the secret of its link."""

    id: str
    secret: str


@dataclass(frozen=True, slots=True)
class InvitationDetails:
    """An invitation as shown to the invited user."""

    invitation_id: str
    library_id: str
    library_name: str
    email: str
    role: Role


def require_admin(principal: Principal) -> None:
    """Require an owner or admin of a workspace."""
    if principal.workspace_id is None or principal.role not in _ADMIN_ROLES:
        raise CutroomError(Code.PERMISSION_DENIED)


async def list_members(connection: Connection, principal: Principal) -> list[MemberInfo]:
    rows = await connection.fetch(
        """SELECT u.id, u.name, u.email, m.role, m.created_at FROM members m JOIN users u ON u.id = m.user_id
           WHERE m.library_id = $1 ORDER BY m.created_at, u.id LIMIT $2""",
        principal.library_id,
        MAX_MEMBERS,
    )
    return [MemberInfo(row["id"], row["name"], row["email"], Role(row["role"]), row["created_at"]) for row in rows]


async def change_role(connection: Connection, principal: Principal, user_id: str, *, role: Role, now: datetime) -> Role:
    """Change a member's role and return the earlier one.

    A workspace keeps at least one owner, and only owners can appoint owners.
    """
    before = await _check_change(connection, principal, user_id, to=role)
    await service.upsert_member(connection, principal.library_id, user_id=user_id, role=role, now=now)
    return before


@dataclass(frozen=True, slots=True)
class RemovedMember:
    """The role that a member had, and what was revoked with it."""

    role: Role
    revoked: service.RevokedAccess


async def remove_member(connection: Connection, principal: Principal, user_id: str, *, now: datetime) -> RemovedMember:
    """Remove a member and revoke their access. Members can remove themselves, except for the last owner."""
    before = await _check_change(connection, principal, user_id, to=None)
    revoked = await service.revoke_access(connection, principal.library_id, user_id=user_id, now=now)
    await service.remove_member(connection, principal.library_id, user_id=user_id)
    return RemovedMember(before, revoked)


async def _check_change(connection: Connection, principal: Principal, user_id: str, *, to: Role | None) -> Role:
    """Check the change, and return the member's current role."""
    if not (to is None and user_id == principal.user_id and principal.workspace_id is not None):
        require_admin(principal)
    rows = await connection.fetch(  # locked, so that two owners cannot leave concurrently
        "SELECT user_id, role FROM members WHERE library_id = $1 ORDER BY user_id FOR UPDATE", principal.library_id
    )
    roles = {row["user_id"]: Role(row["role"]) for row in rows}
    if user_id not in roles:
        raise not_found()
    if Role.OWNER in {roles[user_id], to} and principal.role is not Role.OWNER:
        raise CutroomError(Code.PERMISSION_DENIED)
    owners = [each for each, role in roles.items() if role is Role.OWNER]
    if owners == [user_id] and to is not Role.OWNER:
        raise CutroomError(Code.CONFLICT, message="A workspace must keep at least one owner.")
    return roles[user_id]


async def invite(
    connection: Connection, principal: Principal, email: str, *, role: Role, secret_box: SecretBox, now: datetime
) -> NewInvitation:
    """Invite an e-mail address; only a hash of the link's secret is stored."""
    require_admin(principal)
    address = normalize_email(email)
    if "@" not in address.strip("@") or len(address) > MAX_EMAIL:
        raise invalid_field("email", "This is not a valid e-mail address.")
    if role is Role.OWNER and principal.role is not Role.OWNER:
        raise CutroomError(Code.PERMISSION_DENIED)
    if len(await list_invitations(connection, principal, now=now)) >= MAX_INVITATIONS:
        raise CutroomError(
            Code.CONFLICT, message=f"A workspace can have at most {MAX_INVITATIONS} pending invitations."
        )
    invitation_id, secret = new_id(), SECRET_PREFIX + secrets.token_hex(_SECRET_BYTES)
    row = {
        "library_id": principal.library_id,
        "id": invitation_id,
        "email": address,
        "role": role.value,
        "hash": secret_box.keyed_hash(INVITATION_PURPOSE, secret),
        "invited_by": principal.user_id,
        "created_at": now,
        "expires_at": now + INVITATION_LIFETIME,
    }
    await insert(connection, "invitations", row)
    return NewInvitation(invitation_id, secret)


async def list_invitations(connection: Connection, principal: Principal, *, now: datetime) -> list[OpenInvitation]:
    rows = await connection.fetch(
        """SELECT id, email, role, expires_at FROM invitations
           WHERE library_id = $1 AND ended_at IS NULL AND expires_at > $2 ORDER BY id DESC LIMIT $3""",
        principal.library_id,
        now,
        MAX_INVITATIONS,
    )
    return [OpenInvitation(row["id"], row["email"], Role(row["role"]), row["expires_at"]) for row in rows]


async def revoke_invitation(connection: Connection, principal: Principal, invitation_id: str, *, now: datetime) -> None:
    require_admin(principal)
    await _end(connection, principal.library_id, invitation_id, now=now)


async def find_invitation(
    connection: Connection, secret: str, *, secret_box: SecretBox, now: datetime
) -> InvitationDetails:
    """Find an invitation by its secret; the connection is scoped to its workspace."""
    hashed = secret_box.keyed_hash(INVITATION_PURPOSE, secret)
    row: asyncpg.Record | None = await connection.fetchrow("SELECT * FROM authenticate_invitation($1, $2)", hashed, now)
    if row is None:
        raise not_found()
    return InvitationDetails(
        row["invitation_id"], row["library_id"], row["library_name"], row["email"], Role(row["role"])
    )


async def accept_invitation(
    connection: Connection, invitation: InvitationDetails, *, user_id: str, email: str, now: datetime
) -> None:
    """Join the workspace. The connection must be scoped to it, and the e-mail address must match."""
    if normalize_email(email) != invitation.email:
        raise CutroomError(Code.PERMISSION_DENIED, message="This invitation is for another e-mail address.")
    await _end(connection, invitation.library_id, invitation.invitation_id, now=now)
    await connection.execute(  # existing members keep their role
        """INSERT INTO members (library_id, user_id, role, created_at) VALUES ($1, $2, $3, $4)
           ON CONFLICT (library_id, user_id) DO NOTHING""",
        invitation.library_id,
        user_id,
        invitation.role.value,
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
