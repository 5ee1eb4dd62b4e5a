"""Help of every command, and completion as the shells ask for it."""

import asyncio
import subprocess
from collections.abc import Mapping, Sequence

from cutroom_client.cli.main import COMMANDS

from proofs.cli.shell import CUTROOM, Shell

GROUPS = {"videos": ("list", "search", "show", "delete", "restore"), "webhooks": ("listen", "secret")}
PRICED = {"upload", "import", "dub", "captions", "shorts", "thumbnails", "batch"}
ASKING = {"dub", "captions", "shorts", "thumbnails"}
START_SECONDS = 0.35  # of CPU until help is shown; the parser alone takes a third of it
_BASH = """source <({program} completion bash)
COMP_WORDS=({words}); COMP_CWORD={position}; _cutroom_completion {program}; printf '%s\\n' "${{COMPREPLY[@]}}" """


def paths() -> list[tuple[str, ...]]:
    """Every command, those of groups too."""
    return [(name, *rest) for name in COMMANDS for rest in [(), *((each,) for each in GROUPS.get(name, ()))]]


async def prove_help(shell: Shell) -> float:
    """Returns the CPU time of the program's own help."""
    before = shell.cpu_seconds
    root = await shell.run("--help")
    seconds = shell.cpu_seconds - before
    for name in COMMANDS:
        shell.expect(f"help names {name}", found=f"\n  {name} " in root.out)
    shell.expect("the version", found=(await shell.run("--version")).out.startswith("cutroom "))
    await shell.run("nosuch", code=2)
    await shell.run("dub", code=2)  # without arguments
    await shell.run("jobs", "--nosuch", code=2)
    for path in paths():
        shown = await shell.run(*path, "--help")
        known = f"Usage: cutroom {' '.join(path)} "
        shell.expect(f"usage of {path}", found=shown.out.startswith(known))
        if path[0] in GROUPS and len(path) == 1:
            continue
        expected = ["--profile", "--json", "--base-url", *(["--max-credits"] if path[0] in PRICED else [])]
        expected += ["--dry-run", "--yes"] if path[0] in ASKING else []
        for option in expected:
            shell.expect(f"{option} in the help of {path}", found=option in shown.out)
    return seconds


async def prove_completion(shell: Shell) -> None:
    for name in ("bash", "zsh", "fish"):
        script = await shell.run("completion", name)
        shell.expect(f"the script of {name} names the program", found="cutroom" in script.out)
    await shell.run("completion", "tcsh", code=2)
    await shell.run("completion", "bash", "--help")
    for words, position, expected in (("cutroom th", 1, ["thumbnails"]), ("cutroom dub --prem", 2, ["--premium"])):
        line = _BASH.format(program=CUTROOM, words=words, position=position)
        shown = await asyncio.to_thread(_output, ["bash", "-c", line], shell.environment)
        found = shown.split()
        shell.expect(f"bash completes {words!r}", found=found, expected=expected)
    # What the scripts of zsh and fish ask the program; the shells themselves are not needed for it.
    zsh = {"_CUTROOM_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "cutroom whoa"}
    shell.expect("zsh completes whoami", found="whoami" in (await shell.run(environment=zsh)).out)
    fish = {
        "_CUTROOM_COMPLETE": "complete_fish",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        "_TYPER_COMPLETE_ARGS": "cutroom videos res",
    }
    shell.expect("fish completes restore", found="restore" in (await shell.run(environment=fish)).out)


def _output(command: Sequence[str], environment: Mapping[str, str]) -> str:
    return subprocess.run(command, env=dict(environment), capture_output=True, text=True, check=False).stdout
