"""Admin commands for the security of accounts."""

from typing import Annotated

import typer

from cutroom.accounts.second_factor import service as second_factor
from cutroom.accounts.sessions import end_all_sessions
from cutroom.entrypoints.operator import Email, library_id_of, record, run, show, user_id_of
from cutroom.platform.db import Connection
from cutroom.platform.settings import Settings

app = typer.Typer(no_args_is_help=True, help="Second factors of people who cannot sign in.")


@app.callback()
def group() -> None:
    """Keeps the group a group while it has one command."""


@app.command("reset-second-factor")
def reset_second_factor(
    email: Email, *, passkeys: Annotated[bool, typer.Option("--passkeys", help="Delete all passkeys too.")] = False
) -> None:
    """Turn two-step sign-in off, delete the recovery codes, and end all sessions; the password stays."""
    from cutroom.accounts.passkeys.service import delete_all_passkeys  # noqa: PLC0415 - loads WebAuthn

    async def work(connection: Connection, settings: Settings) -> tuple[bool, int]:
        user_id, library_id = await user_id_of(connection, email), await library_id_of(connection, email, None)
        was_enabled = await second_factor.disable(connection, library_id)
        deleted = await delete_all_passkeys(connection, library_id) if passkeys else 0
        await end_all_sessions(connection, user_id)
        targets, after = {"userId": user_id}, {"deletedPasskeys": deleted}
        await record(connection, settings, library_id, "secondFactor.reset", targets=targets, after=after)
        return was_enabled, deleted

    was_enabled, deleted = run(work)
    show(email=email, wasEnabled=was_enabled, deletedPasskeys=deleted)
