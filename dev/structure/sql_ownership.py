"""Checks that each table is written only by its owner, and private tables read only by their owner."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import sqlglot
from sqlglot import exp

STATEMENT = re.compile(r"\s*(?:--[^\n]*\n\s*)*(SELECT|INSERT|UPDATE|DELETE|WITH)\b")
# Other packages may read these tables and the owners' views; every other table is private to its owner.
PUBLISHED_TABLES = frozenset({"videos", "libraries", "members", "users", "jobs"})
PUBLISHED_VIEWS = "published_"


@dataclass(frozen=True, slots=True)
class TableUse:
    """One table named by one SQL statement in one module."""

    module: Path
    line: int
    table: str
    is_write: bool


def table_owners(package: Path) -> dict[str, str]:
    """Owner of each table: the package whose module declares its `__tablename__`."""
    owners = {}
    for path in sorted(package.rglob("*.py")):
        for match in re.finditer(r'^    __tablename__ = "(\w+)"', path.read_text(), re.MULTILINE):
            owners[match.group(1)] = owner_of(package, path)
    return owners


def owner_of(package: Path, path: Path) -> str:
    """Name of the package that a module belongs to: `dubs` for `products/dubs/service.py`, `jobs` for `jobs/ids.py`."""
    parts = path.relative_to(package).parts
    return parts[1] if parts[0] == "products" and len(parts) > 2 else parts[0].removesuffix(".py")


def foreign_writes(package: Path) -> list[TableUse]:
    owners = table_owners(package)
    return [use for use in table_uses(package) if use.is_write and _is_foreign(package, use, owners)]


def foreign_private_reads(package: Path) -> list[TableUse]:
    owners = table_owners(package)
    return [
        use
        for use in table_uses(package)
        if not use.is_write and use.table not in PUBLISHED_TABLES and _is_foreign(package, use, owners)
    ]


def _is_foreign(package: Path, use: TableUse, owners: Mapping[str, str]) -> bool:
    if use.table.startswith(PUBLISHED_VIEWS):
        return use.is_write  # a view is for reading, even by its owner
    return use.table in owners and owners[use.table] != owner_of(package, use.module)


def table_uses(package: Path) -> Iterator[TableUse]:
    for path in sorted(package.rglob("*.py")):
        for line, table, is_write in _uses_in(path.read_text()):
            yield TableUse(path, line, table, is_write)


@cache  # every check reads the same modules
def _uses_in(source: str) -> tuple[tuple[int, str, bool], ...]:
    """Line, table and whether it is written, for each table that a module's statements name."""
    return tuple(
        (line, table, is_write) for line, text in _statements(ast.parse(source)) for table, is_write in _tables(text)
    )


def _statements(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """String literals that hold SQL; the holes of an f-string read as an identifier."""
    inside = {id(value) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for value in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(v.value) if isinstance(v, ast.Constant) else "hole" for v in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            text = node.value
        else:
            continue
        if STATEMENT.match(text) and re.search(r"\b(FROM|INTO|SET)\b", text):
            yield node.lineno, text


def _tables(text: str) -> Iterator[tuple[str, bool]]:
    """Every table that a statement names, with whether it is written; fails on SQL that cannot be parsed."""
    for statement in sqlglot.parse(re.sub(r"\$(\d+)", r":p\1", text), dialect="postgres"):
        if statement is None:
            continue
        written = {
            id(target)
            for node in statement.find_all(exp.Insert, exp.Update, exp.Delete)
            if (target := _target(node)) is not None
        }
        common = {cte.alias for cte in statement.find_all(exp.CTE)}
        for table in statement.find_all(exp.Table):
            if table.name and table.name not in common:
                yield table.name, id(table) in written


def _target(node: exp.Expression) -> exp.Table | None:
    this = node.this
    while isinstance(this, exp.Schema):
        this = this.this
    return this if isinstance(this, exp.Table) else None
