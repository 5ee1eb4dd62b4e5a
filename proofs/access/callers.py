"""Every kind of caller that an operation can meet, and the answer each must get."""

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta

from cutroom.accounts import service
from cutroom.accounts.keys import KEY_PREFIX, mint_credential
from cutroom.accounts.principals import Role
from cutroom.accounts.scopes import ALL_SCOPES, Scope
from cutroom.errors import Code
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.web.operation import Access
from dev.scratch import Accounts
from proofs.access.document import Operation
from proofs.access.responses import Expected, refusal
from proofs.stage.access_fixtures import Founder, Holding

# Where the contract answers something else than 404 about a resource of another library.
FOREIGN_ANSWERS = {"DELETE /v1/webhook-endpoints/{endpointId}": Code.PERMISSION_DENIED}
# Lists that are the same for every caller.
SHARED_LISTS = frozenset({"GET /v1/models"})

Headers = dict[bytes, bytes]


@dataclass(frozen=True, slots=True)
class Case:
    """One request and the answer it must get."""

    caller: str
    operation: Operation
    ids: Mapping[str, str]
    headers: Headers
    expected: Expected


@dataclass(frozen=True, slots=True)
class Stage:
    """Who takes part. Nothing that is asked of the owner's or the team's library is ever granted to change it."""

    founder: Founder
    owner: Holding
    team: Holding  # a workspace
    foreigners: dict[str, Holding]
    lacking: dict[Scope, str]  # a key of the owner's with every other scope
    only: dict[Scope, str]  # a key of the owner's with this scope alone
    refused: dict[str, str]  # credentials that open nothing, by what is wrong with them
    viewer: str
    removed: str
    token: str


async def set_the_stage(accounts: Accounts) -> Stage:
    founder = Founder(accounts)
    owner, team = await founder.personal(), await founder.workspace()

    async def key(scopes: frozenset[Scope]) -> str:
        return (await accounts.key(owner.person, scopes=scopes)).secret

    foreigners = {
        "a foreign user": await founder.personal(),
        "a foreign workspace": await founder.workspace(),
        "the same person in another library": await founder.workspace(owner.person),
    }
    return Stage(
        founder=founder,
        owner=owner,
        team=team,
        foreigners=foreigners,
        lacking={scope: await key(ALL_SCOPES - {scope}) for scope in Scope},
        only={scope: await key(frozenset({scope})) for scope in Scope},
        refused=await _refused(founder, owner),
        viewer=await _join(accounts, team, Role.VIEWER),
        removed=await _join(accounts, team, Role.EDITOR, removed=True),
        token=await founder.token(owner),
    )


async def _refused(founder: Founder, owner: Holding) -> dict[str, str]:
    accounts, good = founder.accounts, owner.key.secret
    revoked = await accounts.key(owner.person)
    await service.revoke_key(accounts.connection, revoked.id, now=system_clock())
    return {
        "garbage": "garbage",
        "garbage beyond ASCII": KEY_PREFIX + "é" * (len(good) - len(KEY_PREFIX)),
        "a wrong checksum": good[:-1] + ("0" if good[-1] != "0" else "1"),
        "a wrong secret": good[:10] + ("0" if good[10] != "0" else "1") + good[11:],
        "an unknown key": mint_credential(KEY_PREFIX),
        "a revoked key": revoked.secret,
        "an expired token": await founder.token(owner, lifetime=-timedelta(seconds=1)),
    }


async def _join(accounts: Accounts, team: Holding, role: Role, *, removed: bool = False) -> str:
    """The key of one more member, who may have left since."""
    person = await accounts.person()
    await accounts.member(team.library_id, person, role=role)
    key = await accounts.key(person, library_id=team.library_id)
    if removed:
        await service.remove_member(accounts.connection, team.library_id, user_id=person.user_id)
    return key.secret


async def cases_of(operation: Operation, stage: Stage, *, short: bool) -> AsyncIterator[Case]:
    """Every case of one operation; whoever may change something gets a library of their own to change."""
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
    unscoped = refusal(Code.INSUFFICIENT_SCOPE, details={"required": [operation.scope.value]}, hidden=stage.owner.marks)

    def owner(caller: str, secret: str) -> Case:
        return Case(caller, operation, stage.owner.ids, bearer(secret), unscoped)

    yield owner("every scope but the required one", stage.lacking[operation.scope])
    for scope, secret in () if short else stage.only.items():
        if scope is not operation.scope:
            yield owner(f"{scope} alone", secret)
    denied = _hiding(Code.PERMISSION_DENIED, stage.team)
    yield Case("a removed member", operation, stage.team.ids, bearer(stage.removed), denied)
    if operation.access is Access.READ:
        viewed = Expected(statuses=operation.passes)
    else:
        produces = operation.access is Access.PRODUCE
        viewed = _hiding(Code.ROLE_CANNOT_PRODUCE if produces else Code.PERMISSION_DENIED, stage.team)
    yield Case("a viewer", operation, stage.team.ids, bearer(stage.viewer), viewed)


def _with_unknown_ids(operation: Operation, stage: Stage) -> Iterator[Case]:
    """An id that nobody has, and one that nobody can have, are answered like a stranger's."""
    names = [name for name in operation.path_names if name.lower().endswith("id")]
    unknown = {"an unknown id": new_id(), "an impossible id": "\x00", "an endless id": "0" * 4_000}
    for caller, value in unknown.items() if names and not operation.retired else ():
        ids = {**stage.owner.ids, **dict.fromkeys(names, value)}
        yield Case(caller, operation, ids, bearer(stage.owner.key.secret), refusal(Code.NOT_FOUND))


async def _foreign(operation: Operation, stage: Stage) -> AsyncIterator[Case]:
    hidden = stage.owner.marks
    for caller, foreigner in stage.foreigners.items():
        if operation.path_names and not operation.retired:
            expected = refusal(FOREIGN_ANSWERS.get(operation.name, Code.NOT_FOUND), hidden=hidden)
            yield Case(caller, operation, stage.owner.ids, bearer(foreigner.key.secret), expected)
            continue
        if foreigner.person == stage.owner.person:
            own = await stage.founder.workspace(foreigner.person)
        elif foreigner.library_id == foreigner.person.library_id:
            own = await stage.founder.personal()
        else:
            own = await stage.founder.workspace()
        expected = Expected(statuses=operation.passes, hidden=hidden)
        yield Case(caller, operation, own.ids, bearer(own.key.secret), expected)


async def _permitted(operation: Operation, stage: Stage) -> AsyncIterator[Case]:
    founder, passed = stage.founder, Expected(statuses=operation.passes)

    def case(caller: str, own: Holding, headers: Headers, expected: Expected = passed) -> Case:
        return Case(caller, operation, own.ids, headers, expected)

    own = await founder.personal()
    lists = operation.method == "get" and not operation.path_names and operation.name not in SHARED_LISTS
    seen = Expected(statuses=operation.passes, shown=own.marks if lists else frozenset())
    yield case("the owner", own, bearer(own.key.secret), seen)
    own = await founder.personal()
    yield case("X-Api-Key", own, {b"X-Api-Key": own.key.secret.encode()})
    own = await founder.personal(scopes={operation.scope})
    yield case("the required scope alone", own, bearer(own.key.secret))
    if operation.path_names:
        own = await founder.workspace()
        editor = await _join(founder.accounts, own, Role.EDITOR)
        code = FOREIGN_ANSWERS.get(operation.name)
        yield case("a fellow member", own, bearer(editor), refusal(code, hidden=own.marks) if code else passed)
    if operation.speech:
        own = await founder.personal()
        yield case("xi-api-key", own, {b"xi-api-key": own.key.secret.encode()})
        own = await founder.personal()
        yield case("an OAuth token", own, bearer(await founder.token(own)))


def _hiding(code: Code, holding: Holding) -> Expected:
    return refusal(code, hidden=holding.marks)


def bearer(secret: str) -> Headers:
    return {b"Authorization": f"Bearer {secret}".encode()}
