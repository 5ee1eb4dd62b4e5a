"""Declares an operation's scope and access, and authorizes principals."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from cutroom.accounts.principals import Principal, Role
from cutroom.accounts.scopes import SPEECH_SCOPES, Scope
from cutroom.errors import Code, CutroomError

Endpoint = TypeVar("Endpoint", bound=Callable[..., Awaitable[Any]])
_DECLARATION = "cutroom_operation"


class Access(StrEnum):
    """What an operation does to the library; viewers may only read."""

    READ = "read"
    WRITE = "write"
    PRODUCE = "produce"


@dataclass(frozen=True, slots=True)
class Operation:
    """The declaration of an API operation."""

    scope: Scope
    access: Access
    errors: tuple[Code, ...] = ()  # in addition to those implied by its method and path
    accepts_form: bool = False  # multipart/form-data, in addition to JSON
    has_revisions: bool = False  # its resource has an ETag; changes accept If-Match
    minimum_role: Role | None = None  # of members of the library: admins include owners
    further_scopes: tuple[Scope, ...] = ()  # required in addition to `scope`
    while_suspended: bool = False  # also in suspended libraries: it says so, or has an error code of its own
    free_work: bool = False  # starts work that may cost nothing, and is limited by day
    priced: bool = False  # may charge credits, now or when the price is known; accepts a spending limit

    @property
    def speech(self) -> bool:
        """Speech operations also accept OAuth tokens and `xi-api-key`, and are not idempotent."""
        return self.scope in SPEECH_SCOPES

    def authorize(self, principal: Principal) -> None:
        """Check the scopes, then the workspace role, then the plan."""
        if self.scope not in principal.scopes:
            raise CutroomError(Code.INSUFFICIENT_SCOPE, details={"required": [self.scope.value]})
        if missing := [scope.value for scope in self.further_scopes if scope not in principal.scopes]:
            raise CutroomError(Code.INSUFFICIENT_SCOPE, details={"required": missing})
        if self.access is Access.PRODUCE:
            principal.require_spending()
        if self.access is not Access.READ and not principal.may_write:
            produces = self.access is Access.PRODUCE
            raise CutroomError(Code.ROLE_CANNOT_PRODUCE if produces else Code.PERMISSION_DENIED)
        if self.minimum_role is not None and not principal.has_role(self.minimum_role):
            raise CutroomError(Code.PERMISSION_DENIED)
        if principal.suspended and not self.while_suspended:
            raise CutroomError(Code.PERMISSION_DENIED, details={"reason": "suspended"})
        if self.speech and not principal.plan.speech:
            raise CutroomError(Code.PERMISSION_DENIED, details={"reason": "plan_required"})


def operation(  # noqa: PLR0913 (the fields of the declaration)
    *,
    scope: Scope,
    access: Access,
    errors: tuple[Code, ...] = (),
    accepts_form: bool = False,
    has_revisions: bool = False,
    minimum_role: Role | None = None,
    further_scopes: tuple[Scope, ...] = (),
    while_suspended: bool = False,
    free_work: bool = False,
    priced: bool = False,
) -> Callable[[Endpoint], Endpoint]:
    """Declare an endpoint's scope and access; required for every OperationRoute."""

    def declare(endpoint: Endpoint) -> Endpoint:
        declared = Operation(
            scope=scope,
            access=access,
            errors=errors,
            accepts_form=accepts_form,
            has_revisions=has_revisions,
            minimum_role=minimum_role,
            further_scopes=further_scopes,
            while_suspended=while_suspended,
            free_work=free_work,
            priced=priced,
        )
        setattr(endpoint, _DECLARATION, declared)
        return endpoint

    return declare


def operation_of(endpoint: Callable[..., Any]) -> Operation:
    declared: Operation = getattr(endpoint, _DECLARATION)
    return declared
