"""People sign up, choose among their libraries, and found workspaces."""

import pytest

from cutroom.accounts.plans import PlanName
from cutroom.accounts.principals import Role
from cutroom.accounts.sessions import Known, SessionService, change_password, found_workspace, sign_up
from cutroom.errors import Code, CutroomError
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.accounts.conftest import NOON

PASSWORD = "a long enough phrase"


@pytest.fixture
def reception(runtime: Runtime) -> SessionService:
    return SessionService(secrecy=runtime.secrecy, plans=runtime.doorkeeper.plans)


async def test_whoever_signs_up_has_a_library_and_is_recognised(runtime: Runtime, reception: SessionService) -> None:
    email = f"{new_id()}@Example.com"
    async with runtime.database.connection() as connection:
        known = await sign_up(connection, email, name="Ada", password=PASSWORD, plan=PlanName.CREATOR, now=NOON)
        assert await reception.recognise(connection, email.upper(), PASSWORD) == known
        assert await reception.recognise(connection, email, PASSWORD + " ") is None
        choices = await reception.libraries(connection, known.user_id)
    assert [(each.id, each.is_workspace, each.role, each.plan.name) for each in choices] == [
        (known.library_id, False, Role.OWNER, PlanName.CREATOR)
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
async def test_what_is_no_address_or_no_password_is_refused(
    runtime: Runtime, email: str, password: str, code: Code
) -> None:
    async with runtime.database.connection() as connection:
        with pytest.raises(CutroomError) as refused:
            await sign_up(connection, email, name="Ada", password=password, plan=PlanName.FREE, now=NOON)
    assert refused.value.code is code


async def test_an_address_signs_up_once(runtime: Runtime, person: Person) -> None:
    async with runtime.database.connection() as connection:
        with pytest.raises(CutroomError) as refused:
            await sign_up(connection, person.email, name="Eve", password=PASSWORD, plan=PlanName.FREE, now=NOON)
    assert refused.value.code is Code.ALREADY_EXISTS


async def test_a_session_is_in_the_library_that_was_chosen_and_falls_back_when_removed(
    runtime: Runtime, reception: SessionService, accounts: Accounts, person: Person
) -> None:
    workspace_id = await accounts.workspace(await accounts.person())
    async with runtime.database.connection() as connection:
        token = await reception.begin(connection, Known(person.user_id, person.library_id), now=NOON)
        assert not await reception.choose(connection, token, workspace_id)
    await accounts.member(workspace_id, person, role=Role.VIEWER)
    async with runtime.database.connection() as connection:
        assert await reception.choose(connection, token, workspace_id)
        inside = await reception.enter(connection, token, now=NOON)
        assert inside is not None
        assert (inside.principal.library_id, inside.principal.role) == (workspace_id, Role.VIEWER)
        assert await connection.fetchval("SELECT current_setting('cutroom.library_id')") == workspace_id
    await accounts.connection.execute(
        "DELETE FROM members WHERE library_id = $1 AND user_id = $2", workspace_id, person.user_id
    )
    async with runtime.database.connection() as connection:
        back = await reception.enter(connection, token, now=NOON)
    assert back is not None
    assert back.principal.library_id == person.library_id


async def test_a_workspace_belongs_to_its_founder(runtime: Runtime, reception: SessionService, person: Person) -> None:
    async with runtime.database.connection() as connection:
        made = await found_workspace(connection, "  The   team ", owner_id=person.user_id, plan=PlanName.FREE, now=NOON)
        choices = {each.id: each for each in await reception.libraries(connection, person.user_id)}
        with pytest.raises(CutroomError):
            await found_workspace(connection, " ", owner_id=person.user_id, plan=PlanName.FREE, now=NOON)
    assert (choices[made].name, choices[made].role, choices[made].is_workspace) == ("The team", Role.OWNER, True)


async def test_a_changed_password_ends_sessions(runtime: Runtime, reception: SessionService, person: Person) -> None:
    async with runtime.database.connection() as connection:
        await change_password(connection, person.user_id, PASSWORD, now=NOON)
        token = await reception.begin(connection, Known(person.user_id, person.library_id), now=NOON)
        assert await reception.enter(connection, token, now=NOON) is not None
    async with runtime.database.connection() as connection:
        await change_password(connection, person.user_id, PASSWORD + "!", now=NOON)
        assert await reception.enter(connection, token, now=NOON) is None
