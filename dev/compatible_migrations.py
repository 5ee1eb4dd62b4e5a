"""Finds statements of new migrations that the latest release could not run with: expand first, contract later.

A statement that is compatible all the same, because the release no longer uses what it removes, says so in a comment
directly above it: `-- compatible with 0.2.0: nothing reads this column any more`.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from dev.environment import PROJECT
from dev.releases import migration_checksums, released

INCOMPATIBLE = {
    "drops what the release may use": r"\bDROP\b(?!\s+NOT\s+NULL\b)",
    "renames what the release may use": r"\bRENAME\b",
    "rejects rows that the release writes": (
        r"\bSET\s+NOT\s+NULL\b|\bADD\s+(?:CONSTRAINT|CHECK|UNIQUE|FOREIGN|PRIMARY|EXCLUDE)\b"
        r"|\bADD\s+COLUMN\b(?=[^,;]*\bNOT\s+NULL\b)(?![^,;]*\b(?:DEFAULT|GENERATED)\b)"
        r"|\bCREATE\s+UNIQUE\s+INDEX\b"
    ),
    "changes a type that the release reads": r"\bALTER\s+(?:COLUMN\s+)?\w+\s+(?:SET\s+DATA\s+)?TYPE\b",
    "takes a right that the release uses": r"\bREVOKE\b",
}
MARKER = re.compile(r"--\s*compatible with (\S+): *\S")
COMMENT = re.compile(r"--[^\n]*")


def find_problems(folder: Path = PROJECT) -> list[str]:
    """One line per statement of a migration that no release has."""
    [*_, latest] = released()
    frozen = {path for release in released() for path in release.migrations}
    new = [folder / path for path in migration_checksums(folder) if path not in frozen]
    return [
        f"{path.relative_to(folder)}: {problem}"
        for path in new
        for problem in statement_problems(_sql(path), latest.version)
    ]


def statement_problems(sql: str, version: str) -> Iterator[str]:
    """What is wrong with each statement, unless its comment says that it is compatible with this version."""
    for statement in sql.split(";"):
        if any(match[1] == version for match in MARKER.finditer(statement)):
            continue
        text = " ".join(COMMENT.sub("", statement).split())
        for problem, pattern in INCOMPATIBLE.items():
            if re.search(pattern, text, re.IGNORECASE):
                yield f"{problem} ({version}): {text[:100]}"


def _sql(path: Path) -> str:
    """The statements of a migration; what undoes it is no part of an upgrade."""
    if path.suffix == ".sql":
        return path.read_text()
    module = ast.parse(path.read_text())
    documentation = {
        id(node.body[0].value)
        for node in ast.walk(module)
        if isinstance(node, ast.Module | ast.FunctionDef) and node.body and isinstance(node.body[0], ast.Expr)
    }
    kept = [node for node in module.body if not (isinstance(node, ast.FunctionDef) and node.name == "downgrade")]
    constants = [each for node in kept for each in ast.walk(node) if isinstance(each, ast.Constant)]
    return ";\n".join(each.value for each in constants if isinstance(each.value, str) and id(each) not in documentation)
