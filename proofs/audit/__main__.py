"""The audit log: every changing operation leaves exactly one entry, and manipulation in the database is found."""

import sys

import httpx
from rich.markup import escape

from cutroom.platform.secret_box import SecretBox
from cutroom.web.runtime import open_runtime
from dev.scratch import Accounts, environment_of, scratch
from dev.server import Server
from proofs.audit.account_actions import prove_account_actions
from proofs.audit.commands import prove_admin_actions, prove_command
from proofs.audit.console_actions import prove_console_actions
from proofs.audit.operations import prove_operations
from proofs.audit.tally import AuditTally
from proofs.audit.tampering import prove_tampering
from proofs.stage.access_fixtures import LibraryFactory
from proofs.stage.report import Report, prove

MAX_NOTES = 20
MIN_TAMPERED = 100


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    # Hosting is configured but never called: no worker runs.
    settings = (await scratch("proof_audit")).model_copy(update={"mux_token_id": "unused", "sign_up": "open"})
    accounts, server, tally = await Accounts.open(settings), Server(environment_of(settings)), AuditTally()
    secret_box = SecretBox(settings.secret_key.get_secret_value())
    server.start()
    try:
        async with httpx.AsyncClient(base_url=server.url, timeout=60) as client, open_runtime(settings) as runtime:
            factory = LibraryFactory(accounts)
            await prove_operations(client, factory, tally)
            await prove_console_actions(runtime, server.url, accounts, tally)
            await prove_account_actions(settings, accounts, tally)
            await prove_admin_actions(accounts, settings, tally)
            tampered = await prove_tampering(client, accounts, secret_box, entries=12 if short else 60)
            commands = await prove_command(client, accounts, settings)
        entries = int(await accounts.connection.fetchval("SELECT count(*) FROM audit_entries"))
    finally:
        server.stop()
        await accounts.close()
    for fault in [*tally.wrong, *tampered.undetected, *commands][:MAX_NOTES]:
        report.note(escape(fault))
    missing = len(tally.wrong)
    report.claim(
        "every changing operation, console action and command leaves exactly one entry, with actor, action and target",
        expected="0 missing",
        measured=f"{missing} of {len(tally.actions)}",
        holds=bool(tally.actions) and not missing,
    )
    report.claim("operations not performed", expected="0", measured=len(tally.skipped), holds=not tally.skipped)
    report.claim(
        "manipulation of the log is found",
        expected=f"all of at least {MIN_TAMPERED}",
        measured=f"{tampered.detected} of {tampered.attempts}",
        holds=tampered.detected == tampered.attempts >= MIN_TAMPERED,
    )
    report.claim(
        "cutroom-server admin audit verify", expected="agrees", measured=f"{len(commands)} wrong", holds=not commands
    )
    report.figures(
        actions=len(tally.actions),
        missing_actions=missing,
        not_performed=sorted(tally.skipped),
        tampered=tampered.attempts,
        tampered_detected=tampered.detected,
        entries=entries,
    )


if __name__ == "__main__":
    sys.exit(prove("Audit log", proof))
