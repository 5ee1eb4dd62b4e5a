"""Processes that used Temporal's client end without finalizing the interpreter, with their output and exit code."""

import asyncio
import sys

import pytest

FINALIZING = "finalizing"
PROGRAM = f"""
import atexit, sys
from cutroom.platform.process.exit import run_and_exit

atexit.register(print, "{FINALIZING}", flush=True)

def program():
    print("done")
    {{ending}}

run_and_exit(program)
"""


async def _run(*arguments: str) -> tuple[int | None, str, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        output, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    return process.returncode, output.decode(), errors.decode()


@pytest.mark.parametrize(
    ("ending", "code", "errors"),
    [
        ("pass", 0, ""),
        ("sys.exit()", 0, ""),
        ("sys.exit(3)", 3, ""),
        ("sys.exit('refused')", 1, "refused\n"),
    ],
)
async def test_output_is_written_and_the_interpreter_not_finalized(ending: str, code: int, errors: str) -> None:
    assert await _run("-c", PROGRAM.format(ending=ending)) == (code, "done\n", errors)


async def test_another_exception_ends_the_process_as_usual() -> None:
    code, output, errors = await _run("-c", PROGRAM.format(ending="raise ValueError('broken')"))
    assert (code, output) == (1, f"done\n{FINALIZING}\n")
    assert "ValueError: broken" in errors


@pytest.mark.parametrize(("arguments", "code"), [(("workers", "--help"), 0), (("workers", "unknown"), 2)])
async def test_commands_end_so(arguments: tuple[str, ...], code: int) -> None:
    program = (
        f"import atexit, sys; atexit.register(print, '{FINALIZING}', flush=True);"
        f"sys.argv[1:] = {list(arguments)}; from cutroom.entrypoints.cli import main; main()"
    )
    ended, output, errors = await _run("-c", program)
    assert ended == code
    assert "Usage" in output + errors
    assert FINALIZING not in output
