"""Authenticates credentials and returns principals."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from cutroom.accounts.keys import KEY_PREFIX, TOKEN_PREFIX, is_well_formed
from cutroom.accounts.plans import Plan, Plans
from cutroom.accounts.scopes import SPEECH_SCOPES
from cutroom.accounts.spending import SpendingLimit
from cutroom.errors import Code, CutroomError
from cutroom.platform.db import Connection
from cutroom.platform.secret_box import SecretBox


class Role(StrEnum):
    """Member roles, from the most powerful to the least."""

    OWNER = "owner"
    ADMIN = "admin"
    EDITOR = "editor"
    VIEWER = "viewer"

    @property
    def and_above(self) -> "list[Role]":
        """This role and those that include it."""
        roles = list(Role)
        return roles[: roles.index(self) + 1]


class PrincipalKind(StrEnum):
    """How an actor is authenticated; the system is an operator's command."""

    KEY = "key"
    TOKEN = "token"  # noqa: S105 (a kind, not a secret)
    PERSON = "person"
    GUEST = "guest"  # opened a review link, without an account
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class Principal:
    """An authenticated caller, bound to one library."""

    id: str  # of the key, token, session or review link
    user_id: str  # of a guest: who created the link
    library_id: str
    workspace_id: str | None  # the library's id if it is a workspace
    role: Role
    plan: Plan
    suspended: bool
    scopes: frozenset[str]
    refuses_drafts: bool = False  # translations of draft quality need `acceptDraft`
    kind: PrincipalKind = PrincipalKind.KEY
    video_id: str | None = None  # of a guest, who has access to no other video
    spending_limit: SpendingLimit | None = None  # of this request

    @property
    def is_guest(self) -> bool:
        return self.kind is PrincipalKind.GUEST

    @property
    def author_id(self) -> str | None:
        """The user who acts; None for a guest, who is none."""
        return None if self.is_guest else self.user_id

    def require_spending(self) -> None:
        """Raises ROLE_CANNOT_PRODUCE for a guest: the holder of a review link spends no credits of the library."""
        if self.is_guest:
            raise CutroomError(Code.ROLE_CANNOT_PRODUCE)

    @property
    def may_write(self) -> bool:
        return self.role is not Role.VIEWER

    @property
    def is_admin(self) -> bool:
        return self.has_role(Role.ADMIN)

    def has_role(self, minimum: Role) -> bool:
        return self.role in minimum.and_above


CREDENTIAL_PURPOSE = "credential"


class UnknownCredentialError(CutroomError):
    """A well-formed credential that does not exist; the only failure counted as a guess."""

    def __init__(self) -> None:
        super().__init__(Code.INVALID_API_KEY)


@dataclass(frozen=True, slots=True)
class Authenticator:
    """Resolves credentials to principals."""

    secret_box: SecretBox
    plans: Plans
    refuses_drafts: bool = False  # for all libraries

    async def authenticate(self, connection: Connection, credential: str, *, now: datetime, speech: bool) -> Principal:
        """Resolve a credential and scope the connection to its library.

        Tokens are accepted by speech operations only. Keys of former members raise PERMISSION_DENIED.
        """
        hashed = self.secret_box.keyed_hash(CREDENTIAL_PURPOSE, credential)
        sql: str
        arguments: list[Any]
        if is_well_formed(credential, KEY_PREFIX):
            sql, arguments, kind = "SELECT * FROM authenticate_key($1)", [hashed], PrincipalKind.KEY
        elif speech and is_well_formed(credential, TOKEN_PREFIX):
            sql, arguments, kind = "SELECT * FROM authenticate_token($1, $2)", [hashed, now], PrincipalKind.TOKEN
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
            refuses_drafts=self.refuses_drafts or row["refuses_drafts"],
            kind=kind,
        )
