"""The operator's command line: users, workspaces, members, keys and credit grants."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

import asyncpg
import typer

from cutroom.accounts import service
from cutroom.accounts.plans import PlanName, load_plans
from cutroom.accounts.principals import Role
from cutroom.accounts.scopes import Scope
from cutroom.credits import ledger
from cutroom.errors import CutroomError, not_found
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection
from cutroom.platform.ids import new_id
from cutroom.platform.secrecy import Secrecy
from cutroom.platform.settings import Settings

app = typer.Typer(no_args_is_help=True, help=__doc__, pretty_exceptions_enable=False)
users = typer.Typer(no_args_is_help=True, help="People; each has a personal library.")
workspaces = typer.Typer(no_args_is_help=True, help="Libraries that several people share.")
members = typer.Typer(no_args_is_help=True, help="Who may work in a workspace, and as what.")
keys = typer.Typer(no_args_is_help=True, help="API keys, each bound to one library.")
credit = typer.Typer(no_args_is_help=True, help="Credits of a library.")
for name, group in {"user": users, "workspace": workspaces, "member": members, "key": keys, "credits": credit}.items():
    app.add_typer(group, name=name)

Result = TypeVar("Result")
Email = Annotated[str, typer.Argument(help="The person's e-mail address.")]
WorkspaceId = Annotated[str, typer.Argument(help="The workspace's id.")]
Plan = Annotated[PlanName, typer.Option(help="What the library may do, and its limits.")]


def _run(work: Callable[[Connection, Settings], Awaitable[Result]]) -> Result:
    """One command is one transaction, as the schema's owner: the operator stands above the libraries' walls."""

    async def run() -> Result:
        settings = Settings()
        if settings.owner_database_url is None:
            raise typer.BadParameter("set CUTROOM_OWNER_DATABASE_URL to the database as its owner")
        connection = await asyncpg.connect(settings.owner_database_url.get_secret_value())
        try:
            async with connection.transaction():
                return await work(connection, settings)
        finally:
            await connection.close()

    try:
        return asyncio.run(run())
    except CutroomError as error:
        typer.echo(f"{error.code}: {error.message} {json.dumps(error.details)}", err=True)
        raise typer.Exit(1) from error


def _print(**fields: Any) -> None:  # noqa: ANN401 (whatever JSON can say)
    """Every command prints one JSON object, for people and for scripts."""
    typer.echo(json.dumps(fields, indent=2))


async def _user_id(connection: Connection, email: str) -> str:
    found = await connection.fetchval("SELECT id FROM users WHERE email = $1", email.strip().lower())
    if found is None:
        raise not_found()
    return str(found)


async def _library_id(connection: Connection, email: str, workspace: str | None) -> str:
    """The workspace when one is named, else the person's own library."""
    if workspace is not None:
        found = await connection.fetchval("SELECT id FROM libraries WHERE id = $1 AND kind = 'workspace'", workspace)
        if found is None:
            raise not_found()
        return str(found)
    found = await connection.fetchval(
        """SELECT l.id FROM libraries l JOIN members m ON m.library_id = l.id JOIN users u ON u.id = m.user_id
           WHERE l.kind = 'personal' AND u.email = $1""",
        email.strip().lower(),
    )
    if found is None:
        raise not_found()
    return str(found)


@users.command("create")
def create_user(email: Email, *, name: str = "", plan: Plan = PlanName.FREE) -> None:
    """Create a person with a personal library."""

    async def work(connection: Connection, _settings: Settings) -> service.NewUser:
        return await service.create_user(connection, email, name=name or email, plan=plan, now=system_clock())

    made = _run(work)
    _print(userId=made.user_id, libraryId=made.library_id)


@workspaces.command("create")
def create_workspace(
    title: Annotated[str, typer.Argument(metavar="NAME", help="What the workspace is called.")],
    *,
    owner: Annotated[str, typer.Option(help="The e-mail address of an existing person.")],
    plan: Plan = PlanName.FREE,
) -> None:
    """Create a workspace that an existing person owns."""

    async def work(connection: Connection, _settings: Settings) -> str:
        owner_id = await _user_id(connection, owner)
        return await service.create_workspace(connection, title, owner_id=owner_id, plan=plan, now=system_clock())

    _print(workspaceId=_run(work))


@members.command("put")
def put_member(workspace: WorkspaceId, email: Email, *, role: Role = Role.EDITOR) -> None:
    """Let a person into a workspace, or change their role."""

    async def work(connection: Connection, _settings: Settings) -> None:
        user_id = await _user_id(connection, email)
        await service.put_member(connection, workspace, user_id=user_id, role=role, now=system_clock())

    _run(work)
    _print(workspaceId=workspace, email=email, role=role.value)


@members.command("remove")
def remove_member(workspace: WorkspaceId, email: Email) -> None:
    """Take a person out of a workspace; their keys for it stop working at once."""

    async def work(connection: Connection, _settings: Settings) -> None:
        await service.remove_member(connection, workspace, user_id=await _user_id(connection, email))

    _run(work)
    _print(workspaceId=workspace, email=email, removed=True)


@keys.command("create")
def create_key(
    email: Email,
    *,
    label: Annotated[str, typer.Option("--name", help="What to recognise the key by.")] = "operator",
    workspace: Annotated[str | None, typer.Option(help="Bind to this workspace, not the personal library.")] = None,
    scope: Annotated[list[Scope] | None, typer.Option(help="Repeat for several; none means all.")] = None,
) -> None:
    """Create a key; its secret is printed this once."""

    async def work(connection: Connection, settings: Settings) -> service.NewKey:
        minter = service.KeyMinter(
            secrecy=Secrecy(settings.secret_key.get_secret_value()), plans=load_plans(settings.plans_file)
        )
        return await minter.create_key(
            connection,
            await _library_id(connection, email, workspace),
            user_id=await _user_id(connection, email),
            name=label,
            scopes=scope or [],
            now=system_clock(),
        )

    made = _run(work)
    _print(keyId=made.key_id, key=made.secret, scopes=sorted(made.scopes))


@keys.command("revoke")
def revoke_key(key_id: str) -> None:
    """Revoke a key; the next request with it is refused."""

    async def work(connection: Connection, _settings: Settings) -> None:
        await service.revoke_key(connection, key_id, now=system_clock())

    _run(work)
    _print(keyId=key_id, revoked=True)


@credit.command("grant")
def grant_credits(
    email: Email,
    credits_: Annotated[float, typer.Argument(metavar="CREDITS", min=0.001, max=1_000_000_000)],
    *,
    workspace: Annotated[str | None, typer.Option(help="Grant to this workspace instead.")] = None,
    reference: Annotated[str | None, typer.Option(help="Grants with one reference happen once.")] = None,
) -> None:
    """Give credits to a library."""

    async def work(connection: Connection, _settings: Settings) -> tuple[str, int]:
        library_id = await _library_id(connection, email, workspace)
        millicredits = round(credits_ * ledger.MILLICREDITS)
        transaction_id = await ledger.grant(
            connection, library_id, millicredits=millicredits, reference=reference or new_id(), now=system_clock()
        )
        return transaction_id, await ledger.balance(connection, library_id)

    transaction_id, millicredits = _run(work)
    _print(transactionId=transaction_id, balance=millicredits / ledger.MILLICREDITS)


def main() -> None:
    app()


if __name__ == "__main__":
    main()
