"""Writes the generated modules of the Python client; with `--check`, fails if they are stale."""

import argparse
import subprocess
import sys
from pathlib import Path

from cutroom.entrypoints.openapi import openapi_document
from dev.clients.models import models_module
from dev.clients.operations import operations_module
from dev.clients.sync import synchronous_modules
from dev.environment import PROJECT
from dev.probe import program_beside_python

CLIENT = PROJECT / "clients" / "python"
PACKAGE = CLIENT / "cutroom_client"


def generated(*, check: bool) -> dict[Path, str]:
    """The content of each generated module, formatted."""
    schema = openapi_document()
    operations = PACKAGE / "_async" / "operations.py"
    modules = {PACKAGE / "models.py": models_module(schema), operations: operations_module(schema)}
    formatted = {path: format_source(text, path) for path, text in modules.items()}
    if not check:
        for path, text in formatted.items():  # the synchronous operations are generated from the file
            path.write_text(text, encoding="utf-8")
    for name, text in synchronous_modules(PACKAGE / "_async", "cutroom_client._async"):
        path = PACKAGE / "_sync" / name
        formatted[path] = format_source(text, path)
    return formatted


def format_source(source: str, path: Path) -> str:
    """Sorts the imports and formats, with the settings of the client."""
    ruff = str(program_beside_python("ruff"))
    name = ("--stdin-filename", str(path), "-")
    for command in ((ruff, "check", "--quiet", "--select", "I,F401", "--fix-only", *name), (ruff, "format", *name)):
        run = subprocess.run(command, input=source, capture_output=True, text=True, check=False, cwd=CLIENT)
        if run.returncode:
            raise RuntimeError(f"{path}: {run.stderr}")
        source = run.stdout
    return source


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a module is stale")
    check: bool = parser.parse_args().check
    modules = generated(check=check)
    stale = [path for path, text in modules.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        print(f"{path.relative_to(PROJECT)}: {'stale, run `just clients`' if check else 'written'}")
        if not check:
            path.write_text(modules[path], encoding="utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
