"""Generates `clients/typescript/src/generated/`; `--check` only reports stale files."""

import argparse
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from cutroom.entrypoints.openapi import openapi_document
from dev.environment import PROJECT
from dev.typescript_client.operations import methods, render_description, render_input, render_method
from dev.typescript_client.schemas import declarations

GENERATED = PROJECT / "clients" / "typescript" / "src" / "generated"
_NOTICE = "// Generated from the OpenAPI document by `just clients`; do not edit."


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="report stale files and change nothing")
    check = parser.parse_args().check
    stale = [name for name, text in files(openapi_document()).items() if not _is_current(name, text, write=not check)]
    if check and stale:
        print(f"stale, run `just clients`: {', '.join(stale)}", file=sys.stderr)
        return 1
    return 0


def files(document: Mapping[str, Any]) -> dict[str, str]:
    """The generated modules by file name."""
    return {
        "schemas.ts": _text([_NOTICE, "", *declarations(document["components"]["schemas"])]),
        "operations.ts": _text(_operations(document["paths"])),
    }


def _operations(paths: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    found = list(methods(paths))
    yield from (
        _NOTICE,
        "",
        'import type { CallOptions, KeyedOptions, OperationDescription, PostOptions } from "../operation.js";',
    )
    yield from ('import type * as schemas from "./schemas.js";', "")
    for method in found:
        yield from render_input(method)
    yield "export const OPERATIONS = {"
    for method in found:
        yield from render_description(method)
    yield from ("} as const satisfies Record<string, OperationDescription>;", "")
    yield "/** Every operation of the API, as a method. */"
    yield "export abstract class Operations {"
    yield "  protected abstract call<T>(operation: OperationDescription, input: CallOptions): Promise<T>;"
    yield ""
    for method in found:
        yield from render_method(method)
    yield "}"


def _text(lines: Iterator[str] | list[str]) -> str:
    return "\n".join(lines).rstrip("\n") + "\n"


def _is_current(name: str, text: str, *, write: bool) -> bool:
    path = GENERATED / name
    current = path.exists() and path.read_text() == text
    if write and not current:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return current


if __name__ == "__main__":
    sys.exit(main())
