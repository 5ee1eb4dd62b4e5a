"""From a credential to a principal: who calls, in which library, as what."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from cutroom.accounts.keys import KEY_PREFIX, TOKEN_PREFIX, is_well_formed
from cutroom.accounts.plans import Plan, Plans
from cutroom.accounts.scopes import SPEECH_SCOPES
from cutroom.errors import Code, CutroomError
from cutroom.platform.db import Connection
from cutroom.platform.secret_box import SecretBox


class Role(StrEnum):
    """What a member may do in a library."""

    OWNER = "owner"
    ADMIN = "admin"
    EDITOR = "editor"
    VIEWER = "viewer"


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller, bound to exactly one library."""

    id: str  # of the key or token
    user_id: str
    library_id: str
    workspace_id: str | None  # the library's id when it is a workspace's
    role: Role
    plan: Plan
    suspended: bool
    scopes: frozenset[str]

    @property
    def may_write(self) -> bool:
        return self.role is not Role.VIEWER


CREDENTIAL_PURPOSE = "credential"


class UnknownCredentialError(CutroomError):
    """Well formed, so worth a lookup, and then not found: the only kind of failure that can be a guess."""

    def __init__(self) -> None:
        super().__init__(Code.INVALID_API_KEY)


@dataclass(frozen=True, slots=True)
class Authenticator:
    """Turns credentials into principals."""

    secrecy: SecretBox
    plans: Plans

    async def admit(self, connection: Connection, credential: str, *, now: datetime, speech: bool) -> Principal:
        """Resolve a credential and confine the connection to its library.

        Tokens open speech endpoints only. A key whose holder is no longer a member is known, but not permitted.
        """
        hashed = self.secrecy.keyed_hash(CREDENTIAL_PURPOSE, credential)
        sql: str
        arguments: list[Any]
        if is_well_formed(credential, KEY_PREFIX):
            sql, arguments = "SELECT * FROM enter_with_key($1)", [hashed]
        elif speech and is_well_formed(credential, TOKEN_PREFIX):
            sql, arguments = "SELECT * FROM enter_with_token($1, $2)", [hashed, now]
        else:
            raise CutroomError(Code.INVALID_API_KEY)
        row = await connection.fetchrow(sql, *arguments)
        if row is None:
            raise UnknownCredentialError
        if row["role"] is None:
            raise CutroomError(Code.PERMISSION_DENIED)
        library_id: str = row["library_id"]
        return Principal(
            id=row["credential_id"],
            user_id=row["user_id"],
            library_id=library_id,
            workspace_id=library_id if row["library_kind"] == "workspace" else None,
            role=Role(row["role"]),
            plan=self.plans[row["plan"]],
            suspended=row["suspended"],
            scopes=SPEECH_SCOPES if row["legacy_speech"] else frozenset(row["scopes"]),
        )
