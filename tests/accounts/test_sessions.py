"""Sign-up, sessions and library selection."""

import asyncio

import pytest

from cutroom.accounts.plans import PlanName
from cutroom.accounts.principals import Role
from cutroom.accounts.sessions import (
    AuthenticatedUser,
    SessionService,
    change_password,
    check_sign_up,
    create_workspace,
    sign_up,
)
from cutroom.errors import Code, CutroomError
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.accounts.conftest import NOON

PASSWORD = "a long enough phrase"


@pytest.fixture
def session_service(runtime: Runtime) -> SessionService:
    return SessionService(secret_box=runtime.secret_box, plans=runtime.authenticator.plans)


async def test_signed_up_user_can_authenticate(runtime: Runtime, session_service: SessionService) -> None:
    email = f"{new_id()}@Example.com"
    checked = await check_sign_up(email, name="Ada", password=PASSWORD)
    async with runtime.database.connection() as connection:
        user = await sign_up(connection, checked, plan=PlanName.CREATOR, now=NOON)
        assert await session_service.authenticate(runtime.database, email.upper(), PASSWORD) == user
        assert await session_service.authenticate(runtime.database, email, PASSWORD + " ") is None
        choices = await session_service.list_libraries(connection, user.user_id)
    assert [(each.id, each.is_workspace, each.role, each.plan.name) for each in choices] == [
        (user.library_id, False, Role.OWNER, PlanName.CREATOR)
    ]


@pytest.mark.parametrize(
    ("email", "password", "code"),
    [
        ("ada", PASSWORD, Code.INVALID_ARGUMENT),
        ("ada@", PASSWORD, Code.INVALID_ARGUMENT),
        ("a da@example.com", PASSWORD, Code.INVALID_ARGUMENT),
        (f"{'a' * 250}@example.com", PASSWORD, Code.INVALID_ARGUMENT),
        ("ada@example.com", "short", Code.INVALID_ARGUMENT),
        ("ada@example.com", "x" * 201, Code.INVALID_ARGUMENT),
    ],
)
async def test_invalid_email_or_password_is_rejected(email: str, password: str, code: Code) -> None:
    with pytest.raises(CutroomError) as refused:
        await check_sign_up(email, name="Ada", password=password)
    assert refused.value.code is code


async def test_email_can_sign_up_once(runtime: Runtime, person: Person) -> None:
    checked = await check_sign_up(person.email, name="Eve", password=PASSWORD)
    async with runtime.database.connection() as connection:
        with pytest.raises(CutroomError) as refused:
            await sign_up(connection, checked, plan=PlanName.FREE, now=NOON)
    assert refused.value.code is Code.ALREADY_EXISTS


async def test_session_uses_selected_library_and_falls_back(
    runtime: Runtime, session_service: SessionService, accounts: Accounts, person: Person
) -> None:
    workspace_id = await accounts.workspace(await accounts.person())
    async with runtime.database.connection() as connection:
        token = await session_service.create(connection, AuthenticatedUser(person.user_id, person.library_id), now=NOON)
        assert not await session_service.switch_library(connection, token, workspace_id)
    await accounts.member(workspace_id, person, role=Role.VIEWER)
    async with runtime.database.connection() as connection:
        assert await session_service.switch_library(connection, token, workspace_id)
        inside = await session_service.load(connection, token, now=NOON)
        assert inside is not None
        assert (inside.principal.library_id, inside.principal.role) == (workspace_id, Role.VIEWER)
        assert await connection.fetchval("SELECT current_setting('cutroom.library_id')") == workspace_id
    await accounts.connection.execute(
        "DELETE FROM members WHERE library_id = $1 AND user_id = $2", workspace_id, person.user_id
    )
    async with runtime.database.connection() as connection:
        back = await session_service.load(connection, token, now=NOON)
    assert back is not None
    assert back.principal.library_id == person.library_id


async def test_workspace_creator_owns_workspace(
    runtime: Runtime, session_service: SessionService, person: Person
) -> None:
    async with runtime.database.connection() as connection:
        made = await create_workspace(
            connection, "  The   team ", owner_id=person.user_id, plan=PlanName.FREE, now=NOON, at_most=2
        )
        choices = {each.id: each for each in await session_service.list_libraries(connection, person.user_id)}
        with pytest.raises(CutroomError):
            await create_workspace(connection, " ", owner_id=person.user_id, plan=PlanName.FREE, now=NOON, at_most=2)
    assert (choices[made].name, choices[made].role, choices[made].is_workspace) == ("The team", Role.OWNER, True)


async def test_concurrent_requests_cannot_pass_the_number_of_workspaces_together(
    runtime: Runtime, accounts: Accounts, person: Person
) -> None:
    joined = await accounts.workspace(await accounts.person())
    await accounts.member(joined, person, role=Role.ADMIN)  # does not count

    async def create() -> str:
        async with runtime.database.transaction(person.library_id) as connection:
            return await create_workspace(
                connection, "Team", owner_id=person.user_id, plan=PlanName.FREE, now=NOON, at_most=2
            )

    results = await asyncio.gather(*(create() for _ in range(5)), return_exceptions=True)
    refused = [each for each in results if isinstance(each, CutroomError)]
    assert len(refused) == 3
    assert {(each.code, each.details["reason"]) for each in refused} == {(Code.FAILED_PRECONDITION, "quota")}


async def test_password_change_ends_sessions(runtime: Runtime, session_service: SessionService, person: Person) -> None:
    async with runtime.database.connection() as connection:
        await change_password(connection, person.user_id, PASSWORD, now=NOON)
        token = await session_service.create(connection, AuthenticatedUser(person.user_id, person.library_id), now=NOON)
        assert await session_service.load(connection, token, now=NOON) is not None
    async with runtime.database.connection() as connection:
        await change_password(connection, person.user_id, PASSWORD + "!", now=NOON)
        assert await session_service.load(connection, token, now=NOON) is None
