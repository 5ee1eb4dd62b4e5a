"""Every kind of caller of an operation, and the response each must get."""

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta

from cutroom.accounts import service
from cutroom.accounts.keys import KEY_PREFIX, generate_credential
from cutroom.accounts.principals import Role
from cutroom.accounts.scopes import ALL_SCOPES, Scope
from cutroom.errors import Code
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.web.operation import Access
from dev.scratch import Accounts
from proofs.access.document import Operation
from proofs.access.responses import Expected, refusal
from proofs.stage.access_fixtures import LibraryFactory, LibraryFixture

# Operations whose contract specifies another code than NOT_FOUND for resources of other libraries.
FOREIGN_CODES = {"DELETE /v1/webhook-endpoints/{endpointId}": Code.PERMISSION_DENIED}
# Operations that only the user who created the resource may call; other members of the library get this code.
_ENDPOINT = "/v1/webhook-endpoints/{endpointId}"
FELLOW_CODES = {
    **FOREIGN_CODES,
    **dict.fromkeys(
        (
            f"PATCH {_ENDPOINT}",
            f"POST {_ENDPOINT}/deliveries/{{eventId}}/redeliver",
            f"POST {_ENDPOINT}/recover",
            f"POST {_ENDPOINT}/rotate-secret",
            f"POST {_ENDPOINT}/test",
        ),
        Code.PERMISSION_DENIED,
    ),
}
# Responses that are the same in every library.
SHARED_LISTS = frozenset({"GET /v1/capabilities", "GET /v1/models"})
SETTINGS = frozenset({"GET /v1/library/retention"})  # numbers only
STREAMS = frozenset({"GET /v1/events/stream"})  # only the head of the response is read

Headers = dict[bytes, bytes]


@dataclass(frozen=True, slots=True)
class Case:
    """A request and its expected response."""

    caller: str
    operation: Operation
    ids: Mapping[str, str]
    headers: Headers
    expected: Expected


@dataclass(frozen=True, slots=True)
class Stage:
    """Libraries and credentials. No permitted request changes the owner's or the team's library."""

    factory: LibraryFactory
    owner: LibraryFixture
    team: LibraryFixture  # a workspace
    outsiders: dict[str, LibraryFixture]
    lacking: dict[Scope, str]  # owner's key with every other scope
    only: dict[Scope, str]  # owner's key with this scope only
    refused: dict[str, str]  # invalid credentials, by what is wrong with them
    viewer: str
    editor: str
    removed: str
    token: str


async def open_stage(accounts: Accounts) -> Stage:
    factory = LibraryFactory(accounts)
    owner, team = await factory.personal(), await factory.workspace()

    async def key(scopes: frozenset[Scope]) -> str:
        return (await accounts.key(owner.person, scopes=scopes)).secret

    outsiders = {
        "a foreign user": await factory.personal(),
        "a foreign workspace": await factory.workspace(),
        "the same person in another library": await factory.workspace(owner.person),
    }
    return Stage(
        factory=factory,
        owner=owner,
        team=team,
        outsiders=outsiders,
        lacking={scope: await key(ALL_SCOPES - {scope}) for scope in Scope},
        only={scope: await key(frozenset({scope})) for scope in Scope},
        refused=await _refused(factory, owner),
        viewer=await _join(accounts, team, Role.VIEWER),
        editor=await _join(accounts, team, Role.EDITOR),
        removed=await _join(accounts, team, Role.EDITOR, removed=True),
        token=await factory.token(owner),
    )


async def _refused(factory: LibraryFactory, owner: LibraryFixture) -> dict[str, str]:
    accounts, good = factory.accounts, owner.key.secret
    revoked = await accounts.key(owner.person)
    await service.revoke_key(accounts.connection, revoked.id, now=system_clock())
    return {
        "garbage": "garbage",
        "garbage beyond ASCII": KEY_PREFIX + "é" * (len(good) - len(KEY_PREFIX)),
        "a wrong checksum": good[:-1] + ("0" if good[-1] != "0" else "1"),
        "a wrong secret": good[:10] + ("0" if good[10] != "0" else "1") + good[11:],
        "an unknown key": generate_credential(KEY_PREFIX),
        "a revoked key": revoked.secret,
        "an expired token": await factory.token(owner, lifetime=-timedelta(seconds=1)),
    }


async def _join(accounts: Accounts, team: LibraryFixture, role: Role, *, removed: bool = False) -> str:
    """The key of a new member, optionally removed again."""
    person = await accounts.person()
    await accounts.member(team.library_id, person, role=role)
    key = await accounts.key(person, library_id=team.library_id)
    if removed:
        await service.remove_member(accounts.connection, team.library_id, user_id=person.user_id)
    return key.secret


async def cases_of(operation: Operation, stage: Stage, *, short: bool) -> AsyncIterator[Case]:
    """Every case of an operation; callers that may write get their own library."""
    for case in (
        *_without_identity(operation, stage),
        *_without_permission(operation, stage, short=short),
        *_with_unknown_ids(operation, stage),
    ):
        yield case
    async for case in _foreign(operation, stage):
        yield case
    async for case in _permitted(operation, stage):
        yield case


def _without_identity(operation: Operation, stage: Stage) -> Iterator[Case]:
    missing, invalid = _hiding(Code.UNAUTHENTICATED, stage.owner), _hiding(Code.INVALID_API_KEY, stage.owner)

    def case(caller: str, headers: Headers, expected: Expected) -> Case:
        return Case(caller, operation, stage.owner.ids, headers, expected)

    yield case("no key", {}, missing)
    yield case("an empty key", {b"Authorization": b"Bearer"}, missing)
    yield case("another scheme", {b"Authorization": b"Basic " + stage.owner.key.secret.encode()}, missing)
    for fault, credential in stage.refused.items():
        yield case(fault, bearer(credential), invalid)
        yield case(f"{fault} as X-Api-Key", {b"X-Api-Key": credential.encode()}, invalid)
    if not operation.speech:
        yield case("an OAuth token", bearer(stage.token), invalid)
        yield case("xi-api-key", {b"xi-api-key": stage.owner.key.secret.encode()}, missing)


def _without_permission(operation: Operation, stage: Stage, *, short: bool) -> Iterator[Case]:
    unscoped = refusal(
        Code.INSUFFICIENT_SCOPE, details={"required": [operation.scope.value]}, hidden=stage.owner.markers
    )

    def owner(caller: str, secret: str, expected: Expected = unscoped) -> Case:
        return Case(caller, operation, stage.owner.ids, bearer(secret), expected)

    yield owner("every scope but the required one", stage.lacking[operation.scope])
    for scope in operation.further_scopes:
        further = refusal(Code.INSUFFICIENT_SCOPE, details={"required": [scope.value]}, hidden=stage.owner.markers)
        yield owner(f"every scope but {scope}", stage.lacking[scope], further)
    for scope, secret in () if short else stage.only.items():
        if scope is not operation.scope:
            yield owner(f"{scope} only", secret)
    denied = _hiding(Code.PERMISSION_DENIED, stage.team)
    yield Case("a removed member", operation, stage.team.ids, bearer(stage.removed), denied)
    if operation.admin_only:
        viewed = denied
        yield Case("an editor", operation, stage.team.ids, bearer(stage.editor), denied)
    elif operation.access is Access.READ:
        viewed = Expected(statuses=operation.passes)
    else:
        produces = operation.access is Access.PRODUCE
        viewed = _hiding(Code.ROLE_CANNOT_PRODUCE if produces else Code.PERMISSION_DENIED, stage.team)
    yield Case("a viewer", operation, stage.team.ids, bearer(stage.viewer), viewed)


def _with_unknown_ids(operation: Operation, stage: Stage) -> Iterator[Case]:
    """Unknown and impossible ids get the same response as ids of other libraries."""
    names = [name for name in operation.path_names if name.lower().endswith("id")]
    unknown = {"an unknown id": new_id(), "an impossible id": "\x00", "an overlong id": "0" * 4_000}
    for caller, value in unknown.items() if names and not operation.retired else ():
        ids = {**stage.owner.ids, **dict.fromkeys(names, value)}
        yield Case(caller, operation, ids, bearer(stage.owner.key.secret), refusal(Code.NOT_FOUND))


async def _foreign(operation: Operation, stage: Stage) -> AsyncIterator[Case]:
    hidden = stage.owner.markers
    for caller, outsider in stage.outsiders.items():
        if operation.path_names and not operation.retired:
            expected = refusal(FOREIGN_CODES.get(operation.name, Code.NOT_FOUND), hidden=hidden)
            yield Case(caller, operation, stage.owner.ids, bearer(outsider.key.secret), expected)
            continue
        if outsider.person == stage.owner.person:
            own = await stage.factory.workspace(outsider.person)
        elif outsider.library_id == outsider.person.library_id:
            own = await stage.factory.personal()
        else:
            own = await stage.factory.workspace()
        expected = Expected(statuses=operation.passes, hidden=hidden)
        yield Case(caller, operation, own.ids, bearer(own.key.secret), expected)


async def _permitted(operation: Operation, stage: Stage) -> AsyncIterator[Case]:
    factory, passed = stage.factory, Expected(statuses=operation.passes)

    def case(caller: str, own: LibraryFixture, headers: Headers, expected: Expected = passed) -> Case:
        return Case(caller, operation, own.ids, headers, expected)

    own = await factory.personal()
    lists = (
        operation.method == "get"
        and not operation.path_names
        and operation.name not in SHARED_LISTS | SETTINGS | STREAMS
    )
    seen = Expected(statuses=operation.passes, shown=own.markers if lists else frozenset())
    yield case("the owner", own, bearer(own.key.secret), seen)
    own = await factory.personal()
    yield case("X-Api-Key", own, {b"X-Api-Key": own.key.secret.encode()})
    own = await factory.personal(scopes={operation.scope, *operation.further_scopes})
    yield case("the required scopes only", own, bearer(own.key.secret))
    if operation.path_names and not operation.admin_only:
        own = await factory.workspace()
        editor = await _join(factory.accounts, own, Role.EDITOR)
        code = FELLOW_CODES.get(operation.name)
        yield case("a fellow member", own, bearer(editor), refusal(code, hidden=own.markers) if code else passed)
    if operation.speech:
        own = await factory.personal()
        yield case("xi-api-key", own, {b"xi-api-key": own.key.secret.encode()})
        own = await factory.personal()
        yield case("an OAuth token", own, bearer(await factory.token(own)))


def _hiding(code: Code, library: LibraryFixture) -> Expected:
    return refusal(code, hidden=library.markers)


def bearer(secret: str) -> Headers:
    return {b"Authorization": f"Bearer {secret}".encode()}
