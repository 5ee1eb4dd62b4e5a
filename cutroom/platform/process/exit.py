"""Ends a process that has used Temporal's client, without finalizing the interpreter."""

import logging
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn


def run_and_exit(program: Callable[[], object]) -> NoReturn:
    """Runs a program and ends the process with its exit code, as soon as its output is written.

    Threads of Temporal's client may still release Python objects, and abort an interpreter that is being finalized
    (https://github.com/temporalio/sdk-python/issues/300); the client cannot be closed. An exception that is not
    SystemExit ends the process as usual, with its traceback.
    """
    try:
        program()
    except SystemExit as ended:
        exit_now(_exit_code(ended))
    exit_now(0)


def exit_now(code: int) -> NoReturn:
    """Writes buffered output and log records, and ends the process. Neither exit handlers nor `finally` blocks run."""
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # closed, or without a reader
            stream.flush()
    os._exit(code)


def _exit_code(ended: SystemExit) -> int:
    if ended.code is None or isinstance(ended.code, int):
        return ended.code or 0
    print(ended.code, file=sys.stderr)  # as the interpreter does
    return 1
