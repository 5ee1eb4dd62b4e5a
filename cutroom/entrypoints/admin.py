"""Administration: users, workspaces, members, API keys, the key ring, credits, branding, clients, logs and erasures."""

from typing import Annotated

import typer
from pydantic.alias_generators import to_camel

from cutroom.accounts import service
from cutroom.accounts.plans import PlanName, load_plans
from cutroom.accounts.principals import Role
from cutroom.accounts.scopes import Scope
from cutroom.accounts.sessions import change_password
from cutroom.entrypoints.admin_accounts import app as account
from cutroom.entrypoints.admin_audit import app as audit
from cutroom.entrypoints.admin_clients import app as clients
from cutroom.entrypoints.admin_credits import app as credit
from cutroom.entrypoints.admin_erasure import app as erasure
from cutroom.entrypoints.admin_keys import app as key_ring
from cutroom.entrypoints.admin_library import brand_voices, characters
from cutroom.entrypoints.operator import Email, library_id_of, record, run, show, user_id_of
from cutroom.jobs.cancellation import cancel_library_jobs
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection, enter_library
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.settings import Settings
from cutroom.webhooks.service import DISABLE_ACTION, MEMBER_REMOVED, disable_endpoints_of

app = typer.Typer(no_args_is_help=True, help=__doc__, pretty_exceptions_enable=False)
users = typer.Typer(no_args_is_help=True, help="Users; each has a personal library.")
workspaces = typer.Typer(no_args_is_help=True, help="Shared libraries.")
members = typer.Typer(no_args_is_help=True, help="Workspace members and their roles.")
libraries = typer.Typer(no_args_is_help=True, help="Plans, quotas and suspension of libraries.")
keys = typer.Typer(no_args_is_help=True, help="API keys, each bound to one library.")
GROUPS = {
    "user": users,
    "account": account,
    "workspace": workspaces,
    "member": members,
    "library": libraries,
    "key": keys,
    "keys": key_ring,
    "credits": credit,
    "character": characters,
    "brand-voice": brand_voices,
    "client": clients,
    "audit": audit,
    "erasure": erasure,
}
for name, group in GROUPS.items():
    app.add_typer(group, name=name)

WorkspaceId = Annotated[str, typer.Argument(help="The workspace's id.")]
Plan = Annotated[PlanName, typer.Option(help="Plan of the library.")]


@users.command("create")
def create_user(email: Email, *, name: str = "", plan: Plan = PlanName.FREE) -> None:
    """Create a user with a personal library."""

    async def work(connection: Connection, settings: Settings) -> service.NewUser:
        new = await service.create_user(connection, email, name=name or email, plan=plan, now=system_clock())
        targets = {"userId": new.user_id}
        await record(connection, settings, new.library_id, "user.create", targets=targets, after={"plan": plan.value})
        return new

    created = run(work)
    show(userId=created.user_id, libraryId=created.library_id)


@users.command("password")
def set_password(
    email: Email,
    *,
    password: Annotated[
        str, typer.Option(prompt=True, hide_input=True, confirmation_prompt=True, help="Prompted for if omitted.")
    ],
) -> None:
    """Set a user's web app password; ends all their sessions."""

    async def work(connection: Connection, settings: Settings) -> None:
        user_id = await user_id_of(connection, email)
        await change_password(connection, user_id, password, now=system_clock())
        library_id = await library_id_of(connection, email, None)
        await record(connection, settings, library_id, "password.change", targets={"userId": user_id})

    run(work)
    show(email=email, passwordSet=True)


@workspaces.command("create")
def create_workspace(
    title: Annotated[str, typer.Argument(metavar="NAME", help="Name of the workspace.")],
    *,
    owner: Annotated[str, typer.Option(help="Email address of an existing user.")],
    plan: Plan = PlanName.FREE,
) -> None:
    """Create a workspace owned by an existing user."""

    async def work(connection: Connection, settings: Settings) -> str:
        owner_id = await user_id_of(connection, owner)
        new = await service.create_workspace(connection, title, owner_id=owner_id, plan=plan, now=system_clock())
        targets, after = {"userId": owner_id}, {"plan": plan.value}
        await record(connection, settings, new, "workspace.create", targets=targets, after=after)
        return new

    show(workspaceId=run(work))


@members.command("put")
def put_member(workspace: WorkspaceId, email: Email, *, role: Role = Role.EDITOR) -> None:
    """Add a user to a workspace, or change their role."""

    async def work(connection: Connection, settings: Settings) -> None:
        user_id = await user_id_of(connection, email)
        await service.upsert_member(connection, workspace, user_id=user_id, role=role, now=system_clock())
        targets, after = {"userId": user_id}, {"role": role.value}
        await record(connection, settings, workspace, "member.change", targets=targets, after=after)

    run(work)
    show(workspaceId=workspace, email=email, role=role.value)


@members.command("remove")
def remove_member(workspace: WorkspaceId, email: Email) -> None:
    """Remove a user from a workspace; revokes their keys and OAuth grants, and disables their webhook endpoints."""

    async def work(connection: Connection, settings: Settings) -> None:
        user_id, now = await user_id_of(connection, email), system_clock()
        revoked = await service.revoke_access(connection, workspace, user_id=user_id, now=now)
        await service.remove_member(connection, workspace, user_id=user_id)
        disabled = await disable_endpoints_of(connection, workspace, user_id=user_id, now=now)
        targets, after = {"userId": user_id}, revoked.recordable or None
        await record(connection, settings, workspace, "member.remove", targets=targets, after=after)
        for endpoint_id in disabled:
            targets, reason = {"endpointId": endpoint_id}, {"disabledReason": MEMBER_REMOVED}
            await record(connection, settings, workspace, DISABLE_ACTION, targets=targets, after=reason)

    run(work)
    show(workspaceId=workspace, email=email, removed=True)


@libraries.command("plan")
def set_plan(library_id: str, plan: Annotated[PlanName, typer.Argument(help="The new plan.")]) -> None:
    """Change the plan of a library; it applies from the next request."""

    async def work(connection: Connection, settings: Settings) -> None:
        before = {"plan": await service.set_plan(connection, library_id, plan=plan)}
        await record(connection, settings, library_id, "library.plan", before=before, after={"plan": plan.value})

    run(work)
    show(libraryId=library_id, plan=plan.value)


@libraries.command("quotas")
def set_quotas(
    library_id: str,
    *,
    storage_bytes: Annotated[int | None, typer.Option(min=0, help="Originals and outputs.")] = None,
    media_minutes: Annotated[int | None, typer.Option(min=0, help="Imported in a calendar month.")] = None,
    unfinished_jobs: Annotated[int | None, typer.Option(min=0, help="Of all keys together.")] = None,
    reset: Annotated[bool, typer.Option("--reset", help="Quotas that are not given become the plan's.")] = False,
) -> None:
    """Set quotas of a library in place of its plan's, and show those that are set."""
    given = {"storage_bytes": storage_bytes, "media_minutes": media_minutes, "unfinished_jobs": unfinished_jobs}
    quotas = {name: value for name, value in given.items() if value is not None}

    async def work(connection: Connection, settings: Settings) -> dict[str, int | None]:
        changed = await service.set_quotas(connection, library_id, quotas=quotas, reset=reset)
        named = {to_camel(name): value for name, value in changed.items()}
        if quotas or reset:
            await record(connection, settings, library_id, "library.quotas", after=named)
        return named

    show(libraryId=library_id, **run(work))


@libraries.command("suspend")
def suspend_library(library_id: str) -> None:
    """Suspend a library: cancels and refunds its jobs; stops new ones, deliveries and signed URLs within a minute."""
    from cutroom.products.catalog import JOB_HOOKS  # noqa: PLC0415 - loads most of the product

    async def work(connection: Connection, settings: Settings) -> int:
        now = system_clock()
        await service.set_suspended(connection, library_id, at=now)
        await enter_library(connection, library_id)
        canceled = await cancel_library_jobs(connection, library_id, hooks=JOB_HOOKS, now=now)
        await record(connection, settings, library_id, "library.suspend", after={"canceledJobs": canceled})
        return canceled

    show(libraryId=library_id, suspended=True, canceledJobs=run(work))


@libraries.command("resume")
def resume_library(library_id: str) -> None:
    """End the suspension of a library."""

    async def work(connection: Connection, settings: Settings) -> None:
        await service.set_suspended(connection, library_id, at=None)
        await record(connection, settings, library_id, "library.resume")

    run(work)
    show(libraryId=library_id, suspended=False)


@keys.command("create")
def create_key(
    email: Email,
    *,
    label: Annotated[str, typer.Option("--name", help="Name of the key.")] = "operator",
    workspace: Annotated[
        str | None, typer.Option(help="Bind the key to this workspace instead of the personal library.")
    ] = None,
    scope: Annotated[list[Scope] | None, typer.Option(help="Scope; repeat for several, omit for all.")] = None,
) -> None:
    """Create an API key; its secret is printed only once."""

    async def work(connection: Connection, settings: Settings) -> service.NewKey:
        issuer = service.KeyIssuer(
            secret_box=SecretBox(settings.secret_key.get_secret_value()), plans=load_plans(settings.plans_file)
        )
        library_id = await library_id_of(connection, email, workspace)
        new = await issuer.create_key(
            connection,
            library_id,
            user_id=await user_id_of(connection, email),
            name=label,
            scopes=scope or [],
            now=system_clock(),
        )
        targets, after = {"keyId": new.key_id}, {"scopes": sorted(new.scopes)}
        await record(connection, settings, library_id, "key.create", targets=targets, after=after)
        return new

    created = run(work)
    show(keyId=created.key_id, key=created.secret, scopes=sorted(created.scopes))


@keys.command("revoke")
def revoke_key(key_id: str) -> None:
    """Revoke an API key with immediate effect."""

    async def work(connection: Connection, settings: Settings) -> None:
        library_id = await service.revoke_key(connection, key_id, now=system_clock())
        await record(connection, settings, library_id, "key.revoke", targets={"keyId": key_id})

    run(work)
    show(keyId=key_id, revoked=True)
