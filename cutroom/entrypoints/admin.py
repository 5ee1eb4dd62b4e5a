"""The operator's command line: users, workspaces, members, keys, credits, characters and brand voices."""

from typing import Annotated

import typer

from cutroom.accounts import service
from cutroom.accounts.plans import PlanName, load_plans
from cutroom.accounts.principals import Role
from cutroom.accounts.scopes import Scope
from cutroom.accounts.sessions import change_password
from cutroom.entrypoints.admin_clients import app as clients
from cutroom.entrypoints.admin_credits import app as credit
from cutroom.entrypoints.admin_library import brand_voices, characters
from cutroom.entrypoints.operator import Email, library_id_of, run, show, user_id_of
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.settings import Settings

app = typer.Typer(no_args_is_help=True, help=__doc__, pretty_exceptions_enable=False)
users = typer.Typer(no_args_is_help=True, help="People; each has a personal library.")
workspaces = typer.Typer(no_args_is_help=True, help="Libraries that several people share.")
members = typer.Typer(no_args_is_help=True, help="Who may work in a workspace, and as what.")
keys = typer.Typer(no_args_is_help=True, help="API keys, each bound to one library.")
GROUPS = {
    "user": users,
    "workspace": workspaces,
    "member": members,
    "key": keys,
    "credits": credit,
    "character": characters,
    "brand-voice": brand_voices,
    "client": clients,
}
for name, group in GROUPS.items():
    app.add_typer(group, name=name)

WorkspaceId = Annotated[str, typer.Argument(help="The workspace's id.")]
Plan = Annotated[PlanName, typer.Option(help="What the library may do, and its limits.")]


@users.command("create")
def create_user(email: Email, *, name: str = "", plan: Plan = PlanName.FREE) -> None:
    """Create a person with a personal library."""

    async def work(connection: Connection, _settings: Settings) -> service.NewUser:
        return await service.create_user(connection, email, name=name or email, plan=plan, now=system_clock())

    made = run(work)
    show(userId=made.user_id, libraryId=made.library_id)


@users.command("password")
def set_password(
    email: Email,
    *,
    password: Annotated[
        str, typer.Option(prompt=True, hide_input=True, confirmation_prompt=True, help="Asked for when left out.")
    ],
) -> None:
    """Set the password with which a person signs in to the web app; their sessions end."""

    async def work(connection: Connection, _settings: Settings) -> None:
        user_id = await user_id_of(connection, email)
        await change_password(connection, user_id, password, now=system_clock())

    run(work)
    show(email=email, passwordSet=True)


@workspaces.command("create")
def create_workspace(
    title: Annotated[str, typer.Argument(metavar="NAME", help="What the workspace is called.")],
    *,
    owner: Annotated[str, typer.Option(help="The e-mail address of an existing person.")],
    plan: Plan = PlanName.FREE,
) -> None:
    """Create a workspace that an existing person owns."""

    async def work(connection: Connection, _settings: Settings) -> str:
        owner_id = await user_id_of(connection, owner)
        return await service.create_workspace(connection, title, owner_id=owner_id, plan=plan, now=system_clock())

    show(workspaceId=run(work))


@members.command("put")
def put_member(workspace: WorkspaceId, email: Email, *, role: Role = Role.EDITOR) -> None:
    """Let a person into a workspace, or change their role."""

    async def work(connection: Connection, _settings: Settings) -> None:
        user_id = await user_id_of(connection, email)
        await service.upsert_member(connection, workspace, user_id=user_id, role=role, now=system_clock())

    run(work)
    show(workspaceId=workspace, email=email, role=role.value)


@members.command("remove")
def remove_member(workspace: WorkspaceId, email: Email) -> None:
    """Take a person out of a workspace; their keys for it stop working at once."""

    async def work(connection: Connection, _settings: Settings) -> None:
        await service.remove_member(connection, workspace, user_id=await user_id_of(connection, email))

    run(work)
    show(workspaceId=workspace, email=email, removed=True)


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
        minter = service.KeyIssuer(
            secret_box=SecretBox(settings.secret_key.get_secret_value()), plans=load_plans(settings.plans_file)
        )
        return await minter.create_key(
            connection,
            await library_id_of(connection, email, workspace),
            user_id=await user_id_of(connection, email),
            name=label,
            scopes=scope or [],
            now=system_clock(),
        )

    made = run(work)
    show(keyId=made.key_id, key=made.secret, scopes=sorted(made.scopes))


@keys.command("revoke")
def revoke_key(key_id: str) -> None:
    """Revoke a key; the next request with it is refused."""

    async def work(connection: Connection, _settings: Settings) -> None:
        await service.revoke_key(connection, key_id, now=system_clock())

    run(work)
    show(keyId=key_id, revoked=True)


def main() -> None:
    app()


if __name__ == "__main__":
    main()
