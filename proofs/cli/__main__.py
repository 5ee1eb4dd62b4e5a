"""Command line: every command as a person on a terminal and as a script, on a service with a worker."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.markup import escape

from proofs.cli.batches import prove_batch, prove_csv
from proofs.cli.helping import START_SECONDS, paths, prove_completion, prove_help
from proofs.cli.listening import prove_listening
from proofs.cli.logins import prove_browser, prove_keys
from proofs.cli.persons import prove_editor, prove_interruption, prove_questions, prove_terminal
from proofs.cli.scripting import prove_deletion, prove_edits, prove_files, prove_products, prove_videos
from proofs.cli.shell import Shell
from proofs.cli.stage import CommandStage, open_command_stage
from proofs.stage.report import Report, prove
from proofs.stage.requirements import Needs

MIN_INVOCATIONS = 80
BATCH_VIDEOS = {True: 2, False: 8}


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    with TemporaryDirectory() as name:
        folder = Path(name)
        async with open_command_stage(folder) as stage:
            shell = Shell(stage.environment, folder, [stage.stage.key.secret])
            try:
                start_seconds, kills = await _prove(report, shell, stage, short=short)
            except BaseException:
                _note(report, shell)
                raise
    _note(report, shell)
    wrong, codes = len(shell.wrong), len(shell.wrong_codes)
    invocations = shell.invocations
    report.claim(
        "invocations", expected=f">= {MIN_INVOCATIONS}", measured=invocations, holds=invocations >= MIN_INVOCATIONS
    )
    report.claim("wrong results", expected="0", measured=wrong, holds=not wrong)
    report.claim("wrong exit codes", expected="0", measured=codes, holds=not codes)
    report.claim("batch runs killed", expected=">= 3", measured=kills, holds=kills >= 3)
    report.claim_time(
        "CPU seconds until help",
        expected=f"<= {START_SECONDS}",
        measured=round(start_seconds, 2),
        holds=start_seconds <= START_SECONDS,
    )
    report.figures(
        invocations=invocations,
        wrong=wrong,
        exit_codes_wrong=codes,
        commands=len(paths()),
        kills=kills,
        help_cpu_seconds=round(start_seconds, 2),
        cpu_seconds=round(shell.cpu_seconds),
    )


async def _prove(report: Report, shell: Shell, stage: CommandStage, *, short: bool) -> tuple[float, int]:
    """Returns the CPU time until help is shown, and how many runs of a batch were killed."""
    start_seconds = await prove_help(shell)
    await prove_completion(shell)
    _note_cost(report, shell, "help and completion")
    await prove_keys(shell, stage)
    await prove_browser(shell, stage)
    _note_cost(report, shell, "logins")
    video = await prove_videos(shell, stage)
    await prove_products(shell, video)
    _note_cost(report, shell, "videos and products")
    await prove_files(shell, stage, video, short=short)
    await prove_edits(shell, stage, video)
    _note_cost(report, shell, "files and edits")
    if not short:
        await prove_terminal(shell, video)
    await prove_questions(shell, video)
    await prove_editor(shell, video)
    await prove_interruption(shell, video)
    _note_cost(report, shell, "on a terminal")
    await prove_listening(shell, video)
    kills = await prove_batch(shell, stage, count=BATCH_VIDEOS[short])
    if not short:
        await prove_csv(shell, stage)
    await prove_deletion(shell, video)
    _note_cost(report, shell, "webhooks, batches and deletion")
    return start_seconds, kills


def _note_cost(report: Report, shell: Shell, part: str) -> None:
    report.note(f"{part}: {shell.invocations} invocations and {shell.cpu_seconds:.0f} CPU seconds so far")


def _note(report: Report, shell: Shell) -> None:
    for failure in (*shell.wrong, *shell.wrong_codes):
        report.note(escape(failure))


if __name__ == "__main__":
    sys.exit(prove("Command line", proof, needs=Needs(model_set="ci", programs=("ffmpeg", "bash"))))
